"""A pipe where git or the product expects a file is an error that names it: nobody waits for its writer."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from tests.gitrepo import GitRepo

import codenib


@pytest.mark.parametrize(
    "name", [".git/shallow", ".git/index", ".git/config", ".gitignore", "src/.gitignore"]
)
def test_a_pipe_in_the_place_of_a_file_is_refused_by_name(
    git_repo: Callable[..., GitRepo], name: str
) -> None:
    repo = git_repo("pipes")
    repo.commit({"src/a.rb": "def mooring\nend\n"})
    (repo.path / name).unlink(missing_ok=True)
    os.mkfifo(repo.path / name)
    with pytest.raises(codenib.InputError, match=f"{name} is not a regular file") as caught:
        codenib.open(repo.path).regex("mooring")
    assert caught.value.hint.startswith("rm ")


def test_a_pipe_among_the_rules_of_a_plain_folder_is_refused_too(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("plain")
    (folder / "a.rb").write_text("def mooring\nend\n")
    os.mkfifo(folder / ".gitignore")
    with pytest.raises(codenib.InputError, match="is not a regular file"):
        codenib.open(folder).regex("mooring")
