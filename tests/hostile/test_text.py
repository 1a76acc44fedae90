"""Text of a repository is data: it drives no terminal, forges no line, and shows no secret."""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

from codenib.adapters.cli.safe_output import SafeOutput
from codenib.adapters.mcp.tools.replies import ToolReply, render
from codenib.core.text.masking import mask_secrets
from codenib.core.text.printable import escape_controls
from codenib.manifest.home import home
from codenib.serving.workspace import Workspace
from codenib.snapshot.repository import locate
from codenib.snapshot.take import take_commit

HOSTILE = {
    "clipboard": "\x1b]52;c;ZXZpbA==\x07",
    "title": "\x1b]0;evil\x1b\\",
    "clear screen": "\x1b[2J\x1b[H",
    "link": "\x1b]8;;https://evil\x07text\x1b]8;;\x07",
    "hidden text": "\x1b[8mhidden\x1b[0m",
    "C1": "\x9b2J\x9d0;evil\x9c",
    "bidirectional override": "\u202eevil\u202c \u2066x\u2069",
    "carriage return": "harmless\rEVIL",
    "backspace": "a\x08b",
    "bell": "\x07",
    "lone surrogate": "\ud800",
    "tags": "\U000e0069\U000e0067",
    "zero width": "a\u200bb\u2060c\ufeffd",
    "bytes in variation selectors": "a\U000e0158\U000e0159",
}
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nAAAAB3Nz\n-----END OPENSSH PRIVATE KEY-----\n"
TOKENS = (
    "ghp_" + "a1" * 18, "AKIA" + "ABCDEFGH12345678", "xoxb-" + "1234567890-" * 3, "glpat-" + "a" * 20,
    "sk-ant-" + "a1-" * 20, "AIza" + "b" * 35, "npm_" + "c" * 36, "hf_" + "d" * 34, "sk_live_" + "e" * 24,
)  # fmt: skip


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("case", HOSTILE)
def test_no_control_character_reaches_a_terminal_or_a_reply(case: str) -> None:
    terminal = Terminal()
    SafeOutput(terminal).write(f"\x1b[31mred\x1b[0m {HOSTILE[case]} end\n")
    shown = terminal.getvalue()
    assert shown.startswith("\x1b[31mred\x1b[0m ") and shown.endswith("end\n")
    left = shown.replace("\x1b[31m", "").replace("\x1b[0m", "")
    reply = render(ToolReply("head", [HOSTILE[case]], {}), 1000, structured=False).text
    for text in (left, reply):
        assert text.replace("\n", "").isprintable(), ascii(text)


def test_source_as_people_write_it_passes() -> None:
    text = "def größe():\r\n\treturn '日本' # 𝕏\f\n"
    assert escape_controls(text) == escape_controls(text, styled=True) == mask_secrets(text) == text


def test_a_pipe_gets_the_text_as_it_is() -> None:
    pipe = io.StringIO()
    SafeOutput(pipe).write("a\x1b[2J\n")
    assert pipe.getvalue() == "a\x1b[2J\n"


@pytest.mark.parametrize(
    "name", ["a\nb.py", "a\x1b[2Jb.py", "a\tb.py", "\u202egnp.py", "x\rb.py", "\x9b1mb.py"]
)
def test_a_name_with_control_characters_is_counted_but_in_no_answer(tmp_path: Path, name: str) -> None:
    repo = GitRepo(tmp_path / "own")
    repo.commit({"good.py": "x = 1\n", name: "x = 2\n"})
    snapshot = take_commit(locate(repo.path), "HEAD")
    assert list(snapshot.files) == ["good.py"]
    assert snapshot.skipped == {"path with control characters": 1}
    repo.write(name, "x = 3\n")
    with Workspace(repo.path) as workspace:
        assert workspace.status().skipped == {"path with control characters": 1}


@pytest.mark.parametrize("token", TOKENS, ids=lambda token: token[:6])
def test_tokens_are_masked_wherever_they_stand(token: str) -> None:
    pipe = io.StringIO()
    SafeOutput(pipe).write(f'key = "{token}"\n')
    reply = render(ToolReply("", [f"3 {token}"], {"items": [{"text": token}]}), 1000, structured=True)
    for text in (pipe.getvalue(), reply.text, str(reply.facts)):
        assert token not in text and "[masked]" in text


def test_private_keys_are_masked_with_and_without_their_end() -> None:
    numbered = "".join(f"{number} {line}\n" for number, line in enumerate(KEY.splitlines(), 7))
    for text in (KEY, numbered, KEY[:60]):
        assert "b3Bl" not in mask_secrets(text) and "BEGIN OPENSSH" in mask_secrets(text)
    public = "-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----\n"
    assert mask_secrets(public) == public


def test_an_excerpt_from_the_middle_of_a_key_is_masked_in_pythons_api(tmp_path: Path) -> None:
    body = "".join(
        f"MIIEpAIBAAKCAQEA{number:02}q7Zt3Rw9KfB2xYvN0mLpDsHcJgUeXo15q7Zt3Rw9Kf\n" for number in range(20)
    )
    repo = GitRepo(tmp_path / "own")
    repo.commit(
        {"a.rb": f"-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----\ndef moor; end\n"}
    )
    with Workspace(repo.path) as workspace:
        passage = workspace.read("a.rb", 9, 10)
        matches = workspace.regex("Rw9KfB2", context=2)
        answer = workspace.search("moor")
        texts = workspace.texts(answer.items, at_snapshot=answer.snapshot.id)
        pack = workspace.explore("moor").text
    assert "[masked]" in passage.text and len(passage.text) == 2 * 60 + 1
    shown = [passage.text, pack, *texts, *(match.text for match in matches.items)]
    shown += [row for match in matches.items for row in (*match.before, *match.after)]
    assert matches.total == 20 and not any("Rw9KfB2" in text for text in shown)


def test_source_that_mentions_a_key_is_not_masked() -> None:
    source = 'if line == "-----BEGIN PRIVATE KEY-----":\n    continue\n    return parse_configuration(line)\n'
    assert mask_secrets(source) == source


def test_other_users_cannot_enter_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODENIB_HOME", str(tmp_path / "new"))
    assert stat.S_IMODE(home().stat().st_mode) == 0o700
    old = tmp_path / "old" / "v1"
    old.mkdir(parents=True)
    old.chmod(0o755)
    monkeypatch.setenv("CODENIB_HOME", str(old.parent))
    assert stat.S_IMODE(home().stat().st_mode) == 0o700
    assert stat.S_IMODE(os.stat(old.parent).st_mode) == 0o755  # noqa: PTH116 - not ours
