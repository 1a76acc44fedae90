"""Mine (text, function) pairs from a bare git repository: `python -m training.mine REPO.git OUT [SKIP]`.

Four kinds of pairs, all with the function as the dense view would embed it (path:symbol, class line, source):

    doc      the first paragraph of a docstring or leading comment; the function without it
    comment  a comment inside a function; the function without it
    error    a message that a function raises, logs or returns; the function without it
    commit   the message of a commit; each function that it changed, as it stood before

A line of the output is a document {"d": text} or a pair {"k": kind, "q": text, "i": number of the document}.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from codenib.core.source import BlobUnits, Level, Mark, UnitRow
from codenib.snapshot.blobs import GitBlobs
from codenib.units.extract import extract
from codenib.units.languages import BY_NAME, language_hint
from codenib.units.marks import marks_of

MAX_COMMITS = 4_000  # newest first; more of one repository teaches less than another repository
MAX_FUNCTIONS = 12_000
MAX_CHANGED = 6  # functions of one commit; larger ones are sweeps
LEAST_LINES = 3
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? ")
_INDEX = re.compile(r"^index ([0-9a-f]{40})\.\.")
_LEAD = re.compile(r"^\s*(?:///?!?|/\*\*?|\*/?|#+|--+|;+|%+)\s?")
_DOCSTRING = re.compile(r'^\s*[rRuUbB]{0,2}("""|\'\'\')')
_MESSAGE = re.compile(
    r"(?:raise|throw|panic!?|Errorf|Error|errors\.New|bail!|expect|abort|fail|warn\w*|log\w*|die|assert\w*)\b"
    r"[^\"'\n]{0,60}[\"']([^\"'\n]{16,200})[\"']"
)
_TRAILER = re.compile(
    r"^(?:[A-Z][\w-]+-by|Cc|Change-Id|PR-URL|Refs?|Fixes|Closes|Reviewed|See|GitOrigin\S*): .*$", re.M
)


@dataclass
class Output:
    """The lines of one repository, each document once."""

    documents: dict[str, int] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, kind: str, query: str, document: str) -> None:
        query = " ".join(query.split())
        if not _worth(query):
            return
        key = hashlib.blake2b(document.encode("utf-8", "replace"), digest_size=12).hexdigest()
        if key not in self.documents:
            self.documents[key] = len(self.documents)
            self.lines.append(json.dumps({"d": document}))
        self.lines.append(json.dumps({"k": kind, "q": query[:1200], "i": self.documents[key]}))
        self.counts[kind] = self.counts.get(kind, 0) + 1


def _worth(query: str) -> bool:
    words = re.findall(r"[A-Za-z]{2,}", query)
    return len(words) >= 3 and len(query) >= 12


@dataclass(frozen=True)
class Function:
    """A function of one blob with its lines."""

    path: str
    row: UnitRow
    header: str
    lines: list[str]

    def document(self, without: frozenset[int] = frozenset()) -> str:
        body = [line for number, line in enumerate(self.lines) if number not in without]
        return "\n".join([f"{self.path}:{self.row.symbol}", *([self.header] if self.header else []), *body])[
            :6000
        ]


def functions(path: str, data: bytes) -> Iterator[Function]:
    """The callables of a file."""
    units: BlobUnits = extract(data, language_hint(path))
    if units.skip or units.language not in BY_NAME:
        return
    lines = data.decode("utf-8", "replace").split("\n")
    scopes = [row for row in units.rows if row.level is Level.L1 and not row.leaf]
    for row in units.rows:
        if row.level is Level.L2 and row.end_line - row.start_line + 1 >= LEAST_LINES:
            inside = [s for s in scopes if s.start_line < row.start_line and s.end_line >= row.end_line]
            header = lines[max(inside, key=lambda s: s.start_line).start_line - 1].strip() if inside else ""
            yield Function(path, row, header, lines[row.start_line - 1 : row.end_line])


def doc_pair(function: Function) -> tuple[str, frozenset[int]] | None:
    """The documentation of a function and the lines that hold it."""
    lead = 0
    while (
        lead < len(function.lines) and _LEAD.match(function.lines[lead]) and "#[" not in function.lines[lead]
    ):
        lead += 1
    if lead:
        text = [_LEAD.sub("", line).replace("*/", "").strip() for line in function.lines[:lead]]
        return _paragraph(text), frozenset(range(lead))
    for start, line in enumerate(function.lines[:12]):
        found = _DOCSTRING.match(line)
        if found:
            quote = found[1]
            end = start
            if line.count(quote) < 2:
                end = next(
                    (n for n in range(start + 1, len(function.lines)) if quote in function.lines[n]), start
                )
            text = [part.replace(quote, "").strip() for part in function.lines[start : end + 1]]
            return _paragraph(text), frozenset(range(start, end + 1))
    return None


def _paragraph(lines: list[str]) -> str:
    out: list[str] = []
    for line in lines:
        if not line and out:
            break
        if line and not line.startswith(
            (":", "@", "<", ">>>", "Copyright", "eslint", "nolint", "type:", "noqa")
        ):
            out.append(line)
    return " ".join(out)[:600]


def inner_pairs(function: Function, rng: random.Random) -> Iterator[tuple[str, str, frozenset[int]]]:
    """One comment and one message of a function, when it has any."""
    comments = [
        (number, _LEAD.sub("", line).strip())
        for number, line in enumerate(function.lines[1:], 1)
        if re.match(r"\s*(?://|#) ?[A-Za-z]", line)
    ]
    if comments:
        number, text = rng.choice(comments)
        block = {number}
        for other, more in comments:
            if other == max(block) + 1:
                block.add(other)
                text += " " + more
        yield "comment", text, frozenset(block)
    messages = [
        (number, found[1]) for number, line in enumerate(function.lines) if (found := _MESSAGE.search(line))
    ]
    if messages:
        number, text = rng.choice(messages)
        yield "error", re.sub(r"%\w|\{[^}]*\}|\$\{?\w+\}?", " ", text), frozenset({number})


def git_paths(git_dir: str, commit: str) -> dict[str, str]:
    """The regular files of a commit with their blobs."""
    listing = subprocess.run(
        ["git", f"--git-dir={git_dir}", "ls-tree", "-r", "-z", "--full-tree", commit],
        capture_output=True,
        check=True,
    ).stdout.decode("utf-8", "replace")
    entries = (entry.split("\t", 1) for entry in listing.split("\0") if entry.startswith("100"))
    return {path: meta.split()[2] for meta, path in entries}


def mine_head(git_dir: str, blobs: GitBlobs, out: Output, rng: random.Random) -> None:
    files = [
        (path, blob)
        for path, blob in git_paths(git_dir, "HEAD").items()
        if language_hint(path) in BY_NAME and not marks_of(path) & ~Mark.TEST
    ]
    rng.shuffle(files)
    found = 0
    for (path, _), data in zip(files, blobs.read([digest for _, digest in files]), strict=True):
        if data is None or len(data) > 400_000:
            continue
        for function in functions(path, data):
            found += 1
            pair = doc_pair(function)
            if pair:
                out.add("doc", pair[0], function.document(pair[1]))
            for kind, text, without in inner_pairs(function, rng):
                out.add(kind, text, function.document(without))
        if found >= MAX_FUNCTIONS:
            return


@dataclass
class Change:
    """A file of a commit as it stood before: its blob and the lines that went."""

    path: str
    blob: str = ""
    ranges: list[tuple[int, int]] = field(default_factory=list)


def commits(git_dir: str, *which: str) -> Iterator[tuple[str, list[Change]]]:
    """Message and changed files of the commits that `git log` gives for `which`, merges left out."""
    command = ["git", f"--git-dir={git_dir}", "-c", "core.quotepath=false", "log", "-p", "-U0", "--no-merges",
               "--full-index", "--no-renames", "--diff-filter=M", "--format=%x00%B%x01", *which]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        message: list[str] = []
        changes: list[Change] = []
        in_message = False
        for raw in process.stdout:
            line = raw.decode("utf-8", "replace").rstrip("\n")
            if line.startswith("\0"):
                if message:
                    yield "\n".join(message), changes
                message, changes, in_message = [line[1:]], [], True
            elif in_message:
                message.append(line)
            elif line.startswith("diff --git "):
                changes.append(Change(line.rsplit(" b/", 1)[-1]))
            elif changes and (index := _INDEX.match(line)):
                changes[-1].blob = index[1]
            elif changes and (hunk := _HUNK.match(line)):
                start, count = int(hunk[1]), int(hunk[2] or 1)
                changes[-1].ranges.append((start, start + max(count, 1) - 1))
            if line.endswith("\x01"):
                message[-1] = message[-1].rstrip("\x01")
                in_message = False
        if message:
            yield "\n".join(message), changes


def mine_history(git_dir: str, blobs: GitBlobs, out: Output, skip: int) -> None:
    for message, changes in commits(git_dir, f"--skip={skip}", f"-{MAX_COMMITS}", "HEAD"):
        code = [
            change
            for change in changes
            if change.blob and language_hint(change.path) in BY_NAME and not marks_of(change.path)
        ]
        text = _TRAILER.sub("", message).strip()
        if (
            not code
            or len(code) > 4
            or text.lower().startswith(("bump", "revert", "release", "merge", "chore(deps"))
        ):
            continue
        touched: list[Function] = []
        for change, data in zip(code, blobs.read([change.blob for change in code]), strict=True):
            if data is None or len(data) > 400_000:
                continue
            for function in functions(change.path, data):
                if any(a <= function.row.end_line and b >= function.row.start_line for a, b in change.ranges):
                    touched.append(function)
        if 1 <= len(touched) <= MAX_CHANGED:
            for function in touched:
                out.add("commit", text, function.document())


def main(git_dir: str, target: str, skip: int = 0) -> None:
    """Mine everything; with `skip`, only the history before that many commits."""
    rng = random.Random(git_dir.rsplit("/", 2)[-2])
    out = Output()
    blobs = GitBlobs(git_dir)
    if not skip:
        mine_head(git_dir, blobs, out, rng)
    mine_history(git_dir, blobs, out, skip)
    with gzip.open(target, "wt", encoding="utf-8", compresslevel=4) as stream:
        stream.write("\n".join(out.lines) + "\n")
    print(Path(git_dir).parent.name, len(out.documents), out.counts, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 0)
