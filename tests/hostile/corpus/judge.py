"""What a case was answered in, what is wrong with it out, in words."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from tests.hostile.corpus.case import SECRET, SECRET_NAME, Case

LIMIT_S = 10.0


def limit_s() -> float:
    """The limit on this machine now: more where more processes want to run than it has cores."""
    return LIMIT_S * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


Answer = dict[str, Any]
#: Colours and the end of a line; on standard error also how progress is drawn: one line up, no cursor.
_OWN_STYLE = {
    "out": re.compile(r"\x1b\[[\d;]*[mK]"),
    "err": re.compile(r"\x1b\[(?:[\d;]*[mK]|1A|\?25[lh])"),
}
_TRACE = ("internal error", "Traceback (most recent", "RecursionError", "MemoryError")


def judge(case: Case, answers: Sequence[Answer]) -> Iterator[str]:
    """Every problem of every answer."""
    for answer in answers:
        name = " ".join(part for part in answer["question"] if part != "--no-pager")[:80]
        yield from (f"{name}: {problem}" for problem in _one(case, answer))


def _one(case: Case, answer: Answer) -> Iterator[str]:
    text = answer["out"] + answer["err"]
    if answer["seconds"] > limit_s():
        yield f"took {answer['seconds']:.1f} s"
    for trace in _TRACE:
        if trace in text:
            yield f"{trace}: {text[-600:]}"
    for hidden in (SECRET, SECRET_NAME, *case.hidden):
        if hidden in text:
            at = text.index(hidden)
            yield f"shows {hidden!r}: {text[max(0, at - 100) : at + 60]!r}"
    if answer["terminal"]:
        yield from _escapes(answer)
    if answer["question"][0] == "mcp":
        yield from _reply(case, answer)
    else:
        yield from _outcome(case, answer)


def _controls(text: str) -> list[str]:
    """What drives a terminal, reorders text or is not seen; joiners and soft hyphens are of scripts."""
    passed = "\n\t\r\f\u00ad\u200c\u200d"
    odd = sorted(set(text) - set(passed))
    return [char for char in odd if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")]


def _escapes(answer: Answer) -> Iterator[str]:
    for stream, own_style in _OWN_STYLE.items():
        plain = own_style.sub("", answer[stream])
        odd = _controls(plain)
        # carriage returns are how progress is drawn
        if odd:
            yield f"{stream} has {odd[:5]!a}"


def _reply(case: Case, answer: Answer) -> Iterator[str]:
    if answer["question"][1] == "stderr":
        return
    if answer["code"]:
        yield "no reply"
        return
    reply = json.loads(answer["out"])
    if "error" in reply:
        yield f"error {reply['error']}"
    for content in reply.get("result", {}).get("content", ()):
        odd = _controls(content.get("text", "") + content.get("uri", "") + content.get("name", ""))
        if odd:
            yield f"reply has {odd[:5]!a}"


def _outcome(case: Case, answer: Answer) -> Iterator[str]:
    """Exit code and contents."""
    arguments = [part for part in answer["question"] if part not in ("--no-pager", "--json")]
    command, asked = arguments[0], arguments[1:]
    if answer["code"] not in (0, 1, 2, 3, 4):
        yield f"ended with {answer['code']}: {answer['err'][-300:]}"
    told = answer["err"].startswith(("codenib: ", "\x1b[31mcodenib:")) or '"error":"' in answer["out"]
    if answer["code"] > 1 and not told:
        yield f"ended with {answer['code']} without a message: {answer['err'][-300:]!r}"
    if case.refused and (answer["code"] or case.refused != "?"):
        if command in ("regex", "read", "search") and not answer["code"]:
            yield "answers where it should refuse"
        elif command == "regex" and case.refused != "?" and case.refused not in answer["err"]:
            yield f"refuses with {answer['err']!r}"
        return
    if command in ("index", "status", "regex", "search", "map", "explore", "trust") and answer["code"]:
        yield f"ended with {answer['code']}: {answer['err'][-400:]}"
    elif "--json" in answer["question"] and "--at" not in asked and not answer["code"]:
        yield from _facts(case, command, asked, json.loads(answer["out"]))


def _facts(case: Case, command: str, asked: Sequence[str], answer: Answer) -> Iterator[str]:
    project = case.project
    places = {(item.get("path"), item.get("line")) for item in answer["items"]}
    wanted = project.places | case.more_places
    if command == "regex" and asked[:1] == ["moor_vessel"]:
        if places != wanted:
            yield f"places {sorted(places ^ wanted)} are wrong"
    elif command == "search":
        paths = {item["path"] for item in answer["items"]}
        if not paths & {path for path, _ in project.places}:
            yield f"the good files are not in {sorted(paths)}"
    elif command == "read" and asked[0] == project.declared[0]:
        if answer["items"][0]["text"].rstrip("\n") != project.files[asked[0]].rstrip("\n"):
            yield f"another text: {answer['items'][0]['text'][:200]!r}"
    elif command == "refs":
        lacks = project.places - places
        if lacks and answer["completeness"] == "all":
            yield f"{answer['provider']}, {answer['completeness']}: lacks {sorted(lacks)}"
    elif command == "def" and answer["completeness"] != "unknown" and not places & {project.declared}:
        yield f"{answer['provider']}: {sorted(places)} instead of {project.declared}"
