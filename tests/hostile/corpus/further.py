"""Repositories of further kinds: attributes, indexes that lie, links in the place of folders, bombs of every engine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tests.gitrepo import GitRepo
from tests.hostile.corpus.case import GO, PYTHON, RUST, SECRET_NAME, TYPESCRIPT, C, Case, Place, from_files
from tests.hostile.trees import raw_tree

Build = Callable[[Place, GitRepo], Path | None]
_EVIL = "def evil_of_quay\n  1\nend\n"

#: `.gitattributes` and files beside it.
_ATTRIBUTES: dict[str, str] = {
    "that name programs": "* filter=evil diff=evil merge=evil textconv=evil\n*.rb filter=lfs\n",
    "of another encoding": "*.rb working-tree-encoding=UTF-16LE-BOM\n",
    "of an encoding that is none": "*.rb working-tree-encoding=evil-8\n",
    "that change line ends": "* text eol=crlf ident\n",
    "that leave out of exports": "* export-ignore export-subst\n",
    "that define themselves": "".join(f"[attr]a{n} a{(n + 1) % 50}\n" for n in range(50)) + "* a0\n",
    "of many rules": "".join(f"**/x{n}/**/*.rb -diff -text\n" for n in range(20_000)),
    "of long lines": "*.rb " + "x" * 200_000 + "\n",
}


def _attributes(text: str) -> Build:
    def build(place: Place, repo: GitRepo) -> None:
        place.files({".gitattributes": text})
        repo.git("add", "--", ".gitattributes")  # alone: git itself stops at encodings that are none
        repo.git("commit", "-qm", "attributes")

    return build


def _behind_a_link(place: Place, repo: GitRepo) -> None:
    """A tracked folder that is a link into the user's now: its tracked names lead outside."""
    repo.commit({"x/secret.py": "def mine():\n    pass\n", "x/secret.txt": "mine\n"})
    shutil.rmtree(place.own / "x")
    (place.own / "x").symlink_to(place.victim)


def _hidden_changes(flag: str) -> Build:
    """The index says that a changed file is unchanged."""

    def build(place: Place, repo: GitRepo) -> None:
        repo.git("update-index", flag, "lib/port.rb")
        path = place.own / "lib/port.rb"
        path.write_text(path.read_text() + "\ndef leave\n  moor_vessel(5)\nend\n")

    return build


def _alternates(place: Place, repo: GitRepo) -> None:
    other = GitRepo(place.victim / "other")
    other.commit({"secret.rb": (place.victim / "secret.py").read_text()})
    info = place.own / ".git" / "objects" / "info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_text(f"{place.victim}/other/.git/objects\n{place.own}/.git/objects\n/\n")


def _worktrees(place: Place, repo: GitRepo) -> None:
    """Linked worktrees that lead elsewhere, and one that is the user's folder."""
    for number, target in enumerate(("{victim}/.git", "/dev/zero", "../../../..", "\x1b]52;c;ZXZpbA==\x07")):
        folder = place.own / ".git" / "worktrees" / f"w{number}"
        folder.mkdir(parents=True)
        (folder / "gitdir").write_text(place.fill(target) + "\n")
        (folder / "commondir").write_text(place.fill("{victim}\n"))
        (folder / "HEAD").write_text("ref: refs/heads/none\n")


def _references(place: Place, repo: GitRepo) -> None:
    """Names of branches and tags that are options, ids, places, and many."""
    head = repo.head()
    names = [
        "heads/--upload-pack={program}",
        "heads/-x",
        f"heads/{head}",
        "tags/main",
        "heads/HEAD",
        "tags/lib/quay.rb",
        "heads/@",
    ]
    lines = [f"{head} refs/{place.fill(name)}" for name in names]
    lines += [f"{head} refs/heads/b{number:06}" for number in range(100_000)]
    (place.own / ".git" / "packed-refs").write_text(
        "# pack-refs with: peeled fully-peeled sorted \n" + "\n".join(sorted(lines)) + "\n"
    )


def _configuration_of_megabytes(place: Place, repo: GitRepo) -> None:
    with (place.own / ".git" / "config").open("a") as file:
        file.write("".join(f'[branch "b{number}"]\n\tremote = {"x" * 40}\n' for number in range(60_000)))


def _collisions(place: Place, repo: GitRepo) -> None:
    """Names that are one name on other systems: in case, in the form of their accents, with a dot at the end."""
    blob = repo.git("hash-object", "-w", "--", str(repo.write("evil.rb", _EVIL)))
    tree = repo.git("rev-parse", "HEAD:lib")
    names = (
        "Lib2.rb",
        "LIB2.rb",
        "lib2.rb",
        "caf\u00e9.rb",
        "cafe\u0301.rb",
        "con.rb",
        "aux",
        "a.rb.",
        "a.rb ",
        "nul.rb::$DATA",
    )
    entries = sorted(
        [("100644", name.encode(), blob) for name in names]
        + [("40000", b"lib", tree), ("40000", b"LIB", tree)],
        key=lambda each: each[1],
    )
    commit = repo.git("commit-tree", raw_tree(repo, *entries), "-p", "HEAD", "-m", "names")
    repo.git("update-ref", "refs/heads/main", commit)
    repo.git("reset", "-q", "--hard")


def _deep_folders(place: Place, repo: GitRepo) -> None:
    repo.commit({"/".join(["d"] * 900) + "/evil.rb": _EVIL, "/".join(["lib"] * 60) + "/quay.rb": "# deep\n"})


def _pathspecs(place: Place, repo: GitRepo) -> None:
    """Files whose names are pathspecs, revisions and options."""
    for name in (
        ":(exclude)lib",
        ":!lib",
        ":",
        "HEAD",
        "main",
        "-r",
        "--help",
        "--output=evil",
        "lib:quay.rb",
        "[a-z]*",
        "\\*",
        "{lib}",
        "~",
        "$HOME",
        "`id`",
        "$(id)",
        "a;id",
        "@{-1}",
    ):
        (place.own / name).write_text(_EVIL)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "pathspecs")


def _format(text: str) -> Build:
    def build(place: Place, repo: GitRepo) -> None:
        with (place.own / ".git" / "config").open("a") as file:
            file.write(text)

    return build


def _embedded(place: Place, repo: GitRepo) -> None:
    """A repository inside, with filters and a worktree elsewhere, that is no submodule."""
    inner = GitRepo(place.own / "inner")
    inner.commit({"a.rb": _EVIL})
    for name, value in (
        ("core.fsmonitor", "{program}"),
        ("filter.x.clean", "{program}"),
        ("core.worktree", "{victim}"),
    ):
        inner.git("config", name, place.fill(value), check=False)
    repo.write("inner/.gitattributes", "* filter=x\n")


_REPOSITORIES: dict[str, tuple[Build, Mapping[str, object]]] = {
    "tracked folder that links outside": (_behind_a_link, {"reads": ("x/secret.py", "x/secret.txt", "x")}),
    "changes that the index assumes away": (_hidden_changes("--assume-unchanged"), {"more_places": frozenset({("lib/port.rb", 8)})}),
    "changes that the index skips": (_hidden_changes("--skip-worktree"), {"more_places": frozenset({("lib/port.rb", 8)})}),
    "alternates of the user": (_alternates, {}),
    "worktrees elsewhere": (_worktrees, {}),
    "references that are options, and many": (_references, {}),
    "configuration of megabytes": (_configuration_of_megabytes, {}),
    "names that collide": (_collisions, {"more_places": frozenset({("LIB/quay.rb", 2), ("LIB/port.rb", 4)}), "reads": ("Lib2.rb", "caf\u00e9.rb")}),
    "folders in folders": (_deep_folders, {"refused": "?"}),
    "names that are pathspecs": (_pathspecs, {"reads": ("HEAD", "--help", "-r")}),
    "format of the future": (_format("[core]\n\trepositoryformatversion = 99\n"), {"refused": "?"}),
    "extension that nobody knows": (_format("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tevil = true\n"), {"refused": "?"}),
    "objects of another format": (_format("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"), {"refused": "?"}),
    "references of another format": (_format("[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = reftable\n"), {"refused": "?"}),
    "repository inside": (_embedded, {"reads": ("inner/a.rb",)}),
}  # fmt: skip

#: Our own settings, as a repository may bring them.
_SETTINGS: dict[str, str] = {
    "that are the user's": 'sandbox = "off"\nhome = "{victim}"\nbackground = "off"\nembedder = "http://127.0.0.1:{port}"\nviews = ["graph"]\n[network]\nproxy = "http://127.0.0.1:{port}"\n',
    "that leave everything out": '[paths]\nexclude = ["**?" , "../**", "/**", "'
    + "*" * 900
    + '"]\ninclude = ["lib/**"]\n',
    "of rubbish": "[" * 5000 + "\x1b]52;c;ZXZpbA==\x07" + "\n= = =\n",
    "of a megabyte": "[paths]\nexclude = [" + '"a/**",' * 150_000 + "]\n",
    "that nest": "a = " + "[" * 20_000 + "]" * 20_000 + "\n" + ".".join(["b"] * 20_000) + " = 1\n",
}

_DEVICES = (
    "/dev/stdin",
    "/dev/stdout",
    "/proc/self/fd/0",
    "/dev/fd/2",
    "//dev/./stdin",
    "/proc/self/environ",
    "/proc/self/mem",
    "/dev/urandom",
    "/dev/full",
)
_TWICE = '#include "{0}{1}.h"\n#include "{0}{1}.h"\n'
_ENGINES: dict[str, tuple[dict[str, str], object]] = {
    "c: streams by many names": ({"dev.c": "".join(f'#include "{name}"\n' for name in _DEVICES) + '#define IN "/dev/stdin"\n#include IN\n#if __has_include("/dev/stdin")\n#include "/dev/fd/0"\n#endif\n'}, C),
    "c: headers alone that explode": ({f"h{n}.h": _TWICE.format("h", n + 1) for n in range(24)} | {"h24.h": "int x;\n"}, C),
    "c: three bombs": ({f"b{k}.c": "#define A0 x x\n" + "".join(f"#define A{n} A{n - 1} A{n - 1} A{n - 1} A{n - 1}\n" for n in range(1, 16)) + "int f(void) { A15 }\n" for k in range(3)}, C),
    "c: eight bombs": ({f"b{k}.c": "#define A0 x x\n" + "".join(f"#define A{n} A{n - 1} A{n - 1} A{n - 1} A{n - 1}\n" for n in range(1, 16)) + "int f(void) { A15 }\n" for k in range(8)}, C),
    "c: a bomb of the good header's name": ({"sub/quay.h": '#include "quay.h"\n#include_next <quay.h>\n', "sub/evil.c": '#include "quay.h"\n#include "../quay.h"\nint e(void) { return moor_vessel(1); }\n'}, C),
    "c: arguments that explode": ({"va.cpp": "#define E(...) E2(E2(E2(E2(__VA_ARGS__))))\n#define E2(...) E3(E3(E3(E3(__VA_ARGS__))))\n#define E3(...) E4(E4(E4(E4(__VA_ARGS__))))\n#define E4(...) E5(E5(E5(E5(__VA_ARGS__))))\n#define E5(...) __VA_ARGS__ __VA_ARGS__\nint f() { E(E(x,y)) }\n"}, C),
    "c: classes that inherit twofold": ({"inherit.cpp": "struct B0 { int x; };\n" + "".join(f"struct L{n} : B{n - 1} {{}}; struct R{n} : B{n - 1} {{}}; struct B{n} : L{n}, R{n} {{}};\n" for n in range(1, 26)) + "int f(B25 *b) { return ((B0*)(L1*)b)->x; }\n"}, C),
    "c: database of many commands": ({"compile_commands.json": "[" + ",".join(f'{{"directory": "/", "file": "{{own}}/port.c", "command": "cc -DX{n} -I/{n} port.c"}}' for n in range(8000)) + "]"}, C),
    "go: strings that double": ({"text.go": 'package harbour\n\nconst s0 = "' + "x" * 64 + '"\n' + "".join(f"const s{n} = s{n - 1} + s{n - 1}\n" for n in range(1, 40))}, GO),
    "go: generics that multiply": ({"gen.go": "package harbour\n\ntype P[A, B any] struct { a A; b B }\n" + "".join(f"type Q{n}[A any] = P[{'A' if not n else f'Q{n - 1}[A]'}, {'A' if not n else f'Q{n - 1}[A]'}]\n" for n in range(30)) + "\nvar _ Q29[int]\n"}, GO),
    "go: work above": ({"go.work": "go 1.21\n\nuse .\nuse ../..\nuse /etc\n\nreplace example.org/x => /etc\n"}, GO),
    "go: replace of the system": ({"go.mod": "module example.org/harbour\n\ngo 1.21\n\nrequire example.org/x v0.0.0\n\nreplace example.org/x => /etc\n\ntoolchain default\n", "use.go": 'package harbour\n\nimport _ "example.org/x"\n'}, GO),
    "go: cgo of streams": ({"cgo.go": 'package harbour\n\n// #include "/dev/stdin"\n// #include "/dev/zero"\nimport "C"\n'}, GO),
    "rust: workspace above": ({"Cargo.toml": '[package]\nname = "harbour"\nversion = "0.1.0"\nedition = "2021"\n\n[workspace]\nmembers = ["../..", "/etc", "../../*"]\n'}, RUST),
    "rust: files of the system": ({"src/inc.rs": 'include!("/etc/passwd");\n#[path = "/dev/stdin"]\nmod a;\nconst B: &[u8] = include_bytes!("/dev/zero");\nconst C: &str = include_str!("/proc/self/environ");\n'}, RUST),
    "rust: constants that explode": ({"src/con.rs": "const fn f(n: u64) -> u64 { if n < 2 { 1 } else { f(n - 1) + f(n - 2) } }\npub const A: u64 = f(60);\npub static B: [u8; f(50) as usize] = [0; f(50) as usize];\n"}, RUST),
    "typescript: streams by reference": ({"ref.ts": "".join(f'/// <reference path="{name}" />\n' for name in _DEVICES) + 'import x from "/dev/stdin";\nimport y from "/proc/self/environ";\n'}, TYPESCRIPT),
    "typescript: references in a circle": ({"tsconfig.json": '{"references": [{"path": "./a"}], "include": ["**/*", "**/*/**/*/**/*"]}', "a/tsconfig.json": '{"compilerOptions": {"composite": true}, "references": [{"path": ".."}]}'}, TYPESCRIPT),
    "typescript: exports that nest": ({"package.json": '{"name": "x", "exports": ' + '{"a": ' * 5000 + '"./x.js"' + "}" * 5000 + "}", "use.ts": 'import "x";\n'}, TYPESCRIPT),
    "typescript: paths of many stars": ({"tsconfig.json": '{"compilerOptions": {"paths": {' + ",".join(f'"{"a" * n}*": ["./{"../" * n}*"]' for n in range(1, 400)) + "}}}", "use.ts": 'import "' + "a" * 500 + '";\n'}, TYPESCRIPT),
    "python: globs that explode": ({"pyrightconfig.json": '{"include": ["' + "**/*" * 12 + '"], "exclude": ["' + "**/a*" * 12 + '"], "extraPaths": ["/etc", "/proc", "/dev"]}'}, PYTHON),
    "python: encodings": ({"enc.py": "# -*- coding: unicode_escape -*-\nx = 1\n", "rot.py": "# coding: rot13\nvzcbeg bf\n", "zip.py": "# coding: zlib_codec\nx\n"}, PYTHON),
    "python: builtins of the repository": ({"__builtins__.pyi": f"def {SECRET_NAME[:6]}x() -> int: ...\nclass int: ...\n", "typings/builtins.pyi": "class str: ...\n"}, PYTHON),
    "python: classes that multiply": ({"mro.py": "class A0: pass\n" + "".join(f"class L{n}(A{n - 1}): pass\nclass R{n}(A{n - 1}): pass\nclass A{n}(L{n}, R{n}): pass\n" for n in range(1, 200))}, PYTHON),
}  # fmt: skip


def _pipe_that_is_included(place: Place, repo: GitRepo) -> None:
    repo.commit({"evil.c": '#include "sub/pipe.h"\nint e(void);\n'})
    (place.own / "sub").mkdir()
    os.mkfifo(place.own / "sub" / "pipe.h")


def _links_to_streams(place: Place, repo: GitRepo) -> None:
    for name, target in (("in.h", "/dev/stdin"), ("out.h", "/proc/self/fd/1"), ("zero.h", "/dev/zero")):
        (place.own / name).symlink_to(target)
    repo.commit({"evil.c": '#include "in.h"\n#include "out.h"\n#include "zero.h"\nint e(void);\n'})


def further_cases() -> Iterator[Case]:
    """Every case of this module."""
    for name, text in _ATTRIBUTES.items():
        yield Case(f"attributes: {name}", _attributes(text))
    for name, (build, more) in _REPOSITORIES.items():
        yield Case(f"further: {name}", build, **more)  # type: ignore[arg-type]
    for name, text in _SETTINGS.items():
        yield from_files(f"settings: {name}", {"codenib.toml": text}, refused="codenib.toml")
    for name, (files, project) in _ENGINES.items():
        places = frozenset({("sub/evil.c", 3)}) if "sub/evil.c" in files else frozenset()
        yield from_files(f"engine {name}", files, project, more_places=places)  # type: ignore[arg-type]
    yield Case("engine c: pipe that is included", _pipe_that_is_included, C)
    yield Case("engine c: links to streams", _links_to_streams, C)
