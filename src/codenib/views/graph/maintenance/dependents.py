"""The facts of a group before an edit in; who depends on whom, and who writes which names, out. Pure.

A file depends on those that its facts name, and on those that they depend on.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property

from codenib.core.facts import RELATIONS
from codenib.core.protocols import SurfaceRules
from codenib.core.surfaces import ChangedNames
from codenib.views.graph.facts.file import OUTSIDE, FileFacts

_WORD = re.compile(r"[^\W\d]\w*")


class Dependents:
    """Who depends on whom, before the edit and, as far as files were derived again, after it."""

    def __init__(
        self, old: Mapping[str, FileFacts], read: Callable[[str], bytes], rules: SurfaceRules
    ) -> None:
        """`read`: the text of a file after the edit."""
        self._old = old
        self._read = read
        self._rules = rules
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
        """The names of the classes that inherit from one of this name, directly or not; with this name."""
        if not self._heirs:
            inherit = RELATIONS.index("inherit")
            for each in self._old.values():
                for kind, source, to in each.relations.tolist():
                    if kind == inherit:
                        self._heirs[_last_name(each, to)].add(_last_name(each, source))
        found, left = {name}, [name]
        while left:
            for heir in self._heirs.get(left.pop(), ()):
                if heir not in found:
                    found.add(heir)
                    left.append(heir)
        return found

    def mention(self, path: str, names: Collection[str]) -> str:
        """One of the names that a file writes; empty when it writes none."""
        data = self.text(path)
        if not any(name.encode() in data for name in names):
            return ""
        return min(words(data).intersection(names), default="")

    def lines_with(self, path: str, changed: ChangedNames) -> set[int]:
        """The lines on which a file writes what means something else."""
        writes = self.writer(path, changed)
        data = self.text(path)
        return {at for at, line in enumerate(data.split(b"\n")) if writes(line)} if writes(data) else set()

    def writer(self, path: str, changed: ChangedNames) -> Callable[[bytes], bool]:
        """Whether a part of a file writes what means something else.

        Where classes are used or constructed otherwise, the methods of these classes may refer to them by
        `self` and the like, and other classes in the file may be subclasses that came with the edit.
        """
        own = changed.constructed | changed.implicit
        names = changed.all | (self._rules.self_references if own and self.mention(path, own) else set())
        keyword = self._rules.keyword_arguments(changed.keywords)

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
        if any(self._rules.imports_all_names(self.text(path)) for path in direct):
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


def _last_name(facts: FileFacts, target: int) -> str:
    """The plain name of a target."""
    named = facts.targets[target]
    if isinstance(named, int):
        return facts.names[named] if named >= 0 else ""
    return named.partition("#")[2].partition(":")[0].rpartition(".")[2]
