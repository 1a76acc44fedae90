"""CPU time of compiling many repositories on Ray against compiling each alone: clones in, a table out.

    python benchmarks/fleet_compile.py FOLDER_OF_CLONES --count 100 --work /tmp/fleet

Single runs are `codenib index` with a home each. On Ray, the processes that work (`ray::…`) and those that
they started are counted with the driver; Ray's own daemons are named apart. All are read from /proc, so this
runs on Linux. Then: the same command without changes, and with one changed file in one repository, against
the same change alone.
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
from pathlib import Path
from typing import Any

VIEWS = "lexical,trigram"
_TICK = os.sysconf("SC_CLK_TCK")
CODENIB = [sys.executable, "-m", "codenib"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--most-bytes", type=int, default=8_000_000, help="of a repository's files")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--on", default="", help="a cluster that runs; else one is started")
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    sizes = sorted((_size(place), place) for place in chosen.clones.glob("*/repo"))
    fitting = [(size, place) for size, place in sizes if 0 < size <= chosen.most_bytes][-chosen.count :]
    places = [place for _, place in fitting]
    print(f"{len(places)} repositories, {sum(size for size, _ in fitting) / 1e6:.1f} MB", flush=True)
    changed = _writable_clone(places[len(places) // 2], chosen.work / "changed.git")
    places[len(places) // 2] = changed
    report: dict[str, Any] = {"repositories": len(places), "views": VIEWS}
    report["single"] = _single(places, chosen.work)
    print(json.dumps({"single_cpu_s": round(sum(report["single"].values()), 1)}), flush=True)
    report |= _fleet(places, changed, chosen.work)
    (chosen.work / "report.json").write_text(json.dumps(report, indent=1))
    single = sum(report["single"].values())
    ray = report["ray"]
    print(f"single runs: {single:.1f} s of CPU")
    print(f"on Ray: {ray['cpu_s']:.1f} s of CPU, {ray['cpu_s'] / single:.3f} times; {ray['seconds']:.0f} s")
    print("Ray's daemons apart:", ", ".join(f"{k} {v:.1f} s" for k, v in ray["daemons"].items()))
    print("second run:", report["second"], "one changed file:", report["changed"])


def _single(places: list[Path], work: Path) -> dict[str, float]:
    used = {}
    for place in places:
        home = work / "single"
        shutil.rmtree(home, ignore_errors=True)
        used[str(place)] = _cpu([*CODENIB, "-C", str(place), "index", "--views", VIEWS], home)[0]
        if place.name == "changed.git":
            shutil.copytree(home, work / "alone", dirs_exist_ok=True)
    return used


def _fleet(places: list[Path], changed: Path, work: Path) -> dict[str, Any]:
    home = work / "home"
    shutil.rmtree(home, ignore_errors=True)
    listed = work / "fleet.txt"
    listed.write_text("".join(f"{place} {place.parent.name}/{place.stem}\n" for place in places))
    _cpu([*CODENIB, "fleet", "add", "--from", str(listed)], home)
    address = "127.0.0.1:6399"
    # A token of this run alone: nobody else on this machine can use the cluster.
    os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    environment = {**os.environ, "CODENIB_HOME": str(home), "RAY_USAGE_STATS_ENABLED": "0"}
    start = [str(Path(sys.executable).parent / "ray"), "start", "--head", "--port=6399", "--num-cpus=2"]
    quiet = [
        "--include-dashboard=false",
        "--object-store-memory=100000000",
        "--disable-usage-stats",
        "--block",
    ]
    log = (work / "ray.log").open("w")
    cluster = subprocess.Popen([*start, *quiet], env=environment, stdout=log, stderr=log)
    _wait_for(6399)
    index = [*CODENIB, "fleet", "index", "--views", VIEWS, "--json"]
    try:
        watch = Watch()
        began = time.perf_counter()
        driver, out = _cpu([*index, "--on", address], home)
        seconds = time.perf_counter() - began
        workers, daemons = watch.stop()
        reply = json.loads(out)
        print(f"driver {driver:.1f} s, workers {workers:.1f} s, tasks {reply['cpu_s']:.1f} s", flush=True)
        ray = {
            "cpu_s": driver + workers, "driver_s": driver, "workers_s": workers, "tasks_s": reply["cpu_s"],
            "daemons": daemons, "seconds": seconds, "failures": reply["failures"], "lost": reply["lost"],
            "compiled": reply["total"],
        }  # fmt: skip
        second_cpu, out = _cpu([*index, "--on", address], home)
        second = json.loads(out)
        quiet_run = {
            "ms_each": 1000 * second["seconds"] / len(places),
            "process_cpu_ms_each": 1000 * second_cpu / len(places),
            "compiled": second["total"], "current": second["current"],
        }  # fmt: skip
        _edit(changed)
        alone, _ = _cpu([*CODENIB, "-C", str(changed), "index", "--views", VIEWS], work / "alone")
        watch = Watch()
        fleet, out = _cpu([*index, "--on", address], home)
        in_workers, _ = watch.stop()
        third = json.loads(out)
        one = {
            "alone_cpu_s": alone, "fleet_cpu_s": fleet + in_workers, "task_cpu_s": third["cpu_s"],
            "compiled": third["total"], "how": third["items"][0]["views"] if third["items"] else [],
        }  # fmt: skip
    finally:
        cluster.terminate()  # with --block its daemons end with it
        cluster.wait()
        log.close()
    return {"ray": ray, "second": quiet_run, "changed": one}


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
