"""Languages and tools in, the backends that derive their facts out.

To add a language: its folder, and a row of `GROUPS`. A group's first backend also says how its engine follows
edits (`ResidentBackend` in core/protocols.py), so that nothing outside the folder knows the language.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from importlib import import_module

from codenib.core.protocols import FactBackend
from codenib.navigation.tools.locate import Toolbox


@dataclass(frozen=True, slots=True)
class LanguageGroup:
    """Languages that one engine reads together. `backends` are "module:class", in order of preference."""

    name: str
    languages: frozenset[str]
    backends: tuple[str, ...]


GROUPS = (
    LanguageGroup(
        "python", frozenset({"python"}), ("python.backend:PythonBackend", "scip.indexers:ScipPython")
    ),
    LanguageGroup(
        "typescript",
        frozenset({"typescript", "tsx", "javascript"}),
        ("typescript.backend:TypeScriptBackend", "scip.indexers:ScipTypeScript"),
    ),
    LanguageGroup("go", frozenset({"go"}), ("go.backend:GoBackend",)),
    LanguageGroup("rust", frozenset({"rust"}), ("rust.backend:RustBackend", "live.index:RustAnalyzerIndex")),
    LanguageGroup("cpp", frozenset({"c", "cpp"}), ("cpp.backend:CppBackend",)),
    LanguageGroup("java", frozenset({"java"}), ("java.backend:JavaBackend",)),
)


def backends_of(tools: Toolbox, languages: Set[str]) -> dict[str, list[FactBackend]]:
    """The backends of each group that has one of these languages, the first choice first.

    One whose tool is missing is there too, and says so when it is asked.
    """
    return {
        group.name: [_open(backend, tools) for backend in group.backends]
        for group in GROUPS
        if group.languages & languages
    }


def syntactic_backend() -> FactBackend:
    """Names and containment, without any tool."""
    from codenib.navigation.syntactic.backend import SyntacticBackend

    return SyntacticBackend()


def _open(backend: str, tools: Toolbox) -> FactBackend:
    """Import a backend; only those of the languages at hand are."""
    module, _, name = backend.partition(":")
    opened: FactBackend = getattr(import_module(f"codenib.navigation.{module}"), name)(tools)
    return opened
