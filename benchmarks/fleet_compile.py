"""CPU time of compiling many repositories on Ray against compiling each alone: clones in, a table out.

    python benchmarks/fleet_compile.py single FOLDER_OF_CLONES --count 100 --work /tmp/fleet
    python benchmarks/fleet_compile.py ray FOLDER_OF_CLONES --work /tmp/fleet --store s3://fleet/x
    python benchmarks/fleet_compile.py again FOLDER_OF_CLONES --work /tmp/fleet --store s3://fleet/x

Each part may be repeated until all is measured: it goes on where `--minutes` ended it. Single runs are
`codenib index` with a home each. On Ray, the processes that work (`ray::…`) and those that
they started are counted with the driver; Ray's own daemons are named apart. All are read from /proc, so this
runs on Linux. `again`: the same command without changes, and with one changed file in one repository, against
the same change alone. With `--store` what is compiled is published there as well, which single runs do not.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import secrets
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

VIEWS = "lexical,trigram"
_TICK = os.sysconf("SC_CLK_TCK")
CODENIB = [sys.executable, "-m", "codenib"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("single", "ray", "again", "report"))
    parser.add_argument("clones", type=Path)
    parser.add_argument("--count", type=int, default=100, help="of the smallest repositories")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--store", default="", help="publish there too: s3://…")
    parser.add_argument("--minutes", type=float, default=8.0, help="begin nothing more after that")
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    measured = Measured(chosen.work / "report.json")
    places = _chosen(chosen.clones, chosen.count, chosen.work)
    until = time.monotonic() + 60 * chosen.minutes
    if chosen.what == "single":
        _single(places, chosen.work, measured, until)
    elif chosen.what == "ray":
        with _cluster(chosen.work) as address:
            _on_ray(places, chosen, measured, address, until)
    elif chosen.what == "again":
        with _cluster(chosen.work) as address:
            _again(places, chosen, measured, address)
    _print(measured.report, len(places))


class Measured:
    """The report of all runs so far, in a file: a measurement is done in parts."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.report: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}

    def save(self) -> None:
        self._file.write_text(json.dumps(self.report, indent=1))


def _print(report: dict[str, Any], count: int) -> None:
    single = report.get("single", {})
    slices = report.get("slices", [])
    done = [name for each in slices for name in each["names"]]
    alone = sum(single.get(name, 0.0) for name in done)
    workers, driver = sum(each["workers_s"] for each in slices), sum(each["driver_s"] for each in slices)
    print(f"{count} repositories, {len(single)} single runs: {sum(single.values()):.1f} s of CPU")
    if alone:
        sent = sum(each["sent_bytes"] for each in slices) / 1e6
        print(
            f"on Ray {len(done)}: workers {workers:.1f} s, driver {driver:.1f} s, "
            f"{(workers + driver) / alone:.3f} times {alone:.1f} s; {sent:.1f} MB sent"
        )
        for kind in sorted({kind for each in slices for kind in each["daemons"]}):
            print(f"  {kind}: {sum(each['daemons'].get(kind, 0.0) for each in slices):.1f} s")
    for name in ("second", "changed"):
        print(name, json.dumps(report.get(name)))


def _chosen(clones: Path, count: int, work: Path) -> dict[str, Path]:
    """The repositories by name; of the one in the middle a clone that can be written to."""
    listed = work / "places.json"
    if not listed.exists():
        sizes = sorted((_size(place), str(place)) for place in clones.glob("*/repo"))
        smallest = [(size, place) for size, place in sizes if size][:count]
        print(f"{len(smallest)} repositories, {sum(size for size, _ in smallest) / 1e6:.1f} MB", flush=True)
        named = {Path(place).parent.name.replace("+", "/"): place for _, place in smallest}
        middle = list(named)[len(named) // 2]
        named[middle] = str(_writable_clone(Path(named[middle]), work / "changed.git"))
        listed.write_text(json.dumps(named))
    return {name: Path(place) for name, place in json.loads(listed.read_text()).items()}


def _single(places: dict[str, Path], work: Path, measured: Measured, until: float) -> None:
    used = measured.report.setdefault("single", {})
    for name, place in places.items():
        if name in used or time.monotonic() > until:
            continue
        home = work / "single"
        shutil.rmtree(home, ignore_errors=True)
        used[name] = _cpu([*CODENIB, "-C", str(place), "index", "--views", VIEWS], home)[0]
        if place.name == "changed.git":
            shutil.copytree(home, work / "alone", dirs_exist_ok=True)
        measured.save()


@contextlib.contextmanager
def _cluster(work: Path) -> Iterator[str]:
    """A cluster of this machine; its address."""
    # A token of this run alone: nobody else on this machine can use the cluster.
    os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    environment = {**os.environ, "CODENIB_HOME": str(work / "home"), "RAY_USAGE_STATS_ENABLED": "0"}
    start = [str(Path(sys.executable).parent / "ray"), "start", "--head", "--port=6399", "--num-cpus=2"]
    quiet = [
        "--include-dashboard=false",
        "--object-store-memory=100000000",
        "--disable-usage-stats",
        "--block",
    ]
    with (work / "ray.log").open("w") as log:
        cluster = subprocess.Popen([*start, *quiet], env=environment, stdout=log, stderr=log)
        _wait_for(6399)
        try:
            yield "127.0.0.1:6399"
        finally:
            cluster.terminate()  # with --block its daemons end with it
            cluster.wait()


def _index(chosen: argparse.Namespace, address: str) -> list[str]:
    store = ["--store", chosen.store] if chosen.store else []
    return [*CODENIB, "fleet", "index", "--views", VIEWS, "--json", "--on", address, *store]


def _on_ray(
    places: dict[str, Path], chosen: argparse.Namespace, measured: Measured, address: str, until: float
) -> None:
    """Compile those that are not compiled yet, in slices that end in time; each is a command of its own."""
    home = chosen.work / "home"
    slices = measured.report.setdefault("slices", [])
    if not slices:
        shutil.rmtree(home, ignore_errors=True)
        listed = chosen.work / "fleet.txt"
        listed.write_text("".join(f"{place} {name}\n" for name, place in places.items()))
        _cpu([*CODENIB, "fleet", "add", "--from", str(listed)], home)
    done = {name for each in slices for name in each["names"]}
    while (left := [name for name in places if name not in done]) and time.monotonic() < until:
        names = left[:25]
        watch, began = Watch(), time.perf_counter()
        driver, out = _cpu([*_index(chosen, address), *(f"--repos={name}" for name in names)], home)
        seconds = time.perf_counter() - began
        workers, daemons = watch.stop()
        reply = json.loads(out)
        slices.append({
            "names": names, "driver_s": driver, "workers_s": workers, "tasks_s": reply["cpu_s"],
            "daemons": daemons, "seconds": seconds, "lost": reply["lost"], "compiled": reply["total"],
            "sent_bytes": sum(item["sent_bytes"] for item in reply["items"]),
        })  # fmt: skip
        measured.save()
        done.update(names)


def _again(places: dict[str, Path], chosen: argparse.Namespace, measured: Measured, address: str) -> None:
    """The same command without changes; then with one changed file, against the same change alone."""
    home, index = chosen.work / "home", _index(chosen, address)
    cpu, out = _cpu(index, home)
    second = json.loads(out)
    measured.report["second"] = {
        "ms_each": 1000 * second["seconds"] / len(places),
        "process_cpu_ms_each": 1000 * cpu / len(places),
        "compiled": second["total"], "current": second["current"],
    }  # fmt: skip
    changed = chosen.work / "changed.git"
    _edit(changed)
    alone, _ = _cpu([*CODENIB, "-C", str(changed), "index", "--views", VIEWS], chosen.work / "alone")
    watch = Watch()
    fleet, out = _cpu(index, home)
    in_workers, _ = watch.stop()
    third = json.loads(out)
    measured.report["changed"] = {
        "alone_cpu_s": alone, "fleet_cpu_s": fleet + in_workers, "task_cpu_s": third["cpu_s"],
        "sent_bytes": sum(item["sent_bytes"] for item in third["items"]),
        "compiled": third["total"], "how": third["items"][0]["views"] if third["items"] else [],
    }  # fmt: skip
    measured.save()


def _wait_for(port: int) -> None:
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.2)


class Watch:
    """CPU time of Ray's processes on this machine since it was made, by what they are."""

    def __init__(self) -> None:
        self._most: dict[tuple[int, int], tuple[str, float]] = {}
        self._over = threading.Event()
        self._before = {key: used for key, (_, used) in _processes().items()}
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> tuple[float, dict[str, float]]:
        """Seconds of the workers and what they started, and of each kind of daemon."""
        self._over.set()
        self._thread.join()
        self._most |= _processes()
        kinds: dict[str, float] = defaultdict(float)
        for key, (kind, used) in self._most.items():
            kinds[kind] += used - self._before.get(key, 0.0)
        return kinds.pop("worker", 0.0), dict(kinds)

    def _look(self) -> None:
        while not self._over.wait(0.5):
            self._most |= _processes()


def _processes() -> dict[tuple[int, int], tuple[str, float]]:
    """Every process of Ray with its start: what it is, and the CPU time of it and its ended children."""
    rows = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            line = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            fields = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        kind = _kind(line)
        if kind:
            used = sum(int(each) for each in fields[11:15]) / _TICK
            rows[int(place.name), int(fields[19])] = (kind, used)
    return rows


def _kind(line: str) -> str:
    if line.partition(" ")[0].endswith("raylet/raylet"):  # names the command of workers among its arguments
        return "raylet"
    if line.startswith("ray::") or "default_worker.py" in line:
        return "worker"
    for name in ("gcs_server", "log_monitor", "dashboard", "runtime_env", "monitor.py"):
        if name in line:
            return name
    return ""


def _cpu(command: list[str], home: Path) -> tuple[float, str]:
    """CPU seconds of a command with all that it started and waited for, and its output."""
    environment = {**os.environ, "CODENIB_HOME": str(home), "CODENIB_BACKGROUND": "off"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def _size(place: Path) -> int:
    command = ["git", "-C", str(place), "ls-tree", "-r", "-l", "HEAD"]
    out = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False).stdout
    sizes = (line.split(None, 4)[3] for line in out.splitlines())
    return sum(int(size) for size in sizes if size.isdecimal())


def _writable_clone(place: Path, to: Path) -> Path:
    shutil.rmtree(to, ignore_errors=True)
    subprocess.run(["git", "clone", "-q", "--bare", str(place), str(to)], check=True)
    return to


def _edit(place: Path) -> None:
    """One more line at the end of one source file, as a new commit of the bare repository."""
    index = place / "edit.index"

    def git(*args: str, given: str | None = None) -> str:
        done = subprocess.run(
            ["git", "-C", str(place), "-c", "user.name=x", "-c", "user.email=x@example.org", *args],
            input=given, capture_output=True, text=True, check=True,
            env={**os.environ, "GIT_INDEX_FILE": str(index)},
        )  # fmt: skip
        return done.stdout

    index.unlink(missing_ok=True)
    git("read-tree", "HEAD")
    row = next(
        line
        for line in git("ls-tree", "-r", "HEAD").splitlines()
        if line.endswith((".py", ".go", ".rs", ".ts", ".c", ".rb", ".js", ".cpp", ".h"))
    )
    meta, _, path = row.partition("\t")
    text = git("cat-file", "blob", meta.split()[2]) + "\n\n"
    blob = git("hash-object", "-w", "--stdin", given=text).strip()
    git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
    commit = git("commit-tree", git("write-tree").strip(), "-p", "HEAD", "-m", "edit").strip()
    git("update-ref", "HEAD", commit)


if __name__ == "__main__":
    main()
