"""Which language a file is in, and how to parse it: one row per language.

A path gives a hint; where the path says nothing the bytes decide. Grammars are imported on first use.
To add a language: a row here, a file in `queries/`, the grammar's wheel in pyproject.toml.
"""

from __future__ import annotations

import hashlib
import importlib
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from codenib.system.distributions import installed_version

if TYPE_CHECKING:
    from tree_sitter import Parser, Query

# What the SQL grammar does not know costs it quadratic time: 5.6 s for 178 kB of COPY's rows, 1 s for 90 kB.
_DUMP_BYTES = 90_000
_QUERIES = Path(__file__).parent / "queries"
NOTEBOOK_SUFFIX = ".ipynb"


@dataclass(frozen=True, slots=True)
class Language:
    """How to recognise and parse one language.

    `module` and `function` name the grammar; `queries` are files whose captures say what the units are.
    `comments` start a line that documents the definition below it, `attributes` one that belongs to it;
    `tests` matches attributes that say that the definition is a test. With `clauses` a function is written as
    several equations, one below the other, and all of them are one unit.
    """

    name: str
    extensions: tuple[str, ...]
    module: str
    queries: tuple[str, ...]
    function: str = "language"
    shebangs: tuple[str, ...] = ()
    comments: tuple[bytes, ...] = (b"//",)
    block_comments: bool = True
    attributes: tuple[bytes, ...] = ()
    tests: re.Pattern[bytes] | None = None
    clauses: bool = False


_JS = ("ecmascript", "javascript")
_TS = ("ecmascript", "typescript")
_HASH = (b"#",)
# #[test], #[tokio::test(…)], #[rstest], #[bench]; #[cfg(all(test, unix))] compiles for tests alone.
_RUST_TESTS = re.compile(
    rb"#!?\[\s*(?:(?:\w+::)*(?:\w+_)?(?:test|rstest|bench|quickcheck)(?:_case|_matrix)?\s*[\](]"
    rb"|cfg\(\s*(?:all\(\s*(?:(?:(?!any\().)*?,\s*)?)?test\s*[,)])",
    re.S,
)

LANGUAGES: tuple[Language, ...] = (
    Language("python", (".py", ".pyi", ".pyx", ".pxd"), "python", ("python",), comments=_HASH,
             block_comments=False, shebangs=("python", "python2", "python3", "pypy", "pypy3")),
    Language("go", (".go",), "go", ("go",)),
    Language("rust", (".rs",), "rust", ("rust",), attributes=(b"#[",), tests=_RUST_TESTS),
    Language("c", (".c",), "c", ("c",)),
    Language("cpp", (".h", ".cc", ".cpp", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".inl",
                     ".tpp", ".txx", ".tcc", ".ixx", ".cppm", ".cu", ".cuh", ".ino"), "cpp", ("cpp", "c")),
    Language("typescript", (".ts", ".mts", ".cts"), "typescript", _TS, function="language_typescript",
             shebangs=("ts-node", "deno", "tsx")),
    Language("tsx", (".tsx",), "typescript", _TS, function="language_tsx"),
    Language("javascript", (".js", ".jsx", ".mjs", ".cjs", ".es6"), "javascript", _JS,
             shebangs=("node", "nodejs", "bun")),
    Language("java", (".java",), "java", ("java",)),
    Language("csharp", (".cs", ".csx"), "c_sharp", ("csharp",)),
    Language("ruby", (".rb", ".rake", ".gemspec", ".ru", ".podspec"), "ruby", ("ruby",), comments=_HASH,
             block_comments=False, shebangs=("ruby", "jruby")),
    Language("php", (".php", ".phtml", ".php5", ".inc"), "php", ("php",), function="language_php",
             comments=(b"//", b"#"), shebangs=("php",)),
    Language("kotlin", (".kt", ".kts"), "kotlin", ("kotlin",)),
    Language("scala", (".scala", ".sc", ".sbt"), "scala", ("scala",)),
    Language("swift", (".swift",), "swift", ("swift",)),
    Language("lua", (".lua", ".rockspec"), "lua", ("lua",), comments=(b"--",), block_comments=False,
             shebangs=("lua", "luajit", "lua5.1", "lua5.3", "lua5.4", "texlua")),
    Language("bash", (".sh", ".bash", ".zsh", ".ksh", ".bats"), "bash", ("bash",), comments=_HASH,
             block_comments=False, shebangs=("sh", "bash", "zsh", "ksh", "dash", "ash")),
    Language("elixir", (".ex", ".exs"), "elixir", ("elixir",), comments=_HASH, block_comments=False,
             attributes=(b"@",), clauses=True, shebangs=("elixir",)),
    Language("haskell", (".hs",), "haskell", ("haskell",), comments=(b"--",), block_comments=False,
             clauses=True, shebangs=("runghc", "runhaskell")),
    Language("zig", (".zig",), "zig", ("zig",), block_comments=False),
    Language("dart", (".dart",), "dart", ("dart",), attributes=(b"@",)),
    Language("sql", (".sql", ".ddl", ".dml"), "sql", ("sql",), comments=(b"--",)),
    Language("terraform", (".tf", ".tfvars", ".hcl"), "hcl", ("terraform",), comments=(b"#", b"//")),
)  # fmt: skip

BY_NAME = {language.name: language for language in LANGUAGES}

# Files without a grammar: prose is cut into sections, all the rest into windows.
PROSE = {"markdown", "rst", "asciidoc", "plaintext"}
_LABELS = {
    "markdown": ".md .markdown .mdx .mdown .mkd",
    "rst": ".rst .rest",
    "asciidoc": ".adoc .asciidoc",
    "plaintext": ".txt .text .log .org",
    "json": ".json .jsonc .json5 .jsonl .ndjson .geojson .webmanifest",
    "notebook": ".ipynb",
    "yaml": ".yaml .yml",
    "toml": ".toml",
    "ini": ".ini .cfg .conf .properties .editorconfig .env",
    "xml": ".xml .xsd .xsl .xslt .plist .csproj .props .targets .resx .xaml .wsdl .svg",
    "html": ".html .htm .xhtml .jinja .jinja2 .j2 .erb .ejs .hbs .mustache .tmpl .tpl .twig",
    "css": ".css .scss .sass .less .styl",
    "vue": ".vue",
    "svelte": ".svelte",
    "po": ".po .pot",
    "proto": ".proto",
    "graphql": ".graphql .gql",
    "cmake": ".cmake",
    "make": ".mk .mak .make",
    "gradle": ".gradle .groovy",
    "nix": ".nix",
    "perl": ".pl .pm .t",
    "r": ".r .rmd",
    "julia": ".jl",
    "erlang": ".erl .hrl",
    "haskell": ".lhs",
    "ocaml": ".ml .mli",
    "fsharp": ".fs .fsx .fsi",
    "clojure": ".clj .cljs .cljc .edn",
    "lisp": ".lisp .el .scm .rkt",
    "objc": ".m .mm",
    "nim": ".nim",
    "vim": ".vim",
    "fish": ".fish",
    "powershell": ".ps1 .psm1 .psd1",
    "batch": ".bat .cmd",
    "asm": ".s .asm",
    "csv": ".csv .tsv",
    "diff": ".diff .patch",
    "tex": ".tex .bib .sty .cls",
    "solidity": ".sol",
    "glsl": ".glsl .vert .frag .comp .wgsl .hlsl .metal",
}
_BASENAMES = {
    "makefile": "make", "gnumakefile": "make", "dockerfile": "dockerfile", "containerfile": "dockerfile",
    "cmakelists.txt": "cmake", "meson.build": "meson", "build.bazel": "starlark", "jenkinsfile": "gradle",
    "rakefile": "ruby", "gemfile": "ruby", "vagrantfile": "ruby", "podfile": "ruby", "brewfile": "ruby",
    "guardfile": "ruby", "fastfile": "ruby", "sconstruct": "python", "sconscript": "python",
    "readme": "plaintext", "license": "plaintext", "licence": "plaintext", "copying": "plaintext",
    "authors": "plaintext", "contributors": "plaintext", "changelog": "plaintext", "changes": "plaintext",
    "news": "plaintext", "notice": "plaintext", "todo": "plaintext", "install": "plaintext",
    ".bashrc": "bash", ".bash_profile": "bash", ".profile": "bash", ".zshrc": "bash",
    ".babelrc": "json", ".eslintrc": "json", ".prettierrc": "json",
}  # fmt: skip

_BY_EXTENSION = {
    **{extension: label for label, row in _LABELS.items() for extension in row.split()},
    **{extension: language.name for language in LANGUAGES for extension in language.extensions},
}
_BY_SHEBANG = {program: language.name for language in LANGUAGES for program in language.shebangs}
_SHEBANG = re.compile(rb"#![ \t]*(\S+)(?:[ \t]+(?:-S[ \t]+)?(?:\w+=\S*[ \t]+)*(\S+))?")


def language_names() -> frozenset[str]:
    """Every language that a path can tell."""
    return frozenset({*_BY_EXTENSION.values(), *_BASENAMES.values(), "text"})


@lru_cache(maxsize=1 << 16)
def language_hint(path: str) -> str:
    """The language that `path` alone tells; "" when only the content can say.

    >>> language_hint("src/app.tsx"), language_hint("data/a.json"), language_hint("bin/run")
    ('tsx', 'json', '')
    """
    name = path.rpartition("/")[2].lower()  # by text: every question asks it of every file
    if name in _BASENAMES:
        return _BASENAMES[name]
    dot = name.rfind(".")
    if not 0 < dot < len(name) - 1:
        return ""
    return _BY_EXTENSION.get(name[dot:], "text")


def language_of(data: bytes, hint: str) -> str:
    """The language to report: the hint, or for an empty hint what a `#!` line names, else "text"."""
    if hint:
        return hint
    if match := _SHEBANG.match(data, 0, 200):
        program, argument = (part.rpartition(b"/")[2] for part in match.groups(b""))
        if program == b"env":
            program = argument
        return _BY_SHEBANG.get(program.decode("ascii", "replace"), "text")
    return "text"


def grammar_for(data: bytes, language: str) -> Language | None:
    """The row that parses `data`; None for a dump of SQL, which is rows.

    JavaScript that declares `@flow` needs the TSX grammar for its types.
    """
    if language == "sql" and len(data) > _DUMP_BYTES:
        return None
    if language == "javascript" and b"@flow" in data[:2048]:
        return BY_NAME["tsx"]
    return BY_NAME.get(language)


@cache
def parser_for(language: Language) -> tuple[Parser, Query]:
    """The parser and the compiled query of a language; imports its grammar."""
    import tree_sitter

    grammar = importlib.import_module(f"tree_sitter_{language.module}")
    tongue = tree_sitter.Language(getattr(grammar, language.function)())
    text = "\n".join((_QUERIES / f"{name}.scm").read_text() for name in language.queries)
    return tree_sitter.Parser(tongue), tree_sitter.Query(tongue, text)


@cache
def units_version() -> str:
    """Names everything that decides the rows of a blob: this package's own text and the grammars' versions.

    A version that people must remember to raise is one day forgotten, and then old rows meet new code.
    """
    wheels = sorted({f"tree-sitter-{language.module.replace('_', '-')}" for language in LANGUAGES})
    versions = (f"{name}={installed_version(name) or 'none'}" for name in ["tree-sitter", *wheels])
    return f"units={_source_digest()} " + " ".join(versions)


def _source_digest() -> str:
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted([*here.glob("*.py"), *_QUERIES.glob("*.scm")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
