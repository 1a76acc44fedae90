"""The same searches with zoekt as the filter: files in, its shards out; its candidates in, `Matches` out.

Zoekt's dialect is Go's, with ASCII `\\w` and `\\b`, and it leaves out what it takes for no source. So it is
asked for a wider pattern, what it does not index is always a candidate, and every candidate is verified
against the stored text exactly as those of our own filter are.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import msgspec

from codenib.core.errors import UNDECODABLE, InputError, ProviderError, StateError
from codenib.views.trigram.match import Matches
from codenib.views.trigram.pattern import compile_pattern
from codenib.views.trigram.profile import ZOEKT as VERSION
from codenib.views.trigram.search import CandidateFile, MatchLimits, verify
from codenib.views.trigram.texts import StoredTexts, write_texts
from codenib.views.trigram.widen import widen

INSTALL = " ".join(
    [
        "go install",
        *(f"github.com/sourcegraph/zoekt/cmd/{name}@{VERSION}" for name in ("zoekt", "zoekt-index")),
    ]
)
_NAME = "snapshot"
_MAX_QUERY = 100_000  # Linux takes arguments of up to 128 KiB
_SKIPPED = re.compile(r"\b(FilesSkipped|ShardsSkipped|Crashes):([1-9]\d*)")


@dataclass(frozen=True, slots=True)
class ZoektPrograms:
    """The two programs."""

    search: Path
    index: Path


def zoekt_available(*folders: Path) -> ZoektPrograms | None:
    """The programs, from `folders`, PATH, `$CODENIB_HOME/bin` or `~/go/bin`; None when one is missing."""
    home = os.environ.get("CODENIB_HOME")
    places = [*folders, *map(Path, os.environ.get("PATH", "").split(os.pathsep))]
    places += [Path(home) / "bin"] if home else []
    search_path = os.pathsep.join(map(str, [*places, Path.home() / "go" / "bin"]))
    search = shutil.which("zoekt", path=search_path)
    index = shutil.which("zoekt-index", path=search_path)
    return ZoektPrograms(Path(search), Path(index)) if search and index else None


def _required(zoekt: ZoektPrograms | None) -> ZoektPrograms:
    programs = zoekt or zoekt_available()
    if programs is None:
        raise ProviderError("zoekt and zoekt-index are not installed", hint=INSTALL)
    return programs


class ZoektView:
    """An open folder of zoekt shards with the text that they were made of."""

    def __init__(self, folder: Path, paths: list[str], zoekt: ZoektPrograms) -> None:
        self._folder = folder
        self._paths = paths
        self._texts = StoredTexts(folder, _NAME, len(paths))
        self._zoekt = zoekt

    @classmethod
    def build(
        cls, files: Iterable[tuple[str, bytes]], out: Path, zoekt: ZoektPrograms | None = None
    ) -> ZoektView:
        """Index `files` into the empty folder `out`; they pass through a temporary folder, never a worktree.

        There they are named by number: zoekt's own rules on paths (ignore files, `.svn`) do not apply.
        """
        programs = _required(zoekt)
        ordered = sorted(files)
        write_texts((data for _, data in ordered), out, _NAME)
        (out / "paths.json").write_bytes(msgspec.json.encode([path for path, _ in ordered]))
        with tempfile.TemporaryDirectory(prefix="codenib-zoekt-") as folder:
            for number, (_, data) in enumerate(ordered):
                (Path(folder) / str(number)).write_bytes(data)
            # Every file counts as allowed to be large: no limit on size or on trigrams.
            options = ["-disable_ctags", "-large_file", "**", "-index", str(out)]
            _run([str(programs.index), *options, folder], timeout_s=None)
        return cls.open(out, programs)

    @classmethod
    def open(cls, folder: Path, zoekt: ZoektPrograms | None = None) -> ZoektView:
        """Open what `build` wrote."""
        try:
            paths = msgspec.json.decode((folder / "paths.json").read_bytes(), type=list[str])
        except (OSError, *UNDECODABLE) as error:
            raise StateError(
                f"{folder.name} cannot be read: {error}", hint="codenib index --rebuild"
            ) from error
        return cls(folder, paths, _required(zoekt))

    def search(
        self,
        pattern: str,
        *,
        ignore_case: bool = False,
        literal: bool = False,
        multiline: bool = False,
        paths: Callable[[str], bool] | None = None,
        limit: int | None = None,
        context: int = 0,
        timeout_s: float = 10.0,
    ) -> Matches:
        """As `TrigramView.search`."""
        if multiline:
            raise InputError(
                "zoekt is asked line by line", hint="codenib regex --multiline --backend trigram"
            )
        start = time.monotonic()
        compiled = compile_pattern(pattern, ignore_case=ignore_case, literal=literal)
        wide = "" if compiled.root is None else widen(compiled.root, _escape)
        try:
            named = self._ask(wide, timeout_s) if 0 < len(wide) < _MAX_QUERY else None
        except subprocess.TimeoutExpired:
            return Matches(
                items=(),
                total=0,
                files=0,
                candidates=0,
                scanned_all=False,
                complete=False,
                reason=f"zoekt did not answer within {timeout_s:g} s",
            )
        numbers = range(len(self._paths)) if named is None else sorted(named | self._not_indexed)
        candidates = [
            CandidateFile(self._paths[number], partial(self._texts.decoded, number, compiled.byte_needles))
            for number in numbers
            if paths is None or paths(self._paths[number])
        ]
        left_s = max(0.0, timeout_s - (time.monotonic() - start))
        return verify(
            compiled, candidates, MatchLimits(limit, context), timeout_s=left_s, scanned_all=named is None
        )

    def sizes(self) -> list[int]:
        """The bytes of each file."""
        return [int(size) for size in self._texts.sizes()]

    def contents(self) -> dict[str, bytes]:
        """The text of each path."""
        return {path: self._texts.data(number) for number, path in enumerate(self._paths)}

    def _ask(self, wide: str, timeout_s: float) -> set[int] | None:
        """The files that zoekt finds; None when it reports that it left some out."""
        quoted = wide.replace("\\", "\\\\").replace('"', '\\"')
        # Matches of type "file" count once a file, so that zoekt's limit on matches is one on files. Not
        # "case:yes": zoekt then looks for `[lL][oO]` in capitals alone.
        query = f'case:no type:file content:"{quoted}"'
        command = [str(self._zoekt.search), "-v", "-l", "-index_dir", str(self._folder), query]
        done = _run(command, timeout_s=timeout_s)
        if _SKIPPED.search(done.stderr):
            return None
        return {int(line) for line in done.stdout.splitlines()}

    @cached_property
    def _not_indexed(self) -> set[int]:
        """The files that zoekt leaves out: shorter than a trigram, or with a zero byte."""
        return {
            number
            for number, size in enumerate(self._texts.sizes())
            if 0 < size < 3 or self._texts.holds(number, b"\0")
        }


def _escape(char: str) -> str:
    return char if char.isascii() and char.isalnum() else f"\\x{{{ord(char):x}}}"


def _run(command: list[str], timeout_s: float | None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    if done.returncode:
        raise ProviderError(f"{Path(command[0]).name} failed: {done.stderr.strip()[-500:]}", hint=INSTALL)
    return done
