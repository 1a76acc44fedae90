"""Run folders: continued after a kill, pinned to their settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codenib.core.errors import InputError
from codenib.evals.runs import StudyRun


def test_a_run_continues_where_it_stopped(tmp_path: Path) -> None:
    StudyRun(tmp_path / "run", "ann", {"seed": 1}).add("cell", "a", {"value": 3})
    again = StudyRun(tmp_path / "run", "ann", {"seed": 1})
    assert again.resumed == 1
    assert again.once("cell", "a", lambda: pytest.fail("measured twice"))["value"] == 3
    assert again.once("cell", "b", lambda: {"value": 4})["value"] == 4


@settings(deadline=None)  # it writes to the disk
@given(cut=st.integers(0, 200))
def test_a_line_that_a_kill_cut_short_is_measured_again(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    folder = tmp_path_factory.mktemp("run") / "run"
    run = StudyRun(folder, "ann", {})
    for name in "abc":
        run.add("cell", name, {"value": f"é{name}"})
    file = folder / "records.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole[:cut])
    again = StudyRun(folder, "ann", {})
    assert len(again) == whole[:cut].count(b"\n")
    for name in "abc":
        again.once("cell", name, lambda name=name: {"value": f"é{name}"})  # type: ignore[misc]
    assert file.read_bytes() == whole


def test_other_settings_are_refused_by_name(tmp_path: Path) -> None:
    StudyRun(tmp_path / "run", "ann", {"seed": 1, "repos": []})
    with pytest.raises(InputError, match="other settings: seed"):
        StudyRun(tmp_path / "run", "ann", {"seed": 2, "repos": []})


def test_the_folder_of_another_study_is_refused(tmp_path: Path) -> None:
    StudyRun(tmp_path / "run", "ann", {})
    with pytest.raises(InputError, match="is a run of ann"):
        StudyRun(tmp_path / "run", "navigation", {})


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match="holds something else"):
        StudyRun(tmp_path, "ann", {})


def test_the_header_pins_versions_and_names_no_machine_path(tmp_path: Path) -> None:
    run = StudyRun(tmp_path / "run", "ann", {})
    text = (tmp_path / "run" / "header.json").read_text()
    assert json.loads(text)["environment"]["libraries"]["numpy"]
    assert str(Path.home()) not in text
    assert str(tmp_path) not in text
    assert run.header["study"] == "ann"
