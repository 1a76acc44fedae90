"""The values of a journal: a call with what it was given, and the files that changed after calls."""

from __future__ import annotations

import msgspec

#: Of the places of one call, and of the paths of one change; more are counted, not listed.
MOST_PLACES = 50
MOST_PATHS = 200
#: Characters of one argument, such as a query, a diff or a list, and arguments of one call: an entry is
#: always smaller than the smallest journal, which would else drop all that it has for it.
MOST_TEXT = 4000
MOST_ARGUMENTS = 20
MOST_NAME = 100  # characters of the name of one


class GivenPlace(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place that a reply had; its rank is its position. `form` says how much of its text came with it."""

    path: str
    line: int = 0
    end_line: int = 0
    symbol: str = ""
    form: str = ""
    score: float | None = None

    def overlaps(self, other: GivenPlace) -> bool:
        """Whether the two have a line in common; a place without lines is its whole file."""
        if self.path != other.path:
            return False
        if not self.line or not other.line:
            return True
        return self.line <= max(other.end_line, other.line) and other.line <= max(self.end_line, self.line)


class AnsweringPlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a ranked question was answered; empty for the calls that are not ranked."""

    route: str = ""
    k_retrieve: int = 0
    k_rerank: int = 0
    reranker: str | None = None
    expansion: str | None = None
    fusion: str = ""
    reason: str = ""


class CallEntry(msgspec.Struct, frozen=True, tag="call", tag_field="kind"):
    """One call: what was asked, of which snapshot, and what was given for how many tokens.

    `total` counts what exists; `places` are those that the reply's text had, best first, `left_out` how many
    of these are not listed here. `worktree` tells the worktrees of one repository apart.
    """

    at: float
    session: str
    worktree: str
    tool: str
    arguments: dict[str, str | int | float | bool | list[str] | None]
    snapshot: str = ""
    commit: str | None = None
    dirty: bool = False
    places: tuple[GivenPlace, ...] = ()
    left_out: int = 0
    total: int = 0
    plan: AnsweringPlan = AnsweringPlan()
    tokens: int = 0
    seconds: float = 0.0
    failed: bool = False

    @property
    def query(self) -> str:
        """The question in words; empty for calls that have none."""
        asked = self.arguments.get("query")
        return asked if isinstance(asked, str) else ""


class EditEntry(msgspec.Struct, frozen=True, tag="edit", tag_field="kind"):
    """Files that differ between the snapshot of a session's last call and the next one that was looked at.

    Who changed them is not known. `complete` is false where the earlier snapshot was no longer stored: then
    files changed, and nobody can say which. `total` counts them also past the limit.
    """

    at: float
    session: str
    worktree: str
    before: str
    after: str
    commit_before: str | None
    commit_after: str | None
    paths: tuple[str, ...]
    total: int
    complete: bool = True


JournalEntry = CallEntry | EditEntry
