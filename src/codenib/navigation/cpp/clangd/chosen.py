"""The tokens of a file in; out those to ask clangd at, each with the next one and whether it names a base."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from codenib.core.text.c_tokens import Token, TokenKind

Start = tuple[int, int]  # line and column
#: What follows a name with a template's arguments that is called, if it is one.
TEMPLATE_CALL = "<>("
_LONGEST_ARGUMENTS = 200  # tokens; a comparison in a long table has no end nearby
_BRACKETS = {"(": ")", "[": "]", "{": "}"}


def chosen_tokens(tokens: Iterable[Token], indexed: Collection[Start]) -> Iterator[tuple[Token, str, bool]]:
    """The tokens to ask at, each with the text of the next token and whether it names a base class.

    Of `load<int>(` the next is `TEMPLATE_CALL`: the arguments of a template may stand between.
    """
    bases = _Bases()
    every = list(tokens)
    for at, token in enumerate(every):
        is_base = bases.holds(token)
        if token.kind is TokenKind.OTHER and (token.line, token.column) not in indexed:
            continue
        after = every[at + 1].text if at + 1 < len(every) else ""
        if after == "<" and token.kind is TokenKind.NAME and _follows_arguments(every, at + 1):
            yield token, TEMPLATE_CALL, is_base
        else:
            yield token, after, is_base and after != "::"


def _follows_arguments(tokens: Sequence[Token], start: int) -> bool:
    """Whether a parenthesis follows the arguments of a template, whose list starts at a token."""
    depth = 0
    inside: list[str] = []  # brackets, in which signs compare
    for at in range(start, min(start + _LONGEST_ARGUMENTS, len(tokens) - 1)):
        text = tokens[at].text
        if text in _BRACKETS:
            inside.append(_BRACKETS[text])
        elif inside and text == inside[-1]:
            inside.pop()
        elif not inside and text in (";", ")", "]", "}"):
            return False
        elif not inside and text and not text.strip("<>"):
            depth += text.count("<") - text.count(">")
            if depth <= 0:
                return depth == 0 and tokens[at + 1].text == "("
    return False


class _Bases:
    """Follows tokens and knows the list of bases: `class A final : public B, C<D> {`."""

    def __init__(self) -> None:
        self._head = False
        self._list = False
        self._depth = 0

    def holds(self, token: Token) -> bool:
        text = token.text
        if text in ("class", "struct"):
            self._head, self._list, self._depth = True, False, 0
        elif text in ("{", ";", ")", "enum", "union") or (not self._list and text in (">", ",", "(", "=")):
            self._head = self._list = False
        elif text == ":" and self._head:
            self._list = True
        elif text in "<>" and text:
            self._depth += 1 if text == "<" else -1
        return self._list and self._depth == 0 and token.kind is TokenKind.NAME
