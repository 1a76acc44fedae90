from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.views.conftest import Sources
from tests.views.graph.toy import ToyBackend

from codenib.compiler.compiler import silent
from codenib.core.errors import CannotMaintain
from codenib.core.source import Delta, SourceFile, SourceSnapshot
from codenib.navigation.syntactic.backend import SyntacticBackend
from codenib.views.graph.assembly.artifact import read_group_facts
from codenib.views.graph.profile import GraphBackends
from codenib.views.graph.read import GraphView
from codenib.views.graph.view import GraphViewBuilder

TEXTS = {"a.py": "def load\nload()\n", "b.py": "load()\n", "c.rb": "def helper\nend\n", "d.md": "# load\n"}


def builder(root: Path, backend: ToyBackend) -> GraphViewBuilder:
    for path, text in TEXTS.items():
        (root / path).write_text(text)

    @contextmanager
    def export(snapshot: SourceSnapshot) -> Iterator[Path]:
        yield root

    return GraphViewBuilder(GraphBackends({"toy": [backend]}, SyntacticBackend()), export, silent)


def snapshot() -> SourceSnapshot:
    return SourceSnapshot("toy", None, False, {path: path for path in TEXTS})


def test_each_group_is_labelled_with_its_backend_and_the_rest_is_syntactic(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    facts = builder(tmp_path, ToyBackend()).build(snapshot(), Sources(), out)
    view = GraphView(out)
    assert [(each.group, each.resolved, each.files) for each in view.about.groups] == [
        ("toy", True, 2),
        ("syntactic", False, 1),
    ]
    assert [view.group(at) for at in range(3)] == ["toy", "toy", "syntactic"]
    assert facts.capabilities == ("graph", "definitions:toy", "references:toy")
    assert facts.lacks == ""


def test_a_backend_that_fails_leaves_its_files_to_names_and_never_claims_to_resolve(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    facts = builder(tmp_path, ToyBackend(fails="no compiler")).build(snapshot(), Sources(), out)
    view = GraphView(out)
    assert facts.capabilities == ("graph",)
    assert facts.lacks == "toy: no compiler; try: codenib tools install toy"
    assert {view.group(at) for at in range(3)} == {"syntactic"}


def test_two_builds_of_one_snapshot_are_equal(tmp_path: Path) -> None:
    made = builder(tmp_path, ToyBackend())
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        made.build(snapshot(), Sources(), tmp_path / name)
    assert list(made.differences(tmp_path / "one", tmp_path / "two")) == []
    for part in (tmp_path / "one").iterdir():
        assert part.read_bytes() == (tmp_path / "two" / part.name).read_bytes()


def test_a_change_of_prose_takes_the_facts_over_and_one_of_code_is_declined(tmp_path: Path) -> None:
    backend = ToyBackend()
    made = builder(tmp_path, backend)
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    made.build(snapshot(), Sources(), tmp_path / "one")
    prose = Delta("x", "y", changed=(SourceFile("d.md", "new"),))
    made.maintain(tmp_path / "one", prose, Sources(), tmp_path / "two")
    assert backend.runs == 1
    assert [group.origin for group in read_group_facts(tmp_path / "one")] == [
        group.origin for group in read_group_facts(tmp_path / "two")
    ]
    with pytest.raises(CannotMaintain):
        made.maintain(tmp_path / "one", Delta("x", "y", removed=("a.py",)), Sources(), tmp_path / "two")


def test_different_facts_are_named_by_their_path(tmp_path: Path) -> None:
    made = builder(tmp_path, ToyBackend())
    for name, text in (("one", "def load\n"), ("two", "def load\nload\n")):
        (tmp_path / name).mkdir()
        (tmp_path / "a.py").write_text(text)
        made.build(snapshot(), Sources(), tmp_path / name)
    found = list(made.differences(tmp_path / "one", tmp_path / "two"))
    assert found[0] == "a.py: facts not equal"
    assert "a.py:1:5: references answers not equal" in found[1:]
