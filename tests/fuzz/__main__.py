"""Run decoders on many inputs: `python -m tests.fuzz COUNT [NAME…]`; exit 1 when one fails.

The process may use little memory and an input little time. A decoder may hang or grow inside C code, where
no exception ends it: then the process is killed, and the input that it had last lies in `.fuzz/NAME-PID`.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

from hypothesis import HealthCheck, Phase, given, settings
from tests.fuzz.decoders import DECODERS, Decoder, forget_files
from tests.fuzz.inputs import near, near_by

MEMORY_BYTES = 3_000_000_000
INPUT_S = 10.0
DRAWN_BY_HYPOTHESIS = 1000  # executions up to which it draws
_LAST_INPUTS = Path(__file__).resolve().parents[2] / ".fuzz"


def main(arguments: list[str]) -> int:
    count, names = int(arguments[0]), arguments[1:]
    seed = int(os.environ.get("CODENIB_FUZZ_SEED", "1"))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    _LAST_INPUTS.mkdir(exist_ok=True)
    print(f"seed {seed}\ndecoder            executions  seconds  worst ms  peak MB")
    failed = [
        each.name for each in DECODERS if (not names or each.name in names) and not _fuzz(each, count, seed)
    ]
    forget_files()
    print(f"failed: {', '.join(failed)}" if failed else "no decoder failed")
    return 1 if failed else 0


def _fuzz(decoder: Decoder, count: int, seed: int) -> bool:
    """Whether the decoder holds for its past failures, its seeds and `count` more inputs."""
    last = _LAST_INPUTS / f"{decoder.name}-{os.getpid()}"
    worst_s, executions, armed_s = 0.0, 0, 0.0

    def attempt(data: bytes) -> None:
        nonlocal worst_s, executions, armed_s
        last.write_bytes(data)
        started = time.perf_counter()
        if started > armed_s + 1.0:  # not for each input: it takes a thread
            faulthandler.dump_traceback_later(INPUT_S, exit=True)
            armed_s = started
        with suppress(*decoder.refusals):
            decoder.run(data)
        executions += 1
        worst_s = max(worst_s, time.perf_counter() - started)

    started = time.perf_counter()
    try:
        for data in (*decoder.failures, *decoder.seeds):
            attempt(data)
        _draw(decoder, attempt, count, seed)
    except Exception:  # noqa: BLE001 - any exception is what this looks for
        traceback.print_exc(limit=-6)
        print(f"{decoder.name}: FAILED; the input is {last}")
        return False
    finally:
        faulthandler.cancel_dump_traceback_later()
    last.unlink()
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    numbers = f"{time.perf_counter() - started:8.1f} {worst_s * 1000:9.1f} {peak_mb:8.0f}"
    print(f"{decoder.name:18} {executions:10,} {numbers}", flush=True)
    return True


def _draw(decoder: Decoder, attempt: Callable[[bytes], None], count: int, seed: int) -> None:
    seeds = list(decoder.seeds)
    if count > DRAWN_BY_HYPOTHESIS:
        random = Random(f"{decoder.name} {seed}")
        for _ in range(count):
            attempt(near_by(random, seeds, decoder.words))
        return
    limits = settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=True,  # a check in CI gives the same answer twice
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    limits(given(near(seeds, decoder.words))(attempt))()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
