"""Edits are normal: every answer is right for the worktree as it is, for every client and worktree."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import anyio
from mcp.client.client import Client
from tests.adapters.mcp.clients import connected, facts_of, talk, text_of
from tests.gitrepo import GitRepo


def module(name: str, lines: int) -> str:
    """A file whose function `name` stands below `lines` lines."""
    return "padding = 0\n" * lines + f"\n\ndef {name}(value):\n    return value\n"


async def check(client: Client, root: Path, names: dict[str, str]) -> None:
    """Search, definition, read and explore agree with what is on disk. `names` is path → function."""
    for path, name in names.items():
        lines = (root / path).read_text().split("\n")
        line = lines.index(f"def {name}(value):") + 1
        found = await client.call_tool("search", {"query": name, "k": 1})
        best = facts_of(found)["items"][0]
        assert best["path"] == path, text_of(found)
        assert best["line"] <= line < best["end_line"]
        defined = await client.call_tool("definition", {"name": name})
        assert f"{path}:{line} {name} function\n{line} def {name}(value):" in text_of(defined)
        read = await client.call_tool("read", {"path": path, "start": line, "end": line})
        assert text_of(read).endswith(f"\n{line} def {name}(value):")
        explored = await client.call_tool("explore", {"query": name, "max_tokens": 300, "again": True})
        shown = facts_of(explored)["items"][0]
        assert (shown["path"], shown["end_line"]) == (path, line + 1)
        assert f"{path}:{shown['line']}-{line + 1}\n" in text_of(explored)
        assert f"def {name}(value):\n    return value" in text_of(explored)


async def gone(client: Client, name: str) -> None:
    """Nothing of this name is anywhere."""
    found = await client.call_tool("grep", {"pattern": rf"\b{name}\b"})
    assert facts_of(found)["total"] == 0, text_of(found)


def test_answers_follow_edits_renames_deletions_branches_and_commits(
    git_repo: Callable[..., GitRepo],
) -> None:
    repo = git_repo("many")
    repo.commit({f"pkg/m{n}.py": module(f"alpha_{n}_x", n) for n in range(12)})
    chance = random.Random(7)

    async def ask(client: Client) -> None:
        await check(client, repo.path, {"pkg/m3.py": "alpha_3_x"})
        for turn in range(8):
            name = f"beta_{turn}_y"
            repo.write(f"pkg/m{turn}.py", module(name, chance.randrange(40)))
            await check(client, repo.path, {f"pkg/m{turn}.py": name})
            await gone(client, f"alpha_{turn}_x")
        (repo.path / "pkg" / "m9.py").rename(repo.path / "pkg" / "moved.py")
        await check(client, repo.path, {"pkg/moved.py": "alpha_9_x"})
        repo.remove("pkg/m10.py")
        await gone(client, "alpha_10_x")
        missing = await client.call_tool("read", {"path": "pkg/m10.py"})
        assert missing.is_error
        repo.write("new/folder/deep.py", module("gamma_new_z", 2))
        await check(client, repo.path, {"new/folder/deep.py": "gamma_new_z"})
        commit = repo.commit()
        found = await client.call_tool("search", {"query": "gamma_new_z"})
        assert facts_of(found)["snapshot"] == {
            **facts_of(found)["snapshot"],
            "commit": commit,
            "dirty": False,
        }
        repo.git("switch", "-q", "--detach", "HEAD~1")
        await check(client, repo.path, {"pkg/m10.py": "alpha_10_x", "pkg/m9.py": "alpha_9_x"})
        await gone(client, "gamma_new_z")
        repo.switch("main")
        await check(client, repo.path, {"new/folder/deep.py": "gamma_new_z"})

    talk(repo.path, ask)


def test_several_clients_and_worktrees_each_see_their_own(
    git_repo: Callable[..., GitRepo], tmp_path: Path
) -> None:
    repo = git_repo("base")
    repo.commit({"a.py": module("shared_one", 0), "b.py": module("shared_two", 5)})
    linked = repo.worktree(tmp_path / "linked", "-b", "other")

    async def edit(client: Client, at: GitRepo, label: str) -> None:
        for turn in range(4):
            name = f"{label}_{turn}_made"
            at.write(f"{label}.py", module(name, turn))
            await check(client, at.path, {f"{label}.py": name, "b.py": "shared_two"})

    async def main() -> None:
        with anyio.fail_after(120):
            async with (
                connected(repo.path) as first,
                connected(repo.path, mode="legacy") as second,
                connected(linked.path) as third,
                anyio.create_task_group() as group,
            ):
                group.start_soon(edit, first, repo, "first")
                group.start_soon(edit, second, repo, "second")
                group.start_soon(edit, third, linked, "third")
            assert not (repo.path / "third.py").exists()

    anyio.run(main)
