"""Units of a file and its text in, the documents that are embedded out: of leaves, or of the whole file.

A leaf's document is `path:symbol`, for a member of a class the class's own header line, then the source span.
An L0 document is the file's path and the header lines of its units: a signature skeleton.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codenib.core.source import BlobUnits, Level, UnitRow
from codenib.units.notebooks import OUTPUT
from codenib.views.dense.profile import DocumentSet

_HEADER_LIMIT = 200
# What may stand above a definition and belong to it: comments, decorators, attributes.
_ABOVE = ("#", "@", "//", "/*", "*", "--", "[", '"')


@dataclass(frozen=True, slots=True)
class DenseDocument:
    """A text to embed, with the address that it stands for. Lines are 1-based and inclusive."""

    start_line: int
    end_line: int
    symbol: str
    kind: str
    level: Level
    text: str
    test: bool = False

    @property
    def digest(self) -> bytes:
        """Names the text: equal texts have equal vectors."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).digest()


def documents_of(path: str, units: BlobUnits, data: bytes, wanted: DocumentSet) -> list[DenseDocument]:
    """The documents of a file, in line order; none for a skipped or empty one."""
    if units.skip or not units.rows:
        return []
    lines = data.decode("utf-8", "replace").split("\n")
    if wanted is DocumentSet.L0:
        return [_file_document(path, units, lines)]
    documents = _unit_documents(path, units.rows, lines)
    return [each for each in documents if wanted is DocumentSet.LEAVES or each.level is Level.L2]


def header_of(row: UnitRow, lines: Sequence[str]) -> str:
    """The line that names a unit, below its comments and decorators; the first one when none does."""
    name = row.symbol.rpartition(".")[2]
    span = [line.strip() for line in lines[row.start_line - 1 : row.end_line]]
    code = [line for line in span if line and not line.startswith(_ABOVE)]
    named = (line for group in (code, span) for line in group if name and name in line)
    header = next(named, "") or next(iter(code or span), "")
    return header[:_HEADER_LIMIT]


def _unit_documents(path: str, rows: Sequence[UnitRow], lines: Sequence[str]) -> Iterator[DenseDocument]:
    """One for each leaf: callables, rests of classes and files, sections, windows; long ones in pieces."""
    headers: dict[UnitRow, str] = {}
    for row, owners in _nested(rows):
        if not row.leaf or row.kind == OUTPUT:
            continue
        parts = [f"{path}:{row.symbol}" if row.symbol else path]
        if owners and row.level is Level.L2:
            owner = owners[-1]
            if owner not in headers:
                headers[owner] = header_of(owner, lines)
            parts.append(headers[owner])
        # Blank lines below a unit are the unit's, but say nothing: moving them must not embed it again.
        parts.append("\n".join(lines[row.start_line - 1 : row.end_line]).rstrip())
        yield DenseDocument(
            start_line=row.start_line,
            end_line=row.end_line,
            symbol=row.symbol,
            kind=row.kind,
            level=row.level,
            text="\n".join(parts),
            test=row.test,
        )


def _file_document(path: str, units: BlobUnits, lines: Sequence[str]) -> DenseDocument:
    skeleton = [path]
    last = ""
    for row, owners in _nested(units.rows):
        declares = row.leaf if row.level is Level.L2 else not row.leaf
        named = bool(row.symbol) and (declares or row.kind == "section")
        if not named or (row.leaf and row.symbol == last):  # a further piece of the same unit
            continue
        last = row.symbol
        header = row.symbol if row.kind == "section" else header_of(row, lines)
        skeleton.append("  " * len(owners) + header)
    return DenseDocument(
        start_line=1, end_line=units.lines, symbol="", kind="file", level=Level.L0, text="\n".join(skeleton)
    )


def _nested(rows: Sequence[UnitRow]) -> Iterator[tuple[UnitRow, list[UnitRow]]]:
    """Each row in line order, with the type-like scopes that it stands in, outermost first."""
    open_scopes: list[UnitRow] = []
    for row in sorted(rows, key=lambda row: (row.start_line, row.leaf, -row.end_line)):
        while open_scopes and open_scopes[-1].end_line < row.start_line:
            open_scopes.pop()
        yield row, list(open_scopes)
        if row.level is Level.L1 and not row.leaf:
            open_scopes.append(row)
