"""Repositories whose `.git/config` or attributes name programs, files outside, or what confuses a reader of git.

A configuration does not come with a clone, but with a copied folder, an archive or a shared disk.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tests.gitrepo import GitRepo
from tests.hostile.corpus.case import Case, Place
from tests.hostile.git_settings import HOSTILE_SETTINGS

_PARTIAL = {"core.repositoryformatversion": "1", "extensions.partialClone": "origin"} | {
    "remote.origin.promisor": "true"
}

#: Programs, files and hosts: none may be run, written, read into an answer or called.
_NAMES_SOMETHING: dict[str, dict[str, str]] = {
    "git proxy": {"core.gitProxy": "{program}", **_PARTIAL, "remote.origin.url": "git://127.0.0.1:{port}/x"},
    "promisor over http": {**_PARTIAL, "remote.origin.url": "http://127.0.0.1:{port}/x", "protocol.http.allow": "always"},
    "promisor over git": {**_PARTIAL, "remote.origin.url": "git://127.0.0.1:{port}/x", "protocol.git.allow": "always"},
    "promisor that is another url": {
        **_PARTIAL, "remote.origin.url": "safe:x", "url.http://127.0.0.1:{port}/.insteadOf": "safe:",
        "protocol.allow": "always",
    },
    "promisor by a helper": {**_PARTIAL, "remote.origin.url": "x", "remote.origin.vcs": "evil", "protocol.allow": "always"},
    "merge driver": {"merge.evil.driver": "{program} %A", "merge.default": "evil"},
    "archive program": {"tar.evil.command": "{program}", "tar.tar.gz.command": "{program}"},
    "interactive diff filter": {"interactive.diffFilter": "{program}", "pager.diff": "{program}"},
    "diff pager": {"pager.diff-tree": "{program}", "pager.ls-tree": "{program}", "pager.rev-parse": "{program}"},
    "gpg of every kind": {"gpg.program": "{program}", "gpg.ssh.program": "{program}", "gpg.x509.program": "{program}",
                          "gpg.format": "ssh", "log.showSignature": "true"},
    "trailer program": {"trailer.x.command": "{program}", "trailer.x.cmd": "{program}", "trailer.x.ifMissing": "add"},
    "trace to a file": {"trace2.eventTarget": "{victim}/cache/trace", "trace2.normalTarget": "{victim}/cache/trace2"},
    "trace to a socket": {"trace2.eventTarget": "af_unix:stream:{victim}/cache/socket"},
    "template folder": {"init.templateDir": "{victim}/hooks", "commit.template": "{victim}/secret.txt"},
    "mailmap outside": {"mailmap.file": "{victim}/secret.txt", "log.mailmap": "true"},
    "attributes outside": {"core.attributesFile": "{victim}/secret.txt"},
    "ignored revisions outside": {"blame.ignoreRevsFile": "{victim}/secret.txt"},
    "order file outside": {"diff.orderFile": "{victim}/secret.txt"},
    "cookies outside": {"http.cookieFile": "{victim}/secret.txt", "http.saveCookies": "true"},
    "worktree configuration": {"extensions.worktreeConfig": "true", "core.repositoryformatversion": "1"},
    "include by condition": {"includeIf.gitdir:/.path": "{more}", "includeIf.onbranch:main.path": "{more}"},
    "include of the user's secret": {"include.path": "{victim}/secret.txt"},
    "difftool and mergetool": {"diff.tool": "evil", "difftool.evil.cmd": "{program}", "mergetool.evil.cmd": "{program}"},
    "maintenance": {"gc.auto": "1", "maintenance.auto": "true", "gc.recentObjectsHook": "{program}"},
    "upload hooks": {"uploadpack.packObjectsHook": "{program}"},
    "credential store": {"credential.helper": "store --file={victim}/cache/credentials"},
    "instead of": {"url.ext::{program} .insteadOf": "https://"},
    "exec path": {"core.gitProxy": "{program}", "core.preferSymlinkRefs": "true"},
}  # fmt: skip

#: What changes how git prints or finds: the answers must be the same.
_CONFUSES: dict[str, dict[str, str]] = {
    "untracked files hidden": {"status.showUntrackedFiles": "no", "status.relativePaths": "true"},
    "colours always": {"color.ui": "always", "color.status": "always", "color.diff": "always"},
    "columns": {"column.ui": "always", "column.status": "always"},
    "log encoding": {"i18n.logOutputEncoding": "UTF-16", "i18n.commitEncoding": "EBCDIC-US"},
    "quoted and short": {"core.quotePath": "true", "status.short": "true", "status.branch": "true", "core.abbrev": "4"},
    "dates": {"log.date": "format:%n%n", "blame.date": "relative", "log.follow": "true", "log.decorate": "full"},
    "pretty format": {"format.pretty": "format:%x00%x00", "log.diffMerges": "combined", "log.showRoot": "false"},
    "diff output": {"diff.noprefix": "true", "diff.mnemonicPrefix": "true", "diff.context": "0", "diff.wsErrorHighlight": "all",
                    "diff.renames": "copies", "diff.renameLimit": "1", "diff.suppressBlankEmpty": "true"},
    "diff algorithm": {"diff.algorithm": "minimal", "diff.indentHeuristic": "false", "diff.submodule": "log"},
    "diff relative": {"diff.relative": "true", "diff.srcPrefix": "\n@@ -1 +1 @@", "diff.dstPrefix": "x"},
    "case ignored": {"core.ignoreCase": "true", "core.precomposeUnicode": "true"},
    "file modes": {"core.fileMode": "true", "core.symlinks": "false", "core.trustctime": "false", "core.checkStat": "minimal"},
    "line ends": {"core.autocrlf": "true", "core.eol": "crlf", "core.safecrlf": "true"},
    "line ends on input": {"core.autocrlf": "input", "core.safecrlf": "warn"},
    "untracked cache": {"core.untrackedCache": "true", "core.preloadIndex": "true", "feature.manyFiles": "true"},
    "split index": {"core.splitIndex": "true", "splitIndex.maxPercentChange": "0", "index.version": "4"},
    "sparse": {"core.sparseCheckout": "true", "core.sparseCheckoutCone": "false", "index.sparse": "true"},
    "small limits": {"core.packedGitLimit": "1", "core.packedGitWindowSize": "1", "core.deltaBaseCacheLimit": "1",
                     "core.bigFileThreshold": "1", "core.loosecompression": "0"},
    "no commit graph": {"core.commitGraph": "false", "core.multiPackIndex": "false", "gc.writeCommitGraph": "false"},
    "submodules everywhere": {"submodule.recurse": "true", "diff.ignoreSubmodules": "none", "submodule.active": "."},
    "notes": {"core.notesRef": "refs/notes/evil", "notes.displayRef": "*"},
    "hidden references": {"transfer.hideRefs": "refs/heads", "core.warnAmbiguousRefs": "true"},
    "ignore file that hides all": {"core.excludesFile": "{own}/.git/everything"},
    "aliases of every verb": {f"alias.{verb}": "!{program}" for verb in ("rev-parse", "diff-tree", "log", "config", "rev-list")},
    "shared repository": {"core.sharedRepository": "0777", "core.logAllRefUpdates": "always"},
    "remote with escapes": {"remote.origin.url": "https://x/\x1b]52;c;ZXZpbA==\x07\u202eevil", "remote.origin.fetch": "+refs/*:refs/*"},
}  # fmt: skip

#: Git itself stops: an error that says why, at once.
_STOPS: dict[str, tuple[dict[str, str], str]] = {
    "worktree elsewhere": ({"core.worktree": "{victim}"}, "core.worktree"),
    "worktree above": ({"core.worktree": "../.."}, "core.worktree"),
    "format of the future": ({"core.repositoryformatversion": "99"}, "git refuses"),
    "unknown extension": ({"core.repositoryformatversion": "1", "extensions.evil": "1"}, "git refuses"),
    "include of itself": ({"include.path": "{own}/.git/config"}, "git refuses"),
    "include of a device": ({"include.path": "/dev/zero"}, "not a regular file"),
    "include of a pipe": ({"include.path": "{own}/pipe"}, "not a regular file"),
    "include of a pipe by condition": ({"includeIf.gitdir:/.path": "{own}/pipe"}, "not a regular file"),
    "ignore file that is a pipe": ({"core.excludesFile": "{own}/pipe"}, "wait"),
    "ignore file that is a device": ({"core.excludesFile": "/dev/zero"}, "not a regular file"),
    "attributes that are a pipe": ({"core.attributesFile": "{own}/pipe"}, "not a regular file"),
}


def _configured(settings: dict[str, str], place: Place, repo: GitRepo) -> None:
    repo.commit(
        {"more.txt": "x\n", ".gitattributes": "* filter=evil diff=evil merge=evil\n", "gone.txt": "gone\n"}
    )
    lost = repo.git("rev-parse", "HEAD:gone.txt")
    repo.commit({"gone.txt": "gone again\n"})
    for name in repo.git("ls-files").split("\n"):
        os.utime(place.own / name, (1e9, 1e9))
    repo.write("more.txt", "y\n")
    (place.own / ".git" / "everything").write_text("*\n")
    (place.own / ".git" / "config.worktree").write_text(place.fill("[core]\n\tfsmonitor = {program}\n"))
    if any("{own}/pipe" in value for value in settings.values()):
        os.mkfifo(place.own / "pipe")
    lines = []
    for key, value in settings.items():
        section, _, name = key.rpartition(".")
        head, _, sub = section.partition(".")
        quoted = place.fill(sub).replace("\\", "\\\\").replace('"', '\\"')
        text = place.fill(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines.append(f'[{head} "{quoted}"]\n' if sub else f"[{head}]\n")
        lines.append(f'\t{name} = "{text}"\n')
    with (place.own / ".git" / "config").open("a") as file:
        file.write("".join(lines))
    if "extensions.partialClone" in settings:
        (place.own / ".git" / "objects" / lost[:2] / lost[2:]).unlink()


def _case(family: str, name: str, settings: dict[str, str], refused: str = "") -> Case:
    def build(place: Place, repo: GitRepo) -> None:
        _configured(settings, place, repo)

    return Case(f"{family}: {name}", build, refused=refused)


def _submodule(place: Place, repo: GitRepo) -> None:
    """A submodule that is there, whose own configuration names programs."""
    inner = GitRepo(place.own / "inner")
    inner.commit({"inner.rb": "def inner\nend\n"})
    for key in ("core.fsmonitor", "filter.evil.clean", "core.sshCommand"):
        inner.git("config", key, place.fill("{program}"))
    inner.git("config", "core.hooksPath", place.fill("{hooks}"))
    (place.own / "inner" / ".gitattributes").write_text("* filter=evil\n")
    repo.git("-c", "core.fsmonitor=false", "add", "inner", check=False)
    repo.commit({".gitmodules": place.fill(_MODULES)})
    for path in place.victim.glob("ran-*"):
        path.unlink()


_MODULES = (
    '[submodule "inner"]\n\tpath = inner\n\turl = ext::{program}\n\tupdate = !{program}\n\tbranch = --upload-pack={program}\n'
    '[submodule "../../x"]\n\tpath = ../../victim\n\turl = http://127.0.0.1:{port}/\n'
)


def _embedded(place: Place, repo: GitRepo) -> Path:
    """A bare repository that a clone brings, asked from inside."""
    inner = GitRepo(place.own / "fixtures" / "inner", "--bare")
    inner.git("config", "core.fsmonitor", place.fill("{program}"))
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "bare")
    return inner.path


def _gitfile(target: str) -> Case:
    def build(place: Place, repo: GitRepo) -> None:
        other = GitRepo(place.victim / "other")
        other.commit({"secret.rb": (place.victim / "secret.py").read_text()})
        (place.own / ".git").rename(place.root / "old.git")
        link = place.own / ".git"
        if target == "link":
            link.symlink_to(place.victim / "other" / ".git")
        else:
            link.write_text(place.fill(target))

    names = {
        "gitdir: {victim}/other/.git\n": "absolute",
        "gitdir: ../victim/other/.git\n": "relative",
        "link": "a link",
    }
    return Case(f"git layout: git folder elsewhere, {names[target]}", build, refused="elsewhere")


def configuration_cases() -> Iterator[Case]:
    """Every case of this module."""
    for name, settings in {**HOSTILE_SETTINGS, **_NAMES_SOMETHING}.items():
        refused = "?" if name == "include of the user's secret" else ""  # as git reads its first line
        yield _case("git programs", name, settings, refused)
    for name, settings in _CONFUSES.items():
        yield _case("git output", name, settings)
    for name, (settings, message) in _STOPS.items():
        yield _case("git stops", name, settings, message)
    yield Case("git layout: submodule with programs", _submodule)
    yield Case("git layout: bare repository in a clone", _embedded, refused="inside the worktree")
    for target in ("gitdir: {victim}/other/.git\n", "gitdir: ../victim/other/.git\n", "link"):
        yield _gitfile(target)
