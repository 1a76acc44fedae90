"""A store of a fleet in, everything that is wrong with it out: heads, publications, objects, packs."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from codenib.core.errors import CodenibError, ProviderError, StateError
from codenib.fleet.store.install import checked_manifest
from codenib.fleet.store.layout import FORM, FleetHead, ObjectRef, Publication, repository_path
from codenib.fleet.store.objects import ObjectStore
from codenib.fleet.store.records import pack_keys

_THREADS = 8


@dataclass(slots=True)
class StoreReport:
    """What `verify_store` looked at, and what is wrong, a line each.

    `sampled` is the share of objects whose bytes were read; existence and sizes were checked of all.
    """

    sampled: float
    heads: int = 0
    publications: int = 0
    objects: int = 0
    size_bytes: int = 0
    packs: int = 0
    unreferenced: int = 0  # of killed writers, or of snapshots that were forgotten: no fault
    problems: list[str] = field(default_factory=list)


def verify_store(objects: ObjectStore, *, sample: float = 1.0, seed: int = 0) -> StoreReport:
    """Follow every head to its publication and objects; read a share `sample` of the objects' bytes.

    A store that cannot be reached is a `ProviderError`, not a fault of what is in it.
    """
    report = StoreReport(sample)
    sizes = {stored.path: stored.size for stored in objects.backend.list(f"{FORM}/objects")}
    repositories = objects.repositories()
    if (
        not repositories and not sizes and not any(objects.backend.list(FORM))
    ):  # a wrong URL must not look like a store without a fault
        raise StateError(f"nothing is published at {objects.url}", hint="codenib fleet index --store URL")
    chosen = random.Random(seed)
    named: dict[str, ObjectRef] = {}
    for repository in repositories:
        for where, head in _heads(objects, repository, report):
            publication = _publication(objects, where, head, report)
            named[head.publication.path] = head.publication
            if publication is not None:
                named.update((ref.path, ref) for ref in publication.refs().values())
    wrong = [ref for path, ref in named.items() if sizes.get(path) != ref.size]
    for ref in wrong:
        size = sizes.get(ref.path)
        what = "missing" if size is None else f"{size:,} of {ref.size:,} bytes"
        report.problems.append(f"object {ref.digest}: {what}")
    whole = [ref for ref in named.values() if ref not in wrong and chosen.random() < sample]
    with ThreadPoolExecutor(_THREADS) as pool:
        report.problems += [what for what in pool.map(lambda ref: _damage(objects, ref), whole) if what]
    report.objects = len(named)
    report.size_bytes = sum(ref.size for ref in named.values())
    report.unreferenced = len(sizes.keys() - named.keys())
    for kind in ("records", "embeddings"):
        _verify_packs(objects, kind, report, chosen)
    return report


def _heads(objects: ObjectStore, repository: str, report: StoreReport) -> Iterator[tuple[str, FleetHead]]:
    for path, size, _ in objects.backend.list(repository_path(repository)):
        if not size:
            continue  # retired
        report.heads += 1
        try:
            head = objects.read_head(path)
        except ProviderError:
            raise
        except CodenibError as error:
            report.problems.append(error.message)
            continue
        if head is not None:
            yield path.removeprefix(f"{FORM}/repos/"), head


def _publication(
    objects: ObjectStore, where: str, head: FleetHead, report: StoreReport
) -> Publication | None:
    """What a head names, if that is whole and of the head's snapshot."""
    try:
        publication = objects.publication(head)
        checked_manifest(publication, objects.get(publication.tree))
    except ProviderError:
        raise
    except CodenibError as error:
        report.problems.append(f"{where}: {error.message}")
        return None
    report.publications += 1
    if publication.snapshot != head.snapshot:
        report.problems.append(f"{where}: its publication is of snapshot {publication.snapshot}")
    return publication


def _damage(objects: ObjectStore, ref: ObjectRef) -> str:
    """What is wrong with the bytes of an object; nothing when they are those of its name."""
    state = hashlib.sha256()
    try:
        for piece in objects.backend.chunks(ref.path):
            state.update(piece)
    except FileNotFoundError:
        return f"object {ref.digest}: missing"
    return "" if state.hexdigest() == ref.digest else f"object {ref.digest}: other bytes than its name says"


def _verify_packs(objects: ObjectStore, kind: str, report: StoreReport, chosen: random.Random) -> None:
    lists = {stored.path.rpartition("/")[2] for stored in objects.backend.list(f"{FORM}/{kind}/keys")}
    packs = {stored.path.rpartition("/")[2] for stored in objects.backend.list(f"{FORM}/{kind}/packs")}
    report.packs += len(packs)
    report.unreferenced += len(packs - lists)
    report.problems += [f"pack {name} of {kind}: missing" for name in sorted(lists - packs)]
    for name in sorted(lists & packs):
        if chosen.random() < report.sampled:
            pack = objects.backend.read(f"{FORM}/{kind}/packs/{name}")
            keys = objects.backend.read(f"{FORM}/{kind}/keys/{name}")
            try:
                right = (
                    pack is not None
                    and keys is not None
                    and ObjectRef.of(pack[0]).digest == name
                    and pack_keys(pack[0]).tobytes() == keys[0]
                )
            except ValueError:
                right = False
            if not right:
                report.problems.append(f"pack {name} of {kind}: it or its key list is damaged")
