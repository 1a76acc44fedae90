"""A search pattern in, a matcher out that finds the matching lines of a text.

Lines are ripgrep's: split at "\\n" alone, matched one by one without it, so that no match spans lines, unless
it is asked for, and `^` and `$` are a line's ends. The dialect is that of the `regex` package (version 0),
Unicode-aware. Known differences from ripgrep: `\\s` also matches \\x1c to \\x1f; `\\w` and `\\d` follow
Python's Unicode tables; lookarounds and backreferences work here; `{e<=1}` is fuzzy matching; under -i `i`
matches `İ` and `I` matches `ı`; broken UTF-8 reads as U+FFFD, which `.` matches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import regex  # type: ignore[import-untyped]

from codenib.core.errors import InputError
from codenib.views.trigram.literals import ANY, REPLACED, Need, need_of
from codenib.views.trigram.matching.cost import is_cheap
from codenib.views.trigram.matching.matcher import Deadline, Matcher, Span
from codenib.views.trigram.matching.workers import WorkerTask
from codenib.views.trigram.size import MOST_NODES, written_out
from codenib.views.trigram.syntax import Chars, Either, Node, Seq, Syntax, bound_to_lines, parse, text_node
from codenib.views.trigram.widen import widen

_FLAGS = regex.VERSION0 | regex.MULTILINE
_HINT = "codenib regex --literal, or escape special characters with a backslash"

_LONGEST = 10_000
#: Looking for three words one by one takes 0.10 s where `regex` takes 0.35 s for their alternation (Django).
MAX_NEEDLES = 16

#: Patterns up to this size compile here, in some hundredths of a second at worst; larger ones in a worker,
#: since 10,000 characters may take 4 s.
_SMALL = 300
_SMALL_NODES = 2000
#: Longer ones are not read into a tree, so that every file is searched: the analysis takes 1.5 s for 10,000.
_ANALYSED = 2000


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern: its tree, `need` for the filter, and what matches it.

    `matcher` is the compiled pattern, None for one that only a worker may compile. `task` is the same for a
    worker; `cheap` says that none is needed, since no text makes it slow.
    """

    root: Node | None
    need: Need
    matcher: Matcher | None
    task: WorkerTask
    cheap: bool = False

    @property
    def byte_needles(self) -> tuple[bytes, ...] | None:
        """Bytes of which each matching file has one; None where only decoded text can tell."""
        needles = self.matcher.needles if self.matcher is not None else ()
        if not needles or any(REPLACED in needle for needle in needles):
            return None
        return tuple(needle.encode("utf-8", "surrogatepass") for needle in needles)

    def lines(self, text: str, deadline: Deadline) -> Iterator[Span]:
        """Start and end of each line of `text` that matches, matched here."""
        return self._compiled().lines(text, deadline)

    def spans(self, line: str, deadline: Deadline) -> tuple[Span, ...]:
        """All matches in a line, as columns, matched here."""
        return self._compiled().spans(line, deadline)

    def _compiled(self) -> Matcher:
        return self.matcher or self.task.compiled()


def compile_pattern(
    pattern: str, *, ignore_case: bool = False, literal: bool = False, multiline: bool = False
) -> Pattern:
    """The matcher of `pattern`; `literal` takes it as plain text; a `multiline` one may match line breaks.

    Raises `InputError` for a bad pattern. Of a large one, only its worker can tell.
    """
    if len(pattern) > _LONGEST:
        what = f"a pattern of {len(pattern):,} characters is too long, {_LONGEST:,} are the most"
        raise InputError(what, hint="search for a line of it")
    if literal and not (multiline and "\n" in pattern):
        return _compile_literal(pattern, ignore_case)
    if literal:
        pattern = regex.escape(pattern, special_only=True)
    flags = _FLAGS | (regex.IGNORECASE if ignore_case else 0)
    nodes = written_out(pattern)
    if nodes > MOST_NODES:
        raise InputError(
            f"the pattern {pattern[:80]!r} is too large once its counts are written out", hint=_HINT
        )
    try:
        line = regex.compile(pattern, flags) if len(pattern) <= _SMALL and nodes <= _SMALL_NODES else None
        syntax = (
            parse(pattern, ignore_case=ignore_case, multiline=multiline)
            if len(pattern) <= _ANALYSED
            else None
        )
        need = ANY if syntax is None else need_of(syntax.root)
    except regex.error as error:
        where = "" if error.pos is None else f" at position {error.pos}"
        raise InputError(f"bad pattern {pattern!r}: {error.msg}{where}", hint=_HINT) from error
    except (RecursionError, OverflowError) as error:
        raise InputError(f"bad pattern {pattern[:80]!r}: too large ({error})", hint=_HINT) from error
    if multiline:  # in a worker always: what spans lines has more of them to go back and forth in
        return Pattern(None, need, None, WorkerTask(pattern, flags, pattern, flags, multiline=True))
    if "\n" in pattern or (syntax is not None and syntax.line_break):
        raise _line_break(pattern)
    task = _task(pattern, flags, syntax)
    if line is None:
        return Pattern(syntax.root if syntax else None, need, None, task)
    if syntax is None:
        return Pattern(None, need, Matcher(line), task)
    if all(needles := _plain_texts(syntax.root)) and len(needles) <= MAX_NEEDLES:
        return Pattern(syntax.root, need, Matcher(line, needles), task, cheap=True)
    cheap = syntax.whole_text and is_cheap(syntax.root)
    return Pattern(syntax.root, need, task.compiled(), task, cheap)


def _task(pattern: str, flags: int, syntax: Syntax | None) -> WorkerTask:
    """What a worker compiles: with a tree, something that runs over a whole text, too."""
    if syntax is None:
        return WorkerTask(pattern, flags)
    if syntax.whole_text:
        return WorkerTask(pattern, flags, _to_line_end(bound_to_lines(pattern)), flags, exact=True)
    wide = widen(syntax.root, _escape)
    return WorkerTask(pattern, flags, _to_line_end(wide) if wide else "", _FLAGS)


def _to_line_end(pattern: str) -> str:
    return rf"(?:{pattern})[^\n]*"


def _escape(char: str) -> str:
    return f"\\U{ord(char):08x}"


def _compile_literal(text: str, ignore_case: bool) -> Pattern:
    if "\n" in text:
        raise _line_break(text)
    flags = _FLAGS | (regex.IGNORECASE if ignore_case else 0)
    escaped = regex.escape(text, special_only=True)
    task = WorkerTask(escaped, flags, _to_line_end(escaped), flags, exact=True)
    root = text_node(text, ignore_case=ignore_case)
    if text and not ignore_case:
        return Pattern(root, need_of(root), Matcher(regex.compile(escaped, flags), (text,)), task, cheap=True)
    return Pattern(root, need_of(root), task.compiled(), task, cheap=True)


def _line_break(pattern: str) -> InputError:
    return InputError(
        f"the pattern {pattern!r} holds a line break, but lines are searched one by one",
        hint="codenib regex --multiline, or search for a single line of it",
    )


def _plain_texts(node: Node) -> tuple[str, ...]:
    """The texts that are all that a part matches; one empty text when there is no such list."""
    if isinstance(node, Either):
        return tuple(text for part in node.parts for text in _plain_texts(part))
    parts = node.parts if isinstance(node, Seq) else (node,)
    chars = [part for part in parts if isinstance(part, Chars)]
    if len(chars) < len(parts) or any(char.folded or len(char.members) != 1 for char in chars):
        return ("",)
    return ("".join(char.members for char in chars),)
