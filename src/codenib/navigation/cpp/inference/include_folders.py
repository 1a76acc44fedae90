"""The texts of a C or C++ tree in; which file each directive means, and the folders that make it so, out.

A directive means the file of the tree whose path ends as the directive says. Of several, it is the nearest
to the file that includes it. Nothing outside the tree is looked at.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path
from posixpath import dirname, join, normpath

from codenib.navigation.cpp.inference.conditions import Truth, conjunction, evaluate, negation
from codenib.navigation.cpp.inference.templates import templates_by_name

_DIRECTIVE = re.compile(
    r"""^[ \t]*\#[ \t]*(?:
        (?P<word>ifdef|ifndef|if|elifdef|elifndef|elif|else|endif)\b(?P<condition>[^\n]*)
      | (?:include_next|include|import)[ \t]*(?:"(?P<quoted>[^"\n]+)"|<(?P<angled>[^>\n]+)>)
    )""",
    re.MULTILINE | re.VERBOSE,
)
_COMMENT = re.compile(r"/\*.*?(?:\*/|$)|//.*")
# In angle brackets these are the system's, whatever the tree has under such a name.
_SYSTEM = frozenset(
    f"{name}.h"
    for name in re.findall(
        r"\w+",
        """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign
        stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar
        wchar wctype aio cpio dirent dlfcn fcntl features fmtmsg fnmatch ftw getopt glob grp iconv
        langinfo libgen malloc memory monetary mqueue ndbm netdb nl_types poll pthread pwd regex sched
        search semaphore spawn strings syslog tar termios ulimit unistd utime utmpx wordexp windows
        winsock2 ws2tcpip io process direct conio""",
    )
)
# Copies of others' code, and generated copies of the own: a directive seldom means these from outside.
_COPIES = re.compile(
    r"(?:^|/)(?:single_?include|amalgamat\w*|dist|third_?party|3rd_?party|vendor|external|deps|contrib|build)(?:/|$)"
)


#: Before the name of a folder: it is not of the tree, but of the headers that are made of templates.
GENERATED = "\0"


@dataclass(frozen=True, slots=True)
class Inclusion:
    """One directive that means a file of the tree; `folder` is what must be searched, None if nothing."""

    target: str
    folder: str | None
    angled: bool
    certain: bool  # in no branch that this platform leaves out


class IncludeTree:
    """The directives of all files of a tree. Paths are relative to its root."""

    def __init__(
        self, root: Path, files: Collection[str], preferred: Callable[[str], Collection[str]]
    ) -> None:
        """`preferred` gives the folders of headers that build files name for the sources of a folder."""
        self._root = root
        self._files = frozenset(files)
        self._preferred = preferred
        self._by_name: Mapping[str, list[str]] = defaultdict(list)
        for path in sorted(files):
            self._by_name[path.rpartition("/")[2]].append(path)
        self._templates = templates_by_name(files)
        #: Headers that only a build writes: their paths in a folder of their own, and their templates.
        self.generated: dict[str, str] = {}
        self._direct: dict[str, tuple[Inclusion, ...]] = {}
        self._spelled: dict[str, list[tuple[str, bool, bool]]] = {}

    def direct(self, path: str) -> tuple[Inclusion, ...]:
        """What a file's own directives mean; those that mean nothing of the tree are left out."""
        if path not in self._direct:
            self._direct[path] = tuple(self._read(path))
        return self._direct[path]

    def closure(self, path: str, *, certain: bool = False) -> set[str]:
        """What a file includes, directly or not, and itself; with `certain`, on this platform."""
        reached, left = {path}, [path]
        while left:
            for each in self.direct(left.pop()):
                if each.target not in reached and (each.certain or not certain):
                    reached.add(each.target)
                    left.append(each.target)
        return reached

    def folders(self, path: str) -> tuple[list[str], list[str]]:
        """The folders to search for quoted names alone, and those for all names; the nearest first."""
        needed: dict[str, bool] = {}
        for file in self.closure(path):
            for each in self.direct(file):
                if each.folder is not None:
                    needed[each.folder] = needed.get(each.folder, False) or each.angled
        order = sorted(needed, key=lambda folder: self._distance(dirname(path), folder))
        return [each for each in order if not needed[each]], [each for each in order if needed[each]]

    def spells_otherwise(self, path: str) -> bool:
        """Whether a file that was read has other directives now."""
        return path in self._spelled and self._spell(path) != self._spelled[path]

    def _spell(self, path: str) -> list[tuple[str, bool, bool]]:
        try:
            return list(directives((self._root / path).read_bytes().decode("utf-8", "replace")))
        except OSError:
            return []

    def _read(self, path: str) -> Iterator[Inclusion]:
        self._spelled[path] = self._spell(path)
        for name, angled, certain in self._spelled[path]:
            meant = self._meant(path, name, angled=angled)
            if meant is not None:
                yield Inclusion(*meant, angled, certain)

    def _meant(self, path: str, name: str, *, angled: bool) -> tuple[str, str | None] | None:
        here = dirname(path)
        beside = normpath(join(here, name))
        if not angled and beside in self._files:
            return beside, None
        if angled and name in _SYSTEM:
            return None
        tail = normpath(name)
        if tail.startswith(".."):
            return self._upwards(here, tail)
        ends = f"/{tail}"
        candidates = [
            each for each in self._by_name.get(tail.rpartition("/")[2], ()) if f"/{each}".endswith(ends)
        ]
        folders = [each[: -len(tail)].rstrip("/") for each in candidates]
        if not folders:
            return self._generated(here, tail)
        best = min(folders, key=lambda folder: self._distance(here, folder))
        return join(best, tail) if best else tail, best

    def _generated(self, here: str, tail: str) -> tuple[str, str] | None:
        """A header whose template the tree has; a real one always comes first."""
        templates = self._templates.get(tail.rpartition("/")[2], ())
        if not templates or tail.startswith("/"):
            return None
        exact = [each for each in templates if f"/{dirname(each)}/".endswith(f"/{dirname(tail)}/")]
        best = min(exact or templates, key=lambda each: (self._distance(here, dirname(each)), each))
        folder = dirname(best)
        self.generated[join(folder, tail)] = best
        return best, f"{GENERATED}{folder}"

    def _upwards(self, here: str, tail: str) -> tuple[str, str] | None:
        """What `../x.h` means from a folder that is searched: only those around the file are tried."""
        folder = here
        while folder:
            folder = dirname(folder)
            for each in (folder, *(join(folder, name) for name in ("include", "src", "lib"))):
                if (target := normpath(join(each, tail))) in self._files:
                    return target, each
        return None

    @cache  # noqa: B019 - an object lives as long as one inference
    def _distance(self, here: str, folder: str) -> tuple[bool, bool, int, int, str]:
        """How unlikely it is that a file of `here` means a header below `folder`."""
        theirs = folder.split("/") if folder else []
        shared = shared_folders(here, folder)
        copied = bool(_COPIES.search("/".join(theirs[shared:])))
        return folder not in self._preferred(here), copied, -shared, len(theirs), folder


def shared_folders(one: str, other: str) -> int:
    """How many folders two paths of folders have in common from the root on."""
    pairs = zip(one.split("/"), other.split("/"), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1] != "", pairs))


def directives(text: str) -> Iterator[tuple[str, bool, bool]]:
    """The name of each include directive, whether it is in angle brackets, and whether it counts on Linux.

    >>> list(directives('#ifdef _WIN32\\n#include <io.h>\\n#else\\n#include "a.h"\\n#endif'))
    [('io.h', True, False), ('a.h', False, True)]
    """
    branches: list[tuple[Truth, Truth]] = []  # of each open condition: this branch, and the rest
    for match in _DIRECTIVE.finditer(text.replace("\\\r\n", " ").replace("\\\n", " ")):
        if match["word"]:
            _branch(branches, match["word"], _COMMENT.sub(" ", match["condition"]))
        else:
            counts = all(here is not False for here, _ in branches)
            yield match["quoted"] or match["angled"], match["quoted"] is None, counts


def _branch(branches: list[tuple[Truth, Truth]], word: str, condition: str) -> None:
    if word == "endif":
        del branches[-1:]
        return
    rest: Truth = True
    if word.startswith("el"):
        if not branches:
            return
        rest = branches.pop()[1]
        word = word[2:]
    holds: Truth = True if word == "se" else evaluate(condition, word)
    branches.append((conjunction(rest, holds), conjunction(rest, negation(holds))))
