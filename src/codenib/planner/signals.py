"""A question or an issue text in, what it says about where to look out. Pure; shared by planner and ranking.

>>> signals = read_signals("Crash in Router.match\\nFile \\"src/app/router.py\\", line 12, in match")
>>> signals.dotted, signals.frames[0].line, signals.frames[0].function
(('Router.match',), 12, 'match')
>>> read_signals("who calls parse_header?").structural
Structural(verb='callers', subject='parse_header')
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

QUESTION_WORDS = 40  # a text of one line with more words is an issue without line breaks
MAX_CHARACTERS = 60_000  # of a text that is read; logs pasted whole say no more after that
_MOST = 64  # of each kind of name


@dataclass(frozen=True, slots=True)
class Frame:
    """A place that a trace or a compiler's message names; 0 or "" where it does not say."""

    path: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Structural:
    """A question about relations: callers, callees, references, definition or path, and of what."""

    verb: str
    subject: str


@dataclass(frozen=True, slots=True)
class Signals:
    """What a query says. Names are in the order of their first mention, each once."""

    title: str
    words: int
    lines: int
    identifiers: tuple[str, ...]
    dotted: tuple[str, ...]
    paths: tuple[str, ...]
    frames: tuple[Frame, ...]
    quoted: tuple[str, ...]
    errors: tuple[str, ...]
    regex: bool
    structural: Structural | None
    template: bool
    about_tests: bool

    @property
    def is_question(self) -> bool:
        """Whether it is a short question; a longer text tells a story, as an issue does."""
        return self.lines == 1 and self.words <= QUESTION_WORDS

    @property
    def names_code(self) -> bool:
        """Whether it names something that can be looked up."""
        return bool(self.identifiers or self.dotted or self.paths or self.frames)


_EXTENSION = (
    r"(?:py|pyi|go|rs|c|h|cc|cpp|cxx|hpp|hh|hxx|inl|ts|tsx|mts|cts|js|jsx|mjs|cjs|vue|svelte|java|kt|scala|cs|rb|php"
    r"|swift|lua|sh|toml|ya?ml|json|cfg|ini|html|css|scss|sql|proto|md|rst|cmake)"
)
_PATH = re.compile(rf"(?<![\w./-])(?:[\w.@+-]+[/\\])*[\w.@+-]+\.{_EXTENSION}(?![\w/])")
_FOLDER = re.compile(r"(?<![\w./:-])(?:[\w.@+-]+/){1,}[\w.@+-]+(?![\w/])")
_PLACE = rf"(?P<path>(?:[A-Za-z]:)?[\w./\\@+<>-]+\.{_EXTENSION})"
_FRAMES = (
    re.compile(rf'File "{_PLACE}", line (?P<line>\d+)(?:, in (?P<name>[\w<>.]+))?'),  # Python
    re.compile(rf"(?:File )?~?{_PLACE}:(?P<line>\d+), in (?P<name>[\w<>.]+)"),  # IPython
    re.compile(rf"\bat (?:async |new )?(?P<name>[\w$.<>\[\] ]+?) \((?:\w+://)?{_PLACE}:(?P<line>\d+)"),  # JS
    re.compile(rf"(?P<name>[\w./()*\[\]]+)\((?:[^()\n]*)\)\n\s+{_PLACE}:(?P<line>\d+)"),  # Go
    re.compile(rf"\d+: +(?:0x[0-9a-f]+ - )?(?P<name>[\w:<>{{}}# ]+)\n\s+at {_PLACE}:(?P<line>\d+)"),  # Rust
    re.compile(
        rf"#\d+ +(?:0x[0-9a-f]+ )?in (?P<name>[\w:~<>]+)[^\n]*?(?: at)? {_PLACE}:(?P<line>\d+)"
    ),  # C, C++
    re.compile(rf"{_PLACE}[:(](?P<line>\d+)(?P<name>)"),  # compilers, panics, links
)
_IDENTIFIER = re.compile(
    r"\w*[a-z0-9][A-Z]\w*|\w*[A-Z]{2,}[a-z]\w*|[A-Za-z_]\w*_\w*|(?<=[.:])[A-Za-z_]\w+|[A-Za-z_]\w+(?=\()"
)
_DOTTED = re.compile(r"(?<![\w/.:])[A-Za-z_]\w*(?:(?:\.|::|#|->)[A-Za-z_]\w*)+(?![\w/])")
_INLINE = re.compile(r"`([^`\n]{2,80})`")
_QUOTED = re.compile(r"(?<!\w)\"([^\"\n]{3,120})\"|(?<!\w)'([^'\n]{3,120})'(?!\w)|“([^”\n]{3,120})”")
_ERROR = re.compile(
    r"^.*?\b((?:[A-Za-z_][\w.]*(?:Error|Exception|Warning)|error|panic(?:ked)?|fatal|undefined reference|"
    r"segmentation fault|assertion failed)\b[^\n]{3,200})$",
    re.M | re.I,
)
_REGEX = re.compile(r"\\[bdswBDSW]|\.\*|\.\+|\[\^?[\w-]+\][*+?]|\(\?[:=!<]|\^\w|\w\$$|\w\|\w.*\)|\)\|")
_SUBJECT = r"[`'\"]?(?P<subject>[A-Za-z_][\w.:#]*)(?:\(\))?[`'\"]?"
_KIND = r"(?:the )?(?:(?:function|method|class|symbol|type|struct|macro|variable|constant) )?"
_STRUCTURAL = (
    ("callers", rf"\b(?:who|what|which \w+) (?:calls?|invokes?)\s+{_KIND}{_SUBJECT}"),
    ("callers", rf"\b(?:callers?|call sites?) (?:of|to|for)\s+{_KIND}{_SUBJECT}"),
    ("callers", rf"\bwhere is\s+{_KIND}{_SUBJECT}\s+called"),
    ("callees", rf"\bwhat (?:does|do)\s+{_KIND}{_SUBJECT}\s+(?:call|invoke|depend on|use)"),
    ("callees", rf"\b(?:callees?|dependencies) of\s+{_KIND}{_SUBJECT}"),
    ("references", rf"\b(?:who|what|which \w+) (?:uses?|references?|imports?)\s+{_KIND}{_SUBJECT}"),
    ("references", rf"\b(?:references?|usages?|uses) (?:of|to)\s+{_KIND}{_SUBJECT}"),
    ("references", rf"\bwhere is\s+{_KIND}{_SUBJECT}\s+(?:used|referenced|imported)"),
    ("definition", rf"\bwhere is\s+{_KIND}{_SUBJECT}\s+(?:defined|declared|implemented)"),
    ("definition", rf"\bdefinition of\s+{_KIND}{_SUBJECT}"),
    ("subtypes", rf"\b(?:subclasses|subtypes|implementations|implement[eo]rs) of\s+{_KIND}{_SUBJECT}"),
    ("subtypes", rf"\b(?:who|what|which \w+) (?:extends?|implements?|inherits? from)\s+{_KIND}{_SUBJECT}"),
)  # fmt: skip
_RELATIONS = tuple((verb, re.compile(pattern, re.I)) for verb, pattern in _STRUCTURAL)
_QUESTION = 200  # characters; a longer text tells a story
_TEMPLATE = re.compile(
    r"<!--|^#{1,6} *(?:steps|expected|actual|describe|description|environment|version|what happened|reproduc"
    r"|current behavior|bug report|system info|checklist)|^\s*[-*] \[[ xX]\] ",
    re.M | re.I,
)
_TESTS = re.compile(r"\b(?:tests?|testing|fixtures?|unittests?|specs?|conftest)\b", re.I)
_WORD = re.compile(r"\w+")
_PROSE = frozenset(["github.com", "e.g", "i.e", "etc", "vs", "and/or", "his/her", "n/a", "i/o", "w/o"])


def read_signals(text: str) -> Signals:
    """Everything that a query says about where to look."""
    text = text[:MAX_CHARACTERS].replace("\r\n", "\n").strip()
    title, _, _ = text.partition("\n")
    paths = _first(_paths(text))
    return Signals(
        title=title,
        words=len(_WORD.findall(text)),
        lines=text.count("\n") + 1,
        identifiers=_first(_identifiers(text)),
        dotted=_first(name for name in _DOTTED.findall(text) if name not in paths and _is_name(name)),
        paths=paths,
        frames=_frames(text),
        quoted=_first(next(filter(None, groups)) for groups in _QUOTED.findall(text)),
        errors=_first(match.strip() for match in _ERROR.findall(text)),
        regex=len(text) <= _QUESTION and _REGEX.search(text) is not None,
        structural=_structural(text),
        template=_TEMPLATE.search(text) is not None,
        about_tests=title == text and _TESTS.search(title) is not None,
    )


def _identifiers(text: str) -> Iterator[str]:
    """Words that can only be code: by their spelling, by what follows them, or by being quoted as code."""
    inline = [word for quoted in _INLINE.findall(text) for word in _WORD.findall(quoted)]
    yield from (
        word for word in (*_IDENTIFIER.findall(text), *inline) if len(word) > 1 and not word.isdigit()
    )


def _paths(text: str) -> Iterator[str]:
    for match in _PATH.finditer(text):
        if "://" not in text[max(0, match.start() - 40) : match.start()].rpartition(" ")[2]:
            yield _normal(match[0])
    for match in _FOLDER.finditer(text):
        path = match[0]
        if path.lower() not in _PROSE and (path.count("/") > 1 or "_" in path):
            yield _normal(path)


def _normal(path: str) -> str:
    return path.replace("\\", "/").removeprefix("./").strip(".")


def _is_name(name: str) -> bool:
    """Not a host, a version or an abbreviation."""
    last = re.split(r"\.|::|#|->", name)[-1]
    return name.lower() not in _PROSE and last not in {"com", "org", "io", "net", "dev", "html", "md"}


def _frames(text: str) -> tuple[Frame, ...]:
    """The places that traces and compilers name, in the order of the text."""
    places: dict[tuple[str, int], tuple[int, str]] = {}
    for pattern in _FRAMES:
        for match in pattern.finditer(text):
            key = _normal(match["path"]), int(match["line"])
            at, name = places.get(key, (match.start(), ""))
            places[key] = at, name or _leaf(match["name"] or "")
    ordered = sorted(places.items(), key=lambda item: item[1][0])
    return tuple(Frame(path, line, name) for (path, line), (_, name) in ordered)[:_MOST]


def _leaf(name: str) -> str:
    """`Object.<anonymous>` and `pkg.(*T).Run` are known by their last name."""
    names: list[str] = re.findall(r"[A-Za-z_]\w*", name)
    return names[-1] if names and names[-1] not in {"anonymous", "module", "lambda"} else ""


def _structural(text: str) -> Structural | None:
    if len(text) > _QUESTION:
        return None
    for verb, pattern in _RELATIONS:
        match = pattern.search(text)
        if match is not None:
            return Structural(verb, match["subject"].rstrip(".:#"))
    return None


def _first(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))[:_MOST]
