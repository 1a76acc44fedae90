"""Files on disk in, open documents of a server out: opened, changed and closed so that both stay equal."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from codenib.core.errors import InputError, ProviderError
from codenib.navigation.live.servers import Server
from codenib.navigation.live.text import DiskTexts, SourceText
from codenib.units.languages import NOTEBOOK_SUFFIX
from codenib.units.notebook_code import as_python, engine_name

_OPEN = 64  # servers hold the syntax tree of every open file


class Notify(Protocol):
    """Sends a notification."""

    def __call__(self, method: str, params: object) -> None: ...


@dataclass(slots=True)
class OpenDocument:
    """An open file: the text that the server has. `pinned` ones stay open: disk and index differ there."""

    uri: str
    version: int
    text: SourceText
    pinned: bool = False


class OpenDocuments:
    """The open files of one server. Not for several threads."""

    def __init__(self, root: Path, server: Server, texts: DiskTexts, notify: Notify) -> None:
        self._root = root
        self._server = server
        self._texts = texts
        self._notify = notify
        self._open: OrderedDict[str, OpenDocument] = OrderedDict()
        #: Every file that was ever open.
        self.opened: set[str] = set()

    def __contains__(self, path: str) -> bool:
        return path in self._open

    def open(self, path: str, *, pinned: bool = False) -> tuple[OpenDocument, bool]:
        """Open a file, or bring it up to date; the document, and whether the server was told anything."""
        language = self._server.language_id(path)
        if language is None:
            raise InputError(f"{self._server.tool} does not read {path}", hint="codenib tools")
        text = self._texts.read(path)
        if text is None:
            self.close(path)
            raise InputError(f"{path} is not a file of {self._root}")
        known = self._open.get(path)
        if known is not None:
            self._open.move_to_end(path)
            known.pinned = known.pinned or pinned
            return known, self._update(path, known, text)
        document = OpenDocument((self._root / engine_name(path)).as_uri(), 1, text, pinned)
        self._open[path] = document
        self.opened.add(path)
        item = {"uri": document.uri, "languageId": language, "version": 1, "text": _code(path, text)}
        self._notify("textDocument/didOpen", {"textDocument": item})
        self._close_oldest()
        return document, True

    def close(self, path: str) -> None:
        """Close a file; the server reads it from disk again."""
        document = self._open.pop(path, None)
        if document is not None:
            self._notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})

    def close_all_but(self, path: str) -> None:
        """Close every file but one and those that must stay open."""
        for other in [name for name, document in self._open.items() if name != path and not document.pinned]:
            self.close(other)

    def refresh(self) -> list[OpenDocument]:
        """Bring every open file up to date with the disk; those that changed. Removed ones are closed."""
        updated = []
        for path, document in list(self._open.items()):
            text = self._texts.read(path)
            if text is None:
                self.close(path)
            elif self._update(path, document, text):
                updated.append(document)
        return updated

    def _update(self, path: str, document: OpenDocument, text: SourceText) -> bool:
        if text.data == document.text.data:
            return False
        document.version += 1
        document.text = text
        item = {"uri": document.uri, "version": document.version}
        change = {"textDocument": item, "contentChanges": [{"text": _code(path, text)}]}
        self._notify("textDocument/didChange", change)
        self._notify("textDocument/didSave", {"textDocument": {"uri": document.uri}})
        return True

    def _close_oldest(self) -> None:
        if len(self._open) > _OPEN:
            oldest = next((path for path, document in self._open.items() if not document.pinned), None)
            if oldest is not None:
                self.close(oldest)


def _code(path: str, text: SourceText) -> str:
    """The text that the server reads: of a notebook the code, at the same lines and columns."""
    if not path.endswith(NOTEBOOK_SUFFIX):
        return text.text
    code = as_python(text.data)
    if code is None:
        raise ProviderError(f"{path} has several lines of code on one line", hint="save it with Jupyter")
    return code.decode()
