"""An open lexical view in, the statistics of its terms out: in how many live units and files each stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codenib.views.arrays import Array
from codenib.views.lexical.read import LexicalView


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """One row a term, by its hash in ascending order; terms of dead files alone are not among them."""

    terms: Array  # the hashes
    units: Array  # units with the term in body, name or path
    files: Array  # files with such a unit
    named: Array  # units whose own name has the term


def term_statistics(view: LexicalView) -> TermStatistics:
    """Count the postings of every term. Django's 2.9 million take 0.2 s."""
    parts = []
    first_unit = 0
    for data in view.segments:
        postings, starts = np.asarray(data.postings), data.starts.astype(np.int64)
        documents = postings["doc"].astype(np.int64)
        live = view.live[first_unit : first_unit + len(data.documents)][documents]
        first_unit += len(data.documents)
        if not len(postings):
            continue
        term = np.repeat(np.arange(len(data.terms)), np.diff(starts))[live]
        file = data.documents["file"].astype(np.int64)[documents[live]]
        # Postings are in the order of term and unit, units in that of files: a file's are neighbours.
        new_file = np.r_[True, (file[1:] != file[:-1]) | (term[1:] != term[:-1])] if len(term) else live[:0]
        size = len(data.terms)
        counts = (
            np.bincount(term, minlength=size),
            np.bincount(term[new_file], minlength=size),
            np.bincount(term[postings["symbol"][live] > 0], minlength=size),
        )
        parts.append((np.asarray(data.terms), counts))
    return _joined([terms for terms, _ in parts], [counts for _, counts in parts])


def _joined(terms: list[Array], counts: list[tuple[Array, Array, Array]]) -> TermStatistics:
    """The statistics of all segments, a term of several once."""
    every = np.concatenate([np.zeros(0, np.uint64), *terms])
    distinct, numbers = np.unique(every, return_inverse=True)
    columns = []
    for column in range(3):
        values = np.concatenate([np.zeros(0, np.int64), *(each[column] for each in counts)])
        columns.append(np.bincount(numbers, values, len(distinct)).astype(np.int64))
    units, files, named = columns
    alive = units > 0
    return TermStatistics(distinct[alive], units[alive], files[alive], named[alive])
