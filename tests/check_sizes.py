"""Fail when a source file is over 500 lines: a file is a noun or a verb, and stays near 300."""

from __future__ import annotations

import sys
from pathlib import Path

LIMIT = 500
FOLDERS = ("src", "tests", "benchmarks")


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    sizes = {
        path.relative_to(root): len(path.read_bytes().split(b"\n"))
        for folder in FOLDERS
        for path in sorted((root / folder).rglob("*.py"))
    }
    too_long = {path: size for path, size in sizes.items() if size > LIMIT}
    for path, size in too_long.items():
        print(f"{path}: {size} lines, over {LIMIT}")
    if not sizes:
        print("no source files found")
    return 1 if too_long or not sizes else 0


if __name__ == "__main__":
    sys.exit(main())
