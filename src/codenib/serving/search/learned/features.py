"""One query over one snapshot in, a row of numbers for every candidate unit and file out.

Columns are named, and mean the same whatever views there are: what a missing view would say is NaN. All that
depends on the size of a repository is a ratio to the best candidate or a logarithm of a rank.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codenib.core.source import Level, Mark
from codenib.planner.signals import Signals
from codenib.serving.search.lexical import best_units
from codenib.serving.search.names import UnitNames, agreement, stem
from codenib.units.tokens import term_hash, terms_of
from codenib.views.lexical.read import LexicalView, Scores

Array = NDArray[Any]

UNITS = 200  # candidates of the base order
FILES = 80
TOP = 15  # units whose mentions of others count
_WORD = re.compile(r"\w+")

FILE_COLUMNS = (
    "base", "rank", "whole", "best", "second", "third", "title", "names", "near", "near2", "near_title",
    "path", "stem_title", "stem", "folder", "frames", "first_frame", "last_frame", "named", "named_rare",
    "owner_named", "mentioned", "test", "example", "vendored", "generated", "prose", "units", "query_terms",
    "query_names", "query_frames", "repository",
)  # fmt: skip
UNIT_COLUMNS = (
    "file_model", "file_rank", "file_gap", "base", "rank", "lexical", "title", "names", "near", "near_title",
    "in_file", "rank_in_file", "named", "named_title", "named_rare", "owner_named", "owner_title",
    "both_named", "frame", "frame_near", "mentioned", "mentions", "name_share", "name_share_title", "lines",
    "rest", "test", "units_in_file", "query_terms", "query_names", "repository",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ViewScores:
    """What the views said of every unit and file, and how the base order ranks them.

    `near` and `near_title` are standings of units' vectors towards the query and its title; None without.
    """

    view: LexicalView
    names: UnitNames
    signals: Signals
    text: str
    full: Scores
    title: Scores
    named: Scores
    units: Array  # base scores of units
    files: Array  # base scores of files
    near: Array | None = None
    near_title: Array | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """Numbers of units or files with their features, in the base order."""

    numbers: Array
    rows: NDArray[np.float32]


class Features:
    """The features of one query; files first, because a unit's row holds what its file got."""

    def __init__(self, scores: ViewScores) -> None:
        self.scores = scores
        view, names, signals = scores.view, scores.names, scores.signals
        self._words = frozenset(word.lower() for word in _WORD.findall(scores.text))
        self._title_words = frozenset(word.lower() for word in _WORD.findall(signals.title))
        self._terms = frozenset(term for word in self._words for term in terms_of(word))
        self._title_terms = frozenset(term for word in self._title_words for term in terms_of(word))
        self._leaf_named = self._mask(self._words)
        self._leaf_title = self._mask(self._title_words)
        code = {
            word.lower() for name in (*signals.identifiers, *signals.dotted) for word in _WORD.findall(name)
        }
        self._leaf_code = self._mask(code)
        self.unit_numbers = _top(scores.units, UNITS, self._looked_up())
        files = view.file_of[self.unit_numbers]
        self.file_numbers = _top(scores.files, FILES, np.unique(files))
        self._frames = self._frames_by_file()
        self._rarity = 1.0 / (1.0 + np.log1p(np.maximum(names.counts - 1, 0)))
        self._top = self.unit_numbers[:TOP]

    def _mask(self, words: frozenset[str] | set[str]) -> Array:
        """Which leaf names stand in a set of words."""
        mask = np.zeros(len(self.scores.names.leaves) + 1, bool)  # the last one is for units without a name
        for word in words:
            number = self.scores.names.number(word)
            if number >= 0:
                mask[number] = True
        return mask

    def _looked_up(self) -> Array:
        """Units and files that the query names outright: rare names, frames of traces."""
        named: list[Array] = [np.zeros(0, np.int64)]
        for name in (*self.scores.signals.identifiers, *self.scores.signals.dotted):
            units = self.scores.names.units(re.split(r"\W+", name)[-1])
            if len(units) <= 8:
                named.append(units)
        return np.unique(np.concatenate(named))

    def _frames_by_file(self) -> dict[int, list[tuple[int, int, str]]]:
        """For each file that a trace names: (order, line, function) of its frames."""
        by_file: dict[int, list[tuple[int, int, str]]] = {}
        for order, frame in enumerate(self.scores.signals.frames):
            for file in self.scores.names.files(frame.path)[:3]:
                by_file.setdefault(file, []).append((order, frame.line, frame.function))
        return by_file

    def files(self) -> Candidates:
        """The rows of the candidate files."""
        scores, view, numbers = self.scores, self.scores.view, self.file_numbers
        out = np.zeros((len(numbers), len(FILE_COLUMNS)), np.float32)
        column = {name: index for index, name in enumerate(FILE_COLUMNS)}

        def put(name: str, values: Array | float) -> None:
            out[:, column[name]] = values

        best = best_units(view, scores.full.units, 3)
        put("base", _ratio(scores.files)[numbers])
        put("rank", np.log1p(np.arange(len(numbers))))
        put("whole", _ratio(scores.full.files)[numbers])
        for name, values in zip(("best", "second", "third"), best, strict=True):
            put(name, values[numbers] / (float(best[0].max()) or 1.0))
        put("title", _ratio(best_units(view, scores.title.units, 1)[0])[numbers])
        put("names", _ratio(best_units(view, scores.named.units, 1)[0])[numbers])
        for name, near in (("near", scores.near), ("near_title", scores.near_title)):
            two = [np.full(len(view.marks), np.nan)] * 2 if near is None else best_units(view, near, 2)
            put(name, two[0][numbers])
            if name == "near":
                put("near2", two[1][numbers])
        named, rare, owner = self._named_by_file()
        put("named", named[numbers])
        put("named_rare", rare[numbers])
        put("owner_named", owner[numbers])
        put("mentioned", np.log1p(self._mentioned_by_file()[numbers]))
        for name, mark in (
            ("test", Mark.TEST), ("example", Mark.EXAMPLE), ("vendored", Mark.VENDORED),
            ("generated", Mark.GENERATED), ("prose", Mark.PROSE),
        ):  # fmt: skip
            put(name, (view.marks[numbers] & int(mark)) != 0)
        sizes = np.bincount(view.file_of, view.live, len(view.marks))
        put("units", np.log1p(sizes[numbers]))
        self._put_constants(put)
        put("query_frames", len(self._frames))
        self._put_paths(out, column)
        return Candidates(numbers, out)

    def units(self, file_scores: Array) -> Candidates:
        """The rows of the candidate units; `file_scores` are the model's, for `file_numbers`."""
        scores, view, names, numbers = self.scores, self.scores.view, self.scores.names, self.unit_numbers
        out = np.zeros((len(numbers), len(UNIT_COLUMNS)), np.float32)
        column = {name: index for index, name in enumerate(UNIT_COLUMNS)}

        def put(name: str, values: Array | float) -> None:
            out[:, column[name]] = values

        files = view.file_of[numbers]
        by_file = np.full(len(view.marks), np.nan)
        by_file[self.file_numbers] = file_scores
        place = np.full(len(view.marks), np.nan)
        place[self.file_numbers[np.argsort(-file_scores, kind="stable")]] = np.arange(len(file_scores))
        put("file_model", by_file[files])
        put("file_rank", np.log1p(place[files]))
        put("file_gap", by_file[files] - (file_scores.max() if len(file_scores) else 0.0))
        put("base", _ratio(scores.units)[numbers])
        put("rank", np.log1p(np.arange(len(numbers))))
        put("lexical", _ratio(scores.full.units)[numbers])
        put("title", _ratio(scores.title.units)[numbers])
        put("names", _ratio(scores.named.units)[numbers])
        put("near", np.nan if scores.near is None else scores.near[numbers])
        put("near_title", np.nan if scores.near_title is None else scores.near_title[numbers])
        best = best_units(view, scores.units, 1)[0]
        put("in_file", scores.units[numbers] / np.maximum(best[files], 1e-9))
        put("rank_in_file", np.log1p(_rank_within(files)))
        leaf, owner = names.leaf[numbers], names.owner[numbers]
        put("named", self._leaf_named[leaf])
        put("named_title", self._leaf_title[leaf])
        put("named_rare", self._leaf_code[leaf] * np.append(self._rarity, 0.0)[leaf])
        put("owner_named", self._leaf_named[owner])
        put("owner_title", self._leaf_title[owner])
        put("both_named", self._leaf_named[leaf] & self._leaf_named[owner])
        put("mentioned", self._mentioned)
        put("mentions", self._mentions(numbers))
        put("lines", np.log1p(self._lines(numbers)))
        put("rest", view.levels[numbers] == Level.L1)
        put("test", (view.unit_marks[numbers] & int(Mark.TEST)) != 0)
        sizes = np.bincount(view.file_of, view.live, len(view.marks))
        put("units_in_file", np.log1p(sizes[files]))
        self._put_constants(put)
        self._put_shares(out, column, leaf)
        self._put_frames(out, column, files)
        return Candidates(numbers, out)

    def _put_constants(self, put: Any) -> None:
        put("query_terms", np.log1p(len(self.scores.full.terms)))
        put("query_names", np.log1p(len(self.scores.signals.identifiers)))
        put("repository", np.log1p(self.scores.view.unit_count))

    def _named_by_file(self) -> tuple[Array, Array, Array]:
        """For each file: its named units, weighted; those spelt as code; its named owners."""
        view, names = self.scores.view, self.scores.names
        rarity = np.append(self._rarity, 0.0)
        weight = rarity[names.leaf] * view.live
        size = len(view.marks)
        named = np.bincount(view.file_of, weight * self._leaf_named[names.leaf], size)
        rare = np.bincount(view.file_of, weight * self._leaf_code[names.leaf], size)
        owner = np.bincount(view.file_of, view.live * self._leaf_named[names.owner], size)
        return np.log1p(named), np.log1p(rare), np.log1p(owner)

    def _put_paths(self, out: Array, column: dict[str, int]) -> None:
        """How the query speaks of a file's path, and what traces say of it."""
        wanted = [path.lower().split("/") for path in self.scores.signals.paths]
        dotted = [re.split(r"\.|::", name.lower()) for name in self.scores.signals.dotted]
        last = max((order for frames in self._frames.values() for order, _, _ in frames), default=0)
        for row, number in enumerate(self.file_numbers.tolist()):
            path = self.scores.view.paths[number]
            out[row, column["path"]] = max((agreement(parts, path) for parts in wanted), default=0)
            name = stem(path)
            parts = set(terms_of(name))
            folders = path.lower().split("/")[:-1]
            if any(name in names and len(set(folders) & set(names)) for names in dotted):
                out[row, column["path"]] = max(out[row, column["path"]], 1.5)
            out[row, column["stem_title"]] = len(parts & self._title_terms) / (len(parts) or 1)
            out[row, column["stem"]] = len(parts & self._terms) / (len(parts) or 1)
            spoken = {term for folder in folders for term in terms_of(folder)}
            out[row, column["folder"]] = len(spoken & self._terms) / (len(spoken) or 1)
            frames = self._frames.get(number)
            if frames:
                out[row, column["frames"]] = np.log1p(len(frames))
                out[row, column["first_frame"]] = frames[0][0] == 0
                out[row, column["last_frame"]] = frames[-1][0] == last

    def _put_shares(self, out: Array, column: dict[str, int], leaf: Array) -> None:
        for row, number in enumerate(leaf.tolist()):
            if number < 0:
                continue
            parts = set(terms_of(self.scores.names.leaves[number]))
            out[row, column["name_share"]] = len(parts & self._terms) / (len(parts) or 1)
            out[row, column["name_share_title"]] = len(parts & self._title_terms) / (len(parts) or 1)

    def _put_frames(self, out: Array, column: dict[str, int], files: Array) -> None:
        """A frame's line inside a unit, or its function's name; lines drift between versions."""
        if not self._frames:
            return
        for row, (unit, file) in enumerate(zip(self.unit_numbers.tolist(), files.tolist(), strict=True)):
            frames = self._frames.get(file)
            if not frames:
                continue
            start, end = self._span(unit)
            number = int(self.scores.names.leaf[unit])
            name = self.scores.names.leaves[number] if number >= 0 else ""
            out[row, column["frame"]] = max(
                1.0 * (start <= line <= end) + 1.0 * bool(name and function.lower() == name)
                for _, line, function in frames
            )
            out[row, column["frame_near"]] = min(
                np.log1p(max(start - line, line - end, 0)) for _, line, _ in frames
            )

    def _span(self, unit: int) -> tuple[int, int]:
        span = self.scores.view.document(unit).span
        return span.start_line, span.end_line

    def _lines(self, numbers: Array) -> Array:
        return self.scores.view.ends[numbers] - self.scores.view.starts[numbers] + 1

    @cached_property
    def _mentioned(self) -> Array:
        """How many of the best units mention a candidate's name, rarer names counting more."""
        leaf = self.scores.names.leaf[self.unit_numbers]
        counts = np.zeros(len(leaf))
        top = np.sort(self._top)
        mentions: dict[int, int] = {}
        for row, number in enumerate(leaf.tolist()):
            if number < 0:
                continue
            if number not in mentions:
                mentions[number] = int(_among(top, self._holders(self.scores.names.leaves[number])).sum())
            counts[row] = mentions[number] * self._rarity[number]
        return np.log1p(counts)

    def _mentioned_by_file(self) -> Array:
        counts = np.zeros(len(self.scores.view.marks))
        np.maximum.at(counts, self.scores.view.file_of[self.unit_numbers], self._mentioned)
        return counts

    def _mentions(self, numbers: Array) -> Array:
        """How many of the best units' names a unit mentions."""
        counts = np.zeros(len(numbers))
        for leaf in set(self.scores.names.leaf[self._top].tolist()) - {-1}:
            counts += self._rarity[leaf] * _among(numbers, self._holders(self.scores.names.leaves[leaf]))
        return np.log1p(counts)

    def _holders(self, name: str) -> Array:
        """The units whose text holds a name."""
        terms = terms_of(name)
        return self.scores.view.holders(term_hash(terms[-1])) if terms else np.zeros(0, np.int64)


def _top(scores: Array, count: int, also: Array) -> Array:
    """The numbers of the best `count` scores above zero, best first, then those of `also` not among them."""
    best = np.flatnonzero(scores > 0)
    if len(best) > count:
        best = best[np.argpartition(-scores[best], count - 1)[:count]]
    ordered = best[np.lexsort((best, -scores[best]))]
    more = np.setdiff1d(also, ordered)
    return np.concatenate([ordered, more[np.lexsort((more, -scores[more]))]])


def _among(wanted: Array, ordered: Array) -> Array:
    """Which of some numbers are in a sorted list."""
    if not len(ordered):
        return np.zeros(len(wanted), bool)
    equal: Array = ordered[np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)] == wanted
    return equal


def _ratio(values: Array) -> Array:
    best = float(values.max()) if len(values) else 0.0
    ratios: Array = values / best if best > 0 else values
    return ratios


def _rank_within(files: Array) -> Array:
    """For a list in order: how many of the same file came before."""
    before: dict[int, int] = {}
    ranks = []
    for file in files.tolist():
        ranks.append(before.get(file, 0))
        before[file] = ranks[-1] + 1
    return np.array(ranks, np.float64)
