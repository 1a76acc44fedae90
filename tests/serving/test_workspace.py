"""What a workspace answers, and for which snapshot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

import codenib
from codenib.compiler.registry import DEFAULT_VIEWS
from codenib.core.errors import InputError, StateError
from codenib.core.requests import PUBLISHED, RegexRequest, SearchRequest
from codenib.core.source import Level
from codenib.core.views import Status, ViewKind
from codenib.serving.workspace import Workspace


def paths(answer: codenib.Answer) -> list[str]:
    return [item.path for item in answer.items]


def test_a_repository_that_was_never_indexed_is_indexed_by_the_first_question(shop: GitRepo) -> None:
    with codenib.open(shop.path) as workspace:
        answer = workspace.search("convert an amount by exchange rates")
    assert answer.refreshed.startswith("indexed 5 files")
    assert (answer.items[0].path, answer.items[0].symbol) == ("shop/currency.py", "convert")
    assert answer.snapshot.commit == shop.head()
    assert not answer.snapshot.dirty


def test_test_code_is_found_but_ranked_lower_unless_included(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        lowered, included, excluded = (
            {
                item.path: item.score
                for item in workspace.search("convert currency", tests=tests, route="lexical").items
            }
            for tests in ("lower", "include", "exclude")
        )
    assert lowered["tests/test_cart.py"] < included["tests/test_cart.py"]
    assert list(included).index("tests/test_cart.py") < list(lowered).index("tests/test_cart.py")
    assert "tests/test_cart.py" not in excluded


def test_nonsense_finds_nothing(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        answer = workspace.search("zzyzx qwfpgj")
    assert (answer.items, answer.total, answer.truncated) == ((), 0, False)
    assert (answer.coverage.files, answer.coverage.skipped) == (4, {"binary": 1})


def test_totals_count_what_the_limit_cut_off(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        answer = workspace.search("currency price", k=1)
    assert len(answer.items) == 1
    assert answer.total > 1
    assert answer.truncated


def test_files_can_be_ranked_instead_of_units(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        answer = workspace.search("currency", level="file")
    first = answer.items[0]
    assert (first.path, first.level, first.start_line, first.end_line) == ("shop/currency.py", "L0", 1, 7)
    assert len(set(paths(answer))) == len(answer.items)


def test_path_globs_limit_the_answer(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        assert set(paths(workspace.search("currency price", paths=["docs/**"]))) == {"docs/cart.md"}
        assert all(match.path.endswith(".py") for match in workspace.regex("currency", paths=["*.py"]).items)


def test_an_edit_is_visible_in_the_next_workspace_and_says_what_was_done(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        workspace.update()
    shop.write("shop/refund.py", "def refund_payment(order):\n    return order\n")
    with Workspace(shop.path) as workspace:
        answer = workspace.search("refund payment")
        assert answer.items[0].path == "shop/refund.py"
        assert answer.snapshot.dirty
        assert answer.refreshed.startswith("updated dense, history, lexical, trigram: 1 added files")
        assert workspace.regex("refund_payment").items[0].line == 1


def test_without_refresh_the_last_published_snapshot_answers_and_says_so(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        workspace.update()
        shop.write("shop/refund.py", "def refund_payment(order):\n    return order\n")
        answer = workspace.search("refund payment", refresh="never")
    assert answer.snapshot.stale
    assert "shop/refund.py" not in paths(answer)


def test_without_refresh_a_repository_never_indexed_is_an_error_with_the_command(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace, pytest.raises(StateError) as caught:
        workspace.search("price", refresh="never")
    assert caught.value.hint == "codenib index"


def test_any_revision_can_be_asked(shop: GitRepo) -> None:
    first = shop.head()
    shop.commit({"shop/currency.py": "def exchange(amount):\n    return amount\n"})
    with Workspace(shop.path) as workspace:
        assert workspace.search("convert currency", at=first).items[0].symbol == "convert"
        assert workspace.search("exchange amount").items[0].symbol == "exchange"
        assert "RATES" in workspace.read("shop/currency.py", at=first).text
        assert "RATES" not in workspace.read("shop/currency.py").text


def test_every_span_has_the_text_of_its_snapshot(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        answer = workspace.search("total price currency")
        texts = workspace.texts(answer.items, at_snapshot=answer.snapshot.id)
        for item, text in zip(answer.items, texts, strict=True):
            passage = workspace.read(item.path, item.start_line, item.end_line)
            assert passage.text == text
            assert passage.snapshot == answer.snapshot


def test_regex_answers_equal_a_scan(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        answer = workspace.regex(r"def \w+_price", context=1)
    places = [(match.path, match.line) for match in answer.items]
    expected = [
        (str(path.relative_to(shop.path)), number)
        for path in sorted(shop.path.rglob("*.py"))
        for number, line in enumerate(path.read_text().split("\n"), 1)
        if "def " in line and "_price" in line
    ]
    assert places == expected
    assert (answer.total, answer.complete, answer.truncated) == (len(expected), True, False)
    assert answer.items[0].before


def test_units_of_a_file_are_listed_with_their_levels(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        found = workspace.units("shop/cart.py")
    assert (found[0].level, found[0].kind) == (Level.L0, "file")
    assert {unit.symbol for unit in found if unit.level is Level.L2} == {"Cart.add_item", "Cart.total_price"}


@pytest.mark.parametrize("path", ["../outside.py", "/etc/passwd", "nowhere.py", "shop"])
def test_paths_outside_the_snapshot_are_refused(shop: GitRepo, path: str) -> None:
    with Workspace(shop.path) as workspace, pytest.raises(InputError):
        workspace.read(path)


def test_a_wrong_path_hints_at_the_file_of_that_name(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace, pytest.raises(InputError) as caught:
        workspace.read("currency.py")
    assert caught.value.hint == "codenib read shop/currency.py"


def test_lines_outside_the_file_are_refused(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace, pytest.raises(InputError, match="has 7 lines"):
        workspace.read("shop/currency.py", 90, 95)


def test_an_empty_query_is_refused(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace, pytest.raises(InputError):
        workspace.search("  ")


def test_status_tells_fresh_from_stale_and_counts_what_is_skipped(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        assert workspace.status().indexed_snapshot is None
        workspace.update()
        fresh = workspace.status()
        assert fresh.fresh
        assert fresh.skipped == {"binary": 1}
        shop.write("shop/cart.py", "x = 1\n")
        stale = workspace.status()
    assert (stale.fresh, stale.changed) == (False, 1)
    assert stale.views[ViewKind.LEXICAL].status is Status.STALE


def test_a_plain_folder_answers_like_a_repository(tmp_path: Path, shop: GitRepo) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "currency.py").write_text((shop.path / "shop/currency.py").read_text())
    with Workspace(folder) as workspace:
        answer = workspace.search("convert currency")
        assert answer.items[0].symbol == "convert"
        assert answer.snapshot.commit is None
        assert workspace.update().nothing_to_do


def test_a_bare_repository_answers_for_its_head(shop: GitRepo, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    shop.git("clone", "-q", "--bare", str(shop.path), str(bare))
    with Workspace(bare) as workspace:
        answer = workspace.search("convert currency")
        assert answer.snapshot.commit == shop.head()
        assert "RATES" in workspace.read("shop/currency.py").text


def test_a_subfolder_stands_for_its_repository(shop: GitRepo) -> None:
    with Workspace(shop.path / "shop") as workspace:
        assert workspace.root == shop.path
        assert workspace.search("cart").total > 0


def test_only_the_views_asked_for_are_built_and_kept(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        workspace.index([ViewKind.LEXICAL])
        shop.write("shop/new.py", "def brand_new():\n    pass\n")
        assert set(workspace.update().manifest.views) == {ViewKind.LEXICAL}
        assert workspace.regex("brand_new").total == 1
        assert set(workspace.update().manifest.views) == {ViewKind.LEXICAL, ViewKind.TRIGRAM}


def test_a_renamed_file_is_found_under_its_new_name_alone(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        workspace.update()
    shop.git("mv", "shop/currency.py", "shop/rates.py")
    with Workspace(shop.path) as workspace:
        found = paths(workspace.search("convert amount"))
        assert "shop/rates.py" in found
        assert "shop/currency.py" not in found
        assert workspace.verify() == {kind: [] for kind in DEFAULT_VIEWS}


def test_a_home_inside_the_repository_is_not_indexed(shop: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODENIB_HOME", str(shop.path / ".codenib"))
    with Workspace(shop.path) as workspace:
        first = workspace.search("currency")
        assert first.coverage.files == 4
        assert not first.snapshot.dirty
        assert workspace.update().nothing_to_do


def test_the_short_forms_ask_what_their_requests_ask(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        request = SearchRequest("total price", k=2, level="file", tests="include", paths=("shop/**",))
        short = workspace.search("total price", k=2, level="file", tests="include", paths=("shop/**",))
        assert workspace.searcher.search(request).items == short.items
        pattern = RegexRequest("def \\w+", k=1, paths=("shop/**",), snapshot=PUBLISHED)
        lines = workspace.regex("def \\w+", k=1, paths=("shop/**",), refresh="never")
        assert workspace.searcher.regex(pattern).items == lines.items


def test_a_closed_workspace_says_so_and_its_answers_stay(shop: GitRepo) -> None:
    workspace = codenib.open(shop.path)
    answer = workspace.search("price")
    workspace.close()
    assert answer[0].text
    questions: list[Callable[[], object]] = [
        lambda: workspace.search("price"),
        lambda: workspace.regex("price"),
        lambda: workspace.read("shop/cart.py"),
        lambda: workspace.definition("convert"),
        workspace.map,
        workspace.status,
        workspace.update,
    ]
    for ask in questions:
        with pytest.raises(StateError, match="closed"):
            ask()
