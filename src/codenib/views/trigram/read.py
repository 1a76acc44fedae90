"""A trigram artifact in, answers to substring and regex searches over its live files out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from codenib.core.source import SourceFile
from codenib.views.segments import read_segments
from codenib.views.trigram.match import Matches
from codenib.views.trigram.parts import PartsReader
from codenib.views.trigram.pattern import compile_pattern
from codenib.views.trigram.search import CandidateFile, MatchLimits, verify


class TrigramView:
    """An open artifact. Immutable and memory-mapped: any number of threads may search it."""

    def __init__(self, segments: list[PartsReader]) -> None:
        self.segments = segments

    @classmethod
    def open(cls, folder: Path) -> TrigramView:
        """Map the artifact in `folder`; raises `StateError` when it cannot be read."""
        return cls([PartsReader(folder, segment) for segment in read_segments(folder)])

    def search(
        self,
        pattern: str,
        *,
        ignore_case: bool = False,
        literal: bool = False,
        multiline: bool = False,
        paths: Callable[[str], bool] | None = None,
        limit: int | None = None,
        context: int = 0,
        timeout_s: float = 10.0,
    ) -> Matches:
        """The lines that match `pattern`, in files whose path meets `paths`; see pattern.py for the dialect.

        `literal` takes the pattern as plain text; matches of a `multiline` one may span lines. All matching
        lines are counted, at most `limit` returned.
        Raises `InputError` for a pattern that cannot be compiled.
        """
        compiled = compile_pattern(pattern, ignore_case=ignore_case, literal=literal, multiline=multiline)
        candidates = [
            CandidateFile(
                segment.files[index].path, partial(segment.texts.decoded, index, compiled.byte_needles)
            )
            for segment in self.segments
            for index in segment.candidates(compiled.need)
            if paths is None or paths(segment.files[index].path)
        ]
        candidates.sort(key=lambda candidate: candidate.path)
        return verify(
            compiled,
            candidates,
            MatchLimits(limit, context),
            timeout_s=timeout_s,
            scanned_all=not compiled.need,
        )

    def live(self) -> Iterator[tuple[SourceFile, PartsReader, int]]:
        """Each live file with where its text and trigrams are, segment by segment."""
        for segment in self.segments:
            for index, file in enumerate(segment.files):
                if segment.live[index]:
                    yield file, segment, index
