"""Rows from histories: pre-patch targets, the paper's filters, drifted targets found again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.evals.conftest import BASE, Corpus

from codenib.evals.data.rows import LocalizeRow, read_rows
from codenib.evals.data.synthesis import description

Study = Callable[..., dict[str, Any]]
MAIL = BASE["shop/mail.py"]


def made(
    study: Study, corpus: Corpus, out: Path, *more: str | Path
) -> tuple[dict[str, Any], list[LocalizeRow]]:
    found = study("dataset", "--repo", "acme/shop", "--mirror", corpus.mirror, "--out", out, *more)
    rows = read_rows(out / "rows.jsonl", LocalizeRow) if found["rows"] else []
    return found, rows


def test_a_commit_that_edits_a_function_is_a_row_with_the_function_before_it(
    study: Study, corpus: Corpus, tmp_path: Path
) -> None:
    before = corpus.repo.head()
    corpus.repo.commit(
        {"shop/mail.py": "import os\n\n" + MAIL.replace('f"to {address}: {total}"', 'f"{address}! {total}"')},
        "Receipts greet the customer by address\n\nSigned-off-by: Someone <a@b>\n",
    )
    found, (row,) = made(study, corpus, tmp_path / "run")
    assert row.base_commit == before
    assert row.query == "Receipts greet the customer by address"
    assert row.gold_files == ("shop/mail.py",)
    (block,) = row.gold_blocks
    assert (block.symbol, block.start_line, block.end_line) == ("send_receipt", 4, 6)
    assert found["errors"] == []
    assert found["rejected"]["the message is too short"] >= 1


def test_commits_that_need_a_new_function_or_touch_only_tests_make_no_row(
    study: Study, corpus: Corpus, tmp_path: Path
) -> None:
    corpus.repo.commit(
        {"shop/mail.py": MAIL + "\n\ndef new():\n    return 1\n"}, "one new function for the letters we send"
    )
    corpus.repo.commit(
        {"tests/test_mail.py": "def test_x():\n    pass\n"}, "a test for all of the letters we send"
    )
    found, rows = made(study, corpus, tmp_path / "run")
    assert rows == []
    assert found["rejected"]["a new function is needed"] == 1
    assert found["rejected"]["no source file that was there before"] >= 1


def test_the_same_history_gives_the_same_rows(study: Study, corpus: Corpus, tmp_path: Path) -> None:
    corpus.repo.commit(
        {"shop/mail.py": MAIL.replace("Mail a", "Send a")}, "word of the receipt is now another one"
    )
    made(study, corpus, tmp_path / "one")
    made(study, corpus, tmp_path / "two")
    assert (tmp_path / "one" / "rows.jsonl").read_bytes() == (tmp_path / "two" / "rows.jsonl").read_bytes()


def test_an_issue_older_than_the_fix_gets_its_targets_where_they_stood_then(
    study: Study, corpus: Corpus, tmp_path: Path
) -> None:
    asked_at = corpus.repo.head()
    corpus.repo.commit({"shop/mail.py": '"""Letters."""\n\nimport os\n\nX = os.sep\n' + MAIL[15:]}, "shift")
    fixed = (corpus.repo.path / "shop/mail.py").read_text().replace("name.format", "name.lower().format")
    fix = corpus.repo.commit({"shop/mail.py": fixed}, "fix")
    issues = tmp_path / "issues.jsonl"
    issue = {
        "repo": "acme/shop", "query": "Templates with capital letters are not found at all", "fix": fix,
        "base_commit": asked_at,
    }  # fmt: skip
    issues.write_text(json.dumps(issue) + "\n")
    found, (row,) = made(study, corpus, tmp_path / "run", "--issues", issues)
    assert row.base_commit == asked_at
    assert (row.gold_blocks[0].symbol, row.gold_blocks[0].start_line) == ("render_template", 9)
    assert found["moved"] == 1


def test_synthesis_asks_by_documentation_without_giving_the_name_away(
    study: Study, corpus: Corpus, tmp_path: Path
) -> None:
    long = 'def gather(values):\n    """Collect the values of all shops into one list."""\n' + "".join(
        f"    values.append({number} + {number})\n" for number in range(10)
    )
    corpus.repo.commit({"shop/many.py": long + "    return values\n"}, "many")
    _, rows = made(study, corpus, tmp_path / "run", "--kind", "synthesis")
    asked = {row.query: row for row in rows}
    wanted = "Where is this done: Collect the values of all shops into one list."
    assert asked[wanted].gold_blocks[0].symbol == "gather"
    for row in rows:
        if row.kind != "symbol hint":
            assert (
                row.gold_blocks[0].symbol.rpartition(".")[2].lower()
                not in row.query.partition(":")[2].lower()
            )


def test_descriptions_come_from_docstrings_and_comments_and_end_with_them() -> None:
    text = ["def f():", '    """Open it all', '    at once."""', "    code = 1"]
    assert description(text, []) == "Open it all at once."
    assert description(["func f() {"], ["// F reads the file. Then more."]) == "F reads the file."
    assert description(["int f() {", "  return 1;"], ["int x;"]) == ""
