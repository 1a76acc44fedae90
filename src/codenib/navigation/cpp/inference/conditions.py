"""The condition of a branch in, whether it holds where we parse out: true, false, or not known.

Sources are parsed as on Linux with clang. What else decides (a build's own options, the versions of
libraries) is not known.
"""

from __future__ import annotations

import re

#: None where nobody knows.
Truth = bool | None

_FALSE = frozenset(
    re.findall(
        r"\w+",
        """_WIN32 WIN32 _WIN64 WIN64 _WINDOWS _MSC_VER __MINGW32__ __MINGW64__ __CYGWIN__ __APPLE__ __MACH__
        __FreeBSD__ __NetBSD__ __OpenBSD__ __DragonFly__ __sun __sun__ _AIX __hpux __ANDROID__ __EMSCRIPTEN__
        __wasm__ __HAIKU__ __BORLANDC__ __WATCOMC__ __QNX__ __VMS __amigaos__ __OS2__ __MVS__ __PASE__""",
    )
)
_TRUE = frozenset(["__linux__", "__linux", "linux", "__unix__", "__unix", "__GNUC__", "__clang__", "__ELF__"])
_ATOM = re.compile(r"(?P<no>(?:!\s*)*)(?:defined\s*\(\s*(?P<a>\w+)\s*\)|defined\s+(?P<b>\w+)|(?P<c>\w+))")


def evaluate(condition: str, word: str = "if") -> Truth:
    """Whether a preprocessor's condition holds; `word` is the directive without `el`.

    >>> evaluate("defined(_WIN32) && !defined(X)"), evaluate("!defined(_WIN32)"), evaluate("X > 1")
    (False, True, None)
    """
    if word in ("def", "ifdef"):
        return _known(condition.strip())
    if word in ("ndef", "ifndef"):
        return negation(_known(condition.strip()))
    either: Truth = False
    for part in condition.split("||"):
        all_of: Truth = True
        for atom in part.split("&&"):
            all_of = conjunction(all_of, _atom(atom.strip()))
        either = negation(conjunction(negation(either), negation(all_of)))
    return either


def conjunction(left: Truth, right: Truth) -> Truth:
    if left is False or right is False:
        return False
    return True if left and right else None


def negation(truth: Truth) -> Truth:
    return None if truth is None else not truth


def _atom(text: str) -> Truth:
    match = _ATOM.fullmatch(text)
    if match is None:
        return None
    known = _known(match["a"] or match["b"] or match["c"])
    return negation(known) if match["no"].count("!") % 2 else known


def _known(name: str) -> Truth:
    if name in _FALSE or name == "0":
        return False
    return True if name in _TRUE or name == "1" else None
