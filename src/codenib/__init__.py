"""CodeNib serves repository context to coding agents.

>>> import codenib
>>> with codenib.open("path/to/repository") as workspace:      # doctest: +SKIP
...     for item in workspace.search("where are sessions saved"):
...         print(item.path, item.start_line, item.symbol, item.text)
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from codenib.core.answers import Answer, Evidence, Passage, RegexAnswer
from codenib.core.errors import VERSION, CodenibError, InputError, ProviderError, StateError
from codenib.serving.workspace import Workspace

if TYPE_CHECKING:
    from codenib.runtime.query import query
    from codenib.serving.async_workspace import AsyncWorkspace

__version__ = VERSION

__all__ = [
    "Answer",
    "AsyncWorkspace",
    "CodenibError",
    "Evidence",
    "InputError",
    "Passage",
    "ProviderError",
    "RegexAnswer",
    "StateError",
    "Workspace",
    "__version__",
    "open",
    "query",
]


def open(path: str | Path = ".") -> Workspace:
    """The workspace of the repository at `path`: a checkout, a bare repository or a plain folder."""
    return Workspace(path)


def __getattr__(name: str) -> Any:
    """`query` comes with the agent runtime, `AsyncWorkspace` with anyio: a search needs neither."""
    if name == "AsyncWorkspace":
        from codenib.serving.async_workspace import AsyncWorkspace

        return AsyncWorkspace
    if name == "query":
        from codenib.runtime.query import query

        return query
    raise AttributeError(f"module 'codenib' has no attribute {name!r}")
