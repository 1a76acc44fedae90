"""What a path says about its code: test, example, vendored, generated, prose. Content is never read."""

from __future__ import annotations

import re
from functools import lru_cache

from codenib.core.source import Mark
from codenib.units.languages import BY_NAME, language_hint

# The paper's rule for tests names test, tests, __tests__, spec and specs; the rest is the same idea.
_FOLDERS = {
    Mark.TEST: "test tests __tests__ spec specs testing testdata test_data test-data testsuite testsuites"
    " unittests e2e fixtures __fixtures__ __mocks__ mocks benches bench benchmark benchmarks",
    Mark.EXAMPLE: "example examples sample samples demo demos tutorial tutorials cookbook playground",
    Mark.VENDORED: "vendor vendors vendored _vendor third_party third-party thirdparty 3rdparty node_modules"
    " bower_components extern external externals deps bundled single_include site-packages pods",
    Mark.GENERATED: "dist generated __generated__ gen autogen _generated __snapshots__ .yarn",
    Mark.PROSE: "doc docs documentation man changelog changelogs changes releasenotes",
}
_MARK_OF_FOLDER = {name: mark for mark, names in _FOLDERS.items() for name in names.split()}
# Folders that name a part of a program as often as what the mark means; they count only at the root.
_ONLY_AT_ROOT = {"dist", "deps", "external", "bundled", "gen", "changes", "man", "doc", "vendors", "testing"}

_BASENAMES = (
    (Mark.TEST, re.compile(
        r"^tests?(?=[._-]|$)|^conftest\.py$|[._-](?:test|spec)s?(?=[._-]|$)|[._-](?:e2e|bench)(?=\.)"
    )),
    (Mark.GENERATED, re.compile(
        r"_pb2(?:_grpc)?\.pyi?$|\.pb(?:\.gw)?\.(?:go|cc|h)$|_grpc\.pb\.|\.g\.(?:cs|dart)$|\.designer\.cs$"
        r"|\.generated\.|_generated\.|^zz_generated|\.min\.(?:js|css|mjs)$|[.-]bundle\.js$|\.(?:js|css)\.map$"
        r"|\.(?:po|pot|svg|snap|lock|sum)$|^(?:package-lock|npm-shrinkwrap)\.json$|^pnpm-lock\.yaml$"
    )),
    (Mark.PROSE, re.compile(
        r"\.(?:md|markdown|mdx|rst|adoc|asciidoc|txt|text|tex)$|^(?:readme|license|licence|copying|authors|changelog"
        r"|changes|news|notice|contributing|contributors|history|todo|install)(?:\.(?:in|html?|org))?$"
    )),
    (Mark.EXAMPLE, re.compile(r"^(?:example|demo|sample)s?[._-]|[._-](?:example|demo|sample)s?\.")),
)  # fmt: skip
# CamelCase suffixes are read before the name is lowered: FooTest.java is a test, latest.java is not.
_CAMEL_TEST = re.compile(
    r"(?:[a-z0-9_](?:Tests?|TestCase|Specs?|IT)|^Test[A-Z]\w*)\.(?:java|kt|kts|scala|groovy|cs|fs|swift|php|m|mm)$"
)
# Text that a program reads and prose rules would catch by extension.
_NOT_PROSE = re.compile(r"^(?:cmakelists|requirements[\w.-]*|constraints[\w.-]*|robots)\.txt$")


@lru_cache(maxsize=1 << 16)
def marks_of(path: str) -> Mark:
    """The marks of a repository-relative path with forward slashes.

    >>> marks_of("tests/test_api.py"), marks_of("src/api.py"), marks_of("docs/api.md")
    (<Mark.TEST: 1>, <Mark.NONE: 0>, <Mark.PROSE: 16>)
    """
    *folders, basename = path.split("/")
    marks = Mark.NONE
    for depth, folder in enumerate(folders):
        name = folder.lower()
        if depth == 0 or name not in _ONLY_AT_ROOT:
            marks |= _MARK_OF_FOLDER.get(name, Mark.NONE)
    if _CAMEL_TEST.search(basename):
        marks |= Mark.TEST
    lowered = basename.lower()
    for mark, pattern in _BASENAMES:
        if pattern.search(lowered):
            marks |= mark
    if marks & Mark.PROSE and _NOT_PROSE.match(lowered):
        marks &= ~Mark.PROSE
    if marks & Mark.PROSE and not _prose_by_name(lowered) and language_hint(basename) in BY_NAME:
        # Code beside documentation builds or illustrates it; a package called `doc` is a package.
        marks = marks & ~Mark.PROSE | (Mark.NONE if "doc" in map(str.lower, folders[:1]) else Mark.EXAMPLE)
    return marks


def _prose_by_name(lowered: str) -> bool:
    return any(mark is Mark.PROSE and pattern.search(lowered) for mark, pattern in _BASENAMES)
