"""A repository's folder in the store in, the policy that its user activated out."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from codenib.core.errors import InputError

if TYPE_CHECKING:
    from codenib.planner.model import DecisionModel, ModelKind

_log = logging.getLogger("codenib")


def policy_file(folder: Path, kind: ModelKind) -> Path:
    """Where the active policy of a kind is."""
    return folder / "policies" / f"{kind}.json"


class ActiveModel:
    """The active policy of one kind, read again when its file changes."""

    def __init__(self, folder: Path, kind: ModelKind) -> None:
        self._file = policy_file(folder, kind)
        self._read_at = 0
        self._model: DecisionModel | None = None

    def read(self) -> DecisionModel | None:
        """The policy, or None: without a file, and with one that is unreadable, the rules decide."""
        try:
            changed = self._file.stat().st_mtime_ns
        except OSError:
            self._read_at, self._model = 0, None
            return None
        if changed != self._read_at:
            from codenib.planner.model import read_model

            self._read_at = changed
            try:
                self._model = read_model(self._file.read_bytes(), str(self._file))
            except (InputError, OSError) as error:
                _log.warning("the rules decide: %s", error)
                self._model = None
        return self._model
