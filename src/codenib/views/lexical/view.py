"""The lexical view as the compiler sees it: build, maintain, compare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from codenib.core.protocols import Records
from codenib.core.source import DEFAULT_SETTINGS, Delta, SourceSettings, SourceSnapshot
from codenib.core.views import ArtifactProfile, ViewFacts, ViewKind
from codenib.units.rules import rules_of
from codenib.views.lexical.postings import write_segment
from codenib.views.lexical.profile import lexical_profile
from codenib.views.lexical.read import LexicalView
from codenib.views.segments import advance_artifact, differing_files, write_artifact


class LexicalViewBuilder:
    """BM25 postings over leaf units; `settings` are those of the snapshots that it is asked for."""

    kind = ViewKind.LEXICAL

    def __init__(self, settings: SourceSettings = DEFAULT_SETTINGS) -> None:
        self._settings = settings
        self._write = partial(write_segment, marks_of=rules_of(settings).marks)

    def profile(self) -> ArtifactProfile:
        return lexical_profile(self._settings)

    def build(self, snapshot: SourceSnapshot, records: Records, out: Path) -> ViewFacts:
        write_artifact(snapshot.source_files(), records, out, self._write)
        return _facts(out)

    def maintain(self, base: Path, delta: Delta, records: Records, out: Path) -> ViewFacts:
        advance_artifact(base, delta, records, out, self._write)
        return _facts(out)

    def differences(self, left: Path, right: Path) -> Iterator[str]:
        """Compare every live file's units and postings."""
        return differing_files(_file_facts(left), _file_facts(right), _unequal)


class _FileFacts(NamedTuple):
    """What the view says of a file; `postings` are sorted bytes."""

    digest: str
    about: tuple[object, ...]
    units: list[tuple[object, ...]]
    nested: list[tuple[object, ...]]
    postings: bytes


def _unequal(ours: _FileFacts, theirs: _FileFacts) -> Iterator[str]:
    if ours != theirs:
        same_units = ours._replace(postings=b"") == theirs._replace(postings=b"")
        what = "content" if ours.digest != theirs.digest else "term counts" if same_units else "units"
        yield f"{what} not equal"


def _facts(folder: Path) -> ViewFacts:
    view = LexicalView(folder)
    skipped = {f"skipped: {reason}": count for reason, count in view.skipped().items()}
    return ViewFacts({"files": view.file_count, "units": view.unit_count, **skipped}, ("ranked:lexical",))


def _file_facts(folder: Path) -> dict[str, _FileFacts]:
    """The facts of each live path."""
    facts: dict[str, _FileFacts] = {}
    for data in LexicalView(folder).segments:
        postings = np.asarray(data.postings)
        term_of = np.repeat(np.asarray(data.terms), (data.starts[1:] - data.starts[:-1]).astype(np.int64))
        order = np.argsort(postings["doc"], kind="stable")
        postings, term_of = postings[order], term_of[order]
        docs = np.asarray(data.documents)
        first_unit = np.searchsorted(docs["file"], np.arange(len(data.files) + 1))
        first_row = np.searchsorted(postings["doc"], first_unit)
        for index, file in enumerate(data.segment.files):
            if index in data.segment.dead:
                continue
            units = docs[first_unit[index] : first_unit[index + 1]]
            first_nested, end_nested = np.searchsorted(data.nested["doc"], first_unit[index : index + 2])
            rows = slice(int(first_row[index]), int(first_row[index + 1]))
            facts[file.path] = _FileFacts(
                file.digest,
                _file_row(data.files[index], data.strings),
                _spell(units, ("start", "end", "length", "level", "marks"), data.strings),
                _spell(data.nested[first_nested:end_nested], ("start", "end"), data.strings),
                term_of[rows].tobytes()
                + (postings["doc"][rows] - first_unit[index]).astype("<u4").tobytes()
                + b"".join(postings[field][rows].tobytes() for field in ("body", "symbol", "path")),
            )
    return facts


def _spell(rows: Any, fields: Sequence[str], strings: list[str]) -> list[tuple[object, ...]]:
    return [
        (
            *(int(row[field]) for field in fields),
            strings[int(row["name"])],
            strings[int(row["kind"])],
        )
        for row in rows
    ]


def _file_row(row: Any, strings: list[str]) -> tuple[object, ...]:
    return int(row["marks"]), strings[int(row["language"])], strings[int(row["skip"])]
