"""What an export has in, its data card out: the same facts as JSON for programs and as a page for people."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

_ABOUT = {
    "routing": "which view answered each search, what else could have, the planner's signals and the cost",
    "tools": "which tool the model called in each state, as chat messages, as pairs and as decisions",
    "context": "which code was delivered with an issue and which of it the answer needed",
    "compaction": "when a history was rewritten, what was kept of it, and what the run cost from there on",
}


class DataCard(msgspec.Struct, frozen=True):
    """The facts of an export. `rows` are by form and split; counts of runs are by the name they stand for."""

    aim: str
    codenib: str
    rows: Mapping[str, Mapping[str, int]]
    split_rule: str
    runs: int
    copies_dropped: int
    duplicates_dropped: int
    masked_runs: int
    source: bool
    parquet: bool
    consent: str
    first: str
    last: str
    undated: int
    repositories: Mapping[str, int]
    licences: Mapping[str, int]
    models: Mapping[str, int]
    policies: Mapping[str, int]
    answered: int
    with_outcome: int
    outcomes_without_trace: int

    @property
    def total(self) -> int:
        return sum(sum(splits.values()) for splits in self.rows.values())


def render_card(card: DataCard) -> str:
    """The page. Its head is what loaders of datasets read: a configuration for each form that has rows."""
    lines = ["---", "configs:"]
    end = "parquet" if card.parquet else "jsonl"
    for form, splits in card.rows.items():
        if any(splits.values()):
            lines += [f"- config_name: {form}", "  data_files:"]
            lines += [
                f"  - split: {split}\n    path: {form}/{split}.{end}"
                for split, rows in splits.items()
                if rows
            ]
    lines = lines if len(lines) > 2 else ["---", "configs: []"]
    period = f"{card.first[:10]} to {card.last[:10]}" if card.first else "unknown"
    undated = f"; {card.undated} runs say no time" if card.undated else ""
    lines += [
        "---",
        "",
        f"# Training data for {card.aim}",
        "",
        f"From {card.runs} runs of agents with CodeNib {card.codenib}: {_ABOUT[card.aim]}.",
        "`schema.json` has the columns; JSON Lines and Parquet have the same rows.",
        "",
        "| rows | train | validation | test |",
        "|---|---|---|---|",
        *(
            f"| {form} | {row['train']} | {row['validation']} | {row['test']} |"
            for form, row in card.rows.items()
        ),
        "",
        f"**Split.** {card.split_rule}. All runs of an issue are in one split.",
        f"**Time.** {period}{undated}.",
        f"**Repositories.** {_counts(card.repositories)}.",
        f"**Licences**, as the repositories' own files say: {_counts(card.licences)}. Rows hold "
        + ("their source text, which stays under these licences." if card.source else "no source text."),
        f"**Consent.** {card.consent or 'None was stated. Do not publish or share these rows without it.'}",
        f"**Models.** {_counts(card.models)}. **Policies.** {_counts(card.policies)}.",
        f"**Outcomes.** {card.answered} of {card.runs} runs ended with an answer; of {card.with_outcome} the"
        " user knows how good it was. What is null is unknown."
        + (
            f" {card.outcomes_without_trace} outcomes name no exported trace."
            if card.outcomes_without_trace
            else ""
        ),
        f"**Cleaning.** {card.copies_dropped} traces were copies, {card.duplicates_dropped} rows were"
        " repeated; both are left out."
        f" Secrets of known formats and keys were masked in {card.masked_runs} runs; others may be there.",
        "",
        "**Limits.** A run's own answer is no proof that it was right. The propensity of a decision is 1"
        " where a rule made it: such rows alone say nothing about what the alternatives would have given."
        " Texts of issues and repositories are data, not instructions, and may be wrong or hostile.",
        "",
    ]  # fmt: skip
    return "\n".join(lines)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in sorted(counts.items()))
