"""The lexical view as the compiler sees it: build, maintain, compare."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from codenib.core.protocols import Records
from codenib.core.source import Delta, SourceSnapshot
from codenib.core.views import ArtifactProfile, ViewFacts, ViewKind
from codenib.views.lexical.postings import write_segment
from codenib.views.lexical.profile import lexical_profile
from codenib.views.lexical.read import LexicalView
from codenib.views.segments import advance_artifact, write_artifact


class LexicalViewBuilder:
    """BM25 postings over leaf units."""

    kind = ViewKind.LEXICAL

    def profile(self) -> ArtifactProfile:
        return lexical_profile()

    def build(self, snapshot: SourceSnapshot, records: Records, out: Path) -> ViewFacts:
        write_artifact(snapshot.source_files(), records, out, write_segment)
        return _facts(out)

    def maintain(self, base: Path, delta: Delta, records: Records, out: Path) -> ViewFacts:
        advance_artifact(base, delta, records, out, write_segment)
        return _facts(out)

    def differences(self, left: Path, right: Path) -> Iterator[str]:
        """Compare every live file's units and postings."""
        facts_left, facts_right = _file_facts(left), _file_facts(right)
        for path in sorted(facts_left.keys() | facts_right.keys()):
            if path not in facts_right:
                yield f"{path}: only in the first"
            elif path not in facts_left:
                yield f"{path}: only in the second"
            elif facts_left[path] != facts_right[path]:
                (ours, _), (theirs, _) = facts_left[path], facts_right[path]
                what = "content" if ours[0] != theirs[0] else "units" if ours != theirs else "term counts"
                yield f"{path}: {what} not equal"


def _facts(folder: Path) -> ViewFacts:
    view = LexicalView(folder)
    skipped = {f"skipped: {reason}": count for reason, count in view.skipped().items()}
    return ViewFacts({"files": view.file_count, "units": view.unit_count, **skipped}, ("ranked:lexical",))


def _file_facts(folder: Path) -> dict[str, tuple[list[object], bytes]]:
    """For each live path: digest, marks and units, and its postings as sorted bytes."""
    facts: dict[str, tuple[list[object], bytes]] = {}
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
            rows = slice(int(first_row[index]), int(first_row[index + 1]))
            facts[file.path] = (
                [file.digest, *_file_row(data.files[index], data.strings), _spell(units, data.strings)],
                term_of[rows].tobytes()
                + (postings["doc"][rows] - first_unit[index]).astype("<u4").tobytes()
                + b"".join(postings[field][rows].tobytes() for field in ("body", "symbol", "path")),
            )
    return facts


def _spell(units: Any, strings: list[str]) -> list[tuple[object, ...]]:
    return [
        (
            *(int(row[field]) for field in ("start", "end", "length", "level")),
            strings[int(row["name"])],
            strings[int(row["kind"])],
        )
        for row in units
    ]


def _file_row(row: Any, strings: list[str]) -> tuple[object, ...]:
    return int(row["marks"]), strings[int(row["language"])], strings[int(row["skip"])]
