"""Semantic questions, through the whole product, with a hashing embedder in place of a model."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.gitrepo import GitRepo
from tests.serving.conftest import SHOP
from tests.views.dense.hashing import HashEmbedder, open_hashing

from codenib.compiler.collect import collect
from codenib.compiler.registry import TEXT_VIEWS
from codenib.core.answers import Route
from codenib.core.errors import InputError, ProviderError, StateError
from codenib.core.views import Status, ViewKind
from codenib.serving.workspace import Workspace

DENSE = ViewKind.DENSE
QUESTION = "total price currency"


class Opened:
    """Opens hashing embedders and remembers them."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.embedders: list[HashEmbedder] = []

    def __call__(self, spec: str) -> HashEmbedder:
        embedder = open_hashing(spec)
        embedder.limit = self.limit
        self.embedders.append(embedder)
        return embedder

    @property
    def texts(self) -> list[str]:
        return [text.split("\n")[0] for embedder in self.embedders for text in embedder.embedded]


@pytest.fixture
def workspace(shop: GitRepo) -> Iterator[Workspace]:
    with Workspace(shop.path, open_embedder=open_hashing) as opened:
        yield opened


def test_the_first_semantic_question_builds_the_view_and_the_next_finds_it(workspace: Workspace) -> None:
    first = workspace.search(QUESTION, route="semantic", tests="include")
    assert "indexed" in first.refreshed
    assert first.plan.route is Route.SEMANTIC
    assert {item.symbol for item in first.items} >= {"Cart.total_price", "convert"}
    scores = [item.score for item in first.items]
    assert scores == sorted(scores, reverse=True)
    again = workspace.search(QUESTION, route="semantic", tests="include")
    assert (again.items, again.refreshed) == (first.items, "")


def test_evidence_has_the_address_that_the_lexical_route_gives(workspace: Workspace) -> None:
    semantic = {item.symbol: item for item in workspace.search(QUESTION, route="semantic").items}
    lexical = {item.symbol: item for item in workspace.search(QUESTION).items}
    for symbol in ("Cart.total_price", "convert"):
        ours, theirs = semantic[symbol], lexical[symbol]
        assert (ours.path, ours.start_line, ours.end_line) == (
            theirs.path,
            theirs.start_line,
            theirs.end_line,
        )
        assert (ours.kind, ours.level, ours.language) == (theirs.kind, theirs.level, theirs.language)


def test_paths_tests_and_levels_are_honoured(workspace: Workspace) -> None:
    def ask(**options: object) -> list[str]:
        answer = workspace.search(QUESTION, route="semantic", **options)  # type: ignore[arg-type]
        assert answer.total == len(answer.items)
        return [item.path for item in answer.items]

    assert set(ask(paths=["shop/cart.py"])) == {"shop/cart.py"}
    assert "tests/test_cart.py" in ask(tests="include")
    assert "tests/test_cart.py" not in ask(tests="exclude")
    marked = ("tests/test_cart.py", "docs/cart.md")
    lowered, included = ask(tests="lower"), ask(tests="include")
    assert all(lowered.index(path) >= included.index(path) for path in marked)
    assert lowered != included
    files = workspace.search(QUESTION, route="semantic", level="file", tests="include")
    assert sorted(item.path for item in files.items) == [
        "docs/cart.md",
        "shop/cart.py",
        "shop/currency.py",
        "tests/test_cart.py",
    ]
    units = workspace.search(QUESTION, route="semantic", tests="include")
    best = max(item.score for item in units.items if item.path == "shop/cart.py")
    (cart,) = (item for item in files.items if item.path == "shop/cart.py")
    assert (cart.score, cart.kind, cart.start_line, cart.end_line) == (best, "file", 1, 8)


def test_a_query_without_a_known_word_matches_nothing(workspace: Workspace) -> None:
    answer = workspace.search("1234 !!", route="semantic")
    assert (answer.items, answer.total) == ((), 0)


def test_auto_stays_lexical(workspace: Workspace) -> None:
    workspace.search(QUESTION, route="semantic")
    assert workspace.search(QUESTION).plan.route is Route.LEXICAL


def test_an_edit_embeds_only_what_changed(shop: GitRepo) -> None:
    opened = Opened()
    with Workspace(shop.path, open_embedder=opened) as workspace:
        workspace.index([*TEXT_VIEWS, DENSE])
        before = len(opened.texts)
        shop.write("shop/ship.py", "def send_parcel(address):\n    return post(address)\n")
        outcome = workspace.update()
        assert outcome.views[DENSE] == "maintained"
        assert opened.texts[before:] == ["shop/ship.py:send_parcel"]
        assert workspace.search("send parcel", route="semantic").items[0].symbol == "send_parcel"
        assert workspace.verify() == {kind: [] for kind in (*TEXT_VIEWS, DENSE)}


def test_texts_of_other_snapshots_and_clones_are_not_embedded_again(shop: GitRepo, tmp_path: Path) -> None:
    with Workspace(shop.path, open_embedder=open_hashing) as workspace:
        workspace.index([DENSE])
    opened = Opened()
    clone = shop.clone(tmp_path / "clone")
    with Workspace(clone.path, open_embedder=opened) as workspace:
        workspace.index([DENSE])
    assert opened.texts == []


def test_an_embedder_that_fails_fails_no_question_and_the_answer_says_so(shop: GitRepo) -> None:
    opened = Opened()
    with Workspace(shop.path, open_embedder=opened) as workspace:
        workspace.index([*TEXT_VIEWS, DENSE])
    shop.write("new.py", "def fresh_news():\n    return 1\n")
    with Workspace(shop.path, open_embedder=Opened(limit=0)) as workspace:
        answer = workspace.search("fresh news")
        assert (answer.items[0].path, answer.without) == ("new.py", ("dense",))
        assert answer.note.startswith("by words alone: the dense view failed (ProviderError: interrupted)")
        assert workspace.search("fresh news", route="lexical").note == ""  # nothing else was asked for
    with Workspace(shop.path, open_embedder=opened) as workspace:  # and update has not forgotten it
        assert set(workspace.update().views) == {DENSE}
        assert workspace.status().fresh


def test_a_switch_to_a_snapshot_from_before_keeps_the_view_in_mind(shop: GitRepo) -> None:
    with Workspace(shop.path, open_embedder=open_hashing) as workspace:
        workspace.index(TEXT_VIEWS)
        shop.commit({"b.py": "def b():\n    return 1\n"})
        workspace.index([*TEXT_VIEWS, DENSE])
        shop.git("checkout", "-q", "HEAD~1")
    with Workspace(shop.path, open_embedder=open_hashing) as workspace:
        workspace.search(QUESTION, route="lexical")
        assert workspace.update().views == {DENSE: "maintained"}


def test_a_wrong_embedder_fails_before_any_work_and_leaves_the_siblings(shop: GitRepo) -> None:
    with Workspace(shop.path, open_embedder=open_hashing) as workspace:
        with pytest.raises(InputError, match="unknown embedder"):
            workspace.index([*TEXT_VIEWS, DENSE], embedder="nonsense")
        assert workspace.status().indexed_snapshot is None
        workspace.index(TEXT_VIEWS)
        with pytest.raises(InputError, match="unknown embedder"):
            workspace.index([DENSE], embedder="nonsense")
        assert set(workspace.status().views) == set(TEXT_VIEWS)
        assert workspace.search(QUESTION).items


def test_a_wrong_embedder_in_the_environment_fails_before_any_work(
    shop: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODENIB_EMBEDDER", "nonsense")
    with Workspace(shop.path, open_embedder=open_hashing) as workspace:
        with pytest.raises(InputError, match="unknown embedder"):
            workspace.search(QUESTION, route="semantic")
        assert workspace.status().indexed_snapshot is None


def test_an_embedder_that_fails_in_an_update_fails_its_view_alone(shop: GitRepo) -> None:
    def broken(spec: str) -> HashEmbedder:
        raise ProviderError("the endpoint does not answer")

    with Workspace(shop.path, open_embedder=open_hashing) as workspace:
        workspace.index([*TEXT_VIEWS, DENSE])
    shop.write("new.py", "def fresh_news():\n    return 1\n")
    with Workspace(shop.path, open_embedder=broken) as workspace:
        views = workspace.update().manifest.views
        assert views[DENSE].status is Status.FAILED
        assert "does not answer" in views[DENSE].error
        assert workspace.search("fresh news").items[0].path == "new.py"
    with Workspace(shop.path, open_embedder=open_hashing) as workspace:
        assert workspace.update().views == {DENSE: "maintained"}


def test_an_interrupted_index_resumes_from_the_cache(shop: GitRepo) -> None:
    shop.commit({f"many/{n}.py": f"def f{n}():\n    return {n}\n" for n in range(400)})
    with Workspace(shop.path, open_embedder=Opened(limit=300)) as workspace:
        assert workspace.index([DENSE]).manifest.views[DENSE].status is Status.FAILED
    second = Opened()
    with Workspace(shop.path, open_embedder=second) as workspace:
        record = workspace.index([DENSE]).manifest.views[DENSE]
    assert record.status is Status.FRESH
    assert len(second.texts) == record.counts["documents"] - 256


def test_the_recorded_embedder_is_kept_until_another_is_asked_for(
    shop: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spec(workspace: Workspace) -> str:
        return workspace.status().views[DENSE].fields["embedder"]

    with Workspace(shop.path, open_embedder=open_hashing) as workspace:
        workspace.index([DENSE], embedder="hash:one", family="hnsw", documents="L0")
        monkeypatch.setenv("CODENIB_EMBEDDER", "hash:two")
        shop.write("new.py", "def fresh_news():\n    return 1\n")
        workspace.search("fresh", route="semantic")
        assert spec(workspace) == "hash:one"
        fields = workspace.status().views[DENSE].fields
        assert (fields["family"], fields["level"]) == ("hnsw", "L0")
        workspace.index([DENSE])
        assert spec(workspace) == "hash:two"
        workspace.index([DENSE], embedder="hash:three", family="flat")
        assert spec(workspace) == "hash:three"
        assert workspace.search("fresh", route="semantic").items


def test_a_model_that_changed_is_refused_without_refresh_and_embeds_anew_with_it(shop: GitRepo) -> None:
    with Workspace(shop.path, open_embedder=open_hashing) as workspace:
        workspace.index([DENSE])
    with Workspace(shop.path, open_embedder=lambda _: HashEmbedder("a newer model")) as workspace:
        with pytest.raises(StateError, match="now a newer model") as caught:
            workspace.search(QUESTION, route="semantic", refresh="never")
        assert caught.value.hint == "codenib index --views dense"
        answer = workspace.search(QUESTION, route="semantic")
        assert answer.items
        assert workspace.status().views[DENSE].fields["model"] == "a newer model"


def test_without_a_dense_view_and_without_refresh_the_question_is_refused(workspace: Workspace) -> None:
    workspace.index(TEXT_VIEWS)
    with pytest.raises(StateError) as caught:
        workspace.search(QUESTION, route="semantic", refresh="never")
    assert caught.value.hint == "codenib index --views dense"


def test_options_of_the_dense_view_need_it(workspace: Workspace) -> None:
    with pytest.raises(InputError, match="dense view"):
        workspace.index(TEXT_VIEWS, embedder="hash:one")
    with pytest.raises(InputError, match="unknown choice"):
        workspace.index([DENSE], family="tree")


def test_gc_keeps_the_vectors_that_a_view_is_made_of(shop: GitRepo) -> None:
    with Workspace(shop.path, open_embedder=open_hashing) as workspace:
        workspace.index([DENSE], embedder="hash:old")
        workspace.index([DENSE], embedder="hash:new")
    assert collect(keep=4).records == 7  # all that the old embedder made
    opened = Opened()
    with Workspace(shop.path, open_embedder=opened) as workspace:
        workspace.index([DENSE], rebuild=True)
    assert opened.texts == []


CONTENTS = st.sampled_from(
    [
        "",
        "def dock(ship):\n    return pier\n",
        "class Pier:\n    def moor(self):\n        return dock\n",
        "\0",
    ]
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["write", "rename", "delete", "commit", "branch", "switch", "lexical"]),
        st.sampled_from(["a.py", "lib/b.py", "tests/test_c.py"]),
        CONTENTS,
    ),
    min_size=1,
    max_size=6,
)


def _step(repo: GitRepo, verb: str, path: str, content: str) -> None:
    file = repo.path / path
    if verb == "write":
        repo.write(path, content)
    elif verb == "rename" and file.exists():
        file.rename(repo.path / f"moved_{file.name}")
    elif verb == "delete":
        file.unlink(missing_ok=True)
    elif verb == "commit":
        repo.commit()
    elif verb == "branch":
        repo.git("switch", "-q", "-C", "side")
    elif verb == "switch":
        repo.commit()
        repo.switch("main")


@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=STEPS, family=st.sampled_from(["flat", "flat", "ivf", "hnsw"]))
def test_maintained_equals_rebuilt_through_the_whole_product(
    git_repo: Callable[..., GitRepo],
    own_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    steps: list[tuple[str, str, str]],
    family: str,
) -> None:
    shutil.rmtree(own_home)
    repo = git_repo()
    shutil.rmtree(repo.path)
    repo = git_repo()
    repo.commit(SHOP)
    with Workspace(repo.path, open_embedder=open_hashing) as workspace:
        workspace.index([*TEXT_VIEWS, DENSE], family=family)
        for verb, path, content in steps:
            _step(repo, verb, path, content)
            if verb == "lexical":
                workspace.search("dock")
                continue
            maintained = workspace.update().manifest.views[DENSE]
            assert maintained.status is Status.FRESH
            assert workspace.verify([DENSE]) == {DENSE: []}
            answer = workspace.search("moor dock pier", route="semantic", k=20)
        workspace.update()
        answer = workspace.search("moor dock pier", route="semantic", k=20)
    monkeypatch.setenv("CODENIB_HOME", str(own_home / "rebuilt"))
    with Workspace(repo.path, open_embedder=open_hashing) as workspace:
        workspace.index([DENSE], family=family)
        rebuilt = workspace.search("moor dock pier", route="semantic", k=20)
    monkeypatch.setenv("CODENIB_HOME", str(own_home))
    assert (rebuilt.items, rebuilt.total) == (answer.items, answer.total)


def test_vectors_are_float32_on_disk(workspace: Workspace, own_home: Path) -> None:
    workspace.index([DENSE])
    (vectors,) = own_home.rglob("*.vectors.npy")
    assert np.load(vectors, allow_pickle=False).dtype == np.float32
