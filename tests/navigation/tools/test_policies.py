"""What an engine may read is its toolchain, its program and the checkout, and no credentials beside them."""

from __future__ import annotations

import sys
from pathlib import Path

from codenib.navigation.engines.origin import forget_origin, note_origin
from codenib.navigation.tools.policies import policy_of, python_interpreter


def allowed(group: str, root: Path, *command: str) -> tuple[Path, ...]:
    policy = policy_of(group, root, command)
    return (*policy.read, *policy.write, *policy.execute)


def test_the_worktree_of_a_checkout_is_read_and_nothing_is_written(tmp_path: Path) -> None:
    root, worktree = tmp_path / "checkout", tmp_path / "worktree"
    assert worktree not in allowed("typescript", root)
    note_origin(root, worktree)
    policy = policy_of("typescript", root, ())
    forget_origin(root)
    assert {root, worktree} <= set(policy.read) and policy.write == ()


def test_cargos_credentials_are_not_among_what_rust_reads(tmp_path: Path) -> None:
    policy = policy_of("rust", tmp_path, ())
    cargo = Path(policy.environment["CARGO_HOME"])
    assert cargo / "registry" in policy.read
    assert cargo not in (*policy.read, *policy.execute)


def test_a_script_brings_its_interpreter_and_its_packages(tmp_path: Path) -> None:
    script = tmp_path / "box" / "node_modules" / "tool" / "lib" / "main.js"
    script.parent.mkdir(parents=True)
    script.write_text(f"#!{sys.executable}\n")
    places = allowed("typescript", tmp_path / "repo", str(script))
    assert tmp_path / "box" / "node_modules" in places
    assert Path(sys.executable).parent in places
    assert tmp_path not in places and tmp_path / "box" not in places


def test_the_interpreter_is_a_program_and_not_what_chooses_one() -> None:
    assert Path(python_interpreter()).is_absolute() and "shims" not in python_interpreter()
