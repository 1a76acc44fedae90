"""What `fleet add` is given, in: sources, files of sources, folders of clones; entries out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from codenib.core.errors import InputError
from codenib.fleet.catalogue.entry import EntryOptions, RepositoryEntry, entry_of

#: How many folders below `--org` a clone may lie: HOST/OWNER/NAME.
_DEEPEST = 3


def entries_of(
    sources: Sequence[str], options: EntryOptions, *, name: str = "", listed: str = "", org: str = ""
) -> list[RepositoryEntry]:
    """The entries of `sources`, of the lines of the file `listed`, and of the clones below `org`."""
    if name and (len(sources) != 1 or listed or org):
        raise InputError("a name is for one repository", hint="codenib fleet add SOURCE --name NAME")
    entries = [entry_of(source, options, name) for source in sources]
    if listed:
        entries += [entry_of(source, options, own) for source, own in _lines(Path(listed))]
    if org:
        top = Path(org).expanduser()
        if not top.is_dir():
            raise InputError(f"{org} is not a folder", hint="give a folder of clones")
        clones = [entry_of(str(place), options, _name_below(top, place)) for place in _clones(top, _DEEPEST)]
        if not clones:
            raise InputError(f"no clone is below {org}", hint="give a folder of clones")
        entries += clones
    if not entries:
        raise InputError("nothing to add", hint="codenib fleet add URL|PATH, --from FILE or --org FOLDER")
    names: dict[str, RepositoryEntry] = {}
    for entry in entries:
        other = names.setdefault(entry.name, entry)
        if other.source != entry.source:
            raise InputError(
                f"{other.source} and {entry.source} would both be called {entry.name}",
                hint="give each a name: lines `SOURCE NAME` in a file, and --from FILE",
            )
    return list(names.values())


def _lines(file: Path) -> Iterator[tuple[str, str]]:
    """The source and the name, if any, of each line; a relative path is relative to the file."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}", hint="a file of lines `SOURCE [NAME]`") from None
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition(" #")[0].split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) > 2:
            raise InputError(f"{file}:{number}: a line is `SOURCE [NAME]`", hint="one repository a line")
        beside = file.parent / words[0]
        yield str(beside) if beside.is_dir() else words[0], "".join(words[1:])


def _clones(folder: Path, depth: int) -> Iterator[Path]:
    """Git repositories below a folder; nothing inside of one is looked at, and no link is followed."""
    if (folder / ".git").exists() or ((folder / "HEAD").is_file() and (folder / "objects").is_dir()):
        yield folder
    elif depth:
        with os.scandir(folder) as rows:
            below = sorted(row.name for row in rows if row.is_dir(follow_symlinks=False))
        for name in below:
            if not name.startswith("."):
                yield from _clones(folder / name, depth - 1)


def _name_below(top: Path, place: Path) -> str:
    """A clone is called by its path below the folder.

    >>> _name_below(Path("/org"), Path("/org/team/app.git"))
    'team/app'
    """
    return place.relative_to(top).as_posix().removesuffix(".git") if place != top else ""
