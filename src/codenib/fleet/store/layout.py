"""What is in the store of a fleet, under which names: heads and publications, and their paths.

v1/objects/XX/SHA256                 parts of artifacts, trees, publications: immutable, named by content
v1/repos/REPOSITORY/heads/REF        what a branch was last published as; moves by compare-and-swap
v1/repos/REPOSITORY/snapshots/ID     what a snapshot was last published as, with all its views; moves likewise
v1/records/packs/SHA256              derived records, many in one object
v1/records/keys/SHA256               the keys of that pack
v1/embeddings/…                      vectors, in the same way
"""

from __future__ import annotations

import hashlib
import re
from urllib.parse import quote, unquote

import msgspec

from codenib.core.errors import UNDECODABLE, InputError, StateError

#: Part of every path: what another form wrote is left alone.
FORM = "v1"
DIGEST = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)*")
_TRAIL = 8


class ObjectRef(msgspec.Struct, array_like=True, frozen=True):
    """An object by its content."""

    digest: str
    size: int

    @classmethod
    def of(cls, data: bytes) -> ObjectRef:
        """The reference of these bytes."""
        return cls(hashlib.sha256(data).hexdigest(), len(data))

    @property
    def path(self) -> str:
        """Where the object is."""
        return object_path(self.digest)


class Publication(msgspec.Struct, frozen=True):
    """One manifest with everything that it names: an immutable object.

    `manifest` is the JSON of a `RepoManifest` as it was published; `artifacts` has the parts of every
    artifact that the manifest names, by file name.
    """

    repository: str
    snapshot: str
    manifest: msgspec.Raw
    tree: ObjectRef
    artifacts: dict[str, dict[str, ObjectRef]]

    def refs(self) -> dict[str, ObjectRef]:
        """Every object that it names, by digest."""
        named = {self.tree.digest: self.tree}
        for parts in self.artifacts.values():
            named.update((part.digest, part) for part in parts.values())
        return named


class FleetHead(msgspec.Struct, frozen=True):
    """What a branch, or a snapshot, was last published as.

    `nonce` is its writer's own, and `trail` has those of the writers before: whoever lost an acknowledgement
    sees from them that its write took place. `views` maps each fresh view to its profile.
    """

    publication: ObjectRef
    snapshot: str
    commit: str | None
    generation: int
    views: dict[str, str]
    nonce: str = ""
    trail: tuple[str, ...] = ()
    #: Of the snapshot's own head, so that a branch takes over the newest publication of its snapshot.
    revision: int = 0

    def written_by(self, nonce: str) -> bool:
        """Whether the writer of this nonce wrote this head, or one of the last before it."""
        return nonce == self.nonce or nonce in self.trail

    def after(self, before: FleetHead | None, nonce: str) -> FleetHead:
        """This head as the successor of `before`."""
        if before is None:
            return msgspec.structs.replace(self, generation=1, nonce=nonce, trail=())
        trail = (before.nonce, *before.trail)[:_TRAIL]
        return msgspec.structs.replace(self, generation=before.generation + 1, nonce=nonce, trail=trail)


def object_path(digest: str) -> str:
    """The path of a content-addressed object; the digest may come from a stranger."""
    if not DIGEST.fullmatch(digest):
        raise StateError(f"{digest[:80]!r} is not the digest of an object", hint="codenib fleet verify")
    return f"{FORM}/objects/{digest[:2]}/{digest}"


def repository_path(repository: str) -> str:
    """The folder of a repository; its name is one path segment, however many slashes it has."""
    if not _NAME.fullmatch(repository) or {".", ".."} & set(repository.split("/")) or len(repository) > 200:
        raise InputError(
            f"{repository[:80]!r} is not a repository's name: letters, digits and . _ @ + - between slashes",
            hint="codenib fleet list",
        )
    return f"{FORM}/repos/{quote(repository, safe='@+')}"


def head_path(repository: str, ref: str) -> str:
    """Where the head of a branch is."""
    if not ref or len(ref.encode()) > 300 or not ref.isprintable():
        raise InputError(f"{ref[:80]!r} is not a name of a branch", hint="git branch --list")
    return f"{repository_path(repository)}/heads/{quote(ref, safe='@+').replace('.', '%2E')}"


def snapshot_path(repository: str, snapshot: str) -> str:
    """Where the head of a snapshot is."""
    if not re.fullmatch(r"[0-9a-f]{32}", snapshot):
        raise InputError(f"{snapshot[:80]!r} is not a snapshot", hint="codenib status --json")
    return f"{repository_path(repository)}/snapshots/{snapshot}"


def name_in(path: str) -> str:
    """The name that the last segment of a path stands for."""
    return unquote(path.rpartition("/")[2])


def decode_head(data: bytes, where: str) -> FleetHead:
    """A head from its bytes."""
    try:
        return msgspec.json.decode(data, type=FleetHead)
    except UNDECODABLE as error:
        raise StateError(f"the head {where} cannot be read: {error}", hint="codenib fleet verify") from error


def decode_publication(data: bytes) -> Publication:
    """A publication from its bytes; its part names are plain names of files."""
    try:
        publication = msgspec.json.decode(data, type=Publication)
    except UNDECODABLE as error:
        raise StateError(f"a publication cannot be read: {error}", hint="codenib fleet verify") from error
    for name, parts in publication.artifacts.items():
        for part in (name, *parts):
            check_file_name(part)
    return publication


def check_file_name(name: str) -> None:
    """Raise where a name that came from outside is not one file in one folder."""
    plain = name.isprintable() and not {"/", "\\", "\0", ":"} & set(name) and not name.startswith(".")
    if not plain or not 0 < len(name.encode()) <= 200:
        raise StateError(f"{name[:80]!r} is not a name of a file of an artifact", hint="codenib fleet verify")
