"""Values of context packs: what a bounded answer shows of the code, and what it left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from codenib.core.answers import Coverage, ItemSequence, Plan, SnapshotRef

#: How a unit is shown: all lines, its declaration with the lines that match, its declaration, its place.
Form = Literal["full", "cut", "signature", "location"]
Relation = Literal["used by", "uses"]


@dataclass(frozen=True, slots=True)
class Block:
    """A unit, or neighbouring units, as a pack shows it. Lines are 1-based, inclusive and those of the unit.

    `text` is what the pack prints for it; `also` names places with the same text, as `path:line`.
    `sent_before` says that the ledger has its lines, so only its place is given.
    """

    path: str
    start_line: int
    end_line: int
    symbol: str
    kind: str
    text: str
    form: Form
    tokens: int
    also: tuple[str, ...] = ()
    sent_before: bool = False

    def __str__(self) -> str:
        return f"{self.path}:{self.start_line}-{self.end_line} {self.symbol or self.kind}"


@dataclass(frozen=True, slots=True)
class Related:
    """A declaration that the unit `of` is used by, or that it uses."""

    relation: Relation
    of: str
    path: str
    line: int
    symbol: str


@dataclass(frozen=True, slots=True, repr=False)
class ContextPack(ItemSequence[Block]):
    """Evidence for a query in at most `max_tokens` tokens, as `tokenizer` counts `text`.

    `total` units match, `omitted` of them are not in `blocks`. `folders` says where the best of them are.
    """

    query: str
    text: str
    tokens: int
    max_tokens: int
    tokenizer: str
    blocks: tuple[Block, ...]
    related: tuple[Related, ...]
    folders: tuple[str, ...]
    total: int
    omitted: int
    snapshot: SnapshotRef
    plan: Plan
    coverage: Coverage
    seconds: float
    refreshed: str = ""
    note: str = ""  # of the search behind it: which views it was without, and what helps

    @property
    def items(self) -> tuple[Block, ...]:
        return self.blocks


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration that a map shows."""

    path: str
    line: int
    symbol: str
    kind: str
    text: str
    importance: float

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.symbol}"


@dataclass(frozen=True, slots=True, repr=False)
class RepoMap(ItemSequence[Declaration]):
    """Folders, files and their most important declarations in at most `max_tokens` tokens.

    `ranked_by` names what decided: `graph`, or `names` when there is no fresh graph; and `history`, `query`.
    """

    text: str
    tokens: int
    max_tokens: int
    tokenizer: str
    declarations: tuple[Declaration, ...]
    total: int
    omitted: int
    ranked_by: tuple[str, ...]
    snapshot: SnapshotRef
    seconds: float
    refreshed: str = ""

    @property
    def items(self) -> tuple[Declaration, ...]:
        return self.declarations
