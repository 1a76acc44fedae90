from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.gitrepo import GitRepo

from codenib.compiler.checkouts import Checkout, exported
from codenib.compiler.compiler import IndexCompiler
from codenib.manifest.store import Store
from codenib.snapshot.repository import locate


def test_an_export_has_the_snapshots_bytes_and_links_what_git_ignores(tmp_path: Path) -> None:
    made = GitRepo(tmp_path / "project")
    made.commit({"src/a.py": "one\n", ".gitignore": "node_modules/\n__pycache__/\nsrc/made.py\n"})
    made.write("node_modules/lib/index.js", "1")
    made.write("src/made.py", "x = 1")
    made.write("src/__pycache__/a.pyc", "1")
    repository = locate(made.path)
    compiler = IndexCompiler(repository, Store(repository.key))
    snapshot = compiler.take()
    made.write("src/a.py", "edited after the snapshot\n")
    with exported(snapshot, compiler.source, repository, tmp_path / "checkouts") as root:
        assert (root / "src/a.py").read_text() == "one\n"
        assert (root / "node_modules").is_symlink()
        assert (root / "node_modules/lib/index.js").read_text() == "1"
        assert (root / "src/made.py").read_text() == "x = 1"
        assert not (root / "src/__pycache__").exists()
        assert not (root / ".git").exists()
    assert list((tmp_path / "checkouts").iterdir()) == []
    assert (made.path / "node_modules/lib/index.js").exists()


def test_a_checkout_moves_to_exactly_the_files_of_a_snapshot(
    git_repo: Callable[..., GitRepo], tmp_path: Path
) -> None:
    repo = git_repo()
    repository = locate(repo.path)
    compiler = IndexCompiler(repository, Store(repository.key))
    repo.commit({"a.py": "one", "lib/b.py": "b"})
    first = compiler.take()
    (repo.path / "lib/b.py").unlink()
    repo.commit({"a.py": "two"})
    second = compiler.take()
    checkout = Checkout(compiler.source, repository, tmp_path / "checkouts")
    for state, expected in ((first, {"a.py": "one", "lib/b.py": "b"}), (second, {"a.py": "two"})):
        checkout.move(state.files)
        there = {path.relative_to(checkout.root).as_posix(): path.read_text()
                 for path in checkout.root.rglob("*") if path.is_file()}  # fmt: skip
        assert there == expected
    assert not (checkout.root / "lib").exists()
    checkout.close()
    assert not checkout.root.exists()


def test_a_checkout_that_goes_to_and_fro_reads_each_content_once(
    git_repo: Callable[..., GitRepo], tmp_path: Path
) -> None:
    repo = git_repo()
    repository = locate(repo.path)
    compiler = IndexCompiler(repository, Store(repository.key))
    repo.commit({"a.py": "one", "b.py": "same"})
    before = compiler.take()
    repo.commit({"a.py": "two", "d.py": "new"})
    after = compiler.take()
    checkout = Checkout(compiler.source, repository, tmp_path / "checkouts")
    checkout.move(before.files)
    checkout.move(after.files)
    (repo.path / ".git").rename(repo.path / "hidden")
    for state, text in ((before, "one"), (after, "two"), (before, "one")):
        checkout.move(state.files)
        assert (checkout.root / "a.py").read_text() == text
    (repo.path / "hidden").rename(repo.path / ".git")
    checkout.close()
