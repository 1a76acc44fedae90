"""How far a question says a file's own name, and what that moves."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.gitrepo import GitRepo

from codenib.core.requests import SnapshotRequest
from codenib.core.views import ViewKind
from codenib.serving.search.stems import FileStems
from codenib.serving.workspace import Workspace
from codenib.units.tokens import terms_of

BODY = "def {name}(value):\n    # a session of the store is read here\n    return value\n"
FILES = {
    "shop/session.py": BODY.format(name="load"),
    "shop/session_store.py": BODY.format(name="keep"),
    "shop/cart.py": BODY.format(name="add"),
    "shop/cache/__init__.py": BODY.format(name="fetch"),
}


@pytest.fixture
def workspace(git_repo: Callable[..., GitRepo]) -> Workspace:
    repository = git_repo("shop")
    repository.commit(FILES)
    workspace = Workspace(repository.path)
    workspace.index((ViewKind.LEXICAL,))
    return workspace


def test_a_file_agrees_by_the_share_of_its_name_that_is_said(workspace: Workspace) -> None:
    with workspace:
        view = workspace.snapshots.pin(ViewKind.LEXICAL, SnapshotRequest())[0].lexical
        shares = dict(
            zip(
                view.paths,
                FileStems(view).agreement([*terms_of("session"), *terms_of("cache")]).tolist(),
                strict=True,
            )
        )
    assert shares["shop/session.py"] == pytest.approx(1.0)
    assert 0.2 < shares["shop/session_store.py"] < 0.8
    assert shares["shop/cart.py"] == 0.0
    assert shares["shop/cache/__init__.py"] == pytest.approx(1.0), "a placeholder goes by its folder"


def test_the_file_that_a_question_names_comes_before_those_that_say_the_word(workspace: Workspace) -> None:
    with workspace:
        paths = [item.path for item in workspace.search("where is a session read", route="lexical").items]
    assert paths[:2] == ["shop/session.py", "shop/session_store.py"]
