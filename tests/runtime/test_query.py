"""`query`: exactly one source, and only a path may compile."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.gitrepo import GitRepo
from tests.runtime.conftest import ANSWER, ISSUE, says

import codenib
from codenib.core.errors import InputError, StateError
from codenib.core.views import RepoManifest, ViewKind
from codenib.manifest.store import Store
from codenib.runtime.providers.scripted import ScriptedProvider
from codenib.runtime.query import query
from codenib.runtime.runner import AgentResult, RunSettings
from codenib.runtime.views import load_views
from codenib.snapshot.repository import locate


def ask(**options: Any) -> AgentResult:
    return query(ISSUE, provider=ScriptedProvider.of([says(ANSWER)]), **options)


def indexed(repository: GitRepo) -> RepoManifest:
    with codenib.open(repository.path) as workspace:
        return workspace.index([ViewKind.LEXICAL, ViewKind.TRIGRAM]).manifest


def manifests(repository: GitRepo) -> list[Path]:
    store = Store(locate(repository.path).key)
    return sorted((store.folder / "manifests").glob("*.json"))


@pytest.mark.parametrize("sources", [[], ["repo_path", "manifest"], ["repo_path", "manifest", "contexts"]])
def test_exactly_one_source_is_taken(shop: GitRepo, sources: list[str]) -> None:
    manifest = indexed(shop)
    with load_views(manifest) as contexts:
        given = {"repo_path": shop.path, "manifest": manifest, "contexts": contexts}
        with pytest.raises(InputError, match="exactly one source"):
            ask(**{name: given[name] for name in sources})


def test_a_path_compiles_what_is_missing(shop: GitRepo) -> None:
    assert manifests(shop) == []
    result = ask(repo_path=shop.path)
    assert result.answer is not None
    assert len(manifests(shop)) == 1


def test_a_manifest_answers_for_its_snapshot_and_builds_nothing(shop: GitRepo) -> None:
    manifest = indexed(shop)
    (file,) = manifests(shop)
    shop.write("shop/cart.py", "class Cart:\n    pass\n")
    stamp = file.stat().st_mtime_ns
    for source in (manifest, file, str(file)):
        result = ask(manifest=source)
        assert [span.end_line for span in result.located.spans] == [6]
        assert "the worktree has changed since this snapshot; answers are for the snapshot" in result.warnings
    assert manifests(shop) == [file]
    assert file.stat().st_mtime_ns == stamp


def test_contexts_stay_open_for_their_owner(shop: GitRepo) -> None:
    with load_views(indexed(shop)) as contexts:
        first, second = ask(contexts=contexts), ask(contexts=contexts)
    assert first.located.spans == second.located.spans != []


def test_a_missing_view_that_a_named_skill_requires_aborts_the_setup(shop: GitRepo) -> None:
    manifest = indexed(shop)
    with pytest.raises(StateError, match="the graph view was not built") as caught:
        ask(manifest=manifest, skills=["navigate"])
    assert caught.value.hint == "codenib index --views graph"


def test_default_skills_come_as_far_as_the_manifest_serves_them(shop: GitRepo) -> None:
    result = ask(manifest=indexed(shop))
    run = result.trace.events[0].data
    assert run["skills"] == ["search"]
    assert [tool["name"] for tool in run["tools"]] == ["grep", "read", "list", "search"]
    assert any(line.startswith("skill navigate is left out: the graph view") for line in result.warnings)


def test_without_skills_there_are_the_ordinary_tools(shop: GitRepo) -> None:
    run = ask(manifest=indexed(shop), skills=[]).trace.events[0].data
    assert [tool["name"] for tool in run["tools"]] == ["grep", "read", "list"]
    run = ask(manifest=indexed(shop), skills=[], shell=True).trace.events[0].data
    assert [tool["name"] for tool in run["tools"]] == ["grep", "read", "list", "shell"]


def test_semantic_candidates_need_the_dense_view(shop: GitRepo) -> None:
    settings = RunSettings(candidate_route="semantic")
    with pytest.raises(StateError, match="the dense view was not built"):
        ask(manifest=indexed(shop), settings=settings)
    result = ask(repo_path=shop.path, settings=settings)
    (found,) = [event.data for event in result.trace.events if event.kind == "candidates"]
    assert found["plan"]["route"] == "semantic"
    assert len(found["items"]) == 4


def test_views_that_are_there_and_useful_are_kept_fresh(shop: GitRepo) -> None:
    with codenib.open(shop.path) as workspace:
        workspace.index([ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.DENSE])
    shop.write("shop/tax.py", "RATE = 0.3\n")
    run = ask(repo_path=shop.path).trace.events[0].data
    assert run["views"]["dense"] == "fresh"


def test_an_empty_issue_is_an_input_error(shop: GitRepo) -> None:
    with pytest.raises(InputError, match="the issue is empty"):
        query(" ", repo_path=shop.path, provider=ScriptedProvider.of([]))


def test_a_file_that_is_no_manifest_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a manifest"):
        ask(manifest=tmp_path / "x.json")


def test_the_runtime_loads_no_library_of_a_provider() -> None:
    code = "import codenib, sys; codenib.query; print({'anthropic', 'openai', 'pydantic'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_an_unknown_route_is_an_input_error(shop: GitRepo) -> None:
    with pytest.raises(InputError, match="unknown route 'psychic'"):
        ask(repo_path=shop.path, settings=RunSettings(candidate_route="psychic"))


def test_query_is_part_of_the_public_surface() -> None:
    assert codenib.query is query
