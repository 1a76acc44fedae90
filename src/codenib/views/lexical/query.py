"""A question or an issue text in, weighted query terms out. The weights are relative to a plain word's 1."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from codenib.units.tokens import fold, joined, spelling, terms_of
from codenib.views.lexical.read import Term

# Chosen on the 233 development rows; each moved File or Symbol Recall@10 by one to two points, and values
# near these by less than one. Recall on those rows is therefore in-sample.
TITLE_BOOST = 3.0  # the first line of an issue says what it is about
IDENTIFIER_BOOST = 2.0  # words that can only be code: snake_case, camelCase, dotted or quoted names
CODE_BLOCK = 0.7  # fenced logs and listings hold many words that are only there
# Two neighbouring words of a question that the source writes as one. On one half of semble's benchmark (279
# questions of 14 repositories, NDCG@10 by words alone): .779 at 0, .783 at 0.3, .782 at 0.5, .779 at 1; with
# vectors .848 at 0, .849 at 0.3, and .846 at 0.5 and 1 while single letters were still joined.
COMPOUND = 0.3
REPEATED = 0.5  # how much a repetition adds, in logarithms
MAX_TERMS = 256

# Each reads any text in linear time: a client's query must not stop the others.
_NOISE = (
    re.compile(r"<!--(?:(?!<!--).)*?-->", re.S),  # templates' instructions
    re.compile(r"!\[[^\]\n]{0,200}\]\([^)\n]{0,200}\)"),  # images
    re.compile(r"\bhttps?://\S++"),
    re.compile(r"^[ \t]*+[-*] \[[ xX]\].*$", re.M),  # check boxes
    re.compile(r"^#{1,6} .*$", re.M),  # headings of templates: `### Steps to reproduce`
    re.compile(r"\b[0-9a-f]{12,}\b"),  # hashes and addresses
)
_CODE = re.compile(r"`([^`\n]{2,80})`")
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z][A-Z][a-z]")
_NAME = re.compile(r"[A-Za-z_]\w")
_WORD = re.compile(r"\w+")
_PAIR = re.compile(r"(?<![\w-])(?=([A-Za-z]+)([ -])([A-Za-z]+)(?![\w]))")
# "sign in" is `signIn`, not `sign`
_PARTICLES = frozenset(["back", "down", "in", "off", "on", "out", "over", "up"])
_SHORTEST = 3
# Names of languages whose letters say nothing alone.
_LANGUAGES = {"c++": "cpp", "c#": "csharp", "f#": "fsharp"}
_LANGUAGE = re.compile(r"(?<!\w)(?:c\+\+|[cf]#)(?!\w)", re.I)

_STOP_WORDS = """
  a about above after again all also am an and any are as at be because been before being below between both
  but by can cannot could did do does doing done down due during each either etc even ever every few for from
    further get gets getting give given go goes going got had has have having he her here hers him his how
    however if in instead into is it its itself just know let like make makes making many may maybe me might
  more most much must my need needs neither no nor not now of off on once one only or other otherwise our out
    over own per please quite rather really same see seem seems she should since so some something still such
    sure than that the their them then there these they thing this those though through thus to too try trying
    under until up upon us use used using very via want wants was we well were what when where whether which
    while who whom whose why will with within without would yes yet you your
    actual behavior behaviour bug bugs current currently description describe environment expect expected
    happen happens issue problem reproduce reproduced reproduction result results screenshot steps version
    work works working
"""
_STOP = frozenset(fold(word) for word in _STOP_WORDS.split())


def query_terms(text: str) -> list[Term]:
    """The terms of a query, each once, with the weight of everything that names it."""
    title, _, rest = text.strip().partition("\n")
    weights: dict[str, float] = {}
    counts: dict[str, int] = {}
    spelt: dict[str, str] = {}
    for part, boost in _parts(title, rest):
        cleaned = without_noise(part)
        special = _identifiers(cleaned)
        for word in _WORD.findall(cleaned):
            named = boost * (IDENTIFIER_BOOST if word in special else 1.0)
            for term in terms_of(word):
                if term not in _STOP:
                    counts[term] = counts.get(term, 0) + 1
                    spelt.setdefault(term, spelling(word, term))
                    weights[term] = max(weights.get(term, 0.0), named)
    if not rest.strip():
        for term, weight, word in _compounds(title):
            counts.setdefault(term, 1)
            spelt.setdefault(term, word)
            weights.setdefault(term, weight)
    if not weights:  # a query of stop words alone still means them
        return [Term(term, 1.0) for word in dict.fromkeys(_WORD.findall(text)) for term in terms_of(word)]
    terms = [
        Term(term, weight * (1.0 + REPEATED * math.log(counts[term])), spelt[term])
        for term, weight in weights.items()
    ]
    terms.sort(key=lambda term: -term.weight)
    return terms[:MAX_TERMS]


def _compounds(question: str) -> Iterator[tuple[str, float, str]]:
    """Terms of neighbouring words that a source may write as one, with their weight and how they are spelt.

    Where a hyphen joins words of which one says nothing alone, the two are a word: "v-if", "go-to".
    """
    for first, between, second in _PAIR.findall(question):
        word = f"{first}{between}{second}"
        stops = _is_stop(first) or _is_stop(second)
        short = min(len(first), len(second)) < _SHORTEST
        if between == "-" and (stops or short):
            yield joined(first, second), 1.0, word
        elif second.lower() in _PARTICLES and not _is_stop(first):
            yield joined(first, second), COMPOUND, word
            yield joined(fold(first.lower()), second), COMPOUND, word
        elif not (stops or short):
            yield joined(first, second), COMPOUND, word
    for name in _LANGUAGE.findall(question):
        yield _LANGUAGES[name.lower()], 1.0, name


def _is_stop(word: str) -> bool:
    return fold(word.lower()) in _STOP


def _parts(title: str, rest: str) -> Iterator[tuple[str, float]]:
    """The parts of a text with what each is worth; a question of one line has no title."""
    yield title, TITLE_BOOST if rest.strip() else 1.0
    for number, part in enumerate(rest.split("```")):
        yield part, CODE_BLOCK if number % 2 else 1.0


def without_noise(text: str) -> str:
    """A text without templates, links, images and hashes; as it was when nothing else is in it."""
    cleaned = text
    for noise in _NOISE:
        cleaned = noise.sub(" ", cleaned)
    return cleaned if cleaned.strip() else text


def _is_code(text: str, match: re.Match[str]) -> bool:
    """Whether a word is spelled as code is: camelCase, snake_case, after a dot, or before a parenthesis."""
    word = match[0]
    if _CAMEL.search(word) or "_" in word[1:-1]:
        return True
    after_dot, called = text.endswith(".", 0, match.start()), text.startswith("(", match.end())
    return (after_dot or called) and _NAME.match(word) is not None


def _identifiers(text: str) -> set[str]:
    found = {match[0] for match in _WORD.finditer(text) if _is_code(text, match)}
    for quoted in _CODE.findall(text):
        found.update(_WORD.findall(quoted))
    return found
