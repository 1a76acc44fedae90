"""An index and its sources in; out a compile command for each header that reads it as the index does.

Clangd opens a header alone, by the options of a source of a similar name. What stands before the directive
that first brings the header into a source (types, macros, `#define FOO_STATIC_LINKING_ONLY`) is missing then.
The command includes it: copies of the source and of the headers on the way, each up to its directive. A copy
has the name and the offsets of its original, which are part of what clangd knows a static function or a macro
by; below its number in the folder it has its path from the root. A header without a guard (a list of
X-macros) means something else each time, and has no command.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from stat import S_ISREG

from codenib.navigation.cpp.compile_commands import CompileCommand
from codenib.navigation.cpp.flags import mode_of
from codenib.navigation.cpp.includes import guard_of, inclusions, is_guarded, may_lead, reachable, spelled

_CPP = (".cc", ".cpp", ".cxx", ".c++", ".cu", ".ixx", ".cppm", ".hpp", ".hh", ".hxx")
# A stranger's chain of a thousand headers would be copied for each of them. What is beyond is opened alone.
_DEEPEST = 32
_MOST_BYTES = 256 << 20
_BLOCK = 4096  # what a file takes besides its text
_CONDITION = re.compile(rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|endif)\b", re.MULTILINE)


class HeaderContexts:
    """What stands before each header of `root`; copies are written below `folder`."""

    def __init__(
        self,
        root: Path,
        folder: Path,
        commands: Sequence[CompileCommand],
        includes: Mapping[str, Sequence[str]],
        *,
        most_bytes: int = _MOST_BYTES,
    ) -> None:
        """`includes` are what each file includes itself, in the order of its directives, by full paths."""
        self._most_bytes = most_bytes
        #: Of each header whose copies are there: their texts' digest, and what their directives name.
        self._written: dict[str, tuple[bytes, frozenset[str]]] = {}
        self._read: dict[str, tuple[bytes, list[tuple[int, str]]]] = {}  # texts and their directives
        self._root = root
        self._folder = folder
        self._commands = {
            command.file: command for command in commands if command.file.startswith(f"{root}/")
        }
        #: For each header the files before it: a source, then headers, each includes the next.
        self._chains = _first_chains(f"{root}/", self._commands, includes)
        self._includes = includes
        self._files_before: dict[str, frozenset[str]] = {}
        self._numbers = {header: str(at) for at, header in enumerate(self._chains)}

    def write(self) -> list[CompileCommand]:
        """A command for each header whose way from a source is known, while copies have room."""
        found = []
        room = self._most_bytes
        for header, chain in self._chains.items():
            copies = self._copies(header)
            room -= sum(_BLOCK + len(text) for text in copies.values())
            if room < 0:
                break
            for copy, text in copies.items():
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(text)
            if copies:
                whole = b"\0".join(copies.values())
                names = frozenset(name for text in copies.values() for name in spelled(text))
                self._written[header] = hashlib.sha256(whole).digest(), names
                found.append(self._command(header, chain, copies))
        self._read.clear()
        return found

    @property
    def headers(self) -> frozenset[str]:
        """Those that have a command, by their paths from the root."""
        return frozenset(header.removeprefix(f"{self._root}/") for header in self._written)

    def source_of(self, path: str) -> str:
        """The source whose command a header has; both from the root."""
        return self._chains[str(self._root / path)][0].removeprefix(f"{self._root}/")

    def files_before(self, path: str) -> frozenset[str]:
        """The files that are read before a header that has a command; paths are from the root."""
        if path not in self._files_before:
            header = str(self._root / path)
            chain = self._chains[header] if header in self._written else []
            found = set(chain)
            for each, following in zip(chain, [*chain[1:], header], strict=True) if chain else ():
                included = self._includes.get(each, ())
                found |= reachable(included[: list(included).index(following)], self._includes)
            here = f"{self._root}/"
            self._files_before[path] = frozenset(
                file.removeprefix(here) for file in found if file.startswith(here)
            )
        return self._files_before[path]

    def concerned(self, changed: Collection[str]) -> bool:
        """Whether copies are of one of these files, or before it."""
        edited = {str(self._root / path) for path in changed}
        return any(not edited.isdisjoint((header, *chain)) for header, chain in self._chains.items())

    def differing(self, before: HeaderContexts) -> set[str]:
        """The headers that are read with another command than before, or before which other texts stand."""
        either = self._written.keys() | before._written.keys()
        return {
            header.removeprefix(f"{self._root}/")
            for header in either
            if self._key(header) != before._key(header)
        }

    def _key(self, header: str) -> tuple[object, ...] | None:
        if header not in self._written:
            return None
        chain = self._chains[header]
        return self._written[header][0], tuple(chain), self._commands[chain[0]]

    def reading(self, paths: Collection[str]) -> set[str]:
        """The headers before which one of these files may be included."""
        last_parts = {path.rpartition("/")[2] for path in paths}
        return {
            header.removeprefix(f"{self._root}/")
            for header, (_, names) in self._written.items()
            if paths and may_lead(names, last_parts)
        }

    def is_outdated(self, changed: Collection[str]) -> bool:
        """Whether other texts stand before a header after these files changed; paths are from the root."""
        edited = {str(self._root / path) for path in changed}
        self._read.clear()
        return any(
            _text(copy) != text
            for header, chain in self._chains.items()
            if header in self._written and not edited.isdisjoint((header, *chain))
            for copy, text in self._copies(header).items()
        )

    def _copies(self, header: str) -> dict[Path, bytes]:
        """The copies before a header with their texts; none where it has no guard, or nobody names it."""
        chain = self._chains[header]
        whole = _text(Path(header))
        if not is_guarded(whole):
            return {}
        texts = [
            self._until(each, following) for each, following in zip(chain, [*chain[1:], header], strict=True)
        ]
        if None in texts:
            return {}
        folder = self._folder / self._numbers[header]
        copies = {
            folder / PurePosixPath(each).relative_to(self._root): text or b""
            for each, text in zip(chain, texts, strict=True)
        }
        if guard := guard_of(whole):
            # Should something before have included it by another way, it is read again.
            copies[list(copies)[-1]] += b"#undef %s\n" % guard
        return copies

    def _until(self, file: str, following: str) -> bytes | None:
        """The text of a file up to the directive that includes another, with its conditions ended."""
        if file not in self._read:
            data = _text(Path(file))
            self._read[file] = data, list(inclusions(data))
        data, directives = self._read[file]
        for start, name in directives:
            if following.endswith(f"/{name}"):
                text = data[:start]
                kinds = [match[1] for match in _CONDITION.finditer(text)]
                return text + b"#endif\n" * (len(kinds) - 2 * kinds.count(b"endif"))
        return None

    def _command(self, header: str, chain: Sequence[str], copies: Iterable[Path]) -> CompileCommand:
        command = self._commands[chain[0]]
        is_cpp = header.endswith(_CPP) or chain[0].endswith(_CPP) or "c++-header" in command.arguments
        folders = dict.fromkeys(str(PurePosixPath(each).parent) for each in (header, *chain))
        arguments = (
            *command.arguments[:-1],
            *(f"-iquote{folder}" for folder in folders),
            *(word for copy in copies for word in ("-include", str(copy))),
            *("-x", "c++-header" if is_cpp else "c-header"),
            header,
        )
        return CompileCommand(header, command.directory, arguments)


def _first_chains(
    here: str, compiled: Collection[str], includes: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """For each file of the repository that is not compiled: who includes it first, from a source on."""
    chains: dict[str, list[str]] = {}
    seen = set(compiled)
    for source in compiled:
        left = [(each, [source]) for each in reversed(includes.get(source, ()))]
        while left:
            file, chain = left.pop()
            if file in seen or not file.startswith(here) or "/../" in file:
                continue
            seen.add(file)
            chains[file] = chain
            if len(chain) < _DEEPEST:
                left += [(each, [*chain, file]) for each in reversed(includes.get(file, ()))]
    return chains


def original(path: str, copies: Path, root: Path) -> str:
    """The file of the root of which a path below `copies` is a copy; any other path is itself.

    >>> original("/w/contexts/12/src/a.c", Path("/w/contexts"), Path("/r"))
    '/r/src/a.c'
    """
    here = f"{copies}/"
    return f"{root}/{path[len(here) :].partition('/')[2]}" if path.startswith(here) else path


def _text(file: Path) -> bytes:
    """The text of a plain file; a pipe would never end."""
    return file.read_bytes() if S_ISREG(mode_of(file)) else b""
