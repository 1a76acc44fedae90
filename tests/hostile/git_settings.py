"""Configurations of git that name programs: of a copied repository, or of a bare one inside a clone.

`{program}` stands for a program of the stranger, which leaves a file when it runs.
"""

from __future__ import annotations

from pathlib import Path

from tests.gitrepo import GitRepo

#: Settings of `.git/config`, as `git config` takes them; attributes name the filter or driver for every file.
HOSTILE_SETTINGS: dict[str, dict[str, str]] = {
    "clean filter": {"filter.evil.clean": "{program}"},
    "clean filter that is required": {"filter.evil.clean": "{program}", "filter.evil.required": "true"},
    "filter process": {"filter.evil.process": "{program}", "filter.evil.required": "true"},
    "smudge filter": {"filter.evil.smudge": "{program}"},
    "filter with an odd name": {"filter.e=v.i l.clean": "{program}"},
    "included filter": {"include.path": "{more}"},
    "file system monitor": {"core.fsmonitor": "{program}"},
    "hooks": {"core.hooksPath": "{hooks}"},
    "external diff": {"diff.external": "{program}", "diff.evil.command": "{program}"},
    "text conversion": {"diff.evil.textconv": "{program}", "diff.evil.cachetextconv": "true"},
    "signatures": {"log.showSignature": "true", "gpg.program": "{program}"},
    "pager": {"core.pager": "{program}", "pager.log": "{program}", "pager.status": "{program}"},
    "editor": {"core.editor": "{program}", "sequence.editor": "{program}"},
    "aliases": {"alias.status": "!{program}", "alias.ls-files": "!{program}", "alias.cat-file": "!{program}"},
    "credentials": {"credential.helper": "!{program}", "core.askPass": "{program}"},
    "ssh": {"core.sshCommand": "{program}", "ssh.variant": "simple"},
    "alternate references": {"core.alternateRefsCommand": "{program}"},
    "lazy fetch by a program": {
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": "ext::{program} %S",
        "protocol.ext.allow": "always",
    },
    "lazy fetch by ssh": {
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": "ssh://host/x",
        "core.sshCommand": "{program}",
        "protocol.ssh.allow": "always",
    },
    "upload pack": {
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": "file:///tmp",
        "remote.origin.uploadpack": "{program}",
        "protocol.file.allow": "always",
    },
    "submodule summary": {"status.submoduleSummary": "true", "submodule.x.update": "!{program}"},
}  # fmt: skip

_ATTRIBUTES = '* filter=evil diff=evil\n*.c filter=evil\n*.txt filter="e=v.i l"\n'


def hostile_repository(path: Path, victim: Path, settings: dict[str, str], *init: str) -> GitRepo:
    """A repository with changed files whose configuration has `settings`."""
    program, hooks = victim / "program", victim / "hooks"
    hooks.mkdir(parents=True)
    script = f"#!/bin/sh\ntouch {victim}/ran\ncat 2>/dev/null\n"
    for place in (
        program,
        hooks / "post-index-change",
        hooks / "reference-transaction",
        hooks / "post-checkout",
    ):
        place.write_text(script)
        place.chmod(0o755)
    (victim / "more").write_text(f'[filter "evil"]\n\tclean = {program}\n')
    repo = GitRepo(path, *init)
    if "--bare" not in init:
        repo.commit({"a.c": "int a;\n", "b.txt": "x\n", ".gitattributes": _ATTRIBUTES})
        repo.commit({"a.c": "int a, b;\n", "gone.c": "int gone;\n"})
        lost = repo.git("rev-parse", "HEAD:gone.c")
        # Same size, other times: git must look into the files to know whether they changed.
        repo.write("a.c", "int a, c;\n")
        repo.write("b.txt", "y\n")
    for key, value in settings.items():
        repo.git("config", key, value.format(program=program, more=victim / "more", hooks=hooks))
    if "extensions.partialClone" in settings:
        (path / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    (victim / "ran").unlink(missing_ok=True)
    return repo
