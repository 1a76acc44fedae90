"""Cases in, what each did wrong out: a folder, a home, a port and a group of processes of its own for each."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.corpus.canaries import Port, differences, marked_processes, state_of
from tests.hostile.corpus.case import SECRET, Case, Place
from tests.hostile.corpus.judge import Answer, judge, limit_s
from tests.hostile.corpus.questions import calls_for, commands_for, is_textual
from tests.hostile.corpus.session import hold_session

#: Seconds for all questions of a case together: each alone has ten.
_ALL_S = 150.0
_ROOT = Path(__file__).resolve().parents[3]
_ASK = Path(__file__).with_name("ask.py")


@dataclass(frozen=True)
class Outcome:
    """What became of one case."""

    case: Case
    problems: tuple[str, ...]
    answers: int
    seconds: float
    slowest_s: float


def run_case(case: Case, folder: Path) -> Outcome:
    """Make the case in the empty `folder`, ask everything, look at every canary."""
    started = time.monotonic()
    port = Port()
    place = Place(folder.resolve(), port.number)
    try:
        asked_from = case.make(place)
        before = [state_of(part) for part in (place.victim, place.own)]
        environment = _environment(place)
        with marked_processes(str(place.root)) as left:
            answers, problems = _questions(case, asked_from, environment, place)
        problems += judge(case, answers)
        after = [state_of(part) for part in (place.victim, place.own)]
        for was, now in zip(before, after, strict=True):
            problems += differences(was, now)[:5]
        problems += [f"still runs: {command}" for command in left]
        if not case.is_engine:  # servers that are killed leave folders of theirs
            problems += [f"left behind: {path.name}" for path in (place.root / "tmp").iterdir()]
        problems += _traces_of_the_secret(place.root / "state")
        if port.calls:
            problems.append(f"called the network {port.calls} times")
    finally:
        port.close()
    slowest = max((answer["seconds"] for answer in answers), default=0.0)
    return Outcome(case, tuple(problems), len(answers), time.monotonic() - started, slowest)


def run_in_temporary(case: Case) -> Outcome:
    """The same in a folder that is removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="codenib-hostile-"))
    try:
        return run_case(case, folder)
    finally:
        # Python's own removal fails on paths that are longer than the system allows.
        subprocess.run(["rm", "-rf", str(folder)], check=False, capture_output=True)


def _environment(place: Place) -> dict[str, str]:
    """The user's, with homes of this case alone; caches of compilers are shared, or each case would fill its own."""
    user = Path.home()
    chosen = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "CODENIB_"))}
    for name in ("home", "state", "tmp"):
        (place.root / name).mkdir()
    shared = Path(tempfile.gettempdir()) / "codenib-hostile-caches"
    chosen |= {
        "HOME": str(place.root / "home"),
        "TMPDIR": str(place.root / "tmp"),
        "CODENIB_HOME": str(place.root / "state"),
        "CODENIB_TOOLBOX": os.environ.get("CODENIB_TOOLBOX", str(_ROOT / ".tools" / "box")),
        "CODENIB_HOSTILE": str(place.root),
        "CARGO_HOME": os.environ.get("CARGO_HOME", str(user / ".cargo")),
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(user / ".rustup")),
        "GOPATH": os.environ.get("GOPATH", str(user / "go")),
        "GOCACHE": str(shared / "go"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return chosen


def _questions(
    case: Case, folder: Path, environment: dict[str, str], place: Place
) -> tuple[list[Answer], list[str]]:
    """All answers, and what went wrong on the way to them."""
    out = place.root / "answers"
    questions = json.dumps(commands_for(case)).encode()
    with (place.root / "errors").open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-P", str(_ASK), str(out)],
            cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=errors, stderr=errors,
            start_new_session=True,
        )  # fmt: skip
        problems = _wait(process, questions, out)
    rows = [json.loads(line) for line in out.read_text("ascii").splitlines()] if out.exists() else []
    if rows and "asked" in rows[-1]:
        problems.append(f"never came back from: {' '.join(rows[-1]['asked'])}")
    if process.returncode and not problems:
        problems.append(
            f"ended with {process.returncode}: {(place.root / 'errors').read_text('utf-8', 'replace')[-500:]}"
        )
    answers = [row for row in rows if "question" in row]
    if is_textual(case) and not case.refused and not problems:
        answers += hold_session(folder, environment, calls_for(case), limit_s())
    return answers, problems


def _wait(process: subprocess.Popen[bytes], questions: bytes, out: Path) -> list[str]:
    """Feed the process and wait; it is ended when a question takes far longer than it may."""
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.write(questions)
        process.stdin.close()
    begun = last = time.monotonic()
    size = 0
    while process.poll() is None:
        time.sleep(0.02)
        now, grown = time.monotonic(), out.stat().st_size if out.exists() else 0
        last, size = (now, grown) if grown != size else (last, size)
        if now - last > 2 * limit_s() or now - begun > _ALL_S:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return [f"hangs: killed after {now - last:.0f} s"]
    return []


def _traces_of_the_secret(folder: Path) -> list[str]:
    """Files of the store that have the user's text, where they are not compressed."""
    wanted = SECRET.encode()
    return [
        f"the store has the secret: {path.relative_to(folder)}"
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and wanted in path.read_bytes()
    ]


def clear_caches() -> None:
    """Remove what the cases shared."""
    shutil.rmtree(Path(tempfile.gettempdir()) / "codenib-hostile-caches", ignore_errors=True)
