"""Paths in, repositories out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

from codenib.core.errors import InputError, ProviderError
from codenib.snapshot.repository import locate


def test_a_subfolder_resolves_to_the_top_of_its_worktree(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "repo")
    repo.write("a/b/c.py")
    found = locate(tmp_path / "repo/a/b")
    assert (found.kind, found.root, found.name) == ("git", (tmp_path / "repo").resolve(), "repo")
    assert found.git_dir == found.common_dir == found.root / ".git"
    assert found == locate(repo.path)
    assert len(found.key) >= 16


def test_the_inside_of_a_git_folder_resolves_to_its_worktree(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "repo")
    assert locate(repo.path / ".git/refs") == locate(repo.path)


def test_a_path_through_a_symbolic_link_has_the_same_keys(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "repo")
    (tmp_path / "link").symlink_to(repo.path)
    assert locate(tmp_path / "link") == locate(repo.path)


def test_linked_worktrees_share_the_key_but_not_the_worktree_key(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "repo")
    repo.commit({"a.py": "a"})
    main, linked = locate(repo.path), locate(repo.worktree(tmp_path / "linked").path)
    assert linked.kind == "git"
    assert linked.key == main.key
    assert linked.worktree_key != main.worktree_key
    assert linked.root == (tmp_path / "linked").resolve()


def test_a_submodule_is_a_repository_of_its_own(tmp_path: Path) -> None:
    inner = GitRepo(tmp_path / "inner")
    inner.commit({"i.py": "i"})
    outer = GitRepo(tmp_path / "outer")
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.path), "sub")
    found = locate(outer.path / "sub")
    assert (found.kind, found.name) == ("git", "sub")
    assert found.key not in (locate(outer.path).key, locate(inner.path).key)


def test_bare_repositories_are_found(tmp_path: Path) -> None:
    bare = GitRepo(tmp_path / "project.git", "--bare")
    found = locate(bare.path / "objects")
    assert (found.kind, found.root, found.name) == ("bare", bare.path.resolve(), "project")


def test_a_folder_with_head_objects_and_refs_is_bare(tmp_path: Path) -> None:
    place = tmp_path / "mirror"
    (place / "objects").mkdir(parents=True)
    (place / "refs").mkdir()
    (place / "HEAD").write_text("ref: refs/heads/main\n")
    assert locate(place).kind == "bare"


def test_a_folder_outside_git_is_a_folder(tmp_path: Path) -> None:
    found = locate(tmp_path)
    assert (found.kind, found.root, found.git_dir) == ("folder", tmp_path.resolve(), None)
    assert found.key == found.worktree_key


def test_the_object_format_is_known(tmp_path: Path) -> None:
    assert locate(GitRepo(tmp_path / "new", "--object-format=sha256").path).object_format == "sha256"


@pytest.mark.parametrize("name", ["missing", "file.txt", "file.txt/below"])
def test_what_is_no_folder_is_an_input_error_with_a_hint(tmp_path: Path, name: str) -> None:
    (tmp_path / "file.txt").write_text("x")
    with pytest.raises(InputError, match=name.split("/")[0]) as caught:
        locate(tmp_path / name)
    assert caught.value.hint


def test_a_refusal_of_git_is_an_input_error_in_its_words(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /nowhere/at/all\n")
    with pytest.raises(InputError, match="not a git repository: /nowhere/at/all"):
        locate(tmp_path)


def test_a_bare_repository_that_the_user_distrusts_is_an_input_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = GitRepo(tmp_path / "bare.git", "--bare")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "safe.bareRepository")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "explicit")
    with pytest.raises(InputError, match="cannot use bare repository"):
        locate(bare.path)


def test_dubious_ownership_is_an_input_error_in_git_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only root can give a file away, so a program that answers like git stands in.
    fake = tmp_path / "git"
    fake.write_text(
        "#!/bin/sh\necho \"fatal: detected dubious ownership in repository at 'x'\" >&2\nexit 128\n"
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="detected dubious ownership"):
        locate(tmp_path)


def test_without_git_there_is_a_provider_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ProviderError, match="not installed"):
        locate(tmp_path)


def test_the_variables_of_a_hook_do_not_mislead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = GitRepo(tmp_path / "other")
    repo = GitRepo(tmp_path / "repo")
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
    monkeypatch.setenv("GIT_INDEX_FILE", os.devnull)
    assert locate(repo.path).root == repo.path.resolve()
    assert locate(tmp_path).kind == "folder"
