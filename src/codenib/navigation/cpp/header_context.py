"""An index and its sources in; out a compile command for each header that reads it as the index does.

Clangd opens a header alone, by the options of a source of a similar name. What stands before the directive
that first brings the header into a source (types, macros, `#define FOO_STATIC_LINKING_ONLY`) is missing then.
The command includes it: copies of the source and of the headers on the way, each up to its directive. A copy
has the name and the offsets of its original, which are part of what clangd knows a static function or a macro
by; below its number in the folder it has its path from the root. A header without a guard (a list of
X-macros) means something else each time, and has no command.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from stat import S_ISREG

from codenib.navigation.cpp.compile_commands import CompileCommand
from codenib.navigation.cpp.flags import mode_of
from codenib.navigation.cpp.includes import guard_of, inclusions, is_guarded

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
        self._written: set[str] = set()  # headers whose copies are there
        self._root = root
        self._folder = folder
        self._commands = {
            command.file: command for command in commands if command.file.startswith(f"{root}/")
        }
        #: For each header the files before it: a source, then headers, each includes the next.
        self._chains = _first_chains(f"{root}/", self._commands, includes)
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
                self._written.add(header)
                found.append(self._command(header, chain, copies))
        return found

    def is_outdated(self, changed: Collection[str]) -> bool:
        """Whether other texts stand before a header after these files changed; paths are from the root."""
        edited = {str(self._root / path) for path in changed}
        return any(
            _read(copy) != text
            for header, chain in self._chains.items()
            if header in self._written and not edited.isdisjoint((header, *chain))
            for copy, text in self._copies(header).items()
        )

    def _copies(self, header: str) -> dict[Path, bytes]:
        """The copies before a header with their texts; none where it has no guard, or nobody names it."""
        chain = self._chains[header]
        whole = _read(Path(header))
        if not is_guarded(whole):
            return {}
        texts = [
            _until(Path(each), following) for each, following in zip(chain, [*chain[1:], header], strict=True)
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


def _until(file: Path, following: str) -> bytes | None:
    """The text of a file up to the directive that includes another, with its conditions ended."""
    data = _read(file)
    for start, name in inclusions(data):
        if following.endswith(f"/{name}"):
            text = data[:start]
            kinds = [match[1] for match in _CONDITION.finditer(text)]
            return text + b"#endif\n" * (len(kinds) - 2 * kinds.count(b"endif"))
    return None


def _read(file: Path) -> bytes:
    """The text of a plain file; a pipe would never end."""
    return file.read_bytes() if S_ISREG(mode_of(file)) else b""
