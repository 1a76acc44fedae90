"""A bundle makes a clone warm at once; a damaged, hostile or other one is refused and changes nothing."""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.fleet.store.conftest import Indexed
from tests.gitrepo import GitRepo

from codenib.core.errors import InputError, StateError
from codenib.core.views import ViewKind
from codenib.fleet.store.bundle import export_bundle, import_bundle
from codenib.manifest.store import Store
from codenib.serving.workspace import Workspace
from codenib.snapshot.repository import locate

TEXT = (ViewKind.LEXICAL, ViewKind.TRIGRAM)
Members = dict[str, bytes]
Listed = dict[str, Any]


@pytest.fixture
def bundle(indexed: Indexed, tmp_path: Path) -> Path:
    file = tmp_path / "views.codenib"
    export_bundle(indexed.repo.path, indexed.snapshot, TEXT, file)
    return file


@pytest.fixture
def clone(indexed: Indexed, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A clone, with a home that knows nothing."""
    place = tmp_path / "clone"
    indexed.repo.git("clone", "-q", str(indexed.repo.path), str(place))
    monkeypatch.setenv("CODENIB_HOME", str(tmp_path / "fresh home"))
    yield place


def test_a_clone_answers_from_a_bundle_without_building(indexed: Indexed, bundle: Path, clone: Path) -> None:
    bundled = import_bundle(clone, bundle)
    assert bundled.snapshot == indexed.snapshot
    assert bundled.views == TEXT
    store = Store(locate(clone).key)
    published = store.manifest(indexed.snapshot)
    assert published is not None
    with Workspace(clone) as workspace:
        lines = workspace.regex("Session")
        assert lines.refreshed == ""
        assert [(line.path, line.line) for line in lines] == [
            ("app/login.py", 1), ("app/login.py", 5), ("app/session.py", 1)
        ]  # fmt: skip
        assert workspace.search("save a session")[0].symbol == "Session.save"
        assert workspace.maintenance.verify(TEXT) == {kind: [] for kind in TEXT}
    assert store.manifest(indexed.snapshot) is not None
    again = store.manifest(indexed.snapshot)
    assert again is not None
    assert {kind: again.views[kind].artifact for kind in TEXT} == {
        kind: published.views[kind].artifact for kind in TEXT
    }


def test_vectors_and_history_come_along(indexed: Indexed, bundle: Path, clone: Path) -> None:
    kinds = (*TEXT, ViewKind.DENSE, ViewKind.HISTORY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CODENIB_HOME", str(indexed.store.root.parent))
        with Workspace(indexed.repo.path) as workspace:
            workspace.index(kinds)
        export_bundle(indexed.repo.path, indexed.snapshot, kinds, bundle)
    assert import_bundle(clone, bundle).views == kinds
    with Workspace(clone) as workspace:
        assert workspace.index(kinds).nothing_to_do
        assert workspace.search("save a session", route="semantic").refreshed == ""


def test_importing_again_changes_nothing(bundle: Path, clone: Path) -> None:
    import_bundle(clone, bundle)
    store = Store(locate(clone).key)
    before = sorted(path.name for path in (store.folder / "artifacts").iterdir())
    import_bundle(clone, bundle)
    assert sorted(path.name for path in (store.folder / "artifacts").iterdir()) == before


def test_some_views_can_be_chosen(bundle: Path, clone: Path) -> None:
    import_bundle(clone, bundle, [ViewKind.TRIGRAM])
    (manifest,) = Store(locate(clone).key).manifests()
    assert set(manifest.views) == {ViewKind.TRIGRAM}
    with pytest.raises(InputError, match="no graph view"):
        import_bundle(clone, bundle, [ViewKind.GRAPH])


def test_vectors_come_along_where_no_manifest_names_their_model(
    indexed: Indexed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "vectors.codenib"
    export_bundle(indexed.repo.path, indexed.snapshot, (ViewKind.DENSE,), file)
    monkeypatch.setenv("CODENIB_HOME", str(tmp_path / "fresh home"))
    assert import_bundle(indexed.repo.path, file).views == (ViewKind.DENSE,)


def test_another_repository_refuses_it(bundle: Path, clone: Path, git_repo: Callable[..., GitRepo]) -> None:
    other = git_repo("other")
    other.commit({"a.py": "a = 1\n"})
    with pytest.raises(InputError, match="which this repository does not have"):
        import_bundle(other.path, bundle)
    assert _published(other.path) == []


def test_files_read_with_other_settings_refuse_it(bundle: Path, clone: Path) -> None:
    home = Path(os.environ["CODENIB_HOME"])
    home.mkdir()
    (home / "codenib.toml").write_text('[paths]\nexclude = ["app/login.py"]\n')
    with pytest.raises(InputError, match="of other files than this repository has"):
        import_bundle(clone, bundle)
    assert _published(clone) == []


def _drop_part(members: Members, listed: Listed) -> None:
    members.pop(next(name for name in members if name.startswith("objects/")))


def _flip_a_byte(members: Members, listed: Listed) -> None:
    name = max((name for name in members if name.startswith("objects/")), key=lambda name: len(members[name]))
    members[name] = bytes([members[name][0] ^ 1]) + members[name][1:]


def _longer(members: Members, listed: Listed) -> None:
    name = next(name for name in members if name.startswith("objects/"))
    members[name] += b"more"


def _way_out(members: Members, listed: Listed) -> None:
    members["../../outside"] = b"x"


def _absolute(members: Members, listed: Listed) -> None:
    members["/tmp/outside"] = b"x"


def _part_with_a_way_out(members: Members, listed: Listed) -> None:
    parts = next(iter(listed["publication"]["artifacts"].values()))
    parts["../../outside"] = parts.pop(next(iter(parts)))


def _hidden_part(members: Members, listed: Listed) -> None:
    artifacts = listed["publication"]["artifacts"]
    artifacts[".hidden/../x"] = artifacts.pop(next(iter(artifacts)))


def _extra_part(members: Members, listed: Listed) -> None:
    """A file that the seal of the artifact does not name."""
    for parts in listed["publication"]["artifacts"].values():
        parts["extra.npy"] = parts["seal.json"]


def _later_form(members: Members, listed: Listed) -> None:
    listed["form"] = 99


def _with_manifest(**changes: object) -> Callable[[Members, Listed], None]:
    def change(members: Members, listed: Listed) -> None:
        listed["publication"]["manifest"].update(changes)

    return change


def _other_profile(members: Members, listed: Listed) -> None:
    for record in listed["publication"]["manifest"]["views"].values():
        record["profile"] = "0" * 16


def _not_a_digest(members: Members, listed: Listed) -> None:
    listed["publication"]["tree"] = ["../../../etc/passwd", 1]


def _negative_size(members: Members, listed: Listed) -> None:
    listed["publication"]["tree"][1] = -1


def _no_list(members: Members, listed: Listed) -> None:
    listed.clear()


HOSTILE = [
    *(
        _drop_part,
        _flip_a_byte,
        _longer,
        _way_out,
        _absolute,
        _part_with_a_way_out,
        _hidden_part,
        _extra_part,
    ),
    *(_later_form, _other_profile, _not_a_digest, _negative_size, _no_list),
    *(_with_manifest(schema=99), _with_manifest(schema="x"), _with_manifest(tree="0" * 64)),
    *(_with_manifest(snapshot="0" * 32), _with_manifest(commit="0" * 40), _with_manifest(views=[])),
]


def test_a_hostile_bundle_is_refused_and_changes_nothing(bundle: Path, clone: Path, tmp_path: Path) -> None:
    sound = bundle.read_bytes()
    Path(os.environ["CODENIB_HOME"]).mkdir()
    before = sorted(path.name for path in tmp_path.iterdir())
    for change in HOSTILE:
        bundle.write_bytes(sound)
        with pytest.raises((InputError, StateError)):
            import_bundle(clone, _changed(bundle, change))
        assert _published(clone) == []
        assert sorted(path.name for path in tmp_path.iterdir()) == before
    bundle.write_bytes(sound)
    import_bundle(clone, bundle)
    assert _published(clone) == ["manifests", "artifacts", "artifacts"]


def test_a_bundle_that_was_cut_short_is_refused(bundle: Path, clone: Path) -> None:
    data = bundle.read_bytes()
    for length in (0, 10, len(data) // 2, len(data) - 1):
        bundle.write_bytes(data[:length])
        with pytest.raises(InputError, match="not a whole bundle"):
            import_bundle(clone, bundle)
    damaged = bytearray(data)
    damaged[len(data) // 3] ^= 0xFF
    bundle.write_bytes(damaged)
    with pytest.raises((InputError, StateError)):
        import_bundle(clone, bundle)
    assert _published(clone) == []


def test_a_link_in_a_bundle_is_refused(bundle: Path, clone: Path) -> None:
    with zipfile.ZipFile(bundle, "a") as archive:
        link = zipfile.ZipInfo("objects/" + "0" * 64)
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(InputError, match="no object"):
        import_bundle(clone, bundle)


def test_a_member_that_is_there_twice_is_refused(bundle: Path, clone: Path) -> None:
    with zipfile.ZipFile(bundle, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("bundle.json", "{}")
    with pytest.raises(InputError, match="twice"):
        import_bundle(clone, bundle)


def test_a_bundle_that_would_fill_the_disk_is_refused(bundle: Path, clone: Path) -> None:
    def bomb(members: Members, listed: Listed) -> None:
        import hashlib

        zeros = bytes(100 << 20)
        digest = hashlib.sha256(zeros).hexdigest()
        members[f"objects/{digest}"] = zeros
        next(iter(listed["publication"]["artifacts"].values()))["zeros"] = [digest, len(zeros)]

    with pytest.raises(InputError, match="would unpack"):
        import_bundle(clone, _changed(bundle, bomb))


def _changed(bundle: Path, change: Callable[[Members, Listed], None]) -> Path:
    """The bundle with something changed, its zip file sound."""
    with zipfile.ZipFile(bundle) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    listed = msgspec.json.decode(members.pop("bundle.json"))
    change(members, listed)
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bundle.json", msgspec.json.encode(listed))
        for name, data in members.items():
            archive.writestr(name, data)
    return bundle


def _published(path: Path) -> list[str]:
    folder = Store(locate(path).key).folder
    return [name for name in ("manifests", "artifacts") for _ in (folder / name).glob("*")]
