"""A query's terms and the summaries of repositories in, the likely repositories out, best first. Pure.

Only the summaries that are given count: what is rare, and what a repository is compared with, is decided
among them. A tenant's routing therefore says nothing of repositories that are not its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from codenib.fleet.search.summary import RepoSummary, short_hashes
from codenib.units.tokens import terms_of, words_of
from codenib.views.arrays import Array
from codenib.views.lexical.read import Collection, Term

# CORI's two constants (Callan, Lu and Croft 1995), for units instead of documents.
_BASE, _BY_SIZE = 50.0, 150.0
# Chosen on 160 issue texts and 320 commit messages of repositories other than the development rows', asked of
# 108: the right one is first, among three and among eight for .685, .806, .869 of them by likelihoods
# without rarity and names, for .698, .816, .873 with.
_NAMED = 0.5  # what a unit's own name says more than its text
_COMMON = 0.2  # what is left of a term that every repository has
_CALLED = 0.1  # for each weight of a query that says the repository's own name, up to three


@dataclass(frozen=True, slots=True)
class Routing:
    """Repositories with how relevant each is, from 1 for the best down, and the statistics of them all."""

    names: tuple[str, ...]
    relevance: tuple[float, ...]
    collection: Collection


def route(terms: Sequence[Term], summaries: Mapping[str, RepoSummary]) -> Routing:
    """Rank the repositories; those that have no term of the query are left out.

    Half of the relevance is CORI's: terms that few repositories have, where many units have them. The other
    half asks how much more often the repository has a term than all together do, in its units and in their
    names. Large repositories win the first more than they should, small ones the second. A query that says a
    repository's own name adds to both.
    """
    names = sorted(summaries)
    hashes = short_hashes(term.text for term in terms)
    rows = [summaries[name].counts(hashes) for name in names]
    units, files, named = (
        np.array([row[column] for row in rows]).reshape(len(names), len(terms)) for column in range(3)
    )
    sizes = np.array([max(summaries[name].units, 1) for name in names], np.float64)
    collection = _collection(terms, summaries, units, files)
    if not len(terms) or not units.any():
        return Routing((), (), collection)
    weights = np.array([term.weight for term in terms])
    rarity = _rarity(units)
    relevance = _share(_cori(weights * rarity, units, sizes))
    relevance += _share(_likelihood(weights * (rarity + _COMMON), units, named, sizes))
    relevance += _CALLED * np.array([_called(name, terms) for name in names])
    relevance *= units.any(axis=1)
    order = sorted(np.flatnonzero(relevance).tolist(), key=lambda at: (-relevance[at], names[at]))
    best = relevance[order[0]] if order else 1.0
    return Routing(
        tuple(names[at] for at in order), tuple(float(relevance[at] / best) for at in order), collection
    )


def _rarity(units: Array) -> Array:
    """For each term from 0, every repository has it, to 1."""
    having = np.maximum(np.count_nonzero(units, axis=0), 0.5)
    rarity: Array = np.maximum(np.log((len(units) + 0.5) / having) / np.log(len(units) + 1.0), 0.0)
    return rarity


def _called(name: str, terms: Sequence[Term]) -> float:
    """How much a query says the last part of a repository's name: its mean weight, 3 at most."""
    said = {term.text: term.weight for term in terms}
    own = [terms_of(word)[-1] for word in words_of(name.rpartition("/")[2]) if terms_of(word)]
    if not own or not all(term in said for term in own):
        return 0.0
    return min(sum(said[term] for term in own) / len(own), 3.0)


def _cori(weights: Array, units: Array, sizes: Array) -> Array:
    """For each repository the sum over terms of how many of its units have it."""
    shares = units / (units + _BASE + _BY_SIZE * (sizes / sizes.mean())[:, None])
    scores: Array = shares @ weights
    return scores


def _likelihood(weights: Array, units: Array, named: Array, sizes: Array) -> Array:
    """For each repository the logarithm of how much more often it has the terms than all have."""
    scores: Array = _excess(units, sizes) @ weights + _NAMED * (_excess(named, sizes) @ weights)
    return scores


def _excess(counts: Array, sizes: Array) -> Array:
    expected = counts.sum(axis=0) / sizes.sum()
    ratio = np.divide(counts / sizes[:, None], expected, out=np.zeros(counts.shape), where=expected > 0)
    excess: Array = np.log1p(ratio)
    return excess


def _share(scores: Array) -> Array:
    best = float(scores.max()) if len(scores) else 0.0
    shares: Array = scores / best if best > 0 else scores
    return shares


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
