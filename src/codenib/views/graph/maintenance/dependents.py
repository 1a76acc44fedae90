"""The facts of a group before an edit in; who depends on whom, and who writes which names, out. Pure.

A file depends on those that its facts name, and on those that they depend on. What differs between two
surfaces is put into names here (`Shown`): a name that means something else, a name that a module imports
otherwise, or a class whose values are used otherwise without a name being written (by operators, through its
bases, as a protocol asks): that concerns every name whose type has the class.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from codenib.core.facts import RELATIONS
from codenib.views.graph.facts.file import OUTSIDE, FileFacts

_WORD = re.compile(r"[^\W\d]\w*")
_CLASS = "(class)"  # ends the entry of a class's bases, type parameters and the like
_IMPORT = "(import)"  # ends the entry of a name that a module imports
_SHAPE = "(shape)"  # ends that of a member whose name protocols ask for
_MADE = "__init__"
_ITSELF = frozenset({"self", "cls", "super", _MADE})
# Every object has these, with one meaning for types: no operator or statement asks for their own.
_PLAIN = frozenset(
    f"__{name}__"
    for name in (
        "repr", "str", "format", "doc", "del", "sizeof", "dir", "getstate", "setstate", "reduce", "reduce_ex",
        "getnewargs", "getnewargs_ex", "module", "qualname",
    )
)  # fmt: skip


@dataclass
class Shown:
    """How the surfaces of files differ."""

    names: set[str] = field(default_factory=set)
    made: set[str] = field(default_factory=set)  # classes that are made in another way
    held: set[str] = field(default_factory=set)  # classes whose values are used in another way, unwritten
    keywords: set[str] = field(default_factory=set)  # parameters, for who makes a class without writing it
    imports: dict[str, set[str]] = field(default_factory=dict)  # by the file that imports them
    wide: dict[str, str] = field(default_factory=dict)  # files of which every dependent counts, and why

    @property
    def all(self) -> set[str]:
        return self.names.union(self.made, self.held, *self.imports.values())

    def __bool__(self) -> bool:
        return bool(self.all or self.keywords or self.wide)

    def __add__(self, other: Shown) -> Shown:
        both = {path: set(names) for path, names in self.imports.items()}
        for path, names in other.imports.items():
            both.setdefault(path, set()).update(names)
        return Shown(
            self.names | other.names,
            self.made | other.made,
            self.held | other.held,
            self.keywords | other.keywords,
            both,
            {**other.wide, **self.wide},
        )

    def __sub__(self, other: Shown) -> Shown:
        left = {path: names - other.imports.get(path, set()) for path, names in self.imports.items()}
        imports = {path: names for path, names in left.items() if names}
        wide = {path: why for path, why in self.wide.items() if path not in other.wide}
        return Shown(
            self.names - other.names,
            self.made - other.made,
            self.held - other.held,
            self.keywords - other.keywords,
            imports,
            wide,
        )


def changed_names(
    before: Mapping[str, Mapping[str, str]],
    after: Mapping[str, Mapping[str, str]],
    subclasses: Callable[[str], Collection[str]],
) -> Shown:
    """The names that differ between surfaces."""
    shown = Shown()
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path, {}), after.get(path, {})
        for entry in sorted(old.keys() | new.keys()):
            if old.get(entry) == new.get(entry):
                continue
            chain, _, mark = entry.partition(" ")
            owner, _, last = chain.rpartition(".")
            if mark == _IMPORT:
                shown.imports.setdefault(path, set()).add(last)
                continue
            if last == _MADE and not mark:
                shown.made.update(subclasses(owner.rpartition(".")[2]))
                continue
            if owner.endswith(f".{_MADE}"):  # a parameter: who makes such a thing may write its name
                if _stays(owner.rpartition(".")[0], old, new):
                    shown.keywords.add(last)
                continue
            shown.names.add(last)
            kind = chain if mark == _CLASS else owner
            special = last.startswith("__") and last.endswith("__") and last not in _PLAIN
            if not owner and special and mark != _CLASS:
                shown.wide[path] = f"depends on {path}, where {chain} changed"
            elif (mark in (_CLASS, _SHAPE) or (owner and special)) and _stays(kind, old, new):
                shown.held.update(subclasses(kind.rpartition(".")[2]))
    return shown


def _stays(chain: str, old: Mapping[str, str], new: Mapping[str, str]) -> bool:
    """Whether a class is in both surfaces; of one that came or went, names whose types have it tell."""
    return f"{chain} {_CLASS}" in old and f"{chain} {_CLASS}" in new


class Dependents:
    """Who depends on whom, before the edit and, as far as files were derived, after it."""

    def __init__(self, old: Mapping[str, FileFacts], read: Callable[[str], bytes]) -> None:
        """`read`: the text of a file after the edit."""
        self._old = old
        self._read = read
        self._texts: dict[str, bytes] = {}
        self._heirs: dict[str, set[str]] = defaultdict(set)

    def text(self, path: str) -> bytes:
        """The file as it is after the edit."""
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    @cached_property
    def users(self) -> Mapping[str, set[str]]:
        """Which files name which, before the edit."""
        users: dict[str, set[str]] = defaultdict(set)
        for path, each in self._old.items():
            for other in each.referred:
                users[other].add(path)
        return users

    def subclasses(self, name: str) -> set[str]:
        """The names of the classes that inherit from one of this name, directly or not."""
        if not self._heirs:
            inherit = RELATIONS.index("inherit")
            for each in self._old.values():
                for kind, source, to in each.relations.tolist():
                    if kind == inherit:
                        self._heirs[_last(each, to)].add(_last(each, source))
        found, left = {name}, [name]
        while left:
            for heir in self._heirs.get(left.pop(), ()):
                if heir not in found:
                    found.add(heir)
                    left.append(heir)
        return found

    def mention(self, path: str, names: Collection[str]) -> str:
        """One of the names that a file writes."""
        data = self.text(path)
        if not any(name.encode() in data for name in names):
            return ""
        return min(words(data).intersection(names), default="")

    def lines_with(self, path: str, shown: Shown) -> set[int]:
        """The lines on which a file writes what means something else."""
        writes = self.writer(path, shown)
        data = self.text(path)
        return {at for at, line in enumerate(data.split(b"\n")) if writes(line)} if writes(data) else set()

    def writer(self, path: str, shown: Shown) -> Callable[[bytes], bool]:
        """Whether a part of a file writes what means something else.

        Where classes are used or made otherwise, their own methods and those of subclasses may name them by
        `self` and the like, and other classes in the file may be subclasses that came with the edit.
        """
        own = shown.made | shown.held
        names = shown.all | (_ITSELF if own and self.mention(path, own) else set())
        keyword = keyword_of(shown.keywords)

        def writes(part: bytes) -> bool:
            return not words(part).isdisjoint(names) or (keyword is not None and bool(keyword.search(part)))

        return writes if names or keyword else lambda part: False

    def of(self, paths: Iterable[str], new: Mapping[str, FileFacts], derived: Iterable[str]) -> set[str]:
        """The files that depend on one of `paths`, directly or not, before or after the edit."""
        users: dict[str, set[str]] = {}
        for path in derived:
            for other in new[path].referred if path in new else ():
                users.setdefault(other, set()).add(path)
        found: set[str] = set()
        left = list(paths)
        while left:
            last = left.pop()
            for user in (*self.users.get(last, ()), *users.get(last, ())):
                if user not in found:
                    found.add(user)
                    left.append(user)
        return found & new.keys()

    def importers(self, source: str, new: Mapping[str, FileFacts], derived: Collection[str]) -> set[str]:
        """The files that name a module; when one takes all of its names, every dependent of `derived`."""
        named = f"{source}#"
        direct = {
            path
            for path in self.users.get(source, ())
            if path in new and (named in self._old[path].targets or named in new[path].targets)
        }
        if any(b"import *" in self.text(path) for path in direct):
            return self.of(derived, new, derived)
        return direct

    def dangling(self, new: Mapping[str, FileFacts], derived: Collection[str]) -> dict[str, str]:
        """Files that name a declaration which is no longer there, each with the reason."""
        touched = set(derived) | (self._old.keys() - new.keys())
        there = {name for path in derived if path in new for name in new[path].identities}
        there |= {f"{path}#" for path in touched if path in new}
        users = {user for path in touched for user in self.users.get(path, ())}
        found = {}
        for path in (users & new.keys()) - set(derived):
            for target in new[path].targets:
                if not isinstance(target, str) or target[0] == OUTSIDE or target in there:
                    continue
                if target.partition("#")[0] in touched:
                    found[path] = f"names {target}, which is gone"
                    break
        return found


def words(text: bytes) -> set[str]:
    """The names that a text has, in strings and comments too."""
    return set(_WORD.findall(text.decode("utf-8", "replace")))


def keyword_of(names: Collection[str]) -> re.Pattern[bytes] | None:
    """What finds `name=`; None when there are no names."""
    if not names:
        return None
    return re.compile(
        rb"\b(?:" + b"|".join(re.escape(name.encode()) for name in sorted(names)) + rb")\s*=(?!=)"
    )


def module_stem(path: str) -> str:
    """The name by which a module is imported: its file's, or its folder's."""
    pure = PurePosixPath(path)
    return pure.parent.name if pure.stem == "__init__" else pure.stem


def _last(facts: FileFacts, target: int) -> str:
    """The plain name of a target."""
    named = facts.targets[target]
    if isinstance(named, int):
        return facts.names[named] if named >= 0 else ""
    return named.partition("#")[2].partition(":")[0].rpartition(".")[2]
