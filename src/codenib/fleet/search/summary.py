"""A pinned snapshot's text views in, a small summary out that says what the repository is about.

A summary has, for each term of the lexical view, in how many units and files it stands and how many units
are named by it; a filter of the trigrams; the languages; and the packages that its manifests name. It is
made from the views' own statistics; of the source only manifests are read. Counts are rounded to a
sixteenth of a doubling, terms are named by 32 bits of their hash: of 60,000 terms, one in 70,000 that the
repository does not have is taken for one that it has.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np

from codenib.core.errors import UNDECODABLE, StateError
from codenib.core.views import RepoManifest, Status, ViewKind
from codenib.fleet.search.packages import ExportedPackage, packages_of
from codenib.serving.snapshots.pinned import PinnedSnapshot
from codenib.units.tokens import term_hash, terms_of, words_of
from codenib.views.arrays import Array
from codenib.views.lexical.statistics import TermStatistics, term_statistics
from codenib.views.trigram.literals import Need
from codenib.views.trigram.read import TrigramView

FORMAT = 3
#: Terms that a summary has at most. What names units is never left out; of the others the rarest go first.
MOST_TERMS = 60_000
_STEPS = 8  # a count is rounded to 2 ** (n / _STEPS)
_FILL = 4  # bits of the trigram filter for each trigram
_LEAST_BITS, _MOST_BITS = 15, 21  # 4 KB to 256 KB
_DIGEST = 16  # bytes
_MAJOR = re.compile(r"/v\d+\Z")  # of a Go module: `example.org/chi/v5` is called chi


class _SummaryFile(msgspec.Struct, frozen=True, kw_only=True):
    """A summary as it is stored, in MessagePack."""

    format: int
    snapshot: str
    profiles: dict[str, str]  # of the views that it was made from
    units: int
    files: int
    languages: dict[str, int]
    left_out: int
    terms: bytes
    unit_counts: bytes
    file_counts: bytes
    named_counts: bytes
    grams: bytes
    packages: tuple[ExportedPackage, ...]


@dataclass(frozen=True)
class RepoSummary:
    """What one snapshot of a repository is about. `left_out` terms that name no unit were dropped."""

    snapshot: str
    profiles: dict[str, str]
    units: int
    files: int
    languages: dict[str, int]
    left_out: int
    terms: Array  # 32 bits of each hash, ascending
    unit_counts: Array  # rounded, as `counted` writes them
    file_counts: Array
    named_counts: Array
    grams: Array  # the bits of the filter; none where there is no trigram view
    packages: tuple[ExportedPackage, ...]

    @classmethod
    def of(cls, pinned: PinnedSnapshot) -> RepoSummary:
        """The summary of a snapshot with a fresh lexical view, and of its trigram view where that is."""
        view = pinned.lexical
        statistics, left_out = _most_telling(term_statistics(view))
        languages: dict[str, int] = {}
        for _, language, _, _ in view.files():
            languages[language] = languages.get(language, 0) + 1
        terms, first = np.unique(_short(statistics.terms), return_index=True)
        return cls(
            snapshot=pinned.manifest.snapshot,
            profiles=profiles_of(pinned.manifest),
            units=view.unit_count,
            files=view.file_count,
            languages=languages,
            left_out=left_out,
            terms=terms,
            unit_counts=counted(statistics.units[first]),
            file_counts=counted(statistics.files[first]),
            named_counts=counted(statistics.named[first]),
            grams=_filter_of(pinned.trigram) if pinned.has_fresh(ViewKind.TRIGRAM) else np.zeros(0, np.uint8),
            packages=packages_of(pinned),
        )

    def encode(self) -> bytes:
        """The bytes of the summary, behind their digest."""
        row = _SummaryFile(
            format=FORMAT,
            snapshot=self.snapshot,
            profiles=self.profiles,
            units=self.units,
            files=self.files,
            languages=self.languages,
            left_out=self.left_out,
            terms=self.terms.astype("<u4").tobytes(),
            unit_counts=self.unit_counts.tobytes(),
            file_counts=self.file_counts.tobytes(),
            named_counts=self.named_counts.tobytes(),
            grams=self.grams.tobytes(),
            packages=self.packages,
        )
        body = msgspec.msgpack.encode(row)
        return _digest(body) + body

    @classmethod
    def decode(cls, data: bytes) -> RepoSummary:
        """What `encode` wrote; a StateError for anything else."""
        body = data[_DIGEST:]
        try:
            if data[:_DIGEST] != _digest(body):
                raise ValueError("its digest is wrong")
            row = msgspec.msgpack.decode(body, type=_SummaryFile)
            if row.format != FORMAT:
                raise ValueError(f"it has format {row.format}")
        except UNDECODABLE as error:
            raise StateError(f"a summary cannot be read: {error}", hint="codenib fleet index") from error
        columns = (row.unit_counts, row.file_counts, row.named_counts, row.grams)
        unit_counts, file_counts, named_counts, grams = (np.frombuffer(each, np.uint8) for each in columns)
        return cls(
            snapshot=row.snapshot,
            profiles=row.profiles,
            units=row.units,
            files=row.files,
            languages=row.languages,
            left_out=row.left_out,
            terms=np.frombuffer(row.terms, "<u4"),
            unit_counts=unit_counts,
            file_counts=file_counts,
            named_counts=named_counts,
            grams=grams,
            packages=row.packages,
        )

    def is_of(self, manifest: RepoManifest) -> bool:
        """Whether this is of these very views of this very snapshot."""
        return self.snapshot == manifest.snapshot and self.profiles == profiles_of(manifest)

    def counts(self, hashes: Array) -> tuple[Array, Array, Array]:
        """For each term, by `short_hashes`: its units, its files and the units that it names."""
        if not len(self.terms):
            nothing = np.zeros(len(hashes))
            return nothing, nothing, nothing
        at = np.minimum(np.searchsorted(self.terms, hashes), len(self.terms) - 1)
        here = self.terms[at] == hashes
        columns = self.unit_counts, self.file_counts, self.named_counts
        units, files, named = (np.where(here, _COUNTS[column[at]], 0.0) for column in columns)
        return units, files, named

    def may_match(self, need: Need) -> bool:
        """Whether some file may have the trigrams that a pattern needs; True where nobody knows."""
        if not len(self.grams):
            return True
        if need.grams and not bool(np.all(self._has(sorted(need.grams)))):
            return False
        return all(any(self.may_match(member) for member in group) for group in need.either)

    @cached_property
    def postings(self) -> float:
        """The units of all its terms together: what a term's own count is a share of."""
        return float(_COUNTS[self.unit_counts].sum())

    @cached_property
    def own_names(self) -> dict[str, tuple[str, ...]]:
        """The terms of each name that its packages go by; of a path or a Maven artifact, of its last part."""
        names = [name for package in self.packages for name in _names_of(package)]
        lasts = dict.fromkeys(re.split("[/:]", _MAJOR.sub("", name))[-1] for name in names)
        return {name: terms for name in lasts if (terms := name_terms(name))}

    @cached_property
    def size_bytes(self) -> int:
        """What it takes of memory."""
        columns = (self.terms, self.unit_counts, self.file_counts, self.named_counts, self.grams)
        return sum(column.nbytes for column in columns)

    def _has(self, grams: Sequence[int]) -> Array:
        bits = _bits(np.array(grams, np.uint32), len(self.grams) * 8)
        found: Array = (self.grams[bits >> 3] >> (bits & 7).astype(np.uint8)) & 1
        return found


def profiles_of(manifest: RepoManifest) -> dict[str, str]:
    """The profiles of the views that a summary of this manifest is made from."""
    kinds = (ViewKind.LEXICAL, ViewKind.TRIGRAM)
    records = {kind: manifest.views[kind] for kind in kinds if kind in manifest.views}
    return {str(kind): each.profile for kind, each in records.items() if each.status is Status.FRESH}


def _names_of(package: ExportedPackage) -> tuple[str, ...]:
    """What a package is called; the modules of a Java artifact, `com.example.core`, are no names."""
    return (package.name,) if package.ecosystem == "java" else (package.name, *package.modules)


def name_terms(name: str) -> tuple[str, ...]:
    """The terms that a text has when it says a name; a word of several parts by the whole.

    >>> name_terms("grpc-go"), name_terms("SkipList")
    (('grpc', 'go'), ('skiplist',))
    """
    return tuple(terms[-1] for word in words_of(name) if (terms := terms_of(word)))


def short_hashes(terms: Iterable[str]) -> Array:
    """The terms as summaries name them."""
    return _short(np.array([term_hash(term) for term in terms], np.uint64))


def _short(hashes: Array) -> Array:
    return (hashes & np.uint64(0xFFFFFFFF)).astype(np.uint32)


def _most_telling(statistics: TermStatistics) -> tuple[TermStatistics, int]:
    """At most `MOST_TERMS` terms, and how many were left out."""
    left_out = len(statistics.terms) - MOST_TERMS
    if left_out <= 0:
        return statistics, 0
    worth = np.where(statistics.named > 0, np.iinfo(np.int64).max, statistics.units)
    order = np.sort(
        np.argsort(-worth, kind="stable")[: max(MOST_TERMS, int(np.count_nonzero(statistics.named)))]
    )
    columns = (statistics.terms, statistics.units, statistics.files, statistics.named)
    return TermStatistics(*(column[order] for column in columns)), len(statistics.terms) - len(order)


def counted(counts: Array) -> Array:
    """0 for none, else 1 + the logarithm in steps."""
    levels = np.round(_STEPS * np.log2(np.maximum(counts, 1))) + 1
    return np.where(counts > 0, np.minimum(levels, 255), 0).astype(np.uint8)


_COUNTS = np.r_[0.0, np.round(2.0 ** (np.arange(255) / _STEPS))]


def _filter_of(view: TrigramView) -> Array:
    """A bit for each trigram of a segment; those of dead files stay until their segment is folded."""
    grams = np.unique(np.concatenate([np.zeros(0, np.uint32), *(each.grams for each in view.segments)]))
    wanted = max(_FILL * len(grams), 1)
    size = 1 << min(max(int(wanted - 1).bit_length(), _LEAST_BITS), _MOST_BITS)
    flags = np.zeros(size, bool)
    flags[_bits(grams, size)] = True
    return np.packbits(flags, bitorder="little")


def _bits(grams: Array, size: int) -> Array:
    """Which bit of a filter of `size` bits a trigram has: multiplicative hashing of its 24 bits."""
    mixed = (grams.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
    return (mixed & np.uint64(size - 1)).astype(np.int64)


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST).digest()
