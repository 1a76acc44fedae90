"""UnitNames of units and ends of paths, looked up."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.gitrepo import GitRepo

from codenib.serving.search.names import UnitNames, unit_names
from codenib.serving.workspace import Workspace

FILES = {
    "app/views.py": "class View:\n    def render(self):\n        return 1\n\n\ndef helper():\n    return 2\n",
    "lib/app/views.py": "def render():\n    return 3\n",
    "gone.py": "def render():\n    return 4\n",
}


@pytest.fixture
def names(git_repo: Callable[..., GitRepo]) -> Iterator[tuple[UnitNames, Callable[[int], str]]]:
    repository = git_repo("names")
    repository.commit(FILES)
    with Workspace(repository.path) as workspace:
        workspace.search("render")
        (repository.path / "gone.py").unlink()
        workspace.update()
        answer = workspace.search("render")
        pinned = workspace.snapshots.of_snapshot(answer.snapshot.id)
        yield (
            unit_names(pinned),
            lambda unit: f"{pinned.lexical.document(unit).span.path}:{pinned.lexical.document(unit).symbol}",
        )


def test_units_are_found_by_their_last_name_in_any_case(
    names: tuple[UnitNames, Callable[[int], str]],
) -> None:
    table, shown = names
    found = [shown(int(unit)) for unit in table.units("Render")]
    assert sorted(found) == ["app/views.py:View.render", "lib/app/views.py:render"]
    assert len(table.units("nobody")) == 0


def test_the_longest_agreement_of_a_path_wins(names: tuple[UnitNames, Callable[[int], str]]) -> None:
    table, _ = names
    assert len(table.files("views.py")) == 2
    assert len(table.files("/srv/site/lib/app/views.py")) == 1
    assert table.files("gone.py") == []


def test_a_line_belongs_to_one_unit(names: tuple[UnitNames, Callable[[int], str]]) -> None:
    table, shown = names
    unit = table.unit_at("app/views.py", 3)
    assert unit is not None
    assert shown(unit) == "app/views.py:View.render"
    assert table.unit_at("app/views.py", 99) is None
    assert table.unit_at("gone.py", 1) is None
    assert table.lines("app/views.py") == 7


def test_the_first_name_has_what_the_tables_of_all_names_have(git_repo: Callable[..., GitRepo]) -> None:
    repository = git_repo("first")
    inner = (
        "def outer():\n    def Render():\n        def deep():\n            return 1\n        return deep\n"
    )
    repository.commit(
        {**FILES, "inner.py": inner, "greek.py": "class ΟΔΟΣ:\n    def ΟΔΟΣ(self):\n        pass\n"}
    )
    with Workspace(repository.path) as workspace:
        workspace.search("render")
        (repository.path / "gone.py").unlink()
        answer = workspace.search("render")
        view = workspace.snapshots.of_snapshot(answer.snapshot.id).lexical
        tables = UnitNames(view)
        assert tables.number("render") >= 0  # reads all names
        for name in ("Render", "render", "deep", "View", "ΟΔΟΣ", "οδος", "helper", "nobody", ""):
            first = UnitNames(view)
            assert first.units(name).tolist() == tables.units(name).tolist()
            assert first.nested(name) == tables.nested(name)
        names = ["Render", "deep", "ΟΔΟΣ", "nobody"]
        for some in (names, ["Render", "deep", "nobody"], []):
            few = UnitNames(view)
            assert few.declared(some) == tables.declared(some) == {*some} - {"nobody"}
            assert [few.units(each).tolist() for each in some] == [
                tables.units(each).tolist() for each in some
            ]
        for part in ("re", "e", "δο", "xyz"):
            holding = UnitNames(view)
            leaves = holding.leaves_with(part)
            assert leaves == tables.leaves_with(part)
            assert [holding.nested(each) for each in leaves] == [tables.nested(each) for each in leaves]
            assert [holding.units(each).tolist() for each in leaves] == [
                tables.units(each).tolist() for each in leaves
            ]
            assert first.units("helper").tolist() == tables.units("helper").tolist()
        assert len(UnitNames(view).nested("render")) == 1
