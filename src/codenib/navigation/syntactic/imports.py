"""What imports look like in each language, and which file an import certainly means: path rules alone.

In a query `@module` is the text that names what is imported, `@statement` the whole import, and `@skip` what
holds no names: comments and the fixed parts of strings.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection

_SCRIPT = """
[(comment) (string) (regex) (string_fragment)] @skip
(import_statement source: (string (string_fragment) @module)) @statement
(export_statement source: (string (string_fragment) @module)) @statement
((call_expression function: [(identifier) (import)] @how
  arguments: (arguments . (string (string_fragment) @module) .)) @statement
  (#any-of? @how "require" "import"))
"""
_TYPED = (
    _SCRIPT
    + """
(import_statement (import_require_clause source: (string (string_fragment) @module))) @statement
"""
)
_INCLUDE = """
[(comment) (char_literal) (string_literal) (system_lib_string)] @skip
(preproc_include path: (string_literal (string_content) @module)) @statement
(preproc_include path: (system_lib_string) @module) @statement
"""

QUERIES = {
    "python": """
[(comment) (string_content)] @skip
(import_statement name: [(dotted_name) @module (aliased_import name: (dotted_name) @module)]) @statement
(import_from_statement module_name: (_) @module) @statement
""",
    "go": """
[(comment) (interpreted_string_literal) (raw_string_literal) (rune_literal)] @skip
(import_spec path: [
  (interpreted_string_literal (interpreted_string_literal_content) @module)
  (raw_string_literal (raw_string_literal_content) @module)]) @statement
""",
    "rust": """
[(line_comment) (block_comment) (string_literal) (raw_string_literal) (char_literal)] @skip
(use_declaration argument: (_) @module) @statement
(extern_crate_declaration name: (identifier) @module) @statement
(mod_item name: (identifier) @module !body) @statement
""",
    "c": _INCLUDE,
    "cpp": _INCLUDE + "\n(raw_string_literal) @skip",
    "typescript": _TYPED,
    "tsx": _TYPED,
    "javascript": _SCRIPT,
    "java": """
[(line_comment) (block_comment) (string_literal) (character_literal)] @skip
(import_declaration [(scoped_identifier) (identifier)] @module) @statement
""",
    "csharp": """
[(comment) (string_literal) (verbatim_string_literal) (raw_string_literal) (character_literal)
 (string_content)] @skip
(using_directive [(qualified_name) (identifier)] @module .) @statement
""",
    "ruby": """
[(comment) (string_content) (heredoc_content)] @skip
((call method: (identifier) @how arguments: (argument_list (string (string_content) @module))) @statement
  (#any-of? @how "require" "require_relative" "load"))
""",
    "php": """
[(comment) (string) (string_content) (nowdoc_body)] @skip
(namespace_use_clause . [(qualified_name) (name)] @module) @statement
(require_expression (string (string_content) @module)) @statement
(require_once_expression (string (string_content) @module)) @statement
(include_expression (string (string_content) @module)) @statement
(include_once_expression (string (string_content) @module)) @statement
""",
    "kotlin": """
[(line_comment) (block_comment) (string_content) (character_literal)] @skip
(import (qualified_identifier) @module) @statement
""",
    "scala": """
[(comment) (block_comment) (string) (character_literal)] @skip
(import_declaration) @statement @module
""",
    "swift": """
[(comment) (multiline_comment) (raw_string_literal)] @skip
(import_declaration (identifier) @module) @statement
""",
    "lua": """
[(comment) (string)] @skip
((function_call name: (identifier) @how arguments: (arguments (string (string_content) @module))) @statement
  (#eq? @how "require"))
""",
    "bash": """
[(comment) (raw_string) (string_content) (heredoc_body)] @skip
((command name: (command_name) @how . argument: (word) @module) @statement
  (#any-of? @how "source" "."))
""",
    "elixir": """
[(comment) (quoted_content) (charlist)] @skip
((call target: (identifier) @how (arguments . (alias) @module)) @statement
  (#any-of? @how "alias" "import" "use" "require"))
""",
    "haskell": """
[(comment) (haddock) (string) (char) (pragma)] @skip
(import module: (module) @module) @statement
""",
    "zig": """
[(comment) (string_content) (multiline_string) (character)] @skip
((builtin_function (builtin_identifier) @how (arguments (string (string_content) @module))) @statement
  (#eq? @how "@import"))
""",
    "dart": """
[(comment) (documentation_comment) (string_literal)] @skip
(import_or_export (_ (_ (configurable_uri) @module))) @statement
(import_or_export (_ (configurable_uri) @module)) @statement
""",
    "sql": "[(comment) (marginalia) (literal)] @skip",
    "terraform": """
[(comment) (template_literal)] @skip
((block . (identifier) @how (body (attribute (identifier) @key
    (expression (literal_value (string_lit (template_literal) @module))))) ) @statement
  (#eq? @how "module") (#eq? @key "source"))
""",
}

_SCRIPT_ENDINGS = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_COMPILED_FROM = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_RUST_MOD = re.compile(r"\bmod\s+\w+\s*;")
_RUST_ROOTS = frozenset({"mod", "lib", "main"})


class Imports:
    """Resolves imports against the files of one repository."""

    def __init__(self, files: Collection[str]) -> None:
        self._files = frozenset(files)
        self._roots = _python_roots(self._files)
        self._by_name: dict[str, list[str]] = {}
        for path in sorted(self._files):
            self._by_name.setdefault(posixpath.basename(path), []).append(path)

    def resolve(self, path: str, language: str, module: str, statement: str) -> str | None:
        """The file of the repository that this import in `path` certainly means; None when not certain."""
        match language:
            case "python":
                return self._python(path, module)
            case "typescript" | "tsx" | "javascript":
                return self._script(path, module)
            case "c" | "cpp":
                return None if module.startswith("<") else self._include(path, module)
            case "rust" if _RUST_MOD.search(statement):
                return self._rust_module(path, module)
            case "ruby" if "require_relative" in statement:
                return self._there(_beside(path, module), ".rb")
            case "lua":
                return self._there(module.replace(".", "/"), ".lua", "/init.lua")
            case "java":
                return self._java(module)
            case "haskell":
                return self._ending(module.replace(".", "/") + ".hs")
            case "zig":
                return self._there(_beside(path, module))
            case "dart":
                return self._there(_beside(path, module.strip("'\"")))
        return None

    def _there(self, base: str | None, *endings: str) -> str | None:
        """The first of the candidates that is a file; nothing leaves the repository."""
        if base is None:
            return None
        return next((base + end for end in ("", *endings) if base + end in self._files), None)

    def _python(self, path: str, module: str) -> str | None:
        level = len(module) - len(module.lstrip("."))
        if level:
            base = posixpath.dirname(path)
            for _ in range(level - 1):
                if not base:
                    return None
                base = posixpath.dirname(base)
            names = module[level:].strip().replace(".", "/")
            return self._python_file(posixpath.join(base, names) if names else base)
        names = module.replace(".", "/")
        found = {self._python_file(posixpath.join(root, names)) for root in self._roots} - {None}
        return found.pop() if len(found) == 1 else None

    def _python_file(self, base: str) -> str | None:
        return next((f for f in (f"{base}/__init__.py", f"{base}.py") if f.lstrip("/") in self._files), None)

    def _script(self, path: str, module: str) -> str | None:
        if not module.startswith("."):  # a package, or an alias that only its tools know
            return None
        base = _beside(path, module)
        if base is None:
            return None
        stem, ending = posixpath.splitext(base)
        written = [stem + other for other in _COMPILED_FROM.get(ending, ()) if stem + other in self._files]
        if base not in self._files and written:
            return written[0]
        return self._there(base, *_SCRIPT_ENDINGS, *(f"/index{ending}" for ending in _SCRIPT_ENDINGS))

    def _include(self, path: str, module: str) -> str | None:
        """Beside the file; else, for a path of several parts, the one file whose path ends so."""
        beside = self._there(_beside(path, module))
        return beside or (self._ending(module) if "/" in module and "." not in module.split("/")[0] else None)

    def _rust_module(self, path: str, module: str) -> str | None:
        folder, name = posixpath.split(path)
        stem = posixpath.splitext(name)[0]
        base = posixpath.join(folder, module if stem in _RUST_ROOTS else f"{stem}/{module}")
        found = [file for file in (f"{base}.rs", f"{base}/mod.rs") if file in self._files]
        return found[0] if len(found) == 1 else None

    def _java(self, module: str) -> str | None:
        return self._ending(module.replace(".", "/") + ".java")

    def _ending(self, end: str) -> str | None:
        """The only file whose path ends with these parts."""
        named = self._by_name.get(posixpath.basename(end), ())
        found = [path for path in named if path == end or path.endswith(f"/{end}")]
        return found[0] if len(found) == 1 else None


def _beside(path: str, module: str) -> str | None:
    """A path relative to a file's folder; None when it leaves the repository."""
    found = posixpath.normpath(posixpath.join(posixpath.dirname(path), module))
    return None if found.startswith(("..", "/")) else found


def _python_roots(files: Collection[str]) -> list[str]:
    """Where top-level packages are: the root, and each folder above an outermost `__init__.py`."""
    packages = {posixpath.dirname(path) for path in files if posixpath.basename(path) == "__init__.py"}
    outermost = {folder for folder in packages if folder and posixpath.dirname(folder) not in packages}
    return sorted({"", *map(posixpath.dirname, outermost)})
