"""Text of a repository in, text that a terminal or a reply may show out: no control characters, no secrets.

Source, names of files, commit messages and authors are a stranger's text. Escape sequences in it could set
the clipboard, the title or the screen of a terminal; bidirectional overrides show code that is not there.
"""

from __future__ import annotations

import re

# C0 but white space, delete, C1, and what reorders text: marks, embeddings, overrides, isolates. A carriage
# return inside of a line would let the rest of it cover the beginning.
_CONTROLS = re.compile(
    r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]|\r(?!\n|\Z)"
)
# Colours and weights, as our own output has them; not 8, which hides text.
_OWN_STYLE = r"\x1b\[(?:[0-24;]|22|2[3479]|3[0-9]|9[0-7]|38;5;\d{1,3}|48;5;\d{1,3}|39|49|;)*m"
_STYLED = re.compile(rf"({_OWN_STYLE})|({_CONTROLS.pattern})")
_KEY_BLOCK = re.compile(
    r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)(?:(?!-----BEGIN ).)*?(?=-----END |\Z)",
    re.DOTALL,
)
_TOKEN = re.compile(
    r"\b(?:(gh[pousr]_)[A-Za-z0-9]{36,}|(github_pat_)\w{40,}|(glpat-)[\w-]{20,}|((?:AKIA|ASIA))[0-9A-Z]{16}\b"
    r"|(xox[abeoprs]-)[\w-]{20,}|(sk-ant-)[\w-]{30,}|(sk-(?:proj-)?)[A-Za-z0-9_-]{40,}|(AIza)[\w-]{35}\b"
    r"|(npm_)[A-Za-z0-9]{36}\b|(pypi-)[\w-]{60,}|(hf_)[A-Za-z]{34}\b|((?:sk|rk)_live_)[A-Za-z0-9]{20,}"
    r"|(SG\.)[\w-]{20,}\.[\w-]{40,}|(dop_v1_)[0-9a-f]{64}|(ya29\.)[\w-]{40,})"
)


def escape_controls(text: str, *, styled: bool = False) -> str:
    r"""Control characters as `\u001b`; with `styled`, colours of a terminal pass.

    >>> escape_controls("a\x1b]52;c;eA==\x07b\tc")
    'a\\u001b]52;c;eA==\\u0007b\tc'
    """
    if styled:
        return _STYLED.sub(lambda match: match[1] or _escaped(match[2]), text)
    return _CONTROLS.sub(lambda match: _escaped(match[0]), text)


def is_printable(name: str) -> bool:
    """Whether a file's name has no control character, tab or line break: it stands in one line of a reply."""
    return not _CONTROLS.search(name) and not any(char in name for char in "\n\r\t\f")


def mask_secrets(text: str) -> str:
    """Private keys and tokens of known formats, wherever they stand, without what is secret in them.

    >>> mask_secrets("token = ghp_" + "a1" * 18)
    'token = ghp_[masked]'
    """
    if "PRIVATE KEY" in text:
        text = _KEY_BLOCK.sub(lambda match: f"{match[1]}[masked]", text)
    return _TOKEN.sub(lambda match: f"{next(filter(None, match.groups()))}[masked]", text)


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}"
