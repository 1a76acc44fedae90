"""A repository in, what configuration says for it out: every key with its origin, defaults of commands."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codenib.compiler.registry import parse_views
from codenib.config.keys import BY_NAME, KEYS, Key, Value
from codenib.config.resolve import NAME, Origin, Resolved, repository_settings, resolve, user_file
from codenib.core.views import ViewKind
from codenib.snapshot import git
from codenib.snapshot.content import Folder
from codenib.snapshot.ignore import file_in_tree, file_on_disk
from codenib.snapshot.listing import parse_tree
from codenib.snapshot.repository import Repository, locate

#: Keys that are the defaults of commands' options: commands, then parameter.
_DEFAULTS = {
    "search.k": (("search", "plan"), "k"),
    "search.budget": (("search", "plan"), "budget"),
    "search.tests": (("search",), "tests"),
    "search.reranker": (("search", "plan"), "reranker"),
    "regex.k": (("regex",), "k"),
    "explore.max_tokens": (("explore",), "max_tokens"),
    "map.max_tokens": (("map",), "max_tokens"),
}


@dataclass(frozen=True, slots=True)
class ConfiguredKey:
    """The value that holds for a key; `where` is the file and line that say it, or the variable."""

    key: str
    value: str | int | bool | tuple[str, ...] | Mapping[str, str]
    origin: Origin
    where: str
    about: str
    variable: str
    user_only: bool


def describe_configuration(path: str | Path) -> list[ConfiguredKey]:
    """Every key, as it holds for the repository that `path` is in."""
    return [
        ConfiguredKey(
            each.key.name,
            dict(each.value) if each.key.kind == "languages" else each.value,  # type: ignore[arg-type]
            each.origin,
            each.where,
            about=each.key.about,
            variable=each.key.variable,
            user_only=each.key.users,
        )
        for each in configuration_of(locate(Path(path))).values()
    ]


def configuration_files(path: str | Path) -> tuple[Path, Path]:
    """The user's file and the repository's; either need not exist."""
    return user_file(), locate(Path(path)).root / NAME


def configuration_of(repository: Repository, keys: Sequence[Key] = KEYS) -> Mapping[str, Resolved]:
    """Every key, with what the file on disk says; of a bare repository, that of its HEAD."""
    return resolve(repository_settings(lambda: _read(repository)), keys)


def configured_views(repository: Repository) -> tuple[ViewKind, ...]:
    """The views that are built unless others are named."""
    names = configuration_of(repository, [BY_NAME["views"]])["views"].value
    assert isinstance(names, tuple)
    return parse_views(",".join(str(name) for name in names))


def user_value(name: str) -> Value:
    """What environment, the user's file or the default says of a key that is the user's alone."""
    return resolve({}, [BY_NAME[name]])[name].value


def default_views(path: str | Path) -> tuple[ViewKind, ...]:
    """As `configured_views`."""
    return configured_views(locate(Path(path)))


def command_defaults(path: str | Path) -> dict[str, dict[str, Value]]:
    """What files and environment say of options, by command and parameter; defaults are not among it."""
    place = Path(path).absolute()
    keys = [BY_NAME[name] for name in _DEFAULTS]
    known = configuration_of(locate(place), keys) if _may_have_file(place) else resolve({}, keys)
    found: dict[str, dict[str, Value]] = {}
    for name, (commands, parameter) in _DEFAULTS.items():
        for command in commands if known[name].origin != "default" and known[name].value != "auto" else ():
            found.setdefault(command, {})[parameter] = known[name].value
    return found


def _may_have_file(place: Path) -> bool:
    """Whether the repository of a folder may have a file of its own: no git process where it has none."""
    return _is_bare(place) or any(os.path.lexists(each / NAME) for each in (place, *place.parents))


def _is_bare(place: Path) -> bool:
    """Whether a folder looks like a repository without a worktree."""
    return (place / "HEAD").is_file() and (place / "objects").is_dir()


def _read(repository: Repository) -> bytes | None:
    if repository.kind != "bare":
        return file_on_disk(Folder(repository.root))
    at = repository.git_args()
    answer = git.call([*at, "ls-tree", "-z", "--full-tree", "HEAD", "--", NAME])
    return file_in_tree(at, parse_tree(answer.out)) if answer.code == 0 else None
