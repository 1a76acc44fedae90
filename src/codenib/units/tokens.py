"""The code tokenizer: text in, terms out. Both sides of the lexical view speak its terms.

A word is a run of letters, digits and underscores. Its terms are its parts (snake_case, camelCase and
digit boundaries, lower-cased, inflections folded) and, where there is more than one part, the whole word,
without underscores: `skip_list`, `SkipList` and `skiplist` share a term.

>>> terms_of("HTTPServer")
('http', 'server', 'httpserver')
>>> terms_of("get_querysets")
('get', 'queryset', 'getqueryset')
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import lru_cache

_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]|\d+")
_PART_BEYOND_ASCII = re.compile(r"[^\W\d_]+|\d+")
_AFTER_HYPHEN = re.compile(
    r"-([A-Za-z]+)(?![\w-])"
)  # begins with a literal, so that few places are looked at
_BEFORE_HYPHEN = re.compile(r"(?<![\w-])[A-Za-z]+\Z")
_LONGEST_BEFORE = 20
_SHORT = 2
LONGEST_WORD = 64  # longer runs are data (base64, hashes), and no query names them
_LONGEST_NUMBER = 5
_VOWELS = frozenset("aeiouy")

#: words of a text, in order, with repetitions
words_of = _WORD.findall


@lru_cache(maxsize=1 << 18)
def terms_of(word: str) -> tuple[str, ...]:
    """The terms of one word: its parts, then the whole when it has several."""
    if len(word) > LONGEST_WORD:
        return ()
    parts = (_PART if word.isascii() else _PART_BEYOND_ASCII).findall(word)
    terms = [fold(part.lower()) for part in parts if _is_term(part)]
    if len(parts) > 1:
        terms.append(fold("".join(parts).lower()))
    return tuple(terms)


def joined(first: str, second: str) -> str:
    """The term of two words written as one.

    >>> joined("Skip", "lists"), joined("v", "if")
    ('skiplist', 'vif')
    """
    return fold(f"{first}{second}".lower())


def hyphenated(text: str) -> Iterator[tuple[str, str]]:
    """Two words with a hyphen between them, one of which says nothing alone: `v-if`, `sign-in`, `e-mail`."""
    for match in _AFTER_HYPHEN.finditer(text):
        at = match.start()
        if len(match[1]) > _SHORT < at and text[at - _SHORT - 1 : at].isalpha():
            continue  # most hyphens are between longer words: no need to look for where the first begins
        before = _BEFORE_HYPHEN.search(text, max(0, at - _LONGEST_BEFORE), at)
        if before and (len(before[0]) <= _SHORT or len(match[1]) <= _SHORT):
            yield before[0], match[1]


def fold(term: str) -> str:
    """Fold an English inflection: saves, saved and saving are one term. Both sides fold alike.

    >>> [fold(term) for term in ("queries", "saved", "saving", "running", "classes", "status", "string")]
    ['query', 'sav', 'sav', 'run', 'class', 'status', 'string']
    """
    if len(term) > 3 and term.endswith("s") and term[-2] not in "sui":
        term = _singular(term)
    for ending in ("ing", "ed"):
        stem = term.removesuffix(ending)
        if stem != term and len(stem) > 2 and not _VOWELS.isdisjoint(stem):
            if stem[-1] == stem[-2] and stem[-1] not in "lsz":
                stem = stem[:-1]
            term = stem
            break
    return term[:-1] if len(term) > 3 and term.endswith("e") else term


def spelling(word: str, term: str) -> str:
    """How `word` spells one of its terms, before folding.

    >>> spelling("SavedSessions", "sav"), spelling("SavedSessions", "savedsessions")
    ('Saved', 'SavedSessions')
    """
    parts = (_PART if word.isascii() else _PART_BEYOND_ASCII).findall(word)
    return next((part for part in parts if fold(part.lower()) == term), word.strip("_"))


def _singular(term: str) -> str:
    if term.endswith("ies"):
        return term[:-3] + "y" if len(term) > 4 else term[:-1]
    if term.endswith(("sses", "xes", "ches", "shes")):
        return term[:-2]
    return term[:-1]


@lru_cache(maxsize=1 << 20)
def term_hash(term: str) -> int:
    """The 64-bit name of a term in the view; two of a million terms collide with probability 3e-8."""
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8).digest(), "little")


@lru_cache(maxsize=1 << 18)
def hashes_of(word: str) -> tuple[int, ...]:
    """`term_hash` of each of `terms_of(word)`."""
    return tuple(term_hash(term) for term in terms_of(word))


def _is_term(part: str) -> bool:
    if part.isdigit():
        return 1 < len(part) <= _LONGEST_NUMBER
    return len(part) > 1 or not part.isascii()
