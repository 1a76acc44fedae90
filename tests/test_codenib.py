"""The public surface."""

from __future__ import annotations

import subprocess
import sys

import codenib

HEAVY = ("numpy", "rich", "regex", "tree_sitter", "watchfiles", "click", "pygments", "faiss", "anyio")


def test_the_public_names_are_these() -> None:
    assert sorted(codenib.__all__) == [
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


def test_importing_codenib_loads_no_heavy_library() -> None:
    code = f"import codenib, sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
