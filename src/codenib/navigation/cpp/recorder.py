"""A folder in, compilers out that record what they are asked to compile, and compile nothing.

A build that finds them first on its path runs to its end in seconds: each writes its working folder and its
arguments down and makes the file that it was to write, empty. What only asks a compiler (its version, its
macros) goes to the real one.
"""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path
from typing import Any

from codenib.navigation.cpp.inference.commands import SOURCES

_NAMES = ("cc", "gcc", "c++", "g++", "clang", "clang++")
# Each record: count of arguments, folder, program, arguments; each of them ended by a zero byte.
_SCRIPT = """#!/bin/sh
source= output= object= only= last=
for each in "$@"; do
  if [ "$last" = -o ]; then output=$each; fi
  last=$each
  case $each in
    -c|-S) object=yes ;;
    -E|-M|-MM|-dump*|-print*|--version|-v|-V|-###|-) only=yes ;;
    {sources}) source=$each ;;
    -o?*) output=${{each#-o}} ;;
  esac
done
if [ -n "$only" ] || {{ [ -z "$source" ] && [ -z "$output" ]; }}; then
  {real}
fi
if [ -n "$source" ]; then
  printf '%s\\0' "$#" "$PWD" "${{0##*/}}" "$@" >> {log}
fi
if [ -z "$output" ] && [ -n "$object" ]; then
  output=${{source##*/}}
  output=${{output%.*}}.o
fi
if [ -n "$output" ] && [ "$output" != /dev/null ]; then
  : > "$output" && chmod +x "$output"
fi
exit 0
"""


class CompilerRecorder:
    """Recording compilers in a folder of their own, and what they recorded."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "log"
        programs = folder / "bin"
        programs.mkdir(parents=True)
        cases = "|".join(f"*{suffix}" for suffix in SOURCES)
        for name in _NAMES:
            real = shutil.which(name)
            script = programs / name
            run = f'exec {shlex.quote(real)} "$@"' if real is not None else "exit 127"
            script.write_text(_SCRIPT.format(sources=cases, real=run, log=shlex.quote(str(self._log))))
            script.chmod(0o755)
        #: What a build needs to find them.
        self.environment = {"PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}

    def entries(self) -> list[dict[str, Any]]:
        """The entries of a compilation database, in the order of the build."""
        try:
            parts = self._log.read_bytes().decode("utf-8", "replace").split("\0")[:-1]
        except OSError:
            return []
        rows: list[dict[str, Any]] = []
        while len(parts) > 2 and parts[0].isdigit():
            end = 3 + int(parts[0])
            folder, arguments = parts[1], parts[2:end]
            del parts[:end]
            for source in (each for each in arguments if each.endswith(SOURCES)):
                rows.append({"directory": folder, "file": source, "arguments": arguments})
        return rows
