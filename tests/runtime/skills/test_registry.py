"""Skills: folders with metadata, filtered by what the manifest has, and what their tools answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.gitrepo import GitRepo
from tests.runtime.conftest import ANSWER, ISSUE, says

import codenib
from codenib.core.errors import InputError
from codenib.core.views import RepoManifest, Status, ViewKind
from codenib.manifest.home import tools_folder
from codenib.navigation.tools.locate import Toolbox
from codenib.runtime.context.messages import ToolCall
from codenib.runtime.providers.scripted import ScriptedProvider
from codenib.runtime.query import compile_views, query
from codenib.runtime.skills.guard import ResourceGuard
from codenib.runtime.skills.registry import (
    DEFAULT_SKILLS,
    SkillRegistry,
    built_in_skills,
    load_skill_metadata,
    requirements,
)
from codenib.runtime.tools.ordinary import ordinary_tools
from codenib.runtime.tools.registry import Observation, ToolRegistry
from codenib.runtime.views import Contexts, load_views


@pytest.fixture
def manifest(shop: GitRepo) -> RepoManifest:
    with codenib.open(shop.path) as workspace:
        views = [ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.GRAPH, ViewKind.HISTORY]
        return workspace.index(views).manifest


@pytest.fixture
def contexts(manifest: RepoManifest) -> Iterator[Contexts]:
    with load_views(manifest) as opened:
        yield opened


def use(contexts: Contexts, name: str, **arguments: Any) -> Observation:
    registry = ToolRegistry()
    registry.extend(SkillRegistry(tuple(load_skill_metadata(built_in_skills()))).tools())
    return registry.dispatch(ToolCall("1", name, arguments), contexts)


def test_every_built_in_skill_has_code_for_each_of_its_tools_and_default_ones_exist() -> None:
    folders = load_skill_metadata(built_in_skills())
    names = [tool.spec.name for folder in folders for tool in folder.load()]
    assert sorted(names) == sorted(
        ["search", "explore", "definition", "references", "dependencies", "route", "history"]
    )
    assert set(DEFAULT_SKILLS) <= set(built_in_skills())
    assert all(folder.spec.tools and folder.spec.description for folder in folders)


def test_requirements_are_the_union_over_the_skills() -> None:
    assert requirements(load_skill_metadata(["search", "navigate"])) == {ViewKind.LEXICAL, ViewKind.GRAPH}


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (None, "the graph view was not built (codenib index --views graph)"),
        (Status.STALE, "the graph view is of an earlier snapshot (codenib update)"),
        (Status.FAILED, "the graph view failed: no engine (codenib index --views graph)"),
    ],
)
def test_the_guard_leaves_out_what_cannot_be_served(shop: GitRepo, record: Status | None, why: str) -> None:
    manifest = compile_views(shop.path, set())
    views = dict(manifest.views)
    if record is not None:
        lexical = views[ViewKind.LEXICAL]
        views[ViewKind.GRAPH] = replace(lexical, kind=ViewKind.GRAPH, status=record, error="no engine")
    admission = ResourceGuard(replace(manifest, views=views)).admit(
        load_skill_metadata(["search", "navigate"])
    )
    assert [skill.spec.id for skill in admission.skills] == ["search"]
    assert admission.left_out == (f"skill navigate is left out: {why}",)


def test_the_guard_warns_of_stale_views_and_of_a_worktree_that_moved_on(shop: GitRepo) -> None:
    manifest = compile_views(shop.path, set())
    stale = replace(manifest.views[ViewKind.LEXICAL], kind=ViewKind.DENSE, status=Status.STALE)
    with load_views(manifest) as contexts:
        assert ResourceGuard(manifest).warnings(contexts) == []
        shop.write("new.py", "x = 1\n")
        found = ResourceGuard(replace(manifest, views={ViewKind.DENSE: stale})).warnings(contexts)
    assert found == [
        "the dense view is of an earlier snapshot (codenib update)",
        "the worktree has changed since this snapshot; answers are for the snapshot",
    ]


def test_search_and_explore_give_ranked_code(contexts: Contexts) -> None:
    found = use(contexts, "search", query="total price of a cart", k=2)
    assert found.text.startswith("shop/cart.py:5-6 Cart.total_price\n        def total_price(self):\n")
    assert found.provider == "lexical"
    assert "def total_price(self):" in use(contexts, "explore", query="total price").text


def test_navigation_is_static_and_says_who_answered(contexts: Contexts) -> None:
    if Toolbox(tools_folder()).find("basedpyright") is None:
        pytest.skip("basedpyright is not installed (codenib tools install python)")
    found = use(contexts, "definition", symbol="with_tax", path="shop/order.py", line=6)
    assert found.text == "shop/tax.py:4: def with_tax(price):"
    assert found.provider.startswith("static ")
    used = use(contexts, "references", symbol="Cart.total_price")
    assert "shop/order.py:6: return with_tax(cart.total_price())" in used.text


@pytest.mark.slow
def test_live_servers_answer_without_a_graph_and_are_named(shop: GitRepo) -> None:
    if Toolbox(tools_folder()).find("basedpyright") is None:
        pytest.skip("basedpyright is not installed (codenib tools install python)")
    script = ScriptedProvider.of(
        [says("", ("definition", {"symbol": "with_tax", "path": "shop/order.py", "line": 6})), says(ANSWER)]
    )
    result = query(ISSUE, repo_path=shop.path, provider=script, skills=["navigate"], navigation="live")
    (tool,) = [event.data for event in result.trace.events if event.kind == "tool"]
    assert tool["provider"].startswith("live basedpyright")
    told = [event.data for event in result.trace.events if event.kind == "message"][3]
    assert told["text"] == "shop/tax.py:4: def with_tax(price):"


def test_half_a_place_is_refused(contexts: Contexts) -> None:
    assert use(contexts, "definition", symbol="x", line=3).text == "a place needs both a path and a line"


def test_dependencies_and_history_answer_from_their_views(contexts: Contexts) -> None:
    assert "shop/cart.py" in use(contexts, "dependencies", symbol="shop/order.py").text
    assert use(contexts, "history", path="shop/cart.py").text.endswith(" commit")


def test_a_skill_of_ones_own_is_a_folder(shop: GitRepo, tmp_path: Path) -> None:
    folder = tmp_path / "count"
    folder.mkdir()
    spec = {
        "id": "count",
        "description": "Counts files.",
        "requires": ["trigram"],
        "tools": [{"name": "count_files", "description": "How many.", "parameters": {"type": "object"}}],
    }
    (folder / "skill.json").write_text(json.dumps(spec))
    (folder / "prompt.md").write_text("Use `count_files` to count.\n")
    (folder / "run.py").write_text(
        "from codenib.runtime.tools.registry import ToolResult\n\n"
        "def count_files(contexts, arguments):\n"
        "    return ToolResult(str(len(contexts.workspace.files)))\n"
    )
    script = ScriptedProvider.of([says("", ("count_files", {})), says(ANSWER)])
    result = query(ISSUE, repo_path=shop.path, provider=script, skills=[folder])
    messages = [event.data for event in result.trace.events if event.kind == "message"]
    assert messages[0]["text"].endswith("Use `count_files` to count.")
    assert messages[3]["text"] == "4"


def test_a_folder_that_is_no_skill_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no skill 'flying'; there are dependencies, explore"):
        load_skill_metadata(["flying"])
    (tmp_path / "skill.json").write_text('{"id": "x", "description": "y", "tools": [], "colour": 1}')
    with pytest.raises(InputError, match="unknown field `colour`"):
        load_skill_metadata([tmp_path])
    tool = {"name": "f", "description": "d", "parameters": {}}
    (tmp_path / "skill.json").write_text(json.dumps({"id": "x", "description": "y", "tools": [tool]}))
    with pytest.raises(InputError, match=r"has no run\.py"):
        load_skill_metadata([tmp_path])[0].load()
    (tmp_path / "run.py").write_text("")
    with pytest.raises(InputError, match="has no function f"):
        load_skill_metadata([tmp_path])[0].load()


def test_two_tools_of_one_name_are_refused() -> None:
    registry = ordinary_tools()
    with pytest.raises(InputError, match="two tools are called 'grep'"):
        registry.extend(ordinary_tools().tools.values())
