"""Runs in, chat rows and preference pairs out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import Any

import msgspec

from codenib.core.text.fence import fence_of
from codenib.runtime.context.messages import Message
from codenib.runtime.context.prompts import candidate_text
from codenib.runtime.traces.export_outcomes import GivenOutcome, KnownAnswer, covers, quality
from codenib.runtime.traces.export_rows import MessageRow, PairRow
from codenib.runtime.traces.export_runs import ExportRun
from codenib.runtime.traces.trace import Invocation, invocations

_CHEAPER = 0.8  # of two runs as good, one is better that took at most this share of the other's tokens
_MOST_PAIRS = 20  # of candidates of one run
_ASK = "Which code of this repository must be read or changed for this?"


def message_rows(run: ExportRun) -> Iterator[MessageRow]:
    """A row for each model invocation that was answered."""
    for each in invocations(run.events):
        if each.reply is not None and (completion := run.chat([each.reply.message])):
            yield MessageRow(
                run.chat(each.messages),
                completion,
                run.tools if each.may_call else "[]",
                step=each.number,
                outcome=run.outcome,
                about=run.about,
            )


def compaction_rows(run: ExportRun) -> Iterator[MessageRow]:
    """A row for each rewrite: the history before, and what was kept of it. It holds source, or is nothing."""
    history: list[Message] = []
    for event in run.events if run.source else ():
        if event.kind == "message":
            history.append(_message(event.data))
        elif event.kind == "rewrite":
            after = [_message(each) for each in event.data["history"]]
            if event.data["reason"] == "compaction":
                retained = after[-1].text.removeprefix(run.issue).strip()
                yield MessageRow(
                    run.chat(history),
                    run.chat([Message("assistant", retained)]),
                    "[]",
                    step=event.seq,
                    outcome=run.outcome,
                    about=run.about,
                )
            history = after


def run_pairs(runs: Sequence[ExportRun]) -> Iterator[PairRow]:
    """Where two runs of one issue on one snapshot parted: the reply of the better one, and of the other.

    The user's outcomes say which is better; where these are equal, the one that took far fewer tokens is.
    """
    same: dict[tuple[str, str, str], list[ExportRun]] = defaultdict(list)
    for run in runs:
        same[run.about.repository, run.about.snapshot, run.issue].append(run)
    for group in same.values():
        for one, other in combinations(group, 2):
            if (judged := _better(one, other)) is not None:
                yield from _parted(*judged)


def _better(one: ExportRun, other: ExportRun) -> tuple[ExportRun, ExportRun, str] | None:
    left, right = quality(one.outcome), quality(other.outcome)
    if left is None or right is None:
        return None
    if left != right:
        return (one, other, "better outcome") if left > right else (other, one, "better outcome")
    for good, bad in ((one, other), (other, one)):
        if 0 < good.tokens <= _CHEAPER * bad.tokens:
            return good, bad, "same outcome, fewer tokens"
    return None


def _parted(good: ExportRun, bad: ExportRun, why: str) -> Iterator[PairRow]:
    for mine, theirs in zip(invocations(good.events), invocations(bad.events), strict=False):
        if mine.messages != theirs.messages or mine.reply is None or theirs.reply is None:
            return
        if _said(mine) != _said(theirs):
            yield PairRow(
                good.chat(mine.messages),
                good.chat([mine.reply.message]),
                bad.chat([theirs.reply.message]),
                good.tools if mine.may_call else "[]",
                why=why,
                outcome=good.outcome,
                rejected_run=bad.about.run,
                about=good.about,
            )
            return


def _said(each: Invocation) -> object:
    """A reply without the ids of its calls, which no model chooses."""
    assert each.reply is not None
    message = each.reply.message
    return message.text, [(call.name, call.arguments) for call in message.calls]


def candidate_pairs(run: ExportRun, known: GivenOutcome | None) -> Iterator[PairRow]:
    """A candidate that the answer has, and one above it that it has not.

    What counts as the answer is what the user knows, or else what the run committed to: `why` says which.
    """
    lists = (event.data["items"] for event in run.events if event.kind == "candidates")
    items: list[dict[str, Any]] = next(lists, [])
    if known is not None and known.answers:
        answers, why = known.answers, "in the known answer"
    else:
        answers = tuple(KnownAnswer(span["path"], span["start_line"], span["end_line"]) for span in run.spans)
        why = "in the run's own answer"
    hits = [any(covers(a, i["path"], i["start_line"], i["end_line"]) for a in answers) for i in items]
    texts = _texts(run, items)
    pairs = ((good, bad) for good in range(len(items)) for bad in range(len(items)))
    for good, bad in islice(((g, b) for g, b in pairs if hits[g] and not hits[b]), _MOST_PAIRS):
        yield PairRow(
            run.chat([Message("user", f"{run.issue}\n\n{_ASK}")]),
            run.chat([Message("assistant", _place(items[good], texts.get(good, "")))]),
            run.chat([Message("assistant", _place(items[bad], texts.get(bad, "")))]),
            "[]",
            why=why,
            outcome=run.outcome,
            rejected_run=run.about.run,
            about=run.about,
        )


def _texts(run: ExportRun, items: Iterable[Mapping[str, Any]]) -> dict[int, str]:
    """The code of each candidate as the prompt had it, by number."""
    if not run.source:
        return {}
    users = (e.data["text"] for e in run.events if e.kind == "message" and e.data["role"] == "user")
    prompt, found = str(next(users, "")).removeprefix(run.issue), {}
    head = candidate_text(()).partition("\n")[0]
    at = prompt.find(head)
    for number, item in enumerate(items if at >= 0 else ()):
        begin = prompt.find(f"\n## {number + 1}. {item['path']}:{item['start_line']}-{item['end_line']}", at)
        if begin < 0:
            break
        after = prompt.find(f"\n## {number + 2}. ", begin + 1)
        lines = prompt[begin + 1 : after if after >= 0 else len(prompt)].strip().split("\n")
        found[number], at = "\n".join(lines[2:-1]), begin
    return found


def _place(item: Mapping[str, Any], text: str) -> str:
    name = f" {item['symbol']}" if item.get("symbol") else ""
    head = f"{item['path']}:{item['start_line']}-{item['end_line']}{name}"
    if not text:
        return head
    fence = fence_of(text)
    return f"{head}\n{fence}{item.get('language', '')}\n{text}\n{fence}"


def _message(data: Mapping[str, Any]) -> Message:
    return msgspec.convert(data, Message)
