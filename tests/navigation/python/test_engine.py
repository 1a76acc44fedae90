"""The resident Python engine: what it says of a state of the files does not depend on how it came there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from codenib.core.errors import ProviderError
from codenib.core.facts import OCCURRENCE_COLUMNS
from codenib.manifest.home import tools_folder
from codenib.navigation.engines import watchdog
from codenib.navigation.python.backend import PythonBackend, PythonEngine
from codenib.navigation.tools.locate import Toolbox

pytestmark = pytest.mark.tools
PATHS = ["all.py", "base.py", "star.py", "use.py"]
BEFORE = {
    "base.py": "__all__ = ['one']\n\ndef one(): return 1\ndef two(): return ''\n",
    "star.py": "from base import *\n\nlast = one()\n",
    "all.py": "import base\nfrom base import *\n__all__ = []\n__all__ += base.__all__\n",
    "use.py": "import star, all\n\nstar.one().real\nall.one\nstar.two().upper()\n",
}
AFTER = "__all__ = ['two']\n\n# moved\ndef two(): return ''\nclass one: real = 1\n"


@pytest.fixture
def backend() -> PythonBackend:
    made = PythonBackend(Toolbox(tools_folder()))
    try:
        made.identity()
    except ProviderError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    return made


@pytest.fixture
def engine(backend: PythonBackend, tmp_path: Path) -> Iterator[PythonEngine]:
    for path, text in BEFORE.items():
        (tmp_path / path).write_text(text)
    made = backend.engine(tmp_path, trusted=True)
    made.sync(PATHS, PATHS)
    yield made
    made.close()


def built(backend: PythonBackend, root: Path, paths: list[str]) -> list[bytes]:
    return list(backend.produce(root, paths, lambda *_: None, trusted=True))


def test_lines_are_those_of_a_build_in_both_states_however_often_it_turns(
    backend: PythonBackend, engine: PythonEngine, tmp_path: Path
) -> None:
    texts = [BEFORE["base.py"], AFTER]
    expected = []
    for text in texts:
        (tmp_path / "base.py").write_text(text)
        expected.append(built(backend, tmp_path, PATHS))
    assert expected[0] != expected[1]
    for turn in (0, 1, 0, 1, 0):
        (tmp_path / "base.py").write_text(texts[turn])
        engine.sync(PATHS, ["base.py"])
        assert list(engine.lines(PATHS)) == expected[turn]


def test_surfaces_of_a_state_that_comes_back_are_the_same(engine: PythonEngine, tmp_path: Path) -> None:
    before = engine.surfaces(PATHS)
    (tmp_path / "base.py").write_text(AFTER)
    engine.sync(PATHS, ["base.py"])
    assert engine.surfaces(PATHS) != before
    (tmp_path / "base.py").write_text(BEFORE["base.py"])
    engine.sync(PATHS, ["base.py"])
    assert engine.surfaces(PATHS) == before


def test_a_third_state_is_not_taken_for_the_one_before(
    backend: PythonBackend, engine: PythonEngine, tmp_path: Path
) -> None:
    for text in (AFTER, AFTER.replace("real", "imag")):
        (tmp_path / "base.py").write_text(text)
        engine.sync(PATHS, ["base.py"])
        assert list(engine.lines(PATHS)) == built(backend, tmp_path, PATHS)


def test_files_that_come_and_go_are_followed_in_both_directions(
    backend: PythonBackend, engine: PythonEngine, tmp_path: Path
) -> None:
    fewer = [path for path in PATHS if path != "base.py"]
    for there in (False, True, False):
        paths = PATHS if there else fewer
        (tmp_path / "base.py").write_text(BEFORE["base.py"])
        if not there:
            (tmp_path / "base.py").unlink()
        engine.sync(paths, ["base.py"])
        assert list(engine.lines(paths)) == built(backend, tmp_path, paths)


def test_of_some_lines_only_their_names_are_resolved(engine: PythonEngine) -> None:
    [whole] = engine.lines(["use.py"])
    [part] = engine.lines(["use.py"], {"use.py": [(2, 2)]})
    rows = [len(json.loads(line)["occurrences"]) // len(OCCURRENCE_COLUMNS) for line in (whole, part)]
    assert rows == [10, 3]


def test_classes_that_explode_end_the_engine(
    backend: PythonBackend, engine: PythonEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdog, "SILENT_S", 3.0)
    two = "class L{1}(A{0}): pass\nclass R{1}(A{0}): pass\nclass A{1}(L{1}, R{1}): pass\n"
    (tmp_path / "use.py").write_text("class A0: pass\n" + "".join(two.format(n, n + 1) for n in range(200)))
    engine.sync(PATHS, ["use.py"])
    with pytest.raises(ProviderError, match="of CPU time, and was ended"):
        list(engine.lines(PATHS))
    assert not engine.alive


def test_a_file_deeper_than_the_stack_costs_the_others_nothing(
    backend: PythonBackend, engine: PythonEngine, tmp_path: Path
) -> None:
    (tmp_path / "deep.py").write_text("x = 1\nif x:\n    pass\n" + "elif x:\n    pass\n" * 8_000)
    paths = ["deep.py", *PATHS]
    lines = built(backend, tmp_path, paths)
    assert [json.loads(line)["scope"] for line in lines] == ["unresolved", *["project"] * 4]
    engine.sync(paths, ["deep.py"])
    assert list(engine.lines(paths)) == lines
    assert set(engine.surfaces(paths)) == set(paths)


def test_facts_that_do_not_fit_into_the_heap_come_from_a_larger_one(
    backend: PythonBackend, engine: PythonEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codenib.navigation.python.backend._HEAP", 30)
    with monkeypatch.context() as strict, pytest.raises(ProviderError, match="Python engine failed"):
        strict.setattr(PythonBackend._program, "__kwdefaults__", {"heap": 30})
        built(backend, tmp_path, PATHS)
    assert built(backend, tmp_path, PATHS) == list(engine.lines(PATHS))
