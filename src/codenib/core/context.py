"""Values of context packs, maps and overviews: what a bounded answer shows of the code, and what not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from codenib.core.answers import Coverage, ItemSequence, NotebookItem, Plan, SnapshotRef

#: How a unit is shown: all lines, its declaration with the lines that match, its declaration, its place.
Form = Literal["full", "cut", "signature", "location"]
Relation = Literal["used by", "uses"]


@dataclass(frozen=True, slots=True)
class Block(NotebookItem):
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
class Declaration(NotebookItem):
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


@dataclass(frozen=True, slots=True)
class FileOverview:
    """A file: how long it is, how it was worked on, and how often others use what it declares.

    `commits` and `last_change` (seconds since 1970) are None without a history, `used` and `uses` (references
    in and out) without a graph of its language: not known, which is not none.
    """

    path: str
    lines: int
    language: str
    marks: tuple[str, ...]
    commits: int | None
    last_change: int | None
    used: int | None
    uses: int | None


@dataclass(frozen=True, slots=True)
class FolderRest:
    """The files of a folder that are not listed: how many, with how many lines."""

    path: str
    files: int
    lines: int


@dataclass(frozen=True, slots=True, repr=False)
class Overview(ItemSequence[FileOverview]):
    """The longest files below a folder; what is not listed is counted in `rest`.

    `lines` counts all of them. `unmeasured` are files of the snapshot below the folder that no view holds.
    """

    items: tuple[FileOverview, ...]
    snapshot: SnapshotRef
    folder: str
    total: int
    truncated: bool
    lines: int
    rest: tuple[FolderRest, ...]
    unmeasured: int
    seconds: float = 0.0
    refreshed: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Module:
    """A folder or a file among others. `cycle` numbers the ring that it is part of; 0: none."""

    path: str
    kind: str  # folder or file
    files: int
    lines: int
    used: int
    uses: int
    cycle: int = 0


@dataclass(frozen=True, slots=True)
class ModuleUse:
    """How often one module uses another; `mutual`: the other uses it too."""

    source: str
    to: str
    often: int
    mutual: bool


@dataclass(frozen=True, slots=True, repr=False)
class ModuleAnswer(ItemSequence[Module]):
    """Modules and their uses of each other, from the graph; folders in `opened` stand as what they hold.

    Files whose uses nobody resolved are in no module, unless there is no graph at all.

    `total` and `total_uses` count what there is, also past the limits. `backends` names who resolved each
    language group: files of others have no uses here.
    """

    items: tuple[Module, ...]
    uses: tuple[ModuleUse, ...]
    opened: tuple[str, ...]
    snapshot: SnapshotRef
    total: int
    total_uses: int
    cycles: int
    backends: Mapping[str, str]
    seconds: float = 0.0
    refreshed: str = ""
    note: str = ""

    @property
    def truncated(self) -> bool:
        return len(self.items) < self.total or len(self.uses) < self.total_uses
