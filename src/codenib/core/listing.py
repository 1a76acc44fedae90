"""An answer as a list: iteration, slices, a short text, a table for notebooks; places with their source."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, overload

from codenib.core.errors import StateError

Item = TypeVar("Item")

_IN_REPR = 5  # items that a repr names
_IN_TABLE = 20  # items that a notebook shows
_LINES = 12  # lines of each


class SourceOf(Protocol):
    """The files of one snapshot."""

    def lines(self, path: str, first: int, last: int) -> str:
        """Lines of a file, 1-based and inclusive."""


class Readable:
    """A place of an answer, whose `text` is read when it is asked for, from the snapshot that answered."""

    __slots__ = ("_source",)

    @property
    def span(self) -> tuple[str, int, int]:
        """Its path, first and last line."""
        raise NotImplementedError

    @property
    def text(self) -> str:
        """The source of the place."""
        source: SourceOf | None = getattr(self, "_source", None)
        if source is None:
            raise StateError(f"{self.span[0]}: a place without its answer", hint="ask the workspace again")
        return source.lines(*self.span)

    def read_from(self, source: SourceOf) -> None:
        """Take `source` as where the text comes from: for who answers, before the answer is handed out."""
        object.__setattr__(self, "_source", source)


class Listing(Generic[Item]):
    """What has `items`, best or first ones first, of `total`; as a sequence of them."""

    __slots__ = ()

    if TYPE_CHECKING:  # a property of a base class would be the default of a dataclass's field

        @property
        def items(self) -> tuple[Item, ...]: ...

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __bool__(self) -> bool:
        return bool(self.items)

    @overload
    def __getitem__(self, at: int) -> Item: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, at: int | slice) -> Item | tuple[Item, ...]:
        return self.items[at]

    def __repr__(self) -> str:
        more = len(self.items) - _IN_REPR
        rows = [f"  {item}" for item in self.items[:_IN_REPR]]
        return "\n".join([f"<{self._head()}>", *rows, *([f"  … and {more} more"] if more > 0 else [])])

    def _repr_html_(self) -> str:
        """A table of the first items with their source, for notebooks. All text is escaped."""
        rows = "".join(f"<tr><td>{_cell(item)}</td></tr>" for item in self.items[:_IN_TABLE])
        more = len(self.items) - _IN_TABLE
        rest = f"<p>… and {more} more</p>" if more > 0 else ""
        return f"<p><b>{escape(self._head())}</b></p><table>{rows}</table>{rest}"

    def _head(self) -> str:
        total = getattr(self, "total", len(self.items))
        snapshot = getattr(self, "snapshot", None)
        state = f", {(snapshot.commit or snapshot.id)[:7]}{'+edits' * snapshot.dirty}" if snapshot else ""
        return f"{type(self).__name__}: {len(self.items):,} of {total:,}{state}"


def _cell(item: object) -> str:
    title = f"<code>{escape(str(item))}</code>"
    try:
        text = getattr(item, "text", "")
    except StateError:
        text = ""
    lines = text.split("\n")
    more = f"\n… {len(lines) - _LINES} more lines" if len(lines) > _LINES else ""
    code = escape("\n".join(lines[:_LINES]) + more)
    style = "text-align:left;white-space:pre"
    return f'{title}<pre style="{style}">{code}</pre>' if text.strip() else title
