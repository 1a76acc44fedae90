"""The bytes of a file and ranges of it in, the text there out; columns in any of the three units of SCIP."""

from __future__ import annotations

Place = tuple[int, int, int, int]


class SourceLines:
    """Lines of a file; columns count bytes, UTF-16 units or code points, as `encoding` says."""

    def __init__(self, data: bytes, encoding: str) -> None:
        self._lines = data.split(b"\n")
        self._encoding = encoding
        self._ascii = data.isascii()

    def span(self, place: Place) -> str | None:
        """The text of a place; None when the file has no such place. Of several lines, the first."""
        line, column, last, end = place
        if last >= len(self._lines):
            return None
        if last > line:
            end = self.width(line)
        whole = self._lines[line]
        if self._ascii or whole.isascii():
            return whole[column:end].decode() if end <= len(whole) else None
        return self._wide(whole, column, end)

    def _wide(self, whole: bytes, column: int, end: int) -> str | None:
        if self._encoding == "utf-16":
            units, size = whole.decode("utf-8", "replace").encode("utf-16-le", "surrogatepass"), 2
        elif self._encoding == "utf-32":
            units, size = whole.decode("utf-8", "replace").encode("utf-32-le", "surrogatepass"), 4
        else:
            units, size = whole, 1
        if end * size > len(units):
            return None
        code = {1: "utf-8", 2: "utf-16-le", 4: "utf-32-le"}[size]
        return units[column * size : end * size].decode(code, "replace")

    def width(self, line: int) -> int:
        """How many columns a line has."""
        whole = self._lines[line].removesuffix(b"\r")
        if self._encoding == "utf-8" or whole.isascii():
            return len(whole)
        text = whole.decode("utf-8", "replace")
        return (
            len(text) if self._encoding == "utf-32" else len(text.encode("utf-16-le", "surrogatepass")) // 2
        )

    def next_char(self, place: Place) -> str:
        """The first character after a place on its line that is not blank; "" for none."""
        end = place[3]
        whole = self._lines[place[2]]
        if not (self._ascii or whole.isascii()):
            rest = self._wide(whole, end, self.width(place[2])) or ""
            return rest.lstrip()[:1]
        return whole[end : end + 8].lstrip()[:1].decode()
