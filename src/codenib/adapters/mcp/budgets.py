"""Configuration in, what one server may use out: for open repositories, for builds, for waits."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from codenib.adapters.mcp.turns import PATIENCE_S
from codenib.fleet.scheduler.admit import BuildBudget
from codenib.serving.configuration import user_value
from codenib.system.usage import memory_limit_bytes

_OPEN_SHARE, _BUILD_SHARE = 0.5, 0.25  # of the memory; the rest is for the process, engines and others
_MB = 1_000_000


@dataclass(frozen=True, slots=True)
class ServerBudgets:
    """What a server may use; without words of the user's a share of the machine."""

    memory_bytes: float = field(default_factory=lambda: _OPEN_SHARE * memory_limit_bytes())
    builds: BuildBudget = field(default_factory=lambda: _builds(0, 0))
    patience_s: float = PATIENCE_S
    preloads: bool = True

    @classmethod
    def configured(cls) -> ServerBudgets:
        """As the user's file and the environment say."""
        memory_mb = _number("serve.memory_mb")
        return cls(
            memory_bytes=memory_mb * _MB if memory_mb else _OPEN_SHARE * memory_limit_bytes(),
            builds=_builds(_number("serve.build_cpus"), _number("serve.build_memory_mb")),
            patience_s=_number("serve.patience_s"),
            preloads=user_value("serve.preload") == "on",
        )


def _builds(cpus: int, memory_mb: int) -> BuildBudget:
    memory_bytes = memory_mb * _MB if memory_mb else _BUILD_SHARE * memory_limit_bytes()
    return BuildBudget(cpus or max(1, (os.cpu_count() or 1) // 2), memory_bytes)


def _number(name: str) -> int:
    value = user_value(name)
    assert isinstance(value, int)
    return value
