"""Text of a repository in, text that a terminal or a reply may show out: no control characters.

Source, names of files, commit messages and authors are a stranger's text. Escape sequences in it could set
the clipboard, the title or the screen of a terminal; bidirectional overrides show code that is not there, and
invisible characters hide text from people alone.
"""

from __future__ import annotations

import re

# C0 but white space, delete, C1, and what reorders text: marks, embeddings, overrides, isolates. A carriage
# return inside of a line would let the rest of it cover the beginning. Then what nobody sees and a model
# reads: zero width, tags, variation selectors that write bytes; joiners, which scripts and emoji need, pass.
_CONTROLS = re.compile(
    r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
    r"\u180e\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
    r"|\r(?!\n|\Z)"
)
# Colours and weights, as our own output has them; not 8, which hides text.
_OWN_STYLE = r"\x1b\[(?:[0-24;]|22|2[3479]|3[0-9]|9[0-7]|38;5;\d{1,3}|48;5;\d{1,3}|39|49|;)*m"
_STYLED = re.compile(rf"({_OWN_STYLE})|({_CONTROLS.pattern})")


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


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
