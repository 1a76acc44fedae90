"""Questions in (JSON on standard input), what the command answered out (a JSON line each, into a file).

Run as a process of its own, inside the hostile folder: `python -P ask.py OUT < questions`. It calls the
entry point of `codenib` itself, so that a trace, an exit code and the escapes of a terminal are what a user gets.
"""

from __future__ import annotations

import io
import json
import resource
import sys
import time
from pathlib import Path

MEMORY_BYTES = 6_000_000_000


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _ask(arguments: list[str]) -> dict[str, object]:
    from codenib.adapters.cli import main

    terminal = "--json" not in arguments
    out, err = (_Terminal(), _Terminal()) if terminal else (io.StringIO(), io.StringIO())
    kept = sys.argv, sys.stdout, sys.stderr
    sys.argv = ["codenib", *arguments]
    sys.stdout, sys.stderr = out, err
    started, code = time.monotonic(), 0
    try:
        main.run()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        sys.argv, sys.stdout, sys.stderr = kept
    seconds = time.monotonic() - started
    answer = {"question": arguments, "code": code, "seconds": seconds, "terminal": terminal}
    # JSON has no lone surrogates; what cannot be written is what a judge would have to see.
    return {**answer, "out": out.getvalue(), "err": err.getvalue()}


def main() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    questions: list[list[str]] = json.load(sys.stdin)
    with Path(sys.argv[1]).open("w", encoding="ascii") as file:
        for question in questions:
            file.write(json.dumps({"asked": question}) + "\n")
            file.flush()
            file.write(json.dumps(_ask(question)) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
