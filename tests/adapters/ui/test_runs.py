"""Runs below the named folders, and nothing outside of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codenib.adapters.ui.runs import RunFolders
from codenib.core.errors import InputError
from codenib.runtime.traces.trace import AgentRunTrace

SNAPSHOT = {"id": "a" * 32, "commit": "b" * 40, "dirty": False}


def make_runs(parent: Path) -> Path:
    """A folder with a trace, a log and two studies."""
    folder = parent / "runs"
    folder.mkdir()
    with AgentRunTrace(folder / "trace.jsonl") as trace:
        trace.add(
            "run", schema=1, provider="scripted", model="none", policy="eager", snapshot=SNAPSHOT, tools=[]
        )
        trace.add("decision", about="candidates", yes=True, why="the issue names no file")
        trace.add("tool", name="search", failed=False, total=7, provider="hybrid", seconds=0.02)
        place = {
            "path": "src/sessions.py",
            "start_line": 4,
            "end_line": 7,
            "symbol": "SessionStore.save_session",
        }
        trace.add("answer", answer={"summary": "The store saves it."}, located={"locations": [place]})
        trace.add("end", stop="answered", turns=1, total=120, usage=_usage(), seconds=0.5)
    line = {"time": "2026-11-16T17:00:00.000Z", "level": "info", "message": "search answered", "ms": 12}
    (folder / "serve.jsonl").write_text(json.dumps(line) + "\n")
    for name, recall in (("one", 0.4), ("two", 0.5)):
        (folder / name / "figures").mkdir(parents=True)
        (folder / name / "summary.json").write_text(json.dumps({"study": "retrieval", "recall": recall}))
        (folder / name / "report.md").write_text(
            "# Retrieval\n\n| arm | recall |\n|---|---|\n| fast | .4 |\n"
        )
        (folder / name / "figures" / "recall.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    return folder


def _usage() -> dict[str, Any]:
    return {"invocations": 1, "cost": None, "prompt": 100, "completion": 20}


def test_each_run_is_listed_by_what_it_is(tmp_path: Path) -> None:
    folders = RunFolders([make_runs(tmp_path)])

    listed = {item.path: item.kind for item in folders.listed().items}
    assert listed == {
        "runs/trace.jsonl": "trace",
        "runs/serve.jsonl": "calls",
        "runs/one": "study",
        "runs/two": "study",
    }
    assert folders.study("runs/one").figures == ("recall.svg",)
    assert folders.trace("runs/trace.jsonl").run["policy"] == "eager"
    assert folders.calls("runs/serve.jsonl").items[0].ms == 12


@pytest.mark.parametrize(
    "path", ["runs/../secret.jsonl", "secret.jsonl", "runs/link.jsonl", "/etc/passwd", ""]
)
def test_no_path_leads_outside_of_the_named_folders(tmp_path: Path, path: str) -> None:
    folder = make_runs(tmp_path)
    secret = tmp_path / "secret.jsonl"
    secret.write_text((folder / "trace.jsonl").read_text())
    (folder / "link.jsonl").symlink_to(secret)

    with pytest.raises(InputError, match="no run"):
        RunFolders([folder]).trace(path)
