"""Targets of facts and lists of them in, their numbers in a file's line out; equal ones share a number."""

from __future__ import annotations

from collections.abc import Iterable

Target = str | tuple[str | int, ...]  # outside, (path,), or (path, line, column)


class TargetTable:
    """The `targets` and `lists` of one line (`WireFacts` in core/facts.py)."""

    def __init__(self) -> None:
        self.targets: list[str | list[str | int]] = []
        self.lists: list[list[int]] = []
        self._of_target: dict[Target, int] = {}
        self._of_list: dict[tuple[int, ...], int] = {}

    def target(self, target: Target) -> int:
        """The number of a target."""
        number = self._of_target.get(target)
        if number is None:
            number = self._of_target[target] = len(self.targets)
            self.targets.append(target if isinstance(target, str) else list(target))
        return number

    def listed(self, numbers: Iterable[int]) -> int:
        """The number of a list of targets, sorted and without repeats."""
        key = tuple(sorted(set(numbers)))
        number = self._of_list.get(key)
        if number is None:
            number = self._of_list[key] = len(self.lists)
            self.lists.append(list(key))
        return number
