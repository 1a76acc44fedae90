"""Two texts of a file in, whether the edit broke its syntax out."""

from __future__ import annotations

from codenib.units.languages import grammar_for, language_hint, parser_for


def breaks_syntax(path: str, before: bytes, after: bytes) -> bool:
    """Whether the new text has more unreadable places; grammars stumble over some good code too."""
    return _errors(path, after) > _errors(path, before)


def _errors(path: str, data: bytes) -> int:
    language = grammar_for(data, language_hint(path))
    if language is None:
        return 0
    parser, _ = parser_for(language)
    left = [parser.parse(data).root_node]
    count = 0
    while left:
        node = left.pop()
        count += node.is_error or node.is_missing
        if node.has_error:
            left += node.children
    return count
