"""A published snapshot in, one file with its views out; such a file in, the snapshot published here out.

A bundle is a zip file: `bundle.json`, and each object of the publication under `objects/SHA256`, deflated. It
may come from a stranger: nothing is unpacked under a name of the file's choosing, no member may be longer
than listed, every object is compared with its digest, and the snapshot must be one of this repository.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import zipfile
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from codenib.compiler.compiler import IndexCompiler
from codenib.core.errors import UNDECODABLE, InputError, StateError, fault_of
from codenib.core.source import SourceSnapshot
from codenib.core.views import RepoManifest, ViewKind
from codenib.fleet.store.digests import PartDigests
from codenib.fleet.store.install import checked_manifest, install
from codenib.fleet.store.layout import DIGEST, ObjectRef, Publication, decode_publication
from codenib.fleet.store.publish import chosen_manifest, fresh_views
from codenib.manifest.store import Store
from codenib.snapshot.repository import locate

BUNDLE_FORM = 1
_LIST = "bundle.json"
_MOST_LIST = 64 << 20  # bytes of the list: a million parts
#: Views deflate to between a half and a tenth. What unpacks to more is made to fill a disk.
_MOST_RATIO, _SLACK = 200, 64 << 20
_CHUNK = 1 << 20
_HINT = "codenib export FILE, in a clone of this repository and by the same version of codenib"
#: What a damaged or hostile zip file makes the library raise.
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OverflowError)


class _BundleForm(msgspec.Struct):
    form: int


class _BundleList(msgspec.Struct):
    form: int
    publication: msgspec.Raw


@dataclass(frozen=True, slots=True)
class Bundled:
    """What a bundle has: the snapshot, its views, and bytes before and after deflating."""

    snapshot: str
    commit: str | None
    views: tuple[ViewKind, ...]
    size_bytes: int
    file_bytes: int


def export_bundle(path: str | Path, snapshot: str, views: Collection[ViewKind], file: Path) -> Bundled:
    """Write the bundle of a snapshot that is published in the store of the repository at `path`."""
    repository = locate(Path(path))
    store = Store(repository.key)
    manifest = store.manifest(snapshot)
    if manifest is None:
        raise StateError(f"snapshot {snapshot} is not published here", hint="codenib index")
    manifest = chosen_manifest(manifest, views)
    digests = PartDigests(store.folder / "digests.json")
    folders = {record.artifact: store.whole_artifact(record.artifact) for record in manifest.views.values()}
    artifacts = {name: digests.parts(folder) for name, folder in folders.items()}
    digests.save()
    tree = msgspec.json.encode(store.tree(manifest.tree), order="sorted")
    raw = msgspec.Raw(msgspec.json.encode(manifest))
    publication = Publication(repository.name, manifest.snapshot, raw, ObjectRef.of(tree), artifacts)
    sources = {
        ref.digest: folders[name] / part for name, parts in artifacts.items() for part, ref in parts.items()
    }
    partial = file.with_name(f".{file.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            listed = _BundleList(BUNDLE_FORM, msgspec.Raw(msgspec.json.encode(publication)))
            archive.writestr(_LIST, msgspec.json.encode(listed))
            archive.writestr(f"objects/{publication.tree.digest}", tree)
            for digest, source in sorted(sources.items()):
                archive.write(source, f"objects/{digest}")
        partial.replace(file)
    except OSError as error:
        raise fault_of(error) from error
    finally:
        partial.unlink(missing_ok=True)
    return _described(publication, manifest, file)


def import_bundle(path: str | Path, file: Path, views: Collection[ViewKind] | None = None) -> Bundled:
    """Publish the snapshot of a bundle in the store of the repository at `path`.

    It must be the snapshot of a commit that the repository has, or of its worktree, and its views must be
    what this version would build: others would be built again, and are refused by name.
    """
    repository = locate(Path(path))
    store = Store(repository.key)
    compiler = IndexCompiler(repository, store)
    try:
        with zipfile.ZipFile(file) as archive:
            publication = _read_list(archive, file)
            bundle = _Bundle(archive, publication, file)
            tree = bundle.read(publication.tree)
            manifest, _ = checked_manifest(publication, tree)
            snapshot = _same_snapshot(compiler, manifest)
            wanted = _of_today(compiler, snapshot, publication, views)
            store.describe(repository.common_dir or repository.root)
            install(publication, tree, store, bundle.extract, wanted)
            if compiler.take().id == snapshot.id:  # what the worktree is answered from, also without a look
                place = repository.git_dir or repository.root
                store.set_head(repository.worktree_key, snapshot.id, place)
            return _described(publication, manifest, file)
    except _BROKEN as error:
        raise InputError(f"{file} is not a whole bundle: {error}", hint=_HINT) from error
    except OSError as error:
        raise fault_of(error) from error


def _read_list(archive: zipfile.ZipFile, file: Path) -> Publication:
    """The publication of a bundle, after a look at every member."""
    members = archive.infolist()
    names = {member.filename for member in members}
    if len(names) != len(members) or _LIST not in names:
        raise InputError(
            f"{file} is not a bundle: {_LIST} is missing, or a member is there twice", hint=_HINT
        )
    for member in members:
        plain = member.filename == _LIST or DIGEST.fullmatch(member.filename.removeprefix("objects/"))
        mode = member.external_attr >> 16
        if not plain or member.is_dir() or (mode and not stat.S_ISREG(mode) and stat.S_IFMT(mode)):
            raise InputError(
                f"{file} is not a bundle: {member.filename[:80]!r} is no object of one", hint=_HINT
            )
    listed = archive.getinfo(_LIST)
    if listed.file_size > _MOST_LIST:
        raise InputError(f"{file}: {_LIST} has {listed.file_size:,} bytes", hint=_HINT)
    try:
        with archive.open(listed) as stream:
            data = stream.read(_MOST_LIST)
        form = msgspec.json.decode(data, type=_BundleForm).form
        if form != BUNDLE_FORM:
            raise StateError(f"{file} has form {form}; this codenib reads {BUNDLE_FORM}", hint=_HINT)
        return decode_publication(bytes(msgspec.json.decode(data, type=_BundleList).publication))
    except UNDECODABLE as error:
        raise InputError(f"{file}: {_LIST} cannot be read: {error}", hint=_HINT) from error


class _Bundle:
    """The objects of an open bundle."""

    def __init__(self, archive: zipfile.ZipFile, publication: Publication, file: Path) -> None:
        self._archive = archive
        self._file = file
        refs = publication.refs()
        members = {member.filename: member for member in archive.infolist() if member.filename != _LIST}
        if {f"objects/{digest}" for digest in refs} != members.keys():
            raise InputError(f"{file} does not have exactly the objects that it lists", hint=_HINT)
        for digest, ref in refs.items():
            if members[f"objects/{digest}"].file_size != ref.size or ref.size < 0:
                raise InputError(f"{file}: object {digest} has another size than listed", hint=_HINT)
        total = sum(ref.size for ref in refs.values())
        if total > _MOST_RATIO * file.stat().st_size + _SLACK:
            raise InputError(f"{file} would unpack to {total:,} bytes", hint=_HINT)

    def read(self, ref: ObjectRef) -> bytes:
        """A small object, compared with its digest."""
        with self._archive.open(f"objects/{ref.digest}") as stream:
            data = stream.read(ref.size + 1)
        if ObjectRef.of(data) != ref:
            raise self._damaged(ref)
        return data

    def extract(self, ref: ObjectRef, place: Path) -> None:
        """Write an object to a place, compared with its digest."""
        state, left = hashlib.sha256(), ref.size
        with self._archive.open(f"objects/{ref.digest}") as stream, place.open("xb") as out:
            while left and (data := stream.read(min(_CHUNK, left))):
                left -= len(data)
                state.update(data)
                out.write(data)
            if left or stream.read(1) or state.hexdigest() != ref.digest:
                raise self._damaged(ref)

    def _damaged(self, ref: ObjectRef) -> InputError:
        return InputError(f"{self._file}: object {ref.digest} is not what its digest says", hint=_HINT)


def _same_snapshot(compiler: IndexCompiler, manifest: RepoManifest) -> SourceSnapshot:
    """This repository's own snapshot that the bundle is of; an error when it has no such one."""
    if manifest.commit is not None and not manifest.dirty:
        try:
            snapshot = compiler.take(manifest.commit)
        except InputError as error:
            raise InputError(
                f"the bundle is of commit {manifest.commit[:12]}, which this repository does not have",
                hint="git fetch, or codenib -C the repository that it is of",
            ) from error
    else:
        snapshot = compiler.take()
    if snapshot.id != manifest.snapshot:
        raise InputError(
            "the bundle is of other files than this repository has, or was taken with other settings",
            hint="codenib config, and compare `paths.` and `tests.` with where the bundle was made",
        )
    return snapshot


def _of_today(
    compiler: IndexCompiler,
    snapshot: SourceSnapshot,
    publication: Publication,
    views: Collection[ViewKind] | None,
) -> Sequence[ViewKind]:
    """The views to import; an error when one of them is not what this version would build."""
    records = fresh_views(publication)
    absent = [kind for kind in views or () if kind not in records]
    if absent:
        raise InputError(f"the bundle has no {', '.join(absent)} view", hint=f"--views {','.join(records)}")
    wanted = [kind for kind in records if views is None or kind in views]
    compiler.views.settle(snapshot, wanted)
    if ViewKind.DENSE in wanted and records[ViewKind.DENSE].fields.get("embedder") == compiler.dense.spec:
        compiler.dense.open_now()  # only the one that is configured here: what it is, is part of the profile
    other = [kind for kind in wanted if records[kind].profile != compiler.views[kind].profile().digest]
    if other:
        rest = ",".join(kind for kind in wanted if kind not in other)
        raise StateError(
            f"built by another version, model or tool than this codenib has: {', '.join(other)}",
            hint=f"codenib import --views {rest} FILE" if rest else "codenib index",
        )
    return wanted


def _described(publication: Publication, manifest: RepoManifest, file: Path) -> Bundled:
    size = sum(ref.size for ref in publication.refs().values())
    views = tuple(fresh_views(publication))
    return Bundled(manifest.snapshot, manifest.commit, views, size, file.stat().st_size)
