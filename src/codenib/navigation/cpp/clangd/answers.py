"""A clangd session and a file in; what clangd answers at every token of it out."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec

from codenib.core.text.c_tokens import Token, TokenKind, lex
from codenib.navigation.cpp.clangd.chosen import Start, chosen_tokens
from codenib.navigation.cpp.clangd.session import ClangdSession, path_to_uri, uri_to_path
from codenib.navigation.cpp.clangd.shards import ClangdPlace
from codenib.navigation.cpp.header_context import original
from codenib.navigation.cpp.macros import MacroWords, directive_lines, macro_parameters

Definitions = tuple[tuple[ClangdPlace, int], ...]  # places with the end column of the name

# Only what is local has its offset in its name.
_LOCAL = re.compile(r"c:[^@]*@\d+(?:@|$)")
_NAMESPACE_ALIAS = re.compile(r"@NA@[^@]*$")
_TYPEDEF = re.compile(r"@T@[^@]*$")
#: What tokens with the same definition share, or the place of one that shares it with none.
_Meaning = tuple[str, str, bytes] | Start | tuple[()]
# Requests in flight at once: enough to keep clangd busy, few enough to keep the answers small.
_BATCH = 2000


@dataclass(frozen=True, slots=True)
class NamedSymbol:
    """A symbol as `symbolInfo` gives it: its identity and where it is declared, if the file's parse knows."""

    name: str
    scope: str
    usr: str
    place: ClangdPlace | None

    @property
    def is_macro(self) -> bool:
        return "@macro@" in self.usr

    @property
    def is_local(self) -> bool:
        """Whether it is a local, a parameter or a parameter of a template."""
        return _LOCAL.match(self.usr) is not None


@dataclass(frozen=True, slots=True)
class OutlineItem:
    """A declaration of the file's outline; `parent` is its index there or -1."""

    name: str
    kind: int
    parent: int
    range: tuple[int, int, int, int]
    name_range: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class TokenAnswer:
    """One token with clangd's answers: places of definition, and the identities of what it names."""

    token: Token
    follower: str  # the next token's text
    is_base: bool  # in the list of a class's bases
    style: str  # the type of the semantic token there, or ""
    definitions: Definitions
    symbols: tuple[str, ...]  # those that references is about
    guessed: bool = False  # the parse knows nothing here: the definitions are of the same word nearby


@dataclass(frozen=True, slots=True)
class FileAnswers:
    """One file; `own` has the places of symbols that the index lists otherwise or not at all."""

    path: str
    asked: list[TokenAnswer]
    outline: list[OutlineItem]
    symbols: dict[str, NamedSymbol]
    own: dict[str, frozenset[Start]]


class Asker:
    """Opens files in a session, one at a time, and asks at every name.

    `listed` are the index's symbols by place for each file; `macro_words` knows which names macros use.
    A place below `copies` is that of the original.
    """

    def __init__(
        self,
        session: ClangdSession,
        root: Path,
        copies: Path,
        listed: Mapping[str, Mapping[Start, Sequence[str]]],
        macro_words: MacroWords,
    ) -> None:
        self._session = session
        self._root = root
        self._copies = copies
        self._listed = listed
        self._macro_words = macro_words
        # Most answers are the same few places: kept once.
        self._known: dict[Definitions, Definitions] = {}

    def ask(self, path: str) -> FileAnswers:
        text = (self._root / path).read_bytes().decode("utf-8", "replace")
        is_c = path.endswith(".c")
        document = self._open(path, text)
        listed = self._listed.get(path, {})
        outline, styles = self._session.ask_all(
            [
                (f"textDocument/{name}", {"textDocument": document})
                for name in ("documentSymbol", "semanticTokens/full")
            ]
        )
        style = _styles(styles, self._session.token_types)
        declared = _declared(styles, self._session.token_modifiers)
        chosen = list(chosen_tokens(lex(text, is_c=is_c), listed))
        symbols: dict[str, NamedSymbol] = {}
        known: dict[_Meaning, Definitions] = {}
        names: dict[bytes | None, tuple[str, ...]] = {}
        asked: list[TokenAnswer] = []
        for start in range(0, len(chosen), _BATCH):
            batch = chosen[start : start + _BATCH]
            tokens = [token for token, _, _ in batch]
            places = [_position(document, token) for token in tokens]
            answers = self._session.ask_undecoded([("textDocument/symbolInfo", place) for place in places])
            for answer in answers:
                if answer not in names:
                    names[answer] = self._named(msgspec.json.decode(answer) if answer else None, symbols)
            named = [names[answer] for answer in answers]
            meanings = [
                _meaning(token, answer if ids else None, style, declared)
                for token, answer, ids in zip(tokens, answers, named, strict=True)
            ]
            self._define(document, tokens, meanings, known)
            for (token, follower, is_base), ids, meaning in zip(batch, named, meanings, strict=True):
                asked.append(
                    TokenAnswer(
                        token=token,
                        follower=follower,
                        is_base=is_base,
                        style=style.get((token.line, token.column), ""),
                        definitions=known.get(meaning, ()),
                        symbols=_relevant(ids, token.text, symbols),
                    )
                )
        asked = _without_implicit(str(self._root / path), asked, symbols, declared)
        asked = self._guess(document, asked, text)
        own = self._own(document, asked, symbols, listed, self._macro_words.used_in(text))
        self._session.tell("textDocument/didClose", {"textDocument": document})
        parameters = macro_parameters(text, is_c=is_c)
        if parameters:
            full = str(self._root / path)
            asked = [
                _as_parameter(full, one, parameters.get((one.token.line, one.token.column)), symbols, own)
                for one in asked
            ]
        return FileAnswers(path, asked, list(_flat(outline or [], -1, [0])), symbols, own)

    def ask_at(self, path: str, tokens: Sequence[Token]) -> list[tuple[Definitions, tuple[str, ...]]]:
        """Only what some tokens of a file are answered: places, and identities of what they name."""
        document = self._open(path, (self._root / path).read_bytes().decode("utf-8", "replace"))
        answers = self._at(document, tokens, ("definition", "symbolInfo"))
        self._session.tell("textDocument/didClose", {"textDocument": document})
        symbols: dict[str, NamedSymbol] = {}
        return [
            (
                self._places(answers[2 * at]),
                _relevant(self._named(answers[2 * at + 1], symbols), token.text, symbols),
            )
            for at, token in enumerate(tokens)
        ]

    def _open(self, path: str, text: str) -> dict[str, str]:
        document = {"uri": path_to_uri(str(self._root / path))}
        language = "c" if path.endswith(".c") else "cpp"
        opened = {**document, "text": text, "version": 1, "languageId": language}
        self._session.tell("textDocument/didOpen", {"textDocument": opened})
        return document

    def _at(self, document: Mapping[str, str], tokens: Sequence[Token], methods: Sequence[str]) -> list[Any]:
        places = [_position(document, token) for token in tokens]
        return self._session.ask_all(
            [(f"textDocument/{method}", place) for place in places for method in methods]
        )

    def _define(
        self,
        document: Mapping[str, str],
        tokens: Sequence[Token],
        meanings: Sequence[_Meaning],
        known: dict[_Meaning, Definitions],
    ) -> None:
        """Ask for the definitions of meanings that are not known yet, each once."""
        first: dict[_Meaning, Token] = {}
        for token, meaning in zip(tokens, meanings, strict=True):
            if meaning and meaning not in known:
                first.setdefault(meaning, token)
        answers = self._at(document, list(first.values()), ("definition",))
        known.update(zip(first, map(self._places, answers), strict=True))

    def _guess(
        self, document: Mapping[str, str], asked: Sequence[TokenAnswer], text: str
    ) -> list[TokenAnswer]:
        """Where the parse knows nothing (code that is left out) clangd takes what the same word means nearby;
        failing that, anything of that name that it has ever seen. The latter depends on what was open before,
        so it is no fact, and is not asked for: that search of the whole index took most of the time in C."""
        likely = nearby_definitions(asked, text)
        answers = self._at(document, [asked[at].token for at in likely], ("definition",))
        given = dict(zip(likely, map(self._places, answers), strict=True))
        same = {at for at in likely if given[at] == likely[at]}
        return [
            replace(one, definitions=likely[at], guessed=True) if at in same else one
            for at, one in enumerate(asked)
        ]

    def _places(self, answer: Sequence[Mapping[str, Any]] | None) -> Definitions:
        found = set()
        for item in answer or ():
            start, end = item["range"]["start"], item["range"]["end"]
            width_end = end["character"] if end["line"] == start["line"] else start["character"]
            found.add((self._place(item["uri"], start), width_end))
        places = tuple(sorted(found, key=lambda pair: (pair[0].path, pair[0].line, pair[0].column, pair[1])))
        return self._known.setdefault(places, places)

    def _place(self, uri: str, start: Mapping[str, int]) -> ClangdPlace:
        path = original(uri_to_path(uri), self._copies, self._root)
        return ClangdPlace(path, start["line"], start["character"])

    def _named(
        self, answer: Sequence[Mapping[str, Any]] | None, symbols: dict[str, NamedSymbol]
    ) -> tuple[str, ...]:
        found = set()
        for item in answer or ():
            identity = item.get("id")
            if not identity:
                continue
            found.add(identity)
            if identity not in symbols:
                home = item.get("definitionRange") or item.get("declarationRange")
                place = self._place(home["uri"], home["range"]["start"]) if home else None
                symbols[identity] = NamedSymbol(
                    item.get("name") or "", item.get("containerName") or "", item.get("usr") or "", place
                )
        return tuple(sorted(found))

    def _own(
        self,
        document: Mapping[str, str],
        asked: Sequence[TokenAnswer],
        symbols: Mapping[str, NamedSymbol],
        listed: Mapping[Start, Sequence[str]],
        used_by_macros: Set[str],
    ) -> dict[str, frozenset[Start]]:
        """Where the file's own parse sees what the index leaves out (locals) or lists otherwise.

        A local that no macro can use is where tokens name it; of the rest clangd is asked.
        """
        own: dict[str, set[Start]] = defaultdict(set)
        strange: set[str] = set()
        words = {(one.token.line, one.token.column): one.token.text for one in asked}
        for one in asked:
            start = (one.token.line, one.token.column)
            for identity in one.symbols:
                symbol = symbols[identity]
                if symbol.name not in used_by_macros and _is_local(symbol, document["uri"]):
                    # The type of a local that the parse does not know is said to be the local.
                    own[identity].update([start] if one.token.text == symbol.name else ())
                    own[identity].update(_declared_at(symbol, words))
                elif identity not in listed.get(start, ()):
                    strange.add(identity)
        first: dict[str, Token] = {}
        # A token that names one symbol alone is the place to ask about it.
        for one in sorted(asked, key=lambda one: len(one.symbols)):
            for identity in strange.intersection(one.symbols):
                first.setdefault(identity, one.token)
        answers = self._at(document, list(first.values()), ("references",))
        for identity, answer in zip(first, answers, strict=True):
            own[identity] = {
                (item["range"]["start"]["line"], item["range"]["start"]["character"])
                for item in answer or ()
                if path_to_uri(uri_to_path(item["uri"])) == document["uri"]
            }
        return {identity: frozenset(places) for identity, places in own.items()}


def _without_implicit(
    path: str, asked: Sequence[TokenAnswer], symbols: dict[str, NamedSymbol], declared: Set[Start]
) -> list[TokenAnswer]:
    """C declares a function that nobody declares where it is first called: such a call leads nowhere."""
    implicit = {}
    for one in asked:
        start = (one.token.line, one.token.column)
        if (
            len(one.symbols) == 1
            and one.follower == "("
            and one.style == "function"
            and start not in declared
        ):
            symbol, here = symbols[one.symbols[0]], ClangdPlace(path, *start)
            if symbol.usr == f"c:@F@{one.token.text}" and symbol.place == here:
                implicit[one.symbols] = ((here, one.token.end_column),)
    kept = [
        replace(one, style="", definitions=(), symbols=())
        if one.symbols in implicit and one.definitions == implicit[one.symbols]
        else one
        for one in asked
    ]
    named = {identity for one in kept for identity in one.symbols}
    for (identity,) in implicit:
        if identity not in named:
            del symbols[identity]
    return kept


def _as_parameter(
    path: str,
    one: TokenAnswer,
    parameter: Token | None,
    symbols: dict[str, NamedSymbol],
    own: dict[str, frozenset[Start]],
) -> TokenAnswer:
    """A token that is a macro's parameter, of which clangd knows nothing, as a local of its macro."""
    if parameter is None:
        return one
    identity = f"parameter@{parameter.line}@{parameter.column}"
    place = ClangdPlace(path, parameter.line, parameter.column)
    symbols[identity] = NamedSymbol(parameter.text, "", identity, place)
    own[identity] = own.get(identity, frozenset()) | {(one.token.line, one.token.column)}
    definitions = ((place, parameter.end_column),)
    return replace(one, style="parameter", definitions=definitions, symbols=(identity,))


def _is_local(symbol: NamedSymbol, uri: str) -> bool:
    """Whether a symbol is a local, a parameter or a parameter of a template of this file."""
    here = symbol.place is not None and path_to_uri(symbol.place.path) == uri
    return here and symbol.is_local


def _declared_at(symbol: NamedSymbol, words: Mapping[Start, str]) -> list[Start]:
    """Where a local is declared, if its name stands there: a parameter in the old style of C is not named by
    its own declaration."""
    place = (symbol.place.line, symbol.place.column) if symbol.place is not None else (-1, -1)
    return [place] if words.get(place) == symbol.name else []


def nearby_definitions(asked: Sequence[TokenAnswer], text: str) -> dict[int, Definitions]:
    """For each name that names nothing, by its number: what the nearest of the same words means."""
    directives = directive_lines(text)
    words: dict[str, list[tuple[Start, Definitions]]] = defaultdict(list)
    for one in asked:
        if one.symbols and one.token.kind is TokenKind.NAME and one.token.line not in directives:
            words[one.token.text].append(((one.token.line, one.token.column), one.definitions))
    found = {}
    for at, one in enumerate(asked):
        if not one.symbols and one.token.kind is TokenKind.NAME:
            nearest = _nearest(one.token, words.get(one.token.text, ()))
            if nearest:
                found[at] = nearest
    return found


def _nearest(token: Token, known: Sequence[tuple[Start, Definitions]]) -> Definitions:
    """As clangd measures: lines above count twice, and the longer the word, the farther it may be."""
    after = bisect_left(known, (token.line, token.column), key=itemgetter(0))
    limit = 1 << min(len(token.text), 31)
    below = known[after][0][0] - token.line if after < len(known) else limit + 1
    above = 2 * (token.line - known[after - 1][0][0]) if after else limit + 1
    if min(below, above) > limit:
        return ()
    return known[after if below <= above else after - 1][1]


def _relevant(found: tuple[str, ...], text: str, symbols: Mapping[str, NamedSymbol]) -> tuple[str, ...]:
    """Of all that a token names, what references is about: the macro before what it stands for, the alias
    before what it is an alias of."""
    macros = tuple(identity for identity in found if symbols[identity].is_macro)
    if macros:
        return macros
    found = tuple(identity for identity in found if _NAMESPACE_ALIAS.search(symbols[identity].usr)) or found
    found = tuple(identity for identity in found if symbols[identity].name == text) or found
    # `typedef struct X X`: the type's name alone means the typedef, and `struct X` the struct.
    return tuple(identity for identity in found if _TYPEDEF.search(symbols[identity].usr)) or found


def _styles(answer: Mapping[str, Any] | None, types: Sequence[str]) -> dict[tuple[int, int], str]:
    styles = {}
    line = column = 0
    data = (answer or {}).get("data", [])
    for at in range(0, len(data), 5):
        down, right, _, kind, _ = data[at : at + 5]
        line, column = line + down, right if down else column + right
        styles[line, column] = types[kind]
    return styles


def _declared(answer: Mapping[str, Any] | None, modifiers: Sequence[str]) -> set[Start]:
    """Where the semantic tokens of declarations and definitions are."""
    bits = sum(1 << at for at, name in enumerate(modifiers) if name in ("declaration", "definition"))
    found = set()
    line = column = 0
    data = (answer or {}).get("data", [])
    for at in range(0, len(data), 5):
        down, right, _, _, set_bits = data[at : at + 5]
        line, column = line + down, right if down else column + right
        if set_bits & bits:
            found.add((line, column))
    return found


def _position(document: Mapping[str, str], token: Token) -> dict[str, Any]:
    """The parameters of a question at a token."""
    return {
        "textDocument": document,
        "position": {"line": token.line, "character": token.column},
        "context": {"includeDeclaration": True},
    }


def _meaning(token: Token, named: bytes | None, style: Mapping[Start, str], declared: Set[Start]) -> _Meaning:
    """What a token shares with others that have the same definition: the word, its role, and what it names,
    with the place where it sees it. A declaration leads elsewhere than a use, and shares with none; empty
    for a name that names nothing."""
    start = (token.line, token.column)
    if token.kind is not TokenKind.NAME or (named and start in declared):
        return start
    if not named:
        return ()
    return token.text, style.get(start, ""), named


def _flat(items: Sequence[Mapping[str, Any]], parent: int, count: list[int]) -> Iterator[OutlineItem]:
    for item in items:
        own = count[0]
        count[0] += 1
        yield OutlineItem(
            item["name"], item["kind"], parent, _range(item["range"]), _range(item["selectionRange"])
        )
        yield from _flat(item.get("children", ()), own, count)


def _range(value: Mapping[str, Any]) -> tuple[int, int, int, int]:
    start, end = value["start"], value["end"]
    return start["line"], start["character"], end["line"], end["character"]
