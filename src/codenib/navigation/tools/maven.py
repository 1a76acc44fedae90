"""A Java program of our own in, its jar out: compiled with the JDK against a jar that Maven fetched.

Maven knows which registry or mirror is asked; here is only the digest that its answer must have.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from codenib.core.errors import ProviderError
from codenib.navigation.tools.recipes import Recipe, numbers, sources

#: Beside the sources: the compiled library that they need, with its digest.
PIN = "ecj.lock"
#: The least Java that compiles and runs it.
LEAST_JAVA = "17"
GET_JAVA = "install a JDK, 17 or newer, for example from your system's packages"
_GET_MAVEN = "install Maven, for example from your system's packages"
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.0:copy"
_PINNED = re.compile(r"([\w.-]+):([\w.-]+):([\w.-]+) sha256:([0-9a-f]{64})\s*")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_MAIN = "javafacts.Main"

Run = Callable[[tuple[str, ...], Path], None]
Ask = Callable[[str], str]


def pinned(source: Path) -> tuple[str, str, str, str]:
    """Group, name, version and digest of the library that a Java program needs."""
    found = _PINNED.fullmatch((source / PIN).read_text())
    assert found, f"{source / PIN} has no coordinates with a digest"
    return found[1], found[2], found[3], found[4]


def build_jar(recipe: Recipe, source: Path, folder: Path, run: Run, ask: Ask) -> None:
    """Put the library and our jar into `lib` of `folder`; `ask` gives what a program says of its version."""
    javac = shutil.which("javac")
    if javac is None:
        raise ProviderError(f"javac is not on the path: {recipe.name} is built with it", hint=GET_JAVA)
    version = _NUMBER.search(ask(javac))
    if version is None or numbers(version[0]) < numbers(LEAST_JAVA):
        said = version[0] if version else "unknown"
        raise ProviderError(f"{recipe.name} needs Java {LEAST_JAVA} or newer; javac is {said}", hint=GET_JAVA)
    library = _library(recipe, source, folder, run)
    files = tuple(str(path) for path in sources(source) if path.suffix == ".java")
    classes, manifest = folder / "classes", folder / "manifest.txt"
    run((javac, "--release", LEAST_JAVA, "-d", str(classes), "-cp", str(library), *files), folder)
    manifest.write_text(f"Main-Class: {_MAIN}\nClass-Path: {library.name}\n")
    jar = shutil.which("jar") or str(Path(javac).resolve().with_name("jar"))
    target = str(folder / recipe.program)
    run((jar, "--create", "--file", target, "--manifest", str(manifest), "-C", str(classes), "."), folder)
    shutil.rmtree(classes)
    manifest.unlink()


def _library(recipe: Recipe, source: Path, folder: Path, run: Run) -> Path:
    """The pinned jar: what the local repository has, else what Maven copies there."""
    group, name, version, digest = pinned(source)
    target = folder / "lib" / f"{name}.jar"
    target.parent.mkdir()
    local = Path.home() / ".m2" / "repository" / Path(*group.split(".")) / name / version
    there = local / f"{name}-{version}.jar"
    if there.is_file() and _digest(there) == digest:
        shutil.copyfile(there, target)
        return target
    maven = shutil.which("mvn")
    if maven is None:
        raise ProviderError(f"mvn is not on the path: {name} {version} comes by Maven", hint=_GET_MAVEN)
    artifact = f"-Dartifact={group}:{name}:{version}"
    where = f"-DoutputDirectory={target.parent}"
    run((maven, "--batch-mode", "--quiet", _COPY, artifact, where, "-Dmdep.stripVersion=true"), folder)
    if not target.is_file() or _digest(target) != digest:
        raise ProviderError(
            f"{recipe.name} {recipe.version} was refused: mvn got other bytes of {name} {version} than those "
            "whose digest codenib pinned, from a registry, mirror or cache",
            hint=recipe.install,
        )
    return target


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
