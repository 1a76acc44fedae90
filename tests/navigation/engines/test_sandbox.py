"""Policies become what each system's sandbox is told; the setting decides whether there must be one."""

from __future__ import annotations

from pathlib import Path

import pytest

from codenib.core.errors import InputError, ProviderError
from codenib.navigation.engines.confine import program
from codenib.navigation.engines.sandbox import (
    PathPolicy,
    Sandbox,
    bubblewrap_arguments,
    confinement,
    insist,
    sandbox,
    sandbox_profile,
)

RULES = {"read": ["/home/ana/repo"], "write": ['/tmp/a "b"'], "execute": ["/usr"], "devices": ["/dev/null"]}


def test_a_home_folder_is_never_opened_as_a_whole(tmp_path: Path) -> None:
    policy = PathPolicy(read=(Path("/"), Path.home(), Path.home() / "sdk"), execute=(Path.home().parent,))
    told = Sandbox("landlock", "").command(policy, ("/bin/true",), tmp_path)[-2]
    assert f'"{Path.home() / "sdk"}"' in told
    assert not any(f'"{path}"' in told for path in (Path.home(), *Path.home().parents))


def test_bubblewrap_binds_for_writing_only_what_may_be_written() -> None:
    arguments = bubblewrap_arguments(RULES)
    assert "--unshare-all" in arguments and "--die-with-parent" in arguments
    assert arguments[arguments.index("/usr") - 1] == "--ro-bind-try"
    assert arguments[arguments.index("/home/ana/repo") - 1] == "--ro-bind-try"
    assert arguments[arguments.index('/tmp/a "b"') - 1] == "--bind-try"


def test_the_profile_of_macos_denies_what_it_does_not_list() -> None:
    lines = sandbox_profile(RULES).splitlines()
    assert lines[:2] == ["(version 1)", "(deny default)"] and lines[-1] == "(deny network*)"
    [written] = [line for line in lines if line.startswith("(allow file-write*")]
    assert (
        '(subpath "/tmp/a \\"b\\"")' in written and "/home/ana/repo" not in written and "/usr" not in written
    )
    [started] = [line for line in lines if line.startswith("(allow process-exec")]
    assert '(subpath "/usr")' in started and "/home/ana/repo" not in started and "/tmp/a" not in started


def test_a_required_sandbox_that_is_not_there_is_an_error() -> None:
    none = Sandbox("", "landlock: too old; bwrap is not on the path")
    assert insist("auto", none) is none
    with pytest.raises(ProviderError, match="too old"):
        insist("required", none)


def test_the_setting_turns_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODENIB_SANDBOX", "off")
    assert sandbox().mechanism == ""
    assert confinement("python", trusted=False) == "without a sandbox"
    monkeypatch.setenv("CODENIB_SANDBOX", "sometimes")
    with pytest.raises(InputError, match="sometimes"):
        sandbox()


def test_a_trusted_repository_has_none_and_a_group_without_a_program_needs_none() -> None:
    assert confinement("python", trusted=True) == "without a sandbox"
    assert confinement("syntactic", trusted=False) == ""


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_jump_of_the_filter_lands_inside_it(machine: str) -> None:
    steps = program(machine)
    jumps = [(at, step) for at, step in enumerate(steps) if step[0] & 7 == 5]
    assert jumps and all(at + 1 + max(step[1], step[2]) < len(steps) for at, step in jumps)
    assert all(step[1] < 256 and step[2] < 256 for _, step in jumps)
    with pytest.raises(OSError, match="riscv64"):
        program("riscv64")
