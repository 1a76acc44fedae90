"""A query and the summaries of repositories in, the likely repositories out, best first. Pure.

Only the summaries that are given count: what is rare, and what a repository is compared with, is decided
among them. A tenant's routing therefore says nothing of repositories that are not its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from codenib.fleet.search.summary import RepoSummary, name_terms, short_hashes
from codenib.views.arrays import Array
from codenib.views.lexical.read import Collection, Term

# All were chosen on 160 issue texts and 320 commit messages of repositories without development rows, and
# on 65 development and 36 training rows of six more, asked of 108 repositories. A logit fitted without the
# asked repository's rows has it first for .97, .95 and .62 of development rows, issue texts and commit
# messages, and among the first three for 1.00, .98 and .74. CORI's belief (Callan, Lu and Croft 1995) in
# place of or besides the words adds nothing, nor do the languages that a query shows.
_NAMED = 0.5  # what a unit's own name says more than its text
_COMMON = 0.2  # what is left of a term that every repository has
_WORDS = 8.2  # logits of the repository whose words fit best
_CALLED = 2.9  # logits for each weight of a rare name that the query says, up to `_MOST_CALLED`
_MOST_CALLED = 3.0
_LINKED = 1.5  # the weight of `owner/name` in the text; issues link to other projects too
_COMMON_NAME = 0.4  # what is left of a name that is a word of every repository ("requests", "json")

_TELLING = 3  # words that say why


@dataclass(frozen=True, slots=True)
class RoutedRepository:
    """How likely a repository is meant, from 1 for the best down.

    `called` is the name of it that the query says, "" where it says none; `spoke` is what each term of the
    query said for it.
    """

    name: str
    relevance: float
    called: str
    spoke: Array

    def words(self, terms: Sequence[Term]) -> tuple[str, ...]:
        """Those of the query that spoke most for it."""
        order = np.argsort(-self.spoke, kind="stable")[: 2 * _TELLING].tolist()
        words = dict.fromkeys(terms[at].word or terms[at].text for at in order if self.spoke[at] > 0)
        return tuple(words)[:_TELLING]


@dataclass(frozen=True, slots=True)
class Routing:
    """The repositories that have a word of a query, best first, and the statistics of all in question."""

    repositories: tuple[RoutedRepository, ...]
    collection: Collection


def route(query: str, terms: Sequence[Term], summaries: Mapping[str, RepoSummary]) -> Routing:
    """Rank the repositories; those that have no term of the query are left out.

    Two things speak for a repository: how much more often than all together it has the query's words, in its
    units and in their names, where words count that few repositories have; and its own name, or that of one
    of its packages, in the query. A repository of long units has every word in more of them, so its counts
    are compared with all that it counts.
    """
    names = sorted(summaries)
    hashes = short_hashes(term.text for term in terms)
    rows = [summaries[name].counts(hashes) for name in names]
    units, files, named = (
        np.array([row[column] for row in rows]).reshape(len(names), len(terms)) for column in range(3)
    )
    collection = _collection(terms, summaries, units, files)
    if not len(terms) or not units.any():
        return Routing((), collection)
    sizes = np.array([max(summaries[name].postings, 1.0) for name in names])
    rarity = _rarity(units)
    weights = np.array([term.weight for term in terms]) * (rarity + _COMMON)
    said = (_excess(units, sizes) + _NAMED * _excess(named, sizes)) * weights
    fits = said.sum(axis=1)
    calls = _Calls(query, terms, rarity)
    called = [calls.best_of(name, summaries[name].own_names) for name in names]
    logits = _WORDS * fits / max(float(fits.max()), 1e-9) + _CALLED * np.array([worth for worth, _ in called])
    having = np.flatnonzero(units.any(axis=1))
    order = sorted(having.tolist(), key=lambda at: (-logits[at], names[at]))
    best = logits[order[0]]
    return Routing(
        tuple(
            RoutedRepository(names[at], float(np.exp(logits[at] - best)), called[at][1], said[at])
            for at in order
        ),
        collection,
    )


class _Calls:
    """What a query calls a repository by."""

    def __init__(self, query: str, terms: Sequence[Term], rarity: Array) -> None:
        self._text = query.lower()
        own = _COMMON_NAME + (1.0 - _COMMON_NAME) * rarity
        self._worth = {
            term.text: (min(term.weight, _MOST_CALLED), float(each))
            for term, each in zip(terms, own, strict=True)
        }

    def best_of(self, name: str, packages: Mapping[str, tuple[str, ...]]) -> tuple[float, str]:
        """What the query's best mention of a repository is worth, and by which name it goes there.

        The full name, `owner/name`, is looked for in the text as it is: the links that have it are no words.
        """
        linked = "/" in name and name.lower() in self._text
        best = (_LINKED, name) if linked else (0.0, "")
        short = name.rpartition("/")[2]
        worth = self._mention(name_terms(short))
        if worth > best[0]:
            best = worth, short
        for package, own in packages.items():
            worth = self._mention(own)
            if worth > best[0]:
                best = worth, package
        return best

    def _mention(self, own: Sequence[str]) -> float:
        found = [self._worth[term] for term in own if term in self._worth]
        if not found or len(found) < len(own):
            return 0.0
        return sum(weight for weight, _ in found) * sum(rarity for _, rarity in found) / len(found) ** 2


def _rarity(units: Array) -> Array:
    """For each term from 0, every repository has it, to 1."""
    having = np.maximum(np.count_nonzero(units, axis=0), 0.5)
    rarity: Array = np.maximum(np.log((len(units) + 0.5) / having) / np.log(len(units) + 1.0), 0.0)
    return rarity


def _excess(counts: Array, sizes: Array) -> Array:
    """For each repository and term the logarithm of how much more often it has the term than all have."""
    expected = counts.sum(axis=0) / sizes.sum()
    ratio = np.divide(counts / sizes[:, None], expected, out=np.zeros(counts.shape), where=expected > 0)
    excess: Array = np.log1p(ratio)
    return excess


def _collection(
    terms: Sequence[Term], summaries: Mapping[str, RepoSummary], units: Array, files: Array
) -> Collection:
    """The statistics that make scores of these repositories comparable."""
    texts = [term.text for term in terms]
    return Collection(
        units=sum(each.units for each in summaries.values()),
        files=sum(each.files for each in summaries.values()),
        unit_frequency=dict(zip(texts, units.sum(axis=0).astype(int).tolist(), strict=True)),
        file_frequency=dict(zip(texts, files.sum(axis=0).astype(int).tolist(), strict=True)),
    )
