"""Zoekt as the filter gives the answers that our own filter gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.views.conftest import Sources

from codenib.core.errors import ProviderError, StateError
from codenib.views.trigram.derive import TrigramDeriver
from codenib.views.trigram.read import TrigramView
from codenib.views.trigram.view import TrigramViewBuilder
from codenib.views.trigram.zoekt import INSTALL, ZoektPrograms, ZoektView, zoekt_available

TOOLS = Path(__file__).parents[3] / ".tools" / "bin"

FILES = {
    "src/loader.py": b"import os\n\nclass Loader:\n    def load(self, path):\n        return open(path)\n",
    "src/straße.py": "naïve = 'ſet \u212aelvin İstanbul ın'\r\nLoader().load(\"x\")".encode(),
    ".svn/entries": b"Loader is here too\n",
    ".sourcegraph/ignore": b"src\n",
    "tiny": b"ab",
    "zero.bin": b"Loader\0Loader\n",
    "broken.txt": b"caf\xe9 Loader \xff\xfe load(\n",
    "empty": b"",
}
PATTERNS = [
    "Loader",
    r"\bload\b",
    r"load\(",
    "ab",
    "a",
    "^class",
    r"Loader\W",
    "(?<!class )Loader",
    ".",
    "zzz",
    "é|ß",
]
PATTERNS += [
    r"na\w+e",
    "kelvin",
    "set",
    "istanbul",
    "in",
    r"(o)\1|L",
    "[[:alpha:]]oader",
    '"x"',
    r"\s+def\s",
    "caf. ",
]


@pytest.fixture(scope="module")
def zoekt() -> ZoektPrograms:
    found = zoekt_available(TOOLS)
    if found is None:
        pytest.skip(f"zoekt is not installed: make zoekt ({INSTALL})")
    return found


@pytest.fixture(scope="module")
def views(zoekt: ZoektPrograms, tmp_path_factory: pytest.TempPathFactory) -> tuple[TrigramView, ZoektView]:
    builder = TrigramViewBuilder()
    sources = Sources().use([TrigramDeriver()])
    ours = tmp_path_factory.mktemp("trigram")
    builder.build(sources.snapshot(FILES), sources, ours)
    return TrigramView.open(ours), ZoektView.build(FILES.items(), tmp_path_factory.mktemp("zoekt"), zoekt)


@pytest.mark.tools
@pytest.mark.parametrize("ignore_case", [False, True])
@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_both_filters_give_the_same_matches(
    views: tuple[TrigramView, ZoektView], pattern: str, literal: bool, ignore_case: bool
) -> None:
    ours, theirs = (
        view.search(pattern, literal=literal, ignore_case=ignore_case, context=1, limit=100) for view in views
    )
    assert theirs.items == ours.items
    assert (theirs.total, theirs.files, theirs.complete) == (ours.total, ours.files, True)


@pytest.mark.tools
def test_zoekt_filters(views: tuple[TrigramView, ZoektView]) -> None:
    found = views[1].search("class Loader")
    assert not found.scanned_all
    assert found.candidates < len(FILES)


@pytest.mark.tools
def test_a_folder_without_shards_is_a_state_error(zoekt: ZoektPrograms, tmp_path: Path) -> None:
    with pytest.raises(StateError):
        ZoektView.open(tmp_path, zoekt)


@pytest.mark.tools
def test_a_failing_program_is_a_provider_error(zoekt: ZoektPrograms, tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="false failed"):
        ZoektView.build([("a", b"abc\n")], tmp_path, ZoektPrograms(zoekt.search, Path("/bin/false")))


def test_without_the_programs_the_error_says_how_to_install_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CODENIB_HOME", raising=False)
    assert zoekt_available() is None
    with pytest.raises(ProviderError) as caught:
        ZoektView.build([("a", b"abc\n")], tmp_path)
    assert caught.value.hint.startswith("go install github.com/sourcegraph/zoekt/cmd/")
