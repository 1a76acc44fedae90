"""What a study stands on, looked at before it measures: rows in, engines and what is missing out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codenib.core.errors import InputError, ProviderError, extra_hint
from codenib.evals.data.rows import LocalizeRow, Transition
from codenib.evals.reports.drawing import can_draw
from codenib.manifest.home import tools_folder
from codenib.navigation.live.servers import SERVERS
from codenib.navigation.registry import GROUPS, backends_of
from codenib.navigation.tools.locate import Toolbox

if TYPE_CHECKING:
    from codenib.evals.options import StudyOptions

_ABSENT = "missing"
#: How rows write languages, where that is not our own name of them.
_ALIASES = {"ts": "typescript", "js": "javascript", "c++": "cpp"}


@dataclass(frozen=True, slots=True)
class StudyBasis:
    """What there is and is not, before anything is measured; `engines` is by language group of the rows."""

    missing: list[str] = field(default_factory=list)
    engines: dict[str, str] = field(default_factory=dict)


def prepare(
    common: StudyOptions,
    rows: Sequence[LocalizeRow] | Sequence[Transition] = (),
    *,
    graph: bool = False,
    live: bool = False,
    figures: bool = True,
) -> StudyBasis:
    """Look for clones, engines and matplotlib, and tell a person what is missing before anything is measured.

    A study of the graph without the engines of its languages compares names with names and would call that
    exact: it is refused, unless `--partial` was given. Then the report's first line says so.
    """
    found = StudyBasis()
    if graph or live:
        lacking: dict[str, list[str]] = {}
        for group in groups_of(row.language for row in rows):
            found.engines[group], lacks = _engines(group, live=live)
            if lacks:
                lacking[group] = lacks
        if lacking:
            _refuse_or_name(common, found, lacking)
    absent = _absent_clones(common, rows)
    if absent:
        found.missing.append(f"no clone of {_some(absent)}")
    if figures and not can_draw():
        found.missing.append(f"figures need matplotlib ({extra_hint('evals')})")
    for each in found.missing:
        common.note(f"missing: {each}")
    return found


def groups_of(languages: Iterable[str]) -> list[str]:
    """The language groups that rows are of; a language that has no engine is in none.

    >>> groups_of(["Python", "TS/JS", "C/C++", "COBOL", ""])
    ['cpp', 'python', 'typescript']
    """
    names = {part for language in languages for part in language.lower().split("/")}
    known = {_ALIASES.get(name, name) for name in names}
    return sorted(group.name for group in GROUPS if group.languages & known)


def _engines(group: str, *, live: bool) -> tuple[str, list[str]]:
    """The engine that makes a group's facts, and what is missing of that and of its live server."""
    tools = Toolbox(tools_folder())
    languages = next(each.languages for each in GROUPS if each.name == group)
    name, lacks = _ABSENT, []
    for backend in backends_of(tools, languages)[group]:
        try:
            known = backend.identity()
        except ProviderError as error:
            lacks.append(error.message)
            continue
        name, lacks = f"{known['backend']} {known['version']}", []
        break
    if live:
        try:
            server = tools.require(SERVERS[group].tool)
            name = f"{name}; live {server.name} {server.version}"
        except ProviderError as error:
            name = f"{name}; live {_ABSENT}"
            lacks = [*lacks[:1], error.message]
    return name, list(dict.fromkeys(lacks[:2]))


def _refuse_or_name(common: StudyOptions, found: StudyBasis, lacking: dict[str, list[str]]) -> None:
    told = "; ".join(f"{group}: {', '.join(lacks)}" for group, lacks in lacking.items())
    install = f"codenib tools install {' '.join(lacking)}"
    if not common.partial:
        raise ProviderError(
            f"this study needs the engines of its languages; {told}",
            hint=f"{install}; or --partial, which measures without them and says so",
        )
    found.missing.append(f"engines; {told}. The graph of {', '.join(lacking)} is by names alone ({install})")


def _absent_clones(common: StudyOptions, rows: Sequence[LocalizeRow] | Sequence[Transition]) -> list[str]:
    absent = []
    clones = common.clones
    for repo in dict.fromkeys(row.repo for row in rows):
        try:
            clones.find(repo)
        except InputError:
            absent.append(repo)
    return absent


def _some(names: Sequence[str], most: int = 5) -> str:
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest
