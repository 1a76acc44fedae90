"""Rust files of a checkout in, their facts out: rust-analyzer's own engine, asked by a program of ours."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from codenib.core.errors import ProviderError
from codenib.core.protocols import Progress
from codenib.navigation.engines.process import Program
from codenib.navigation.engines.resident import ResidentEngine
from codenib.navigation.engines.run import THEN_REBUILD, EngineRun
from codenib.navigation.rust.packages import MANIFEST
from codenib.navigation.rust.setup import compiler_version, environment, refuse_unsafe_settings, settings
from codenib.navigation.tools.locate import Toolbox
from codenib.navigation.tools.policies import policy_of

#: The crates of rust-analyzer that the engine is built from; the live server is built from the same.
ENGINE_VERSION = "0.0.331"
_TOOL = "rust-facts"
_INSTALL = "codenib tools install rust"
# An engine that panics in one place of a thousand still says nearly all; more is a broken result.
_FAILURES = 0.01
_PROBLEM = 160  # characters of a problem that a note repeats
_FETCH = f"cargo fetch{THEN_REBUILD}"
_LIBRARY, _ADD_LIBRARY = "the standard library", "rustup component add rust-src"
_SETTINGS = frozenset({"rust-toolchain", "rust-toolchain.toml", "rust-project.json"})


class RustBackend:
    """Facts that equal the live rust-analyzer's answers, from the crates that it is made of."""

    group = "rust"
    languages = frozenset({"rust"})
    stays = True
    caveat = ""
    #: The engine asks Cargo again when a manifest is another.
    reread_files = frozenset({"Cargo.toml", "Cargo.lock"})

    def __init__(self, tools: Toolbox) -> None:
        self._tools = tools
        #: What the last facts are without, such as dependencies that nobody fetched.
        self.lacks: tuple[str, ...] = ()

    def identity(self) -> Mapping[str, str]:
        """The engine, and the compiler whose standard library and settings it reads."""
        tool = self._tools.require(_TOOL)
        return {
            "backend": "rust-analyzer engine",
            "version": f"{ENGINE_VERSION} ({tool.version})",
            "options": f"compiler {compiler_version()}",
        }

    def produce(
        self, root: Path, files: Sequence[str], progress: Progress, *, trusted: bool
    ) -> Iterator[bytes]:
        """The facts of each file; build scripts and procedural macros run only when `trusted`."""
        if not files:
            return
        run = EngineRun(self._program(root, trusted=trusted), self.group, progress)
        count = 0
        try:
            for line in run.lines(files):
                count += 1
                yield line
        except ProviderError as error:
            hint = "cargo metadata" if "no Cargo workspace" in error.message else error.hint
            raise ProviderError(error.message, hint=hint) from error
        self.lacks = _checked(run.report(), count, len(files))

    def engine(self, root: Path, *, trusted: bool) -> RustEngine:
        """The engine, to stay."""
        return RustEngine(self._program(root, "serve", trusted=trusted), root, trusted=trusted)

    def _program(self, root: Path, *more: str, trusted: bool) -> Program:
        """The engine on a checkout; without trust no setting of the repository may start a program."""
        if not trusted:
            refuse_unsafe_settings(root)
        options = json.dumps(settings(root, trusted=trusted))
        command = (*self._tools.require(_TOOL).command, str(root), options, *more)
        added = environment(self._tools.root / "cargo-target", trusted=trusted)
        policy = None if trusted else policy_of(self.group, root, command)
        return Program("the Rust engine", command, _INSTALL, root, added, policy=policy)

    def configures(self, root: Path, path: str, before: bytes | None, after: bytes | None) -> str:
        """Settings decide what is built."""
        name = path.rpartition("/")[2]
        if name in _SETTINGS or "/.cargo/" in f"/{path}":
            return f"{path} decides what is built"
        if name == MANIFEST and (before is None or after is None):
            return f"{path} decides which packages there are"
        return ""


class RustEngine(ResidentEngine):
    """The resident engine. It keeps what still holds after an edit, so all files are asked each time."""

    def __init__(self, program: Program, root: Path, *, trusted: bool) -> None:
        """With trust, build scripts and procedural macros run: a new engine builds them."""
        self._root, self._trusted = root, trusted
        self._started = False
        self._digests: dict[str, bytes] = {}
        #: What the last facts are without.
        self.lacks: tuple[str, ...] = ()
        super().__init__(program)

    def sync(self, files: Sequence[str], changed: Sequence[str]) -> None:
        if self._trusted and self._started:
            for path in changed:
                if why := _runs(self._root, path):
                    raise self._failed(why)
        super().sync(files, changed)
        self._started = True

    def differing(self, paths: Sequence[str], *, anew: bool) -> tuple[dict[str, bytes], frozenset[str]]:
        """All lines are asked for; their digests say which are those of the last time."""
        lines = dict(zip(paths, self._lines(paths), strict=True))
        digests = {path: hashlib.sha256(line).digest() for path, line in lines.items()}
        same = () if anew else (path for path in paths if digests[path] == self._digests.get(path))
        equal = frozenset(same)
        self._digests, self.settled = digests, True
        return {path: line for path, line in lines.items() if path not in equal}, equal

    def _lines(self, paths: Sequence[str]) -> Iterator[bytes]:
        summary: dict[str, Any] = {}
        count = 0
        # Manifests may have changed: the engine loads again when they have.
        now = settings(self._root, trusted=self._trusted)
        for line in self._ask({"lines": list(paths), "within": {}, "settings": now}):
            if line.startswith(b'{"summary"'):
                summary = json.loads(line)["summary"]
                continue
            count += 1
            yield line
        self.lacks = _checked(summary, count, len(paths))


def _runs(root: Path, path: str) -> str:
    """Why a file's contents run before anything can be asked, where they do."""
    if not path.endswith(".rs"):
        return ""
    if path.rpartition("/")[2] == "build.rs":
        return f"{path} is a build script"
    return f"{path} belongs to a crate of procedural macros" if _makes_macros(root, root / path) else ""


def _makes_macros(root: Path, path: Path) -> bool:
    """Whether the nearest package above a file makes procedural macros."""
    for folder in path.parents:
        if (folder / "Cargo.toml").is_file():
            text = (folder / "Cargo.toml").read_bytes()
            return re.search(rb"proc[-_]macro[\"']?\s*(=\s*true|\])", text) is not None
        if folder == root:
            break
    return False


def _checked(summary: Mapping[str, Any], lines: int, wanted: int) -> tuple[str, ...]:
    """What the result is without; raises where it is less than it claims to be."""
    if lines != wanted:
        raise ProviderError(f"the Rust engine gave {lines} of {wanted} files", hint="codenib doctor")
    problems = [" ".join(each.split()) for each in summary["problems"]]
    if summary["silent"] == wanted:
        why = f": {problems[0]}" if problems else ""
        raise ProviderError(f"no Rust file belongs to a Cargo package that loads{why}", hint="cargo metadata")
    if summary["differences"]:  # counted only with CODENIB_CHECK
        raise ProviderError(f"the engine's own search differs {summary['differences']} times", hint=_INSTALL)
    asked = summary["definitions"] + wanted
    if summary["failures"] > _FAILURES * asked:
        raise ProviderError(f"the engine failed at {summary['failures']} of {asked} questions", hint=_INSTALL)
    if not problems:
        return ()
    hint = _ADD_LIBRARY if problems[0].startswith(_LIBRARY) else _FETCH
    return (f"{_shortened(problems)}; try: {hint}",)


def _shortened(problems: Sequence[str]) -> str:
    """The first problem without what Cargo writes behind it, and how many more there are."""
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{problems[0][:_PROBLEM]}{more}"
