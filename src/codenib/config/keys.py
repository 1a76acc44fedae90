"""Every key of `codenib.toml` as data: what it decides, what values it has, and who may set it.

To add a key: a row here, and a reader of its value. docs/configuration.md is checked against this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from codenib.core.views import ViewKind

#: A text, a number, a switch, names or globs, or globs with a language each.
Value = str | int | bool | tuple[str, ...] | tuple[tuple[str, str], ...]
Kind = Literal["text", "choice", "number", "switch", "views", "globs", "languages"]


@dataclass(frozen=True, slots=True)
class Key:
    """One key. `variable` is the environment variable that comes before the files.

    A key for `users` alone decides what runs, what is asked outside, or where things are: a repository's own
    file must not.
    """

    name: str
    kind: Kind
    default: Value
    about: str
    variable: str = ""
    users: bool = False
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 1_000_000

    @property
    def expects(self) -> str:
        """What a value must be, in words."""
        return {
            "text": "a text",
            "choice": f"one of {', '.join(map(repr, self.choices))}",
            "number": f"a whole number from {self.least:,} to {self.most:,}",
            "switch": "true or false",
            "views": f"a list of views ({', '.join(self.choices)})",
            "globs": "a list of path globs",
            "languages": 'a table of path globs and languages, as \'"*.inc" = "php"\'',
        }[self.kind]


@dataclass(frozen=True, slots=True)
class Setting:
    """A value, and where it was said."""

    value: Value
    where: str


_VIEWS = tuple(kind.value for kind in ViewKind)
#: Views that a repository's own file may ask for: the others start programs that are not ours.
HARMLESS_VIEWS = ("lexical", "trigram", "dense", "history")
#: Of a file, whoever wrote it.
MAX_BYTES = 32_768
_SWITCHES = ("on", "off")

KEYS: tuple[Key, ...] = (
    Key("views", "views", HARMLESS_VIEWS, "the views of `index` and of a first question",
        "CODENIB_VIEWS", choices=_VIEWS),
    Key("paths.include", "globs", (), "only these files are indexed"),
    Key("paths.exclude", "globs", (), "these files are not; both files' globs count"),
    Key("tests.include", "globs", (), "files that are tests beside those that their names tell"),
    Key("tests.exclude", "globs", (), "files that are no tests though their names say so"),
    Key("languages", "languages", (), "the language of files, where their names do not tell it"),
    Key("search.k", "number", 10, "results of `search`; 0 for all", "CODENIB_SEARCH_K"),
    Key("search.budget", "text", "balanced", "`fast`, `balanced` or milliseconds (`200ms`)",
        "CODENIB_BUDGET"),
    Key("search.tests", "choice", "auto", "whether tests are ranked lower, as they are, or left out",
        "CODENIB_TESTS", choices=("auto", "include", "exclude", "lower")),
    Key("search.reranker", "text", "none", "the reranker of `search`", "CODENIB_RERANKER", users=True),
    Key("regex.k", "number", 100, "lines of `regex`; 0 for all", "CODENIB_REGEX_K"),
    Key("explore.max_tokens", "number", 4000, "the budget of `explore`", "CODENIB_EXPLORE_TOKENS", least=1),
    Key("map.max_tokens", "number", 1000, "the budget of `map`", "CODENIB_MAP_TOKENS", least=1),
    Key("embedder", "text", "static", "what embeds the dense view's documents", "CODENIB_EMBEDDER",
        users=True),
    Key("model", "text", "", "the model of `agent`", "CODENIB_MODEL", users=True),
    Key("llm_url", "text", "", "the endpoint of the reranker `llm:MODEL`", "CODENIB_LLM_URL", users=True),
    Key("history_commits", "number", 20_000, "how many commits the history view reads",
        "CODENIB_HISTORY_COMMITS", users=True, least=1, most=10_000_000),
    Key("background", "choice", "on", "whether a process builds slow views behind a question",
        "CODENIB_BACKGROUND", users=True, choices=_SWITCHES),
    Key("sandbox", "choice", "auto", "whether engines read untrusted repositories in a sandbox",
        "CODENIB_SANDBOX", users=True, choices=("auto", "required", "off")),
    Key("toolbox", "text", "", "where `tools install` puts engines", "CODENIB_TOOLBOX", users=True),
    Key("serve.memory_mb", "number", 0, "memory for the repositories that `serve` has open; 0: half of it",
        "CODENIB_SERVE_MEMORY_MB", users=True, most=100_000_000),
    Key("serve.build_cpus", "number", 0, "processors of the builds beside `serve`; 0: half of them",
        "CODENIB_SERVE_BUILD_CPUS", users=True, most=10_000),
    Key("serve.build_memory_mb", "number", 0, "memory of the builds beside `serve`; 0: a quarter of it",
        "CODENIB_SERVE_BUILD_MEMORY_MB", users=True, most=100_000_000),
    Key("serve.patience_s", "number", 10, "how long a call waits for its turn before it is refused",
        "CODENIB_SERVE_PATIENCE_S", users=True, least=1, most=120),
    Key("serve.preload", "choice", "on", "whether `serve` opens at its start what was asked often",
        "CODENIB_SERVE_PRELOAD", users=True, choices=_SWITCHES),
    Key("repository_file", "choice", "on", "whether a repository's own `codenib.toml` is read",
        "CODENIB_REPOSITORY_FILE", users=True, choices=_SWITCHES),
)  # fmt: skip

BY_NAME = {key.name: key for key in KEYS}
