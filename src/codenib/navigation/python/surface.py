"""Surfaces of Python files before and after an edit in, the names that changed for other files out. Pure.

An entry of a surface is a dotted name; a mark behind it says what its digest is of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from pathlib import PurePosixPath

from codenib.core.surfaces import ChangedNames

_CLASS = "(class)"  # the bases of a class, its type parameters and the like
_IMPORT = "(import)"  # a name that a module imports
_SHAPE = "(shape)"  # a member whose name protocols ask for
_INIT = "__init__"
# Every object has these, with one meaning for types: no operator or statement asks for their own.
_WITHOUT_OPERATOR = frozenset(
    f"__{name}__"
    for name in (
        "repr", "str", "format", "doc", "del", "sizeof", "dir", "getstate", "setstate", "reduce", "reduce_ex",
        "getnewargs", "getnewargs_ex", "module", "qualname",
    )
)  # fmt: skip


class PythonSurfaceRules:
    """Names in Python source: `self`, keyword arguments, packages and star imports."""

    self_references = frozenset({"self", "cls", "super", _INIT})

    def compare(
        self,
        before: Mapping[str, Mapping[str, str]],
        after: Mapping[str, Mapping[str, str]],
        subclasses: Callable[[str], Collection[str]],
    ) -> ChangedNames:
        """The names that differ between surfaces."""
        changed = ChangedNames()
        for path in sorted(before.keys() | after.keys()):
            old, new = before.get(path, {}), after.get(path, {})
            for entry in sorted(old.keys() | new.keys()):
                if old.get(entry) != new.get(entry):
                    _note(changed, path, entry, (old, new), subclasses)
        return changed

    def keyword_arguments(self, names: Collection[str]) -> re.Pattern[bytes] | None:
        """What finds `name=`."""
        if not names:
            return None
        either = b"|".join(re.escape(name.encode()) for name in sorted(names))
        return re.compile(rb"\b(?:" + either + rb")\s*=(?!=)")

    def module_name(self, path: str) -> str:
        """The name by which a module is imported: its file's, or its folder's."""
        pure = PurePosixPath(path)
        return pure.parent.name if pure.stem == _INIT else pure.stem

    def may_import_unnamed(self, path: str, text: bytes, module: str) -> bool:
        """A file below a package may take names from it by `from . import`."""
        folder, _, name = module.rpartition("/")
        return name.startswith(f"{_INIT}.") and path.startswith(f"{folder}/") and b"from ." in text

    def imports_all_names(self, text: bytes) -> bool:
        return b"import *" in text


def _note(
    changed: ChangedNames,
    path: str,
    entry: str,
    surfaces: tuple[Mapping[str, str], Mapping[str, str]],
    subclasses: Callable[[str], Collection[str]],
) -> None:
    """Add what an entry that differs means for other files."""
    chain, _, mark = entry.partition(" ")
    owner, _, last = chain.rpartition(".")
    if mark == _IMPORT:
        changed.imports.setdefault(path, set()).add(last)
        return
    if last == _INIT and not mark:
        changed.constructed.update(subclasses(owner.rpartition(".")[2]))
        return
    if owner.endswith(f".{_INIT}"):  # a parameter: who constructs the class may write its name
        if _in_both(owner.rpartition(".")[0], surfaces):
            changed.keywords.add(last)
        return
    changed.names.add(last)
    kind = chain if mark == _CLASS else owner
    special = last.startswith("__") and last.endswith("__") and last not in _WITHOUT_OPERATOR
    if not owner and special and mark != _CLASS:
        changed.wide[path] = f"depends on {path}, where {chain} changed"
    elif (mark in (_CLASS, _SHAPE) or (owner and special)) and _in_both(kind, surfaces):
        changed.implicit.update(subclasses(kind.rpartition(".")[2]))


def _in_both(chain: str, surfaces: tuple[Mapping[str, str], Mapping[str, str]]) -> bool:
    """Whether a class is in both surfaces; of one that came or went, names whose types have it tell."""
    return all(f"{chain} {_CLASS}" in surface for surface in surfaces)
