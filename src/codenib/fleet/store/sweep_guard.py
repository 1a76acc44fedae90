"""Paths that a publication is about to name in, whether none of them will be collected out.

A collection marks what no head names, and removes it a grace period later. Both are written in one small
object, which moves by compare-and-swap:

- a publisher that needs a marked object takes its mark away before a head names it;
- once a sweep has begun, its marks stay: a publisher that needs one of them waits for its end, and stores
  what is gone again. The generation says that a sweep began or ended since it looked for its objects.

So a head never names what is removed, as long as a head moves within the grace period after `confirm`.
"""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Collection

import msgspec

from codenib.core.errors import UNDECODABLE, ProviderError, StateError
from codenib.fleet.store.backend import Backend, Unacknowledged, Version
from codenib.fleet.store.layout import FORM

COLLECTION = f"{FORM}/collection"
_ATTEMPTS = 200
_WAIT_S = 60.0  # for a sweep that removes what is needed; sweeps take seconds
_HINT = "codenib fleet gc --store URL finishes a collection that was killed, after 15 minutes"


class CollectionState(msgspec.Struct, frozen=True, kw_only=True):
    """`paths` are marked since `at_s` (0: not dated yet); with a `sweeper` they are being removed, and `at_s`
    is its last sign.

    `generation` counts the beginnings and ends of sweeps, `nonce` is of who wrote this.
    """

    generation: int = 0
    at_s: float = 0.0
    paths: tuple[str, ...] = ()
    sweeper: str = ""
    nonce: str = ""


def read_collection(backend: Backend) -> tuple[CollectionState, Version]:
    """What is marked in a store; nothing where nobody ever collected."""
    stored = backend.read(COLLECTION)
    if stored is None:
        return CollectionState(), ""
    try:
        return msgspec.json.decode(stored[0], type=CollectionState), stored[1]
    except UNDECODABLE as error:
        raise StateError(f"{COLLECTION} cannot be read: {error}", hint="codenib fleet verify") from error


def swap_collection(backend: Backend, state: CollectionState, version: Version) -> bool:
    """Write what is marked if it is still of `version`."""
    nonce = secrets.token_hex(8)
    data = msgspec.json.encode(msgspec.structs.replace(state, nonce=nonce))
    try:
        return backend.replace(COLLECTION, data, version)
    except Unacknowledged:
        return read_collection(backend)[0].nonce == nonce


class SweepGuard:
    """Begun before a publisher looks which of its objects are there; asked before a head names them."""

    def __init__(self, backend: Backend, *, wait_s: float = _WAIT_S) -> None:
        self._backend = backend
        self._wait_s = wait_s
        self._generation = read_collection(backend)[0].generation

    def confirm(self, paths: Collection[str]) -> bool:
        """Whether these stay; False when some may be gone: store what is not there, and ask again."""
        until = time.monotonic() + self._wait_s
        for attempt in range(_ATTEMPTS):
            state, version = read_collection(self._backend)
            if state.generation != self._generation:
                self._generation = state.generation
                return False
            if not state.paths or not (needed := set(state.paths).intersection(paths)):
                return True
            if not state.sweeper:
                left = tuple(path for path in state.paths if path not in needed)
                if swap_collection(self._backend, msgspec.structs.replace(state, paths=left), version):
                    return True
            elif time.monotonic() > until:
                break
            time.sleep(random.uniform(0, min(0.01 * (attempt + 1), 1.0, self._wait_s)))
        raise ProviderError("a collection is removing objects that are needed, and does not end", hint=_HINT)
