from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.views.graph.toy import ToyBackend

from codenib.compiler.compiler import silent
from codenib.core.errors import ProviderError, StateError
from codenib.views.graph.facts.bind import Binder
from codenib.views.graph.facts.file import FileFacts, decode, encode

name = st.sampled_from(["load", "save", "größe", "x", "𝛼"])
line = st.lists(st.one_of(name, st.builds("def {}".format, name), st.just("𝒜 é")), max_size=3).map(" ".join)
sources = st.dictionaries(
    st.sampled_from(["a.py", "b/c.py", "b/d.py"]), st.lists(line, max_size=5).map("\n".join), min_size=1
)


def bound(texts: dict[str, str], root: Path, encoding: str = "utf-16") -> list[FileFacts]:
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    binder = Binder("toy", lambda path: texts[path].encode())
    for row in ToyBackend(encoding).produce(root, sorted(texts), silent, trusted=False):
        binder.add(row)
    return binder.bind()


@settings(deadline=None)
@given(sources, st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_facts_survive_storage_and_do_not_depend_on_the_engines_columns(
    tmp_path_factory: pytest.TempPathFactory, texts: dict[str, str], encoding: str
) -> None:
    root = tmp_path_factory.mktemp("toy")
    found = bound(texts, root, encoding)
    assert [decode(encode(facts)).plain() for facts in found] == [facts.plain() for facts in found]
    assert [facts.plain() for facts in bound(texts, root)] == [facts.plain() for facts in found]


def test_facts_of_a_file_stay_when_the_file_that_it_refers_to_only_shifts(tmp_path: Path) -> None:
    before = {"a.py": "load()", "b.py": "def load"}
    after = {"a.py": "load()", "b.py": "\n\n\ndef load"}
    kept, shifted = (bound(texts, tmp_path)[0] for texts in (before, after))
    assert kept.plain() == shifted.plain()
    assert kept.targets == ("b.py#load:function",)


def test_equal_names_of_a_file_are_told_apart_by_their_order(tmp_path: Path) -> None:
    (facts,) = bound({"a.py": "def load\ndef load\ndef save"}, tmp_path)
    assert facts.identities == ["a.py#load:function", "a.py#load:function:1", "a.py#save:function"]


def test_a_place_that_its_file_did_not_list_is_kept_as_an_anchor() -> None:
    declares = {
        "path": "b.py", "encoding": "utf-8", "nodes": [], "targets": [], "lists": [], "occurrences": [],
    }  # fmt: skip
    uses = {
        "path": "a.py", "encoding": "utf-8", "nodes": [], "targets": [["b.py", 0, 4]], "lists": [[0]],
        "occurrences": [0, 0, 0, 4, 0, 0, 0, -1],
    }  # fmt: skip
    binder = Binder("toy", lambda path: b"let kept = 1")
    for each in (declares, uses):
        binder.add(json.dumps(each).encode())
    user, owner = binder.bind()
    assert owner.names == ("kept",)
    assert user.targets == ("b.py#kept:variable",)


@pytest.mark.parametrize(
    "change",
    [
        {"lists": [[7]]},
        {"occurrences": [0, 0, 0, 4, 0, 9, -1, -1]},
        {"occurrences": [0, 0, 0]},
        {"nodes": [["x", "function", 0]]},
        {"nodes": [["x", "gadget", -1, 0, 0, 0, 1, 0, 0, 1, 0]]},
        {"nodes": [["x", "function", 5, 0, 0, 0, 1, 0, 0, 1, 0]]},
        {"extra": 1},
    ],
)
def test_a_line_that_points_outside_its_tables_is_refused(change: dict[str, object]) -> None:
    good = {"path": "a.py", "encoding": "utf-8", "nodes": [], "targets": [], "lists": [], "occurrences": []}
    binder = Binder("toy", lambda path: b"text")
    with pytest.raises(ProviderError):
        binder.add(json.dumps({**good, **change}).encode())
        binder.bind()


@given(st.binary(max_size=40))
def test_damaged_facts_are_an_error_with_the_command_that_helps(data: bytes) -> None:
    with pytest.raises(StateError) as raised:
        decode(data)
    assert raised.value.hint == "codenib index --rebuild"
