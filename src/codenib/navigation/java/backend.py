"""Java files of a checkout in, their facts out: the compiler of Eclipse, driven by a program of ours.

No build runs and no annotation processor. Compiled types come from the JDK and from jars that the local
repositories of Maven and Gradle have already; names of others are listed as not resolved.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from codenib.core.errors import ProviderError
from codenib.core.protocols import Progress
from codenib.navigation.engines.process import Program
from codenib.navigation.engines.programs import run_program
from codenib.navigation.engines.resident import ResidentEngine
from codenib.navigation.engines.run import THEN_REBUILD, EngineRun, path_of
from codenib.navigation.tools.locate import Toolbox
from codenib.navigation.tools.maven import GET_JAVA, LEAST_JAVA, pinned
from codenib.navigation.tools.policies import java_home, policy_of
from codenib.navigation.tools.recipes import numbers

_TOOL = "java-facts"
_INSTALL = "codenib tools install java"
_FETCH = f"mvn dependency:resolve{THEN_REBUILD}"
_ENGINE = Path(__file__).parent / "engine"
_ASK_S = 20.0
# A run of seconds is too short for the second compiler and for collecting with several threads.
_OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xshare:auto")
_BUILD_FILES = (".gradle", ".gradle.kts", ".versions.toml", ".jar")
_REREAD = frozenset({"pom.xml", "build.gradle", "build.gradle.kts", "libs.versions.toml"})
_BUILD_NAMES = frozenset({"build.xml", "BUILD", "BUILD.bazel", "build.sbt"})
_LOCAL = re.compile(rb"<localRepository>\s*([^<$]+?)\s*</localRepository>")
# The compiler may fail in an odd file or two; in a tenth of the files, the engine does not work.
_FAILED = 0.1


class JavaBackend:
    """Facts by the compiler that Eclipse and its language server are made of."""

    group = "java"
    languages = frozenset({"java"})
    stays = True
    caveat = ""
    #: The engine looks again which jars these name.
    reread_files = _REREAD

    def __init__(self, tools: Toolbox) -> None:
        self._tools = tools
        #: What the last facts are without.
        self.lacks: tuple[str, ...] = ()

    def identity(self) -> Mapping[str, str]:
        """Our program with the compiler in it, and the Java whose library it reads."""
        tool = self._tools.require(_TOOL)
        version = _version(_java())
        return {
            "backend": "ecj",
            "version": f"{pinned(_ENGINE)[2]} ({tool.version})",
            "options": f"java {version}",
        }

    def produce(
        self, root: Path, files: Sequence[str], progress: Progress, *, trusted: bool
    ) -> Iterator[bytes]:
        """The facts of each file. Nothing of the repository runs."""
        if not files:
            return
        run = EngineRun(self._program(root, "run", trusted=trusted), self.group, progress)
        count = 0
        for line in run.lines(files):
            count += 1
            yield line
        self.lacks = _checked(run.report(), count, len(files))

    def engine(self, root: Path, *, trusted: bool) -> JavaEngine:
        """The engine, to stay."""
        return JavaEngine(self._program(root, "serve", trusted=trusted))

    def _program(self, root: Path, mode: str, *, trusted: bool) -> Program:
        jar = self._tools.require(_TOOL).folder / "java-facts.jar"
        places = local_repositories()
        command = (_java(), *_OPTIONS, "-jar", str(jar), str(root), mode, *map(str, places))
        policy = None if trusted else policy_of(self.group, root, command, read=(jar.parent, *places))
        return Program("the Java engine", command, _INSTALL, root, policy=policy)

    def configures(self, root: Path, path: str, before: bytes | None, after: bytes | None) -> str:
        """Build files decide which jars there are, and which folders are a module."""
        name = path.rpartition("/")[2]
        if name not in _REREAD and (name in _BUILD_NAMES or name.endswith(_BUILD_FILES)):
            return f"{path} decides what the sources depend on"
        return ""


class JavaEngine(ResidentEngine):
    """The resident engine. It resolves what an edit reaches again, and gives the lines that differ."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        #: What the last facts are without.
        self.lacks: tuple[str, ...] = ()

    def differing(self, paths: Sequence[str], *, anew: bool) -> tuple[dict[str, bytes], frozenset[str]]:
        fresh: dict[str, bytes] = {}
        same: frozenset[str] = frozenset()
        for line in self._ask({"lines": list(paths), "anew": anew}):
            if line.startswith(b'{"report"'):
                row = json.loads(line)
                same = frozenset(row["same"])
                self.lacks = _checked(row["report"], len(fresh) + len(same), len(paths))
            else:
                fresh[path_of(line)] = line
        self.settled = True
        return fresh, same


def local_repositories() -> tuple[Path, ...]:
    """The folders where Maven and Gradle keep what they fetched; those that are there."""
    home = Path.home()
    maven = home / ".m2" / "repository"
    settings = home / ".m2" / "settings.xml"
    if settings.is_file() and (named := _LOCAL.search(settings.read_bytes())):
        maven = Path(os.fsdecode(named[1])).expanduser()
    gradle = Path(os.environ.get("GRADLE_USER_HOME") or home / ".gradle")
    places = (maven, gradle / "caches" / "modules-2" / "files-2.1")
    return tuple(place for place in places if place.is_dir())


def _java() -> str:
    """The program that runs the engine."""
    home = java_home()
    if home is None:
        raise ProviderError("java is not on the path: the Java engine runs with it", hint=GET_JAVA)
    java = str(home / "bin" / "java")
    if numbers(_version(java)) < numbers(LEAST_JAVA):
        raise ProviderError(
            f"the Java engine needs Java {LEAST_JAVA}; {java} is {_version(java)}", hint=GET_JAVA
        )
    return java


@cache
def _version(java: str) -> str:
    result = run_program(Program("java", (java, "-version"), GET_JAVA), _ASK_S)
    found = re.search(r'version "(\d+(?:\.\d+)*)', result.errors)
    return found[1] if found else "0"


def _checked(report: Mapping[str, Any], lines: int, wanted: int) -> tuple[str, ...]:
    """What the result is without; raises where it is less than it claims to be."""
    if lines != wanted:
        raise ProviderError(f"the Java engine gave {lines} of {wanted} files", hint="codenib doctor")
    failed = report["failed"]
    if len(failed) > max(1, _FAILED * wanted):
        raise ProviderError(f"the Java engine failed in {len(failed)} of {wanted} files", hint=_INSTALL)
    lacks = []
    if failed:
        lacks.append(f"the compiler failed in {len(failed)} files, such as {failed[0]}")
    if report["absent"]:
        lacks.append(
            f"{report['absent']} imported types are in no jar here, such as {report['missing'][0]}: "
            f"{report['unresolved']:,} of {report['names']:,} names are not resolved; try: {_FETCH}"
        )
    if report["broken"]:
        lacks.append(f"{len(report['broken'])} jars cannot be read, such as {report['broken'][0]}")
    return tuple(lacks)
