"""Git over the network: a source in, its branches or the bytes of git out, with the user's own credentials.

The user's configuration is obeyed (credential helpers, `insteadOf`, proxies, SSH). Nothing asks for anything:
what needs a password that no helper knows fails. The mirror's own configuration is ours, no hook runs, and
only the transport of the source is allowed, so that no redirection or helper runs a program (`ext::`).
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codenib.core.errors import ProviderError
from codenib.fleet.catalogue.entry import scheme_of
from codenib.snapshot import git

#: How the user set git up; the rest of GIT_* says where some other git command works.
_PASSED_ON = (
    *("GIT_CONFIG_", "GIT_EXEC_PATH", "GIT_SSH", "GIT_ASKPASS", "GIT_SSL_", "GIT_PROXY_"),
    *("GIT_HTTP_", "GIT_CURL_"),
)
_OPTIONS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
    "gc.autoDetach=false",  # nothing goes on after the command
    "maintenance.autoDetach=false",
    "http.lowSpeedLimit=1000",  # bytes a second, for a minute: then the other side is stuck
    "http.lowSpeedTime=60",
)
#: A rewritten URL (`insteadOf`) may be fetched by these, whatever the source's own scheme is.
_SECURE = frozenset({"https", "ssh"})
_TIMEOUT_S = 3600.0
#: What servers, SSH and git say of a repository that is not there (any more), or not for this user.
_GONE = re.compile(
    r"not found|does not exist|does not appear to be a git repository|no such file|could not be found|"
    r"returned error: 40[34]|returned error: 410",
    re.I,
)


class SourceGone(ProviderError):
    """Nothing that this user may read is at the source."""


@dataclass(frozen=True, slots=True)
class RemoteHeads:
    """The branches of a source with their commits, and which is its default; "" when it has none."""

    heads: Mapping[str, str]
    default: str


def remote_heads(mirror: Path, source: str) -> RemoteHeads:
    """What the source has now: one exchange, nothing is fetched."""
    out = _call(mirror, source, ["ls-remote", "--symref", "--", source, "HEAD", "refs/heads/*"])
    heads: dict[str, str] = {}
    default, detached = "", ""
    for line in out.decode("utf-8", "surrogateescape").splitlines():
        value, _, name = line.partition("\t")
        if value.startswith("ref: refs/heads/") and name == "HEAD":
            default = value.removeprefix("ref: refs/heads/")
        elif name == "HEAD":
            detached = value
        elif name.startswith("refs/heads/"):
            heads[name.removeprefix("refs/heads/")] = value
    if default not in heads:  # a server that does not tell, or a HEAD without a branch
        default = next((name for name in ("main", "master") if heads.get(name) == detached), "")
        default = default or next((name for name, commit in heads.items() if commit == detached), "")
    return RemoteHeads(heads, default)


def fetch_branches(mirror: Path, source: str, branches: Sequence[str]) -> None:
    """Bring these branches of the source into the mirror, all or none, also where they were rewritten."""
    refspecs = [f"+refs/heads/{branch}:refs/heads/{branch}" for branch in branches]
    options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--atomic", "--no-recurse-submodules"]
    given = "".join(f"{refspec}\n" for refspec in refspecs).encode("utf-8", "surrogateescape")
    _call(mirror, source, ["fetch", *options, "--stdin", "--", source], given)


def make_mirror(mirror: Path, source: str) -> None:
    """An empty bare repository, without templates of anybody; nothing happens where there is one."""
    if (mirror / "HEAD").exists() and (mirror / "objects").is_dir():
        return
    mirror.mkdir(parents=True, exist_ok=True)
    git.run(["init", "--bare", "--quiet", "--template=", "--", str(mirror)])
    git.run([f"--git-dir={mirror}", "config", "remote.origin.url", source])


def _call(mirror: Path, source: str, args: Sequence[str], stdin: bytes = b"") -> bytes:
    options = [part for option in _OPTIONS for part in ("-c", option)]
    command = ["git", "-C", str(mirror), f"--git-dir={mirror}", *options, *args]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(source),
            start_new_session=True,  # no terminal to ask at, and all of it ends together
        )
    except FileNotFoundError as error:
        raise ProviderError(
            "git is not installed or not on PATH", hint="install git 2.31 or newer"
        ) from error
    with process:
        try:
            out, err = process.communicate(stdin, timeout=_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            _end(process)
            raise ProviderError(f"{source} did not answer within {_TIMEOUT_S / 60:.0f} minutes") from None
        except BaseException:
            _end(process)
            raise
    if process.returncode:
        said = _last_words(err.decode("utf-8", "replace"))
        kind = SourceGone if _GONE.search(said) else ProviderError
        raise kind(said or f"git {args[0]} ended with status {process.returncode}")
    return out


def _environment(source: str) -> dict[str, str]:
    ours = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(_PASSED_ON)
    }
    ours.pop("SSH_ASKPASS", None)  # a window
    scheme = scheme_of(source)
    allowed = {scheme} | (_SECURE if scheme != "file" else set())
    fixed = {
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_ALLOW_PROTOCOL": ":".join(sorted(allowed)),
        "GCM_INTERACTIVE": "never",
    }
    if "GIT_SSH_COMMAND" not in ours and "GIT_SSH" not in ours and not _configures_ssh():
        fixed["GIT_SSH_COMMAND"] = "ssh -o BatchMode=yes -o ConnectTimeout=30"
    return {**ours, **fixed}


def _configures_ssh() -> bool:
    """Whether the user's own configuration says how to run SSH."""
    return git.call(["config", "--global", "--get", "core.sshCommand"]).code == 0


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (OSError, AttributeError):  # Windows has no groups
        process.kill()


def _last_words(err: str) -> str:
    """The lines of git's errors that say something, on one line.

    >>> _last_words("warning: x\\nremote: Repository not found.\\nfatal: repository 'u' not found\\n")
    "remote: Repository not found.; fatal: repository 'u' not found"
    """
    lines = [line.strip() for line in err.splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("fatal:", "error:", "remote:", "ssh:"))]
    return "; ".join(dict.fromkeys((telling or lines)[:4]))[:600]
