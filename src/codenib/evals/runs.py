"""A run folder: one JSON line per measurement, a pinned header; opened again, it continues where it stopped.

header.json     study, settings, rows, environment: written once, compared when the folder is opened again
records.jsonl   one object per measurement, with its `key`; a line that a kill cut short is dropped
summary.json    what `--json` prints
report.md       for people, with figures/*.png and *.svg
state/          the views that were built ($CODENIB_HOME of the run)
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from codenib.core.errors import InputError
from codenib.evals.environment import environment
from codenib.manifest.home import tools_folder

Record = dict[str, Any]
FORMAT = 1


class StudyRun:
    """The folder of one study. `settings` is everything that decides what is measured.

    `missing` is what the study goes on without; the first line of its report names it.
    """

    def __init__(
        self, folder: Path, study: str, settings: Mapping[str, object], missing: Iterable[str] = ()
    ) -> None:
        self.folder = folder
        self.missing = list(missing)
        folder.mkdir(parents=True, exist_ok=True)
        self.header = self._pin(study, json.loads(json.dumps(settings)))
        self._file = folder / "records.jsonl"
        self._records = self._read()
        self.resumed = len(self._records)

    def __contains__(self, key: str) -> bool:
        return key in self._records

    def __len__(self) -> int:
        return len(self._records)

    def records(self, kind: str | None = None) -> Iterator[Record]:
        """Every record, or those of one kind, in the order of their keys: not of their arrival."""
        for key in sorted(self._records):
            if kind is None or self._records[key]["kind"] == kind:
                yield self._records[key]

    def get(self, key: str) -> Record | None:
        return self._records.get(key)

    def add(self, kind: str, key: str, values: Mapping[str, object]) -> Record:
        """Append a measurement; it is on disk when this returns."""
        record: Record = json.loads(json.dumps({"kind": kind, "key": key, **values}))
        with self._file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
            out.flush()
            os.fsync(out.fileno())
        self._records[key] = record
        return record

    def once(self, kind: str, key: str, measure: Callable[[], Mapping[str, object]]) -> Record:
        """The record of this key: read when it is there, measured and kept when it is not."""
        return self._records.get(key) or self.add(kind, key, measure())

    def write(self, name: str, text: str) -> Path:
        """Replace a file of the folder in one step."""
        part = self.folder / f".{name}.part"
        part.write_text(text, encoding="utf-8")
        part.rename(self.folder / name)
        return self.folder / name

    def finish(self, summary: Mapping[str, object], report: str) -> None:
        self.write("summary.json", json.dumps(summary, indent=2, ensure_ascii=False) + "\n")
        self.write("report.md", report)

    def use_state(self, home: Path | None) -> None:
        """Build views in the run's own state, so that a run starts cold and touches nobody's home.

        Engines stay those of the user: by default they are installed in the home that is left here.
        """
        os.environ.setdefault("CODENIB_TOOLBOX", str(tools_folder()))
        os.environ["CODENIB_HOME"] = str((home or self.folder / "state").absolute())

    def _pin(self, study: str, settings: Record) -> Record:
        file = self.folder / "header.json"
        if not file.exists():
            if any(self.folder.iterdir()):
                raise InputError(f"{self.folder} holds something else", hint="--out NEW_FOLDER")
            header = {"format": FORMAT, "study": study, "settings": settings, "environment": environment()}
            self.write("header.json", json.dumps(header, indent=2, ensure_ascii=False) + "\n")
            return header
        header = json.loads(file.read_text(encoding="utf-8"))
        if header.get("study") != study:
            raise InputError(f"{self.folder} is a run of {header.get('study')}", hint="--out NEW_FOLDER")
        differing = [
            name
            for name in sorted({*settings, *header["settings"]})
            if settings.get(name) != header["settings"].get(name)
        ]
        if differing:
            raise InputError(
                f"{self.folder} was made with other settings: {', '.join(differing)}",
                hint="--out NEW_FOLDER, or the same options as before",
            )
        made_by = header["environment"]["codenib"], header["environment"]["source"]
        now = environment()
        if made_by != (now["codenib"], now["source"]):
            header["resumed_by"] = sorted(
                {*header.get("resumed_by", ()), f"{now['codenib']} {now['source']}"}
            )
            self.write("header.json", json.dumps(header, indent=2, ensure_ascii=False) + "\n")
        return dict(header)

    def _read(self) -> dict[str, Record]:
        """Whole lines alone: the end of a line that a kill cut short is removed from the file."""
        if not self._file.exists():
            return {}
        data = self._file.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            with self._file.open("r+b") as out:
                out.truncate(whole)
        records = {}
        for line in data[:whole].splitlines():
            record = json.loads(line)
            records[record["key"]] = record
        return records


def read_run(folder: Path) -> tuple[Record, list[Record]]:
    """The header and the records of a folder that nobody writes to now."""
    header = folder / "header.json"
    if not header.exists():
        raise InputError(f"{folder} is no run folder", hint="codenib eval retrieval --out FOLDER")
    lines = (folder / "records.jsonl").read_text(encoding="utf-8").splitlines()
    return json.loads(header.read_text(encoding="utf-8")), [json.loads(line) for line in lines]
