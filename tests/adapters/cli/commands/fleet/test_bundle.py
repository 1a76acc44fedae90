"""`export` in one clone, `import` in another; `fleet verify` and `fleet gc` of a store."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from tests.gitrepo import GitRepo

from codenib.adapters.cli.main import cli
from codenib.adapters.envelopes.fleet import StoreCollectionReply, StoreReply
from codenib.core.errors import InputError, StateError
from codenib.fleet.store.layout import head_path
from codenib.fleet.store.objects import ObjectStore


def test_a_bundle_goes_from_one_clone_to_another(
    git_repo: Callable[..., GitRepo], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = git_repo()
    repo.commit({"a.py": "def parse(text):\n    return text\n"})
    repo.git("clone", "-q", ".", str(tmp_path / "clone"))
    file = str(tmp_path / "views.codenib")
    run = CliRunner().invoke
    done = run(cli, ["-C", str(repo.path), "export", "--views", "lexical,trigram", file])
    assert done.exit_code == 0, done.output
    assert "lexical, trigram of" in done.output
    monkeypatch.setenv("CODENIB_HOME", str(tmp_path / "home"))
    done = run(cli, ["-C", str(tmp_path / "clone"), "import", file])
    assert done.exit_code == 0, done.output
    done = run(cli, ["-C", str(tmp_path / "clone"), "regex", "--no-refresh", "def parse"])
    assert done.exit_code == 0, done.output
    assert "a.py" in done.output


def test_verify_says_that_a_store_is_whole_or_what_is_not(tmp_path: Path) -> None:
    url = (tmp_path / "store").as_uri()
    ObjectStore.open(url).put(b"of a writer that was killed")
    done = CliRunner().invoke(cli, ["fleet", "verify", "--store", url])
    assert (done.exit_code, "no problem" in done.output) == (0, True)
    ObjectStore.open(url).backend.overwrite(head_path("org/app", "main"), b"{}")
    done = CliRunner().invoke(cli, ["fleet", "verify", "--store", url, "--json"])
    reply = msgspec.json.decode(done.output, type=StoreReply)
    assert (done.exit_code, len(reply.items[0].problems)) == (StateError.exit_code, 1)
    done = CliRunner().invoke(cli, ["fleet", "verify", "--store", url])
    assert done.exit_code == StateError.exit_code
    assert "1 problem" in done.output
    assert "heads/main cannot be read" in done.output


def test_gc_marks_first_and_says_when_the_next_run_removes(tmp_path: Path) -> None:
    url = (tmp_path / "store").as_uri()
    ref, _ = ObjectStore.open(url).put(b"of a writer that was killed")
    run = CliRunner().invoke
    assert "1 that no head names are too new" in run(cli, ["fleet", "gc", "--store", url]).output
    os.utime(tmp_path / "store" / ref.path, (0, 0))
    done = run(cli, ["fleet", "gc", "--store", url, "--dry-run", "--json"])
    item = msgspec.json.decode(done.output, type=StoreCollectionReply).items[0]
    assert (done.exit_code, item.dry_run, item.marked, item.removed) == (0, True, 1, 0)
    assert "1 objects of 27 B marked" in run(cli, ["fleet", "gc", "--store", url]).output
    assert isinstance(run(cli, ["fleet", "gc", "--store", url, "--grace", "5m"]).exception, InputError)
