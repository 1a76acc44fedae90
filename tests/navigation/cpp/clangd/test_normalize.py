"""Answers do not depend on which files clangd had open before."""

from __future__ import annotations

from pathlib import Path

from codenib.core.text.c_tokens import Token, TokenKind
from codenib.navigation.cpp.clangd.answers import FileAnswers, TokenAnswer
from codenib.navigation.cpp.clangd.normalize import AnswerNormalizer
from codenib.navigation.cpp.clangd.shards import ClangdPlace, IndexedSymbol, Shard
from codenib.navigation.cpp.clangd.symbols import SymbolTable
from codenib.navigation.cpp.includes import Includes

ROOT = Path("/r")
DECLARATION, DEFINITION = ClangdPlace("/r/add.h", 3, 4), ClangdPlace("/r/add.c", 7, 4)


def answered(path: str, line: int, found: ClangdPlace) -> tuple[tuple[ClangdPlace, int], ...]:
    """What becomes of `found` where clangd gives it for the function `add` on a line."""
    table = SymbolTable(ROOT, ["add.c", "add.h", "main.c"])
    symbol = IndexedSymbol("1", 12, "add", "", DEFINITION, DECLARATION)
    table.add_shards([Shard("/r/add.c", (), False, [symbol], [], [], [])], ())
    token = Token(line, 4, line, 7, "add", TokenKind.NAME)
    asked = TokenAnswer(token, "(", False, "function", ((found, found.column + 3),), ("1",))
    normalizer = AnswerNormalizer(ROOT, table, Includes(ROOT), None)
    return normalizer.normalize(FileAnswers(path, [asked], [], {}, {})).asked[0].definitions


def test_a_definition_that_an_opened_file_hid_is_that_of_the_index() -> None:
    assert answered("main.c", 1, DECLARATION) == ((DEFINITION, 7),)
    assert answered("main.c", 1, DEFINITION) == ((DEFINITION, 7),)


def test_asked_at_a_definition_the_answer_is_its_declaration() -> None:
    assert answered("add.c", 7, DECLARATION) == ((DECLARATION, 7),)
