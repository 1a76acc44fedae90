"""Sections, tables and figures in, Markdown out. Every report answers the same five questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from codenib.evals.metrics.bootstrap import Estimate
from codenib.evals.runs import Record


@dataclass
class Report:
    """What was measured, on what, what came out, how sure we are, what was left out."""

    title: str
    measured: str
    subject: str
    results: list[str] = field(default_factory=list)
    certainty: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    warning: str = ""
    missing: list[str] = field(default_factory=list)

    @property
    def missing_line(self) -> str:
        """What the study went on without, on one line; "" when nothing was missing."""
        return f"Missing: {'; '.join(self.missing)}." if self.missing else ""

    def heading(self, text: str) -> None:
        self.results.append(f"### {text}")

    def say(self, *paragraphs: str) -> None:
        self.results.extend(paragraphs)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[object]], note: str = "") -> None:
        self.results.append(table(head, rows))
        if note:
            self.results.append(note)

    def figure(self, name: str, caption: str) -> None:
        self.results.append(f"![{caption}](figures/{name}.png)")
        self.results.append(f"*{caption}* ([SVG](figures/{name}.svg))")

    def markdown(self, header: Record, command: str) -> str:
        """The whole page. What was missing is its first line: a reader of the numbers must meet it first."""
        parts = [f"> **{self.missing_line}**"] if self.missing else []
        parts.append(f"# {self.title}")
        if self.warning:
            parts.append(f"> **{self.warning}**")
        parts += [
            "## What was measured",
            self.measured,
            "## On what",
            self.subject,
            "## Results",
            *self.results,
        ]
        parts += ["## How sure", *(self.certainty or ["Single measurements; no interval is given."])]
        parts += ["## What was left out", bullets(self.left_out) if self.left_out else "Nothing."]
        parts += ["## How to repeat it", f"```\n{command}\n```", _environment(header)]
        return "\n\n".join(parts) + "\n"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; columns whose cells look like numbers are right-aligned."""
    cells = [[_cell(value) for value in row] for row in rows]
    numeric = [all(_is_number(row[at]) for row in cells) for at in range(len(head))]
    lines = [list(head), ["---:" if each else "---" for each in numeric], *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def bullets(items: Sequence[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def with_interval(estimate: Estimate, digits: int = 3, sign: bool = False) -> str:
    """`.512 [.430, .590]`."""
    style = f"{'+' if sign else ''}.{digits}f"
    return f"{estimate.value:{style}} [{estimate.low:{style}}, {estimate.high:{style}}]"


def seconds(value: float) -> str:
    """A duration in the unit that people would say it in."""
    if value < 0.001:
        return f"{1e6 * value:.0f} µs"
    if value < 1:
        return f"{1000 * value:.3g} ms"
    return f"{value:.3g} s" if value < 120 else f"{value / 60:.3g} min"


def size(value: float) -> str:
    return f"{value / 1e6:.2f} MB" if value < 1e7 else f"{value / 1e6:.0f} MB"


def _cell(value: object) -> str:
    text = "–" if value is None else str(value)
    return text.replace("|", "\\|").replace("\n", " ")


def _is_number(cell: str) -> bool:
    return cell == "–" or cell[:1].isdigit() or (cell[:1] in "+-−." and cell[1:2].isdigit())


def _environment(header: Record) -> str:
    found = header["environment"]
    libraries = ", ".join(f"{name} {version}" for name, version in found["libraries"].items())
    source = f" ({found['source']})" if found["source"] else ""
    lines = [
        f"codenib {found['codenib']}{source}, Python {found['python']}, git {found['git']}; {libraries}.",
        f"{found['platform']}, {found['processor']}, {found['cores']} cores, {found['memory_gb']} GB.",
    ]
    if header.get("resumed_by"):
        lines.append(f"The run was continued by: {', '.join(header['resumed_by'])}.")
    return "\n".join(lines)
