"""Splits by repository and time, and licences."""

from __future__ import annotations

from codenib.runtime.traces.export_rows import RowAbout, RunOutcome
from codenib.runtime.traces.export_runs import ExportRun
from codenib.runtime.traces.export_split import split_runs
from codenib.runtime.traces.licences import UNRECOGNIZED, licence_name
from codenib.runtime.traces.trace import Event


def run(repository: str, issue: str, day: int, copy: int = 0) -> ExportRun:
    about = RowAbout(
        run=f"{repository} {issue} {copy}", repository=repository, license="", commit="", snapshot="s",
        dirty=False, started=f"2026-01-{day:02}", provider="p", model="m", policy="eager", consent="",
    )  # fmt: skip
    event = Event(0, 0.0, "run", {"issue": issue})
    return ExportRun((event,), about, RunOutcome(True), f"{about.run}.jsonl", masked=False)


def test_with_few_repositories_the_latest_issues_are_held_out_with_all_their_runs() -> None:
    runs = [run("shop", f"issue {day}", day) for day in range(1, 11)]
    again = run("shop", "issue 9", 28, copy=1)  # a later run of an issue stays with its first one
    plan = split_runs([*runs, again])
    assert [plan.of_run[each.about.run] for each in runs] == ["train"] * 6 + ["validation"] * 2 + ["test"] * 2
    assert plan.of_run[again.about.run] == "test"


def test_with_more_repositories_whole_ones_are_the_test() -> None:
    runs = [run(name, f"issue {day}", day) for name in ("a", "b", "c", "d") for day in range(1, 6)]
    plan = split_runs(runs)
    by_name = {
        name: [plan.of_run[each.about.run] for each in runs if each.about.repository == name]
        for name in "abcd"
    }
    (test,) = (name for name, splits in by_name.items() if "test" in splits)
    assert by_name.pop(test) == ["test"] * 5
    assert all(splits == ["train"] * 4 + ["validation"] for splits in by_name.values())
    assert test in plan.rule


def test_a_licence_is_told_by_its_words() -> None:
    bsd = "Redistribution and use in source and binary forms, with or without modification"
    assert licence_name(bsd) == "BSD-2-Clause"
    assert licence_name(f"{bsd}\n\n3. Neither the name of the holder") == "BSD-3-Clause"
    assert (
        licence_name("                     Apache License\n               Version 2.0, January 2004")
        == "Apache-2.0"
    )
    assert licence_name("All rights reserved.") == UNRECOGNIZED
