"""The arguments of a compile command in, those that only say how to read source out.

A compilation database is text of the repository, and a compiler's options can write files, load libraries and
read further options from anywhere. So nothing passes unless it is on a list here: clangd gets the language,
its dialect, macros, folders of headers and what else changes the meaning of source.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

# By the name in the entry; clangd looks for headers beside the program that it names, and there for files
# with more options, so only a name without a folder passes. The program is never run (no --query-driver).
_DRIVER = re.compile(
    r"(?:[\w.]+-)*(?:cc|gcc|g\+\+|c\+\+|clang|clang\+\+|clang-cl|cl|nvcc)(?:-[\d.]+)?(?:\.exe)?"
)
_CPLUSPLUS = re.compile(r"\+\+")

#: Options with a folder of headers as their value, joined or as the next argument.
_FOLDERS = ("-isystem", "-iquote", "-idirafter", "-iframework", "-isysroot", "--sysroot", "-I", "-F")
#: Options with a file of the repository as their value.
_FILES = ("-include", "-imacros")
#: Options with a word as their value, joined or as the next argument.
_WORDS = {
    "-D": re.compile(r"[^@-].*", re.DOTALL),
    "-U": re.compile(r"\w+"),
    "-x": re.compile(r"(?:c|c\+\+|objective-c|objective-c\+\+|cuda|hip|cl)(?:-header)?"),
    "-target": re.compile(r"[\w.-]+"),
    "-arch": re.compile(r"\w[\w.-]*"),
}

# What changes the meaning of source, or the macros that the compiler defines by itself. There is no rule by
# the first letter: `-Wp,` hands options on, and of `-f` and `-m` some write (`-fmodules-cache-path`,
# `-module-dependency-dir`, `-ftime-trace`) or load (`-fplugin`, `-mllvm -load`).
_ALONE = re.compile(
    r"""-c
    | --?std=[\w+]+ | -ansi | -traditional(?:-cpp)? | -trigraphs
    | --target=[\w.-]+ | --sysroot=[^@].* | --gcc-toolchain=[^@].*
    | -stdlib=[\w+]+ | -nostdinc(?:\+\+)? | -nostdlibinc | -nobuiltininc | -undef
    | -pthreads? | -w | -O(?:[0-3sgz]|fast)? | -pedantic(?:-errors)?
    | -W[\w+=-]* | -x(?:c|c\+\+|cuda)
    | -m(?:no-)?(?:
        (?:arch|cpu|tune|fpu|abi|float-abi|cmodel|stack-alignment|os-version-min|macosx-version-min)=[\w.+-]+
      | \d+ | [a-z]+\d[a-z\d.-]* | \dd?now | x32 | mmx | sse | avx | fma | bmi | aes | pclmul | popcnt
      | lzcnt | abm | tbm | xop | sha | rdrnd | rdseed | adx | fxsr | xsave[a-z]* | movbe | thumb | arm
      | altivec | vsx | neon | unaligned-access | strict-align | soft-float | hard-float | general-regs-only
      | red-zone | ms-bitfields | big-endian | little-endian | lsx | lasx | longcalls | windows
    )
    | --cuda-gpu-arch=\w+ | --offload-arch=\w+ | -nocudainc | -nocudalib
    | -f(?:no-)?(?:
        (?:cxx-|objc-|async-|seh-|sjlj-)?exceptions | rtti(?:-data)? | PIC | pic | PIE | pie | plt
      | short-enums | short-wchar | (?:un)?signed-(?:char|bitfields) | char8_t | wchar-type | pascal-strings
      | coroutines(?:-ts)? | concepts(?:-ts)? | permissive | gnu-keywords | gnu89-inline | gnu-inline-asm
      | ms-extensions | ms-compatibility | delayed-template-parsing | declspec | borland-extensions
      | asm-blocks | asm | builtin | builtin-\w+ | freestanding | hosted | openmp | openmp-simd | openacc
      | blocks | objc-(?:arc|arc-exceptions|weak) | sized-deallocation | aligned-(?:allocation|new)
      | operator-names | relaxed-template-template-args | dollars-in-identifiers | digraphs
      | lax-vector-conversions | strict-(?:aliasing|overflow|enums) | wrapv | wrapv-pointer | trapv
      | math-errno | fast-math | common | finite-math-only | unsafe-math-optimizations | rounding-math
      | trapping-math | signed-zeros | data-sections
      | visibility-inlines-hidden(?:-static-local-var)? | visibility-ms-compat
      | function-sections | stack-protector(?:-all|-strong)? | stack-clash-protection | omit-frame-pointer
      | unwind-tables | asynchronous-unwind-tables | threadsafe-statics | use-cxa-atexit | new-infallible
      | assume-sane-operator-new | access-control | elide-constructors | implicit-templates
      | experimental-library | zvector | native-half-type | reflection | cuda-rdc | gpu-rdc
    )
    | -fopenmp=\w+ | -fvisibility=\w+ | -fsanitize=[\w,-]+ | -flax-vector-conversions=\w+ | -faligned-new=\d+
    | -fms-compatibility-version=[\d.]+ | -fmsc-version=\d+ | -fnew-alignment=\d+ | -fstrict-flex-arrays=\d
    | -f(?:input|exec)-charset=[\w-]+ | -f(?:constexpr-(?:depth|steps)|template-depth|bracket-depth)[=-]\d+
    | [-/]std:[\w+]+ | [-/]EH[\w-]* | [-/]Zc:[\w+-]+ | [-/]permissive-? | [-/]utf-8 | [-/]G[Rr]-? | [-/]J
    """,
    re.VERBOSE,
)
#: Of Microsoft's driver: a folder or a macro joined to its letter.
_MICROSOFT = re.compile(r"/(?:I|external:I|D|U)[^@].*", re.DOTALL)
_PRECOMPILED = (".pch", ".gch")


def safe_arguments(
    arguments: Sequence[str], file: str, directory: str, inside: Sequence[Path]
) -> tuple[str, ...]:
    """The driver, the options that pass, and the absolute path of `file`.

    `inside` are the folders whose files `-include` may name.
    """
    driver = _driver(arguments)
    options = _Options(directory, inside, microsoft=driver.removesuffix(".exe").endswith("cl"))
    return (driver, *options.passing(arguments[1:]), file)


class _Options:
    """Which options of one command pass."""

    def __init__(self, directory: str, inside: Sequence[Path], *, microsoft: bool) -> None:
        self._directory = directory
        self._inside = inside
        self._microsoft = microsoft

    def passing(self, arguments: Sequence[str]) -> Iterator[str]:
        rest = iter(arguments)
        for argument in rest:
            if argument == "--":
                return  # then come files
            if argument in _FOLDERS or argument in _FILES or argument in _WORDS:
                value = next(rest, "")
                if self._may_have(argument, value):
                    yield from (argument, value)
            elif self._is_joined(argument) or self._stands_alone(argument):
                yield argument

    def _is_joined(self, argument: str) -> bool:
        """Whether it is an option and its value in one word, and both may be."""
        for option in (*_FILES, *_FOLDERS, "-D", "-U"):
            # To Microsoft's driver -Fo and -Fa are names of outputs.
            if argument.startswith(option) and not (self._microsoft and option == "-F"):
                return self._may_have(option, argument[len(option) :].removeprefix("="))
        return False

    def _stands_alone(self, argument: str) -> bool:
        if argument.startswith("/") and not self._microsoft:
            return False  # a file
        return bool(_ALONE.fullmatch(argument) or _MICROSOFT.fullmatch(argument))

    def _may_have(self, option: str, value: str) -> bool:
        # `@` begins a file of further options wherever it stands; `-` may be taken for the next option.
        if not value or value[0] in "@-" or "\0" in value:
            return False
        if option in _WORDS:
            return bool(_WORDS[option].fullmatch(value))
        return option in _FOLDERS or self._is_own_header(value)

    def _is_own_header(self, value: str) -> bool:
        """Whether a file is of the repository; one with a compiled form beside it would load that instead."""
        path = Path(os.path.normpath(Path(self._directory, value)))
        own = any(path.is_relative_to(folder) for folder in self._inside)
        return own and not any(mode_of(path.with_name(path.name + end)) for end in _PRECOMPILED)


def mode_of(path: Path) -> int:
    """What stands at a path that a database names; 0 where there is nothing, or no such path can be."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):  # also a name that is too long
        return 0


def _driver(arguments: Sequence[str]) -> str:
    """The compiler by a name without a folder: what is unknown is a compiler of C, or of C++."""
    base = PurePath(arguments[0].replace("\\", "/")).name if arguments else ""
    modes = [argument for argument in arguments if argument.startswith("--driver-mode=")]
    if modes:
        return {"--driver-mode=cl": "clang-cl", "--driver-mode=g++": "clang++"}.get(modes[-1], "clang")
    if _DRIVER.fullmatch(base):
        return base
    return "clang++" if _CPLUSPLUS.search(base) else "clang"
