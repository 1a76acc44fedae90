"""A version and what is asked for in, whether it fits out; None where nobody knows. Pure.

Python's rules are those of the library `packaging`. For JavaScript, Rust and Go only released versions of up
to three numbers and the common operators are judged, for Java equal versions and one range of numbers.
Everything else (tags of a registry, addresses, early releases, variables of a build) is unknown.

>>> fits("rust", "1.2", "1.9.0"), fits("rust", "1.2", "2.0.0"), fits("javascript", "latest", "2.0.0")
(True, False, None)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

_Numbers = tuple[int, int, int]
_Range = tuple[_Numbers, _Numbers]
_FIRST: _Numbers = (0, 0, 0)
_NEVER: _Numbers = (1 << 62, 0, 0)
_RELEASE = re.compile(r"v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?:\+[\w.-]+)?\Z")
_COMPARATOR = re.compile(
    r"(\^|~|>=|<=|>|<|=)?\s*v?(\d{1,9}(?:\.\d{1,9}){0,2}(?:\.[xX*]){0,2}|[xX*])(?=[\s,]|\Z)"
)
_HYPHEN = re.compile(r"(\S+)\s+-\s+(\S+)\Z")
_MAVEN_RANGE = re.compile(r"([\[(])\s*([\d.]*)\s*,\s*([\d.]*)\s*([\])])\Z")
_TAG_VERSION = re.compile(r"\d+(?:[._]\d+)*(?:[-._]?(?:a|b|rc|alpha|beta|pre|dev|post)[-._]?\d*)?\Z", re.I)
_EARLY = re.compile(r"a|b|rc|alpha|beta|pre|dev", re.I)
_TAG_PREFIX = re.compile(r"(?:releases?|rel|version|ver|v)?[-_/.]?v?\Z", re.I)


def fits(ecosystem: str, wanted: str, version: str) -> bool | None:
    """Whether a version is one that is asked for; None: it is not known."""
    judge = _JUDGES.get(ecosystem)
    if judge is None or not version or (not wanted and ecosystem != "python"):
        return None
    return judge(wanted.strip(), version.strip())


def is_same(ecosystem: str, locked: str, version: str) -> bool | None:
    """Whether a version is the one that a lock file names."""
    if not locked or not version:
        return None
    if ecosystem == "python":
        return _python(f"=={locked}", version)
    return locked.removeprefix("v") == version.removeprefix("v")


def tag_version(tag: str, package: str, folder: str = "") -> str | None:
    """The version that a tag of a repository names for a package; None for another's, or no version.

    >>> tag_version("v1.2.0", "chi"), tag_version("gson-parent-2.1", "com.google.code.gson:gson")
    ('1.2.0', '2.1')
    >>> tag_version("clap_derive-v4.1.0", "clap"), tag_version("nightly", "clap")
    (None, None)
    """
    if folder and not tag.startswith(f"{folder}/"):
        return None
    own = re.split(r"[/:]", re.sub(r"/v\d+\Z", "", package))[-1]
    left = tag.removeprefix(f"{folder}/")
    lowered = left.lower()
    for name in (f"{own}-parent", own):
        for start in (name, f"@{name}", f"rel/{name}", f"release-{name}"):
            if lowered.startswith(start.lower()) and not left[len(start) : len(start) + 1].isalnum():
                left = left[len(start) :].lstrip("-_@/")
                return _named_version(left)
    return _named_version(left)


def newest_fitting(
    tags: Iterable[str], package: str, folder: str, accepts: Callable[[str], bool | None]
) -> list[str]:
    """The tags of released versions of a package that are accepted, newest first."""
    named = [(tag_version(tag, package, folder), tag) for tag in tags]
    fitting = [
        (_numbers_of(version), tag)
        for version, tag in named
        if version is not None and not _EARLY.search(version) and accepts(version) is True
    ]
    return [tag for _, tag in sorted(fitting, reverse=True)]


def _numbers_of(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d{1,9}", version)]


def _named_version(text: str) -> str | None:
    found = _TAG_VERSION.search(text)
    if found is None or not _TAG_PREFIX.fullmatch(text[: found.start()]):
        return None
    return found[0].replace("_", ".")


def _python(wanted: str, version: str) -> bool | None:
    try:
        return SpecifierSet(wanted).contains(Version(version), prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return None


def _numbers(version: str) -> _Numbers | None:
    found = _RELEASE.match(version)
    return (int(found[1]), int(found[2] or 0), int(found[3] or 0)) if found else None


def _javascript(wanted: str, version: str) -> bool | None:
    numbers = _numbers(version)
    if numbers is None:
        return None
    judged = [_all_of(part.strip(), numbers, _npm_range) for part in wanted.split("||")]
    return True if True in judged else None if None in judged else False


def _npm_range(operator: str, given: str) -> _Range:
    return _range(operator or "=", given)


def _rust(wanted: str, version: str) -> bool | None:
    numbers = _numbers(version)
    if numbers is None:
        return None
    return _all_of(wanted, numbers, lambda operator, given: _range(operator or "^", given))


def _all_of(wanted: str, numbers: _Numbers, bounds: Callable[[str, str], _Range]) -> bool | None:
    """Whether the numbers are in every range of a list, apart by spaces or commas."""
    if hyphen := _HYPHEN.match(wanted):
        wanted = f">={hyphen[1]} <={hyphen[2]}"
    ranges = list(_comparators(wanted))
    if None in ranges:
        return None
    given = [bounds(*each) for each in ranges if each is not None]
    return all(low <= numbers < high for low, high in given)


def _comparators(wanted: str) -> Iterator[tuple[str, str] | None]:
    """Operators with their versions; None where something else stands."""
    at = 0
    while at < len(wanted):
        found = _COMPARATOR.match(wanted, at)
        if found is None:
            yield None
            return
        yield found[1] or "", found[2]
        at = found.end()
        while at < len(wanted) and wanted[at] in " ,\t":
            at += 1


def _range(operator: str, given: str) -> _Range:
    """From which version and below which one an operator asks for.

    >>> _range("^", "0.2.3"), _range("~", "1.2"), _range("=", "1.x")
    (((0, 2, 3), (0, 3, 0)), ((1, 2, 0), (1, 3, 0)), ((1, 0, 0), (2, 0, 0)))
    """
    parts = [int(part) for part in given.split(".") if part.isdigit()]
    if not parts:
        return _FIRST, _NEVER
    low = _padded(parts)
    after = _raised(parts, len(parts) - 1)
    match operator:
        case "^":
            return low, _raised(parts, next((at for at, part in enumerate(parts) if part), len(parts) - 1))
        case "~":
            return low, _raised(parts, min(1, len(parts) - 1))
        case ">=":
            return low, _NEVER
        case ">":
            return after, _NEVER
        case "<":
            return _FIRST, low
        case "<=":
            return _FIRST, after
        case _:
            return low, after


def _padded(parts: list[int]) -> _Numbers:
    first, second, third = (*parts, 0, 0)[:3]
    return first, second, third


def _raised(parts: list[int], at: int) -> _Numbers:
    return _padded([*parts[:at], parts[at] + 1])


def _go(wanted: str, version: str) -> bool | None:
    """Go takes at least the version that is asked for; another major version is another module."""
    low, numbers = _numbers(wanted), _numbers(version)
    if low is None or numbers is None:
        return None
    return low <= numbers < (low[0] + 1, 0, 0)


def _java(wanted: str, version: str) -> bool | None:
    found = _MAVEN_RANGE.match(wanted)
    if found is None:
        return wanted == version if re.fullmatch(r"[\w.-]+", wanted) and wanted[:1].isdigit() else None
    numbers = _dotted(version)
    low, high = _dotted(found[2]), _dotted(found[3])
    if numbers is None or (found[2] and low is None) or (found[3] and high is None):
        return None
    above = low is None or numbers > low or (numbers == low and found[1] == "[")
    below = high is None or numbers < high or (numbers == high and found[4] == "]")
    return above and below


def _dotted(text: str) -> tuple[int, ...] | None:
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9})*", text):
        return None
    numbers = [int(part) for part in text.split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


_JUDGES: Mapping[str, Callable[[str, str], bool | None]] = {
    "python": _python,
    "javascript": _javascript,
    "rust": _rust,
    "go": _go,
    "java": _java,
}
