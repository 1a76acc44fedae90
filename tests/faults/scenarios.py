"""Commands that write, each with the state before it and what must be true after it, whatever failed."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from tests.faults.injector import HANGS, Drive, Ended, Injector, Running, Work, run_redirected
from tests.faults.questions import MAIN, SESSION, VIEWS, ask_all
from tests.gitrepo import GitRepo

import codenib
from codenib.adapters.cli.main import run
from codenib.core.views import Status

_TRACES = ("Traceback (most recent call last)", "internal error")
_EXPECTED_CODES = {0, 2, 3, 4, 130}
_NAMES = ",".join(VIEWS)
_LATER = ("not built yet", "of an earlier snapshot")  # a view that comes after the others of its snapshot
_NPM = Path.home() / ".npm"
ValueT = TypeVar("ValueT")


class Place:
    """A repository, and a root with all that the product may write: home, user's files, temporary files."""

    def __init__(self, base: Path, set_variable: Callable[[str, str], None] = os.environ.__setitem__) -> None:
        self.base = base
        self.root, self.template = base / "root", base / "template"
        self.repository = base / "repository"
        self.expected: dict[str, dict[str, object]] = {}  # question → snapshot → the right answer
        self.user = self.root / "user"
        set_variable("CODENIB_HOME", str(self.root / "home"))
        set_variable("TMPDIR", str(self.root / "tmp"))
        tempfile.tempdir = None  # what an earlier place said
        set_variable("CODENIB_TOOLBOX", str(self.root / "tools"))
        set_variable("npm_config_cache", str(_NPM))  # npm's own files are not under test
        set_variable("npm_config_prefer_offline", "true")
        set_variable("HOME", str(self.user))
        self._clear()
        warm = GitRepo(base / "warm")  # what is imported here need not be imported in every trial
        warm.commit({"a.rb": "def a\nend\n"})
        _indexed_answers(warm.path)
        shutil.rmtree(self.root)
        self._clear()
        self.repo = GitRepo(self.repository)
        self.repo.commit({"src/session.rb": SESSION}, "sessions are saved")
        self.repo.commit({"src/main.rb": MAIN}, "a program")

    def edit(self, number: int) -> None:
        """Commit a change of one file, and change another without a commit."""
        self.repo.commit({"src/session.rb": f"{SESSION}\ndef session_{number}\nend\n"}, f"change {number}")
        self.write_main(number)

    def write_main(self, number: int) -> None:
        self.repo.write("src/main.rb", f"{MAIN}\n\nmain  # saves a session, {number} times\n")

    def learn(self) -> None:
        """Note the right answers for the files as they are, from an index of its own."""
        here = os.environ["CODENIB_HOME"]
        os.environ["CODENIB_HOME"] = str(self.base / "right")
        try:
            for name, (snapshot, answer) in in_child(lambda: _indexed_answers(self.repository)).items():
                self.expected.setdefault(name, {})[snapshot] = answer
        finally:
            os.environ["CODENIB_HOME"] = here

    def save(self) -> None:
        """Make the root as it is now the state before each trial."""
        subprocess.run(["cp", "-a", str(self.root), str(self.template)], check=True)

    def restore(self) -> None:
        subprocess.run(["rm", "-rf", str(self.root)], check=True)
        subprocess.run(["cp", "-a", str(self.template), str(self.root)], check=True)

    def _clear(self) -> None:
        for folder in (self.root / "home", self.root / "tmp", self.user):
            folder.mkdir(parents=True, exist_ok=True)


def in_child(work: Callable[[], ValueT]) -> ValueT:
    """What `work` gives in a process that remembers nothing from before."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)

    def send() -> None:
        try:
            theirs.send((work(), ""))
        except BaseException as error:
            theirs.send((None, f"{type(error).__name__}: {error}"))
            raise

    process = context.Process(target=send)
    process.start()
    theirs.close()
    value, error = ours.recv()
    process.join()
    if error:
        raise RuntimeError(error)
    return cast(ValueT, value)


def command(folder: Path, *arguments: str) -> Work:
    """The command line `codenib ARGUMENTS` in `folder`."""

    def work() -> None:
        os.chdir(folder)
        tempfile.tempdir = None  # each process chooses a folder that it can write
        sys.argv = ["codenib", *arguments]
        run()

    return work


def plainly(place: Place, *arguments: str) -> tuple[int, str]:
    """The exit code and the output of a command without a fault."""
    out = place.base / "plain"
    out.write_bytes(b"")
    process = os.fork()
    if process == 0:
        code = 125
        try:
            null = os.open(os.devnull, os.O_RDONLY)
            code = run_redirected(command(place.repository, *arguments), null, out, out)
        finally:
            os._exit(code)
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status), out.read_text()


def _indexed_answers(repository: Path) -> dict[str, tuple[str, object]]:
    with codenib.open(repository) as workspace:
        workspace.index(VIEWS)
    return ask_all(repository)


@dataclass(frozen=True)
class Scenario:
    """A command, the state that it starts from, and what is wrong after it ended."""

    name: str
    arguments: tuple[str, ...]
    prepare: Callable[[Place], None]
    check: Callable[[Place, Ended, str], Iterator[str]]
    begin: Callable[[Place], None] = lambda place: None  # before each trial
    drive: Callable[[Place, Running], None] | None = None

    def run(self, place: Place, injector: Injector, fault: tuple[str, int] = ("none", 0)) -> Ended:
        """One trial."""
        place.restore()
        self.begin(place)
        drive: Drive | None = None
        if self.drive is not None:
            chosen = self.drive
            drive = lambda running: chosen(place, running)  # noqa: E731 - mypy narrows no closure
        return injector.run(command(place.repository, *self.arguments), fault, drive)

    def problems(self, place: Place, ended: Ended, kind: str) -> Iterator[str]:
        """What is wrong after a trial with a fault of this kind."""
        said = f"{ended.out}\n{ended.err}"
        for trace in _TRACES:
            if trace in said:
                yield f"{trace}: {said[-1500:]}"
        if ended.code == HANGS:
            yield f"hangs: {said[-500:]}"
        elif kind != "kill" and ended.code not in _EXPECTED_CODES:
            yield f"exit code {ended.code}: {said[-500:]}"
        elif kind != "kill" and ended.code not in (0, 130) and "try: " not in said:
            yield f"an error without a hint: {said[-500:]}"
        yield from self.check(place, ended, kind)


def check_answers(place: Place, ended: Ended, kind: str) -> Iterator[str]:
    """What was published still answers, the next run is clean, and then all is as in an index of its own."""
    for name, (snapshot, answer) in in_child(lambda: ask_all(place.repository, "never")).items():
        if snapshot == "an error without a hint":
            yield f"{name}: {snapshot}: {answer}"
        elif snapshot != "error" and answer != place.expected[name].get(snapshot, answer):
            yield f"{name}, published: {answer}"
    yield from check_next_run(place, ("index", "--views", _NAMES))
    yield from check_fresh(place)
    left = [str(path.relative_to(place.root)) for path in place.root.rglob("*") if _is_partial(path)]
    if kind not in ("kill", "crash", "EROFS+"):  # else it could not be removed
        left += [path.name for path in (place.root / "tmp").iterdir()]
    if left:
        yield f"left behind: {left[:5]}"


def check_published(place: Place, ended: Ended, kind: str) -> Iterator[str]:
    """As `check_answers`, where something was published before: no question may lack an answer."""
    for name, (snapshot, answer) in in_child(lambda: ask_all(place.repository, "never")).items():
        if (
            snapshot == "error"
            and "not built yet" not in str(answer)
            and "earlier snapshot" not in str(answer)
        ):
            yield f"{name}, lost: {answer}"
    yield from check_answers(place, ended, kind)


def check_next_run(place: Place, arguments: Sequence[str]) -> Iterator[str]:
    code, said = plainly(place, *arguments)
    if code:
        yield f"the next run ends with {code}: {said[-1000:]}"
    if "damaged" in said or "failed" in said:
        yield f"the next run is not clean: {said[-1000:]}"


def check_fresh(place: Place) -> Iterator[str]:
    def look() -> tuple[dict[str, tuple[str, object]], list[str], dict[Any, list[str]]]:
        answers = ask_all(place.repository)
        with codenib.open(place.repository) as workspace:
            views = workspace.status().views.items()
            return (
                answers,
                [kind for kind, view in views if view.status is not Status.FRESH],
                workspace.verify(),
            )

    try:
        answers, not_fresh, differences = in_child(look)
    except RuntimeError as error:
        yield f"after the next run: {error}"
        return
    for name, (snapshot, answer) in answers.items():
        if place.expected[name].get(snapshot) != answer:
            yield f"{name}, after the next run: {snapshot} {answer}"
    if not_fresh:
        yield f"not fresh: {not_fresh}"
    if any(differences.values()):
        yield f"verify: {differences}"


def _is_partial(path: Path) -> bool:
    return path.name.startswith((".tmp-", ".partial-")) or path.name.endswith((".tmp", ".new", ".codenib"))


def _nothing(place: Place) -> None:
    place.edit(1)
    place.learn()


def _indexed(place: Place) -> None:
    """The state of an earlier commit is indexed; the files went on."""
    place.learn()
    _index(place)
    place.edit(1)
    place.learn()


def _index(place: Place) -> None:
    code, said = plainly(place, "index", "--views", _NAMES)
    assert code == 0, said


def _worn(place: Place) -> None:
    """Several snapshots, of which most go."""
    for number in range(4):
        place.edit(number)
        _index(place)
    place.learn()


def _right_or_labelled(place: Place, ended: Ended, kind: str) -> Iterator[str]:
    """A search's own answer is right for its snapshot, or it is an error."""
    if ended.code == 0:
        reply = json.loads(ended.out)
        found = [[item["path"], item["start_line"]] for item in reply["items"]]
        right = place.expected["words"][reply["snapshot"]["id"]]
        assert isinstance(right, tuple)
        if found != [[path, line] for path, line, *_ in right[0]]:
            yield f"a wrong answer: {ended.out[:500]}"
    yield from check_published(place, ended, kind)


def _edit_and_stop(place: Place, running: Running) -> None:
    """Change a file under a running `watch`, and end it when it says what became of that."""
    if running.printed("up to date", "updated", "indexed"):
        place.write_main(2)
        running.printed("src/main.rb", "1 changed", "try: ")
        running.printed("1 changed", within_s=8.0)  # it tries again
    running.interrupt()


def _watched(place: Place) -> None:
    _indexed(place)
    place.write_main(2)
    place.learn()
    place.write_main(1)


def _ask_server(place: Place, running: Running) -> None:
    """A session of an MCP client."""
    client = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    }
    messages: list[dict[str, Any]] = [
        {"id": 0, "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        {"id": 1, "method": "tools/call", "params": {"name": "read", "arguments": {"path": "src/main.rb"}}},
        {"id": 2, "method": "tools/call", "params": {"name": "search", "arguments": {"query": "session"}}},
    ]
    for message in messages:
        running.send(json.dumps({"jsonrpc": "2.0", **message}))
        if "id" in message:
            running.printed(f'"id":{message["id"]}')


def _replied(place: Place, ended: Ended, kind: str) -> Iterator[str]:
    """Each request has a reply: the right one, or an error with what helps."""
    replies = {}
    for line in ended.out.splitlines():
        row = json.loads(line)
        replies[row.get("id")] = row.get("result") or row
    for number, right in ((1, "saves a session, 1 times"), (2, "src/session.rb")) if kind != "kill" else ():
        text = json.dumps(replies.get(number, ""))
        if right not in text and "try: " not in text:
            yield f"no reply to {number}: {text[:1500]}"
    yield from check_published(place, ended, kind)


_CONFIGURATIONS = {
    ".claude.json": '{\n  "theme": "dark",\n  "mcpServers": {"other": {"command": "x"}}\n}\n',
    ".codex/config.toml": 'model = "m"\n',
    ".cursor/mcp.json": "",
}


def _with_clients(place: Place) -> None:
    for name, text in _CONFIGURATIONS.items():
        file = place.user / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if text:
            file.write_text(text)


def _with_entries(place: Place) -> None:
    _with_clients(place)
    code, said = plainly(place, "install")
    assert code == 0, said


def _configured(place: Place) -> dict[str, str]:
    files = {name: place.user / name for name in _CONFIGURATIONS}
    return {name: file.read_text() if file.exists() else "" for name, file in files.items()}


def check_configurations(place: Place, ended: Ended, kind: str) -> Iterator[str]:
    """Each file is as before or as after, the next install is clean, and uninstall gives back what was."""
    for name, text in _configured(place).items():
        if text != _CONFIGURATIONS[name] and '"codenib"' not in text and "[mcp_servers.codenib]" not in text:
            yield f"{name} is neither: {text!r}"
    if any(word not in "".join(_configured(place).values()) for word in ('"dark"', '"other"', '"m"')):
        yield f"lost: {_configured(place)}"
    yield from check_next_run(place, ("install",))
    yield from check_next_run(place, ("uninstall",))
    if _configured(place) != _CONFIGURATIONS:
        yield f"not as before: {_configured(place)}"
    left = [str(path.relative_to(place.root)) for path in place.root.rglob("*") if _is_partial(path)]
    if left:
        yield f"left behind: {left}"


def _installed_tool(place: Place) -> dict[str, str]:
    """The files of the tool, with what is in them; npm notes when it wrote them."""
    box = place.root / "tools"
    files = [path for path in box.rglob("*") if path.is_file() and path.name != ".package-lock.json"]
    return {str(path.relative_to(box)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _with_tool_known(place: Place) -> None:
    code, said = plainly(place, *_TOOL)
    assert code == 0, said
    place.expected["tool"] = {"": _installed_tool(place)}
    shutil.rmtree(place.root / "tools")


def check_tool(place: Place, ended: Ended, kind: str) -> Iterator[str]:
    """A tool is there whole or not at all, and the next install brings it."""
    there = plainly(place, "tools")[1]
    if "6.0.2 (codenib)" in there and _installed_tool(place) != place.expected["tool"][""]:
        yield f"half of it is there: {there}"
    yield from check_next_run(place, _TOOL)
    if _installed_tool(place) != place.expected["tool"][""]:
        yield f"not as without a fault: {sorted(_installed_tool(place))}"
    left = [path.name for path in (place.root / "tools").iterdir() if _is_partial(path)]
    if left:
        yield f"left behind: {left}"


_TOOL = ("tools", "install", "typescript-language-server")
_SEARCH = ("search", "--route", "lexical", "--json", "where is a session saved")

SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("index", ("index", "--views", _NAMES), _nothing, check_answers),
        Scenario("update", ("update",), _indexed, check_published),
        Scenario("search", _SEARCH, _indexed, _right_or_labelled),
        Scenario("gc", ("gc", "--keep", "1"), _worn, check_published),
        Scenario(
            "watch",
            ("watch",),
            _watched,
            check_published,
            begin=lambda place: place.write_main(1),
            drive=_edit_and_stop,
        ),
        Scenario("mcp", ("mcp",), _indexed, _replied, drive=_ask_server),
        Scenario("tools", _TOOL, _with_tool_known, check_tool),
        Scenario("install", ("install",), _with_clients, check_configurations),
        Scenario("uninstall", ("uninstall",), _with_entries, check_configurations),
    )
}
