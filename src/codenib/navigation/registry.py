"""Which backends make the facts of which languages: languages and tools in, backends out."""

from __future__ import annotations

from collections.abc import Set
from importlib import import_module

from codenib.core.protocols import FactBackend
from codenib.navigation.tools.locate import Toolbox

#: group → its languages, and (module, class) in order of preference. A backend is imported when it is needed.
_GROUPS: dict[str, tuple[frozenset[str], tuple[tuple[str, str], ...]]] = {
    "python": (frozenset({"python"}), (("python.backend", "PythonBackend"), ("scip.indexers", "ScipPython"))),
    "typescript": (
        frozenset({"typescript", "tsx", "javascript"}),
        (("typescript.backend", "TypeScriptBackend"), ("scip.indexers", "ScipTypeScript")),
    ),
    "go": (frozenset({"go"}), (("go.backend", "GoBackend"),)),
    "rust": (frozenset({"rust"}), (("rust.backend", "RustBackend"),)),
    "cpp": (frozenset({"c", "cpp"}), (("cpp.backend", "CppBackend"),)),
}


def backends_of(tools: Toolbox, languages: Set[str]) -> dict[str, list[FactBackend]]:
    """The backends of each group that has one of these languages, the first choice first.

    One whose tool is missing is there too, and says so when it is asked.
    """
    return {
        group: [_make(module, name, tools) for module, name in classes]
        for group, (covered, classes) in _GROUPS.items()
        if covered & languages
    }


def syntactic_backend() -> FactBackend:
    """Names and containment, without any tool."""
    from codenib.navigation.syntactic.backend import SyntacticBackend

    return SyntacticBackend()


def _make(module: str, name: str, tools: Toolbox) -> FactBackend:
    made: FactBackend = getattr(import_module(f"codenib.navigation.{module}"), name)(tools)
    return made
