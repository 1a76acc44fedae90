"""The catalogue's file: edits of several processes, other schemas, damage."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from codenib.core.errors import InputError, StateError
from codenib.core.views import ViewKind
from codenib.fleet.catalogue.catalogue import Catalogue
from codenib.fleet.catalogue.entry import RepositoryEntry
from codenib.manifest.files import with_checksum


def _entry(name: str, source: str = "") -> RepositoryEntry:
    return RepositoryEntry(name=name, source=source or f"https://example.org/{name}")


def test_what_is_added_is_there_for_the_next_process() -> None:
    whole = RepositoryEntry(
        name="team/app",
        source="/srv/app",
        branches=("main", "release/*"),
        views=(ViewKind.LEXICAL,),
        tenant="web",
        schedule="6h",
        in_place=True,
    )
    Catalogue.open().add([_entry("b/b"), whole])

    catalogue = Catalogue.open()

    assert [entry.name for entry in catalogue.entries] == ["b/b", "team/app"]
    assert catalogue.entry("team/app") == whole
    assert catalogue.mirror_of(whole) == Path("/srv/app")
    assert catalogue.mirror_of(catalogue.entry("b/b")) == catalogue.folder / "mirrors" / "b" / "b.git"


def test_a_source_added_again_is_changed_and_another_of_its_name_is_refused() -> None:
    Catalogue.open().add([_entry("a")])
    Catalogue.open().add([RepositoryEntry(name="a", source="https://example.org/a", tenant="web")])
    assert Catalogue.open().entry("a").tenant == "web"
    with pytest.raises(InputError, match="already"):
        Catalogue.open().add([_entry("c"), _entry("a", "https://elsewhere.org/a")])
    assert [entry.name for entry in Catalogue.open().entries] == ["a"]  # nothing of that edit


def test_a_removed_mirror_is_deleted_and_a_clone_in_place_is_not(tmp_path: Path) -> None:
    clone = RepositoryEntry(name="clone", source=str(tmp_path), in_place=True)
    catalogue = Catalogue.open().add([_entry("a/b"), clone])
    mirror = catalogue.mirror_of(catalogue.entry("a/b"))
    mirror.mkdir(parents=True)

    left = catalogue.remove(["a/b", "clone"])

    assert left.entries == () and not mirror.exists() and tmp_path.exists()
    with pytest.raises(InputError, match="no repository 'a/b'"):
        catalogue.remove(["a/b"])


def test_globs_and_tenants_choose() -> None:
    web = RepositoryEntry(name="x/web", source="https://example.org/web", tenant="web")
    catalogue = Catalogue.open().add([_entry("x/app"), _entry("y/app"), web])
    assert [entry.name for entry in catalogue.matching(["x/*"])] == ["x/app", "x/web"]
    assert [entry.name for entry in catalogue.matching(["!app"])] == ["x/web"]
    assert catalogue.matching(tenant="web") == (web,)


def test_editors_at_once_lose_nothing() -> None:
    code = (
        "import sys; from codenib.fleet.catalogue.catalogue import Catalogue as C\n"
        "from codenib.fleet.catalogue.entry import RepositoryEntry as E\n"
        "c = C.open()\n"
        "for n in range(10): c.add([E(name=f'{sys.argv[1]}/{n}', source='https://example.org')])\n"
    )
    editors = [subprocess.Popen([sys.executable, "-c", code, name]) for name in ("a", "b")]
    assert [editor.wait() for editor in editors] == [0, 0]
    assert len(Catalogue.open().entries) == 20


def test_another_schema_and_damage_are_told_apart() -> None:
    catalogue = Catalogue.open().add([_entry("a")])
    file = catalogue.folder / "catalogue.json"
    data = file.read_bytes()
    file.write_bytes(with_checksum(b'{"schema":99,"repositories":[{"name":"a","new":1}]}'))
    with pytest.raises(StateError, match="schema 99"):
        Catalogue.open()
    file.write_bytes(data.replace(b"example", b"exbmple"))
    with pytest.raises(StateError, match="damaged"):
        Catalogue.open()
    with pytest.raises(StateError, match="damaged"):  # and no edit replaces what it cannot read
        catalogue.add([_entry("b")])
