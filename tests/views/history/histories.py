"""Random real histories: a drawn graph of commits goes through `git fast-import` into a repository."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field

from hypothesis import strategies as st
from tests.gitrepo import GitRepo

PATHS = ("a.py", "b.py", "lib/c.py", "straße.txt")
Files = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Edit:
    """A change to one file: `kind` is write, delete or rename; the numbers say what and where."""

    kind: str
    path: int
    at: int
    size: int


@dataclass(frozen=True)
class Step:
    """A commit: its parents by their distance back, its edits, how far the clock moves, its message."""

    parents: tuple[int, ...]
    edits: tuple[Edit, ...]
    clock: int
    message: str


@dataclass
class Imported:
    """The commits in the order in which they were made, with their files."""

    ids: list[str] = field(default_factory=list)
    files: list[Files] = field(default_factory=list)


EDITS = st.builds(
    Edit,
    st.sampled_from(["write"] * 5 + ["delete", "rename"]),
    st.integers(0, len(PATHS) - 1),
    st.integers(0, 30),
    st.integers(0, 3),
)


def steps(
    *, merges: bool = True, kinds: tuple[str, ...] = ("write", "delete", "rename")
) -> st.SearchStrategy[Step]:
    """Steps of a history; without merges each commit follows the one before."""
    parents = (
        st.sampled_from([(1,), (1,), (1,), (2,), (3,), (1, 2), (2, 3), (1, 2, 4)])
        if merges
        else st.just((1,))
    )
    edits = st.lists(EDITS.filter(lambda edit: edit.kind in kinds), max_size=3).map(tuple)
    return st.builds(
        Step,
        parents,
        edits,
        st.sampled_from([60, 60, 60, 0, -500]),
        st.sampled_from(["fix", "ü\n\nbody", ""]),
    )


def import_history(repo: GitRepo, drawn: list[Step]) -> Imported:
    """Write the history into `repo`, and name its last commit main."""
    made = Imported()
    stream: list[bytes] = []
    now = 1_600_000_000
    for number, step in enumerate(drawn):
        now += step.clock
        parents = list(dict.fromkeys(number - back for back in step.parents if number - back >= 0))
        files = dict(made.files[parents[0]]) if parents else {}
        for other in parents[1:]:  # a merge takes what only the other side has, and lines of both
            for path, lines in made.files[other].items():
                files[path] = files[path][:5] + lines[5:] if path in files else lines
        for edit in step.edits:
            apply(files, edit, number)
        made.files.append(files)
        stream.append(_commit(number, parents, files, now, step.message))
    marks = repo.path / ".git" / "marks"
    subprocess.run(
        ["git", "-C", str(repo.path), "fast-import", "--quiet", f"--export-marks={marks}"],
        input=b"".join(stream), check=True, capture_output=True,
    )  # fmt: skip
    by_mark = dict(line.split() for line in marks.read_text().splitlines())
    made.ids = [by_mark[f":{number + 1}"] for number in range(len(drawn))]
    repo.git("update-ref", "refs/heads/main", made.ids[-1])
    return made


def apply(files: Files, edit: Edit, number: int) -> None:
    """Change the files of a commit."""
    path = PATHS[edit.path]
    if edit.kind == "delete":
        files.pop(path, None)
    elif edit.kind == "rename" and path in files:
        files[f"moved/{path}" if edit.at % 2 else PATHS[edit.at % len(PATHS)]] = files.pop(path)
    else:
        lines = files.get(path, tuple(f"{path} {n}" for n in range(12)))
        at = edit.at % (len(lines) + 1)
        new = tuple(f"new {number} {n}" for n in range(edit.size))
        files[path] = lines[:at] + new + lines[at + edit.path :]


def _commit(number: int, parents: list[int], files: Files, now: int, message: str) -> bytes:
    who = f"Author {number % 3} <a@example.org> {now} +0000\n".encode()
    text = message.encode()
    out = [b"commit refs/heads/step-%d\nmark :%d\n" % (number, number + 1)]
    out += [b"author ", who, b"committer ", who, b"data %d\n" % len(text), text, b"\n"]
    for at, parent in enumerate(parents):
        out.append(b"%s :%d\n" % (b"merge" if at else b"from", parent + 1))
    out.append(b"deleteall\n")
    for path, lines in files.items():
        data = "".join(f"{line}\n" for line in lines).encode()
        out.append(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data))
    return b"".join([*out, b"\n"])
