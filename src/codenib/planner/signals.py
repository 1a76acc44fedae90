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
from itertools import chain, islice

QUESTION_WORDS = 40  # a text of one line with more words is an issue without line breaks
MAX_CHARACTERS = 60_000  # of a text that is read; logs pasted whole say no more after that
_MOST = 64  # of each kind of name
_MOST_FRAMES = 256  # of each kind of trace that are looked at
_LINE_DIGITS = 10


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
# Every pattern reads any text in a time that grows with its length alone: a query of 5,000 "A" took 60 s
# and stopped every other client. So runs are taken whole (`++`, or a look behind that lets a match begin only
# where a run does), and a pattern that may try a line in many ways is bound to the line's beginning.
_PATH_RUN = re.compile(r"[\w.@+/\\-]+")
_FILE_END = re.compile(rf"(?<=[\w.@+-])\.{_EXTENSION}(?![\w/])")
_FOLDER_RUN = re.compile(r"(?<![\w./:@+-])[\w.@+-][\w.@+/-]*+")
_PLACE = rf"(?P<path>(?:[A-Za-z]:)?[\w./\\@+<>-]+\.{_EXTENSION})"
_RUN_START = r"(?<![\w./\\@+<>-])"
_FRAMES = (
    re.compile(rf'File "{_PLACE}", line (?P<line>\d+)(?:, in (?P<name>[\w<>.]+))?'),  # Python
    re.compile(rf"{_RUN_START}~?{_PLACE}:(?P<line>\d++), in (?P<name>[\w<>.]+)"),  # IPython
    re.compile(
        rf"\bat (?:async |new )?(?P<name>[\w$.<>\[\] ]{{1,160}}?) \((?:\w++://)?{_PLACE}:(?P<line>\d+)"
    ),  # JS
    re.compile(
        rf"^[ \t]*+\d++: ++(?:0x[0-9a-f]+ - )?(?P<name>[\w:<>{{}}# ]+)\n[ \t]+at {_PLACE}:(?P<line>\d+)", re.M
    ),  # Rust
    re.compile(
        rf"^[ \t]*+#\d++ ++(?:0x[0-9a-f]+ )?in (?P<name>[\w:~<>]++)[^\n]*?(?: at)? {_PLACE}:(?P<line>\d+)",
        re.M,
    ),  # C, C++
    re.compile(rf"{_RUN_START}{_PLACE}[:(](?P<line>\d++)(?P<name>)"),  # compilers, panics, links
)
_GO_FRAME = re.compile(rf"\)\n[ \t]++{_PLACE}:(?P<line>\d+)")
_GO_CALL = re.compile(r"[\w./()*\[\]]+\Z")
_CALL_CHARACTERS = 160  # of the line before a Go frame that are looked at
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z][A-Z][a-z]")
_LETTER = re.compile(r"[A-Za-z_]")
_DOTTED = re.compile(r"(?<![\w/.:])[A-Za-z_]\w*(?:(?:\.|::|#|->)[A-Za-z_]\w*){1,16}(?![\w/])")
_INLINE = re.compile(r"`([^`\n]{2,80})`")
_QUOTED = re.compile(r"(?<!\w)\"([^\"\n]{3,120})\"|(?<!\w)'([^'\n]{3,120})'(?!\w)|“([^”\n]{3,120})”")
_ERROR = re.compile(
    r"(?P<named>error|exception|warning)\b|\b(?:panic(?:ked)?|fatal|undefined reference|segmentation fault"
    r"|assertion failed)\b",
    re.I,
)
_ERROR_REST = range(3, 201)  # characters after the word, to the end of its line
_ERROR_NAME = 120  # characters of a name that ends with such a word
_NAME_END = re.compile(r"[\w.]+\Z")
_NAME_START = re.compile(r"\b[A-Za-z_]")
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
    r"|current behavior|bug report|system info|checklist)|^[ \t]*+[-*] \[[ xX]\] ",
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
        errors=_first(_errors(text)),
        regex=len(text) <= _QUESTION and _REGEX.search(text) is not None,
        structural=_structural(text),
        template=_TEMPLATE.search(text) is not None,
        about_tests=title == text and _TESTS.search(title) is not None,
    )


def _identifiers(text: str) -> Iterator[str]:
    """Words that can only be code: by their spelling, by what follows them, or by being quoted as code."""
    inline = (word for quoted in _INLINE.findall(text) for word in _WORD.findall(quoted))
    spelled = (_as_code(text, match) for match in _WORD.finditer(text))
    yield from (word for word in chain(spelled, inline) if len(word) > 1 and not word.isdigit())


def _as_code(text: str, match: re.Match[str]) -> str:
    """The word when it is spelled as code is: camelCase, snake_case, after a dot, or before a parenthesis."""
    word = match[0]
    if _CAMEL.search(word):
        return word
    letter = _LETTER.search(word)
    name = word[letter.start() :] if letter else ""
    member = name == word and text[max(0, match.start() - 1) : match.start()] in (".", ":")
    called = text[match.end() : match.end() + 1] == "("
    return name if "_" in name[1:] or member or called else ""


def _errors(text: str) -> Iterator[str]:
    """What each line says from the name of an error on."""
    for line in text.split("\n"):
        start = max(0, len(line) - _ERROR_REST[-1] - 32)  # the word and what follows it stand behind this
        for match in _ERROR.finditer(line, start):
            if len(line) - match.end() in _ERROR_REST and (begin := _error_start(line, match)) >= 0:
                yield line[begin:].strip()
                break


def _error_start(line: str, match: re.Match[str]) -> int:
    """Where the name of the error begins, such as `socket.TimeoutError`; -1 when it is a part of a word."""
    if match["named"] is None:
        return match.start()
    before = line[max(0, match.start() - _ERROR_NAME) : match.start()]
    prefix = _NAME_END.search(before)
    named = _NAME_START.search(before, prefix.start()) if prefix else None
    if named:
        return match.start() - len(before) + named.start()
    return match.start() if match[0].lower() == "error" and not prefix else -1


def _paths(text: str) -> Iterator[str]:
    for run in _PATH_RUN.finditer(text):
        word = run[0].lstrip("\\")
        ends = [match.end() for match in _FILE_END.finditer(word)]
        path = word[: ends[-1]] if ends else ""
        before = text[max(0, run.start() - 40) : run.start()].rpartition(" ")[2]
        if path and path[0] != "/" and "//" not in path and "\\\\" not in path and "://" not in before:
            yield _normal(path)
    for run in _FOLDER_RUN.finditer(text):
        path = run[0]
        whole = path[-1] != "/" and "//" not in path
        if whole and path.lower() not in _PROSE and (path.count("/") > 1 or ("/" in path and "_" in path)):
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
        for match in islice(pattern.finditer(text), _MOST_FRAMES):
            _add_frame(places, match, match["name"] or "")
    for match in islice(_GO_FRAME.finditer(text), _MOST_FRAMES):
        line = text[max(0, match.start() - _CALL_CHARACTERS) : match.start()].rpartition("\n")[2]
        call, opened, arguments = line.rpartition("(")
        name = _GO_CALL.search(call) if opened and ")" not in arguments else None
        if name:
            _add_frame(places, match, name[0])
    ordered = sorted(places.items(), key=lambda item: item[1][0])
    return tuple(Frame(path, line, name) for (path, line), (_, name) in ordered)[:_MOST]


def _add_frame(places: dict[tuple[str, int], tuple[int, str]], match: re.Match[str], name: str) -> None:
    if len(match["line"]) < _LINE_DIGITS:
        key = _normal(match["path"]), int(match["line"])
        at, known = places.get(key, (match.start(), ""))
        places[key] = at, known or _leaf(name)


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
