"""A repository in, views that follow its edits out: `python -m codenib.adapters.mcp.background.updater ROOT`.

The server runs it beside itself where there is a graph: engines that stay follow each edit, and their work
never holds up an answer. It ends when its standard input does, which is when the server is gone.
"""

from __future__ import annotations

import sys
import threading

from codenib.adapters.mcp.background.indexer import end_with_parent
from codenib.core.errors import CodenibError
from codenib.serving.snapshots.watch import watch_repository
from codenib.serving.workspace import Workspace


def main(root: str) -> int:
    """Follow the edits of `root` until the server ends."""
    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        with Workspace(root) as workspace:
            watch_repository(
                workspace, lambda _: None, say=lambda _: None, audited=lambda _: None, ready=_say_ready
            )
    except CodenibError as error:
        return error.exit_code
    return 0


def _say_ready() -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
