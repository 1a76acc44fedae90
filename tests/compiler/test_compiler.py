from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from tests.compiler.damage import LONG_SOURCE, damaged_object
from tests.gitrepo import GitRepo
from tests.manifest.rubbish import abandon_artifact

import codenib
from codenib.compiler.compiler import IndexCompiler
from codenib.compiler.registry import TEXT_VIEWS
from codenib.core.errors import CannotMaintain
from codenib.core.protocols import Records
from codenib.core.source import Delta, SourceSnapshot
from codenib.core.views import ArtifactProfile, Status, ViewFacts, ViewKind
from codenib.manifest.files import disk_usage
from codenib.views.trigram.view import TrigramViewBuilder

Compile = Callable[..., IndexCompiler]
LEXICAL, TRIGRAM = ViewKind.LEXICAL, ViewKind.TRIGRAM


class FakeBuilder:
    """The trigram view under a profile of its own, raising `on_build` and `on_maintain`."""

    kind = TRIGRAM

    def __init__(
        self, on_build: Exception | None = None, on_maintain: Exception | None = None, version: str = "fake"
    ) -> None:
        self.on_build, self.on_maintain = on_build, on_maintain
        self._version = version
        self._inner = TrigramViewBuilder()
        self.builds = 0

    def profile(self) -> ArtifactProfile:
        return ArtifactProfile(TRIGRAM, {"version": self._version})

    def build(self, snapshot: SourceSnapshot, records: Records, out: Path) -> ViewFacts:
        self.builds += 1
        (out / "half").write_bytes(b"written before it fails")
        if self.on_build is not None:
            raise self.on_build
        return self._inner.build(snapshot, records, out)

    def maintain(self, base: Path, delta: Delta, records: Records, out: Path) -> ViewFacts:
        if self.on_maintain is not None:
            (out / "half").write_bytes(b"written before it declines")
            raise self.on_maintain
        return self._inner.maintain(base, delta, records, out)

    def differences(self, left: Path, right: Path) -> Iterable[str]:
        return self._inner.differences(left, right)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# -- invariant 1


def test_builders_read_blobs_never_the_moving_worktree(harbour: GitRepo, compiler_of: Compile) -> None:
    harbour.write("pier.py", "def mooring(ship):\n    return 'as the snapshot was taken'\n")
    compiler = compiler_of(harbour.path)
    snapshot = compiler.take()
    harbour.write("pier.py", "def replaced(): ...\n")
    harbour.remove("harbour.py")
    compiler.ensure(snapshot, TEXT_VIEWS, head=True)
    with codenib.open(harbour.path) as workspace:
        answer = workspace.search("mooring", refresh="never")
        assert [item.symbol for item in answer.items] == ["mooring"]
        assert "as the snapshot was taken" in workspace.texts(answer.items, at_snapshot=snapshot.id)[0]
        assert workspace.search("dock", refresh="never").items
        assert not workspace.search("replaced", refresh="never").items
        assert workspace.search("replaced").items


# -- invariant 3


def test_artifacts_are_immutable(harbour: GitRepo, compiler_of: Compile) -> None:
    compiler = compiler_of(harbour.path)
    manifest = compiler.ensure(compiler.take(), TEXT_VIEWS, head=True).manifest
    artifacts = [compiler.store.artifact(record.artifact) for record in manifest.views.values()]
    before = [contents(artifact) for artifact in artifacts]
    for number in range(5):
        harbour.write("pier.py", f"def pier_{number}(): ...\n")
        harbour.write(f"new{number}.py", "x = 1\n")
        compiler.ensure(compiler.take(), TEXT_VIEWS, head=True)
    assert [contents(artifact) for artifact in artifacts] == before


def test_what_is_not_published_is_not_seen(harbour: GitRepo, compiler_of: Compile) -> None:
    compiler = compiler_of(harbour.path)
    old = compiler.ensure(compiler.take(), TEXT_VIEWS, head=True).manifest
    (abandon_artifact(compiler.store) / "view.json").write_bytes(b"{}")  # as a killed writer leaves it
    (compiler.store.folder / "manifests" / ".x.json.4194305-1.tmp").write_bytes(b"{")
    with codenib.open(harbour.path) as workspace:
        assert workspace.search("dock", refresh="never").snapshot.id == old.snapshot
        harbour.write("pier.py", "def mooring(): ...\n")
        workspace.update()
        assert workspace.verify() == {LEXICAL: [], TRIGRAM: []}
    assert not list(compiler.store.folder.rglob(".*tmp*"))


# -- invariant 4


@pytest.mark.parametrize(
    "error",
    [OSError("no space left"), RuntimeError("engine"), TypeError("bug"), RecursionError(), MemoryError()],
    ids=lambda error: type(error).__name__,
)
def test_a_failed_view_leaves_its_siblings(harbour: GitRepo, compiler_of: Compile, error: Exception) -> None:
    compiler = compiler_of(harbour.path, {TRIGRAM: FakeBuilder(on_build=error)})
    manifest = compiler.ensure(compiler.take(), [TRIGRAM, LEXICAL], head=True).manifest
    failed = manifest.views[TRIGRAM]
    assert (failed.status, failed.artifact, failed.capabilities) == (Status.FAILED, "", ())
    assert failed.error.startswith(type(error).__name__)
    assert manifest.views[LEXICAL].status is Status.FRESH
    assert "regex" not in manifest.capabilities
    assert len(list((compiler.store.folder / "artifacts").iterdir())) == 1
    with codenib.open(harbour.path) as workspace:
        assert workspace.search("dock", refresh="never").items
        with pytest.raises(codenib.StateError, match="trigram view failed"):
            workspace.regex("dock", refresh="never")


def test_a_failed_view_is_tried_again_when_asked_to_and_not_by_each_query(
    harbour: GitRepo, compiler_of: Compile
) -> None:
    fake = FakeBuilder(on_build=OSError("no space left"))
    compiler = compiler_of(harbour.path, {TRIGRAM: fake})
    snapshot = compiler.take()
    compiler.ensure(snapshot, TEXT_VIEWS, head=True)
    assert compiler.ensure(snapshot, TEXT_VIEWS, head=True, retry=False).nothing_to_do
    assert fake.builds == 1
    fake.on_build = None
    again = compiler.ensure(snapshot, TEXT_VIEWS, head=True)
    assert dict(again.views) == {TRIGRAM: "built"}
    assert again.manifest.views[TRIGRAM].status is Status.FRESH


def test_a_view_whose_records_failed_half_way_leaves_no_gaps_in_its_sibling(
    harbour: GitRepo, compiler_of: Compile
) -> None:
    """The first view dies of an unreadable object; the second must not publish what is missing as empty."""
    harbour.commit({"long.py": LONG_SOURCE})
    compiler = compiler_of(harbour.path)
    with damaged_object(harbour, "long.py"):
        outcome = compiler.ensure(compiler.take("HEAD"), TEXT_VIEWS, head=False)
    assert {record.status for record in outcome.manifest.views.values()} == {Status.FAILED}
    assert "git cat-file" in outcome.manifest.views[LEXICAL].error
    repaired = compiler.ensure(compiler.take("HEAD"), TEXT_VIEWS, head=False)
    assert {record.status for record in repaired.manifest.views.values()} == {Status.FRESH}
    assert compiler.verify(repaired.snapshot, TEXT_VIEWS) == {LEXICAL: [], TRIGRAM: []}


@pytest.mark.parametrize(
    "error", [CannotMaintain("declines"), OSError("base is gone"), ValueError("damaged")]
)
def test_a_maintainer_that_declines_is_rebuilt_alone(
    harbour: GitRepo, compiler_of: Compile, error: Exception
) -> None:
    compiler = compiler_of(harbour.path, {TRIGRAM: FakeBuilder(on_maintain=error)})
    compiler.ensure(compiler.take(), TEXT_VIEWS, head=True)
    harbour.write("pier.py", "def mooring(): ...\n")
    outcome = compiler.ensure(compiler.take(), TEXT_VIEWS, head=True)
    assert dict(outcome.views) == {LEXICAL: "maintained", TRIGRAM: "built"}
    assert compiler.verify(outcome.snapshot, TEXT_VIEWS) == {LEXICAL: [], TRIGRAM: []}
    artifact = compiler.store.artifact(outcome.manifest.views[TRIGRAM].artifact)
    assert (artifact / "half").read_bytes() == b"written before it fails"  # the rest of maintaining is gone


def test_a_new_profile_rebuilds_that_view_alone(harbour: GitRepo, compiler_of: Compile) -> None:
    first = compiler_of(harbour.path, {TRIGRAM: FakeBuilder(version="1")})
    first.ensure(first.take(), TEXT_VIEWS, head=True)
    second = compiler_of(harbour.path, {TRIGRAM: FakeBuilder(version="2")})
    outcome = second.ensure(second.take(), TEXT_VIEWS, head=True)
    assert dict(outcome.views) == {TRIGRAM: "built"}


def test_a_slow_view_is_rebuilt_beside_the_others(harbour: GitRepo) -> None:
    with codenib.open(harbour.path) as workspace:
        before = workspace.index([*TEXT_VIEWS, ViewKind.DENSE]).manifest
        outcome = workspace.index([ViewKind.DENSE], rebuild=True)
    assert dict(outcome.views) == {ViewKind.DENSE: "built"}
    assert {kind: outcome.manifest.views[kind] for kind in TEXT_VIEWS} == {
        kind: before.views[kind] for kind in TEXT_VIEWS
    }


# -- invariant 6


def test_an_update_without_changes_does_nothing(harbour: GitRepo, compiler_of: Compile) -> None:
    compiler = compiler_of(harbour.path)
    compiler.ensure(compiler.take(), TEXT_VIEWS, head=True)
    before = contents(compiler.store.folder / "artifacts")
    again = compiler.ensure(compiler.take(), TEXT_VIEWS, head=True)
    assert again.nothing_to_do
    assert contents(compiler.store.folder / "artifacts") == before


def test_an_update_derives_what_changed(harbour: GitRepo) -> None:
    with codenib.open(harbour.path) as workspace:
        assert workspace.index([*TEXT_VIEWS, ViewKind.DENSE]).derived == 3
        harbour.write("pier.py", "def mooring(): ...\n")
        harbour.write("new.py", "x = 1\n")
        harbour.git("mv", "README.md", "docs.md")
        outcome = workspace.update()
    assert set(outcome.views.values()) == {"maintained"}
    assert (outcome.added, outcome.changed, outcome.removed, outcome.renamed) == (2, 1, 1, 1)
    assert outcome.derived == 2  # the renamed file keeps its records


def test_there_and_back_between_branches_derives_nothing(harbour: GitRepo) -> None:
    with codenib.open(harbour.path) as workspace:
        workspace.index()
        harbour.branch("other")
        harbour.commit({"pier.py": "def mooring(): ...\n", "new.py": "x = 1\n"})
        assert workspace.update().derived == 2
        harbour.switch("main")
        back = workspace.update()
        assert back.derived == 0
        assert back.nothing_to_do
        harbour.switch("other")
        assert workspace.update().nothing_to_do


def test_a_commit_of_what_was_indexed_reuses_the_artifacts(harbour: GitRepo) -> None:
    with codenib.open(harbour.path) as workspace:
        harbour.write("pier.py", "def mooring(): ...\n")
        dirty = workspace.index([*TEXT_VIEWS, ViewKind.DENSE])
        harbour.commit()
        clean = workspace.update()
    assert (clean.derived, set(clean.views.values())) == (0, {"reused"})
    assert clean.manifest.snapshot != dirty.manifest.snapshot
    assert [r.artifact for r in clean.manifest.views.values()] == [
        r.artifact for r in dirty.manifest.views.values()
    ]


def test_a_linked_worktree_derives_only_its_difference(harbour: GitRepo, tmp_path: Path) -> None:
    with codenib.open(harbour.path) as workspace:
        workspace.index(TEXT_VIEWS)
    linked = harbour.worktree(tmp_path / "linked", "-b", "feature")
    linked.write("pier.py", "def mooring(): ...\n")
    with codenib.open(linked.path) as workspace:
        outcome = workspace.index(TEXT_VIEWS)
        assert (outcome.derived, outcome.changed, set(outcome.views.values())) == (1, 1, {"maintained"})
        assert workspace.search("mooring").items
    with codenib.open(harbour.path) as workspace:
        assert workspace.update().nothing_to_do
        assert not workspace.search("mooring").items


def test_a_clone_at_another_path_derives_nothing(harbour: GitRepo, tmp_path: Path) -> None:
    with codenib.open(harbour.path) as workspace:
        workspace.index()
    clone = harbour.clone(tmp_path / "elsewhere")
    with codenib.open(clone.path) as workspace:
        outcome = workspace.index()
    assert (outcome.derived, set(outcome.views.values())) == (0, {"built"})


def test_a_maintained_artifact_shares_what_it_keeps(git_repo: Callable[..., GitRepo]) -> None:
    repo = git_repo()
    repo.commit({f"m{n}.py": f"def function_{n}():\n    return {n}\n" * 20 for n in range(40)})
    with codenib.open(repo.path) as workspace:
        store = Path(workspace.status().store)
        workspace.index([*TEXT_VIEWS, ViewKind.DENSE])
        before = disk_usage(store / "artifacts")
        repo.write("m0.py", "def changed(): ...\n")
        assert set(workspace.update().views.values()) == {"maintained"}
    assert disk_usage(store / "artifacts") < 1.5 * before


# -- two writers


def test_two_writers_at_once_both_succeed_and_the_second_finds_nothing_to_do(harbour: GitRepo) -> None:
    code = (
        "import sys, codenib\nwith codenib.open(sys.argv[1]) as workspace:\n"
        "    sys.stdin.readline()\n    print(workspace.index(['lexical', 'trigram']).nothing_to_do)"
    )
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(harbour.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.close()
    said = sorted(writer.stdout.read() if writer.stdout else "" for writer in writers)
    for writer in writers:
        assert writer.wait() == 0
        assert writer.stdout is not None
        writer.stdout.close()
    assert said == ["False\n", "True\n"]
    with codenib.open(harbour.path) as workspace:
        assert workspace.verify() == {LEXICAL: [], TRIGRAM: []}


def test_verify_names_what_differs(harbour: GitRepo, compiler_of: Compile) -> None:
    compiler = compiler_of(harbour.path)
    snapshot = compiler.take()
    manifest = compiler.ensure(snapshot, TEXT_VIEWS, head=True).manifest
    harbour.write("pier.py", "def mooring(): ...\n")
    other = compiler.ensure(compiler.take(), TEXT_VIEWS, head=True).manifest
    for kind in TEXT_VIEWS:  # as if maintenance had gone wrong
        ours = compiler.store.artifact(manifest.views[kind].artifact)
        shutil.rmtree(ours)
        shutil.copytree(compiler.store.artifact(other.views[kind].artifact), ours)
    found = compiler.verify(snapshot, TEXT_VIEWS)
    assert [line.partition(":")[0] for line in found[LEXICAL]] == ["pier.py"]
    assert {line.partition(":")[0] for line in found[TRIGRAM]} == {"pier.py"}
