"""A pattern's tree in, whether it is matched in about linear time out, whatever the text is."""

from __future__ import annotations

from codenib.views.trigram.syntax import AnyChar, Chars, Either, Node, Repeat, Seq

#: Ways in which the parts without an open end may match at one place: `a?` twenty times has a million.
_MOST_WAYS = 1000


def is_cheap(root: Node) -> bool:
    """Whether backtracking cannot explode: one open-ended repeat of single characters, few choices besides.

    With one open end a line of n characters costs n² steps at worst, and lines have at most 10,000.

    >>> from codenib.views.trigram.syntax import parse
    >>> patterns = (r"def \\w+_(get|set)", "(a+)+$", ".*x.*", "(a?){20}")
    >>> [is_cheap(parse(pattern, ignore_case=False).root) for pattern in patterns]
    [True, False, False, False]
    """
    ways, open_ends = _ways(root)
    return ways <= _MOST_WAYS and open_ends <= 1


def _ways(node: Node) -> tuple[int, int]:
    """In how many ways a part may match, and how many repeats in it have no upper end; 2: too many."""
    if isinstance(node, Chars | AnyChar):
        return 1, 0
    if isinstance(node, Seq):
        ways, open_ends = 1, 0
        for part in node.parts:
            more, ends = _ways(part)
            ways, open_ends = min(ways * more, _MOST_WAYS + 1), open_ends + ends
        return ways, open_ends
    if isinstance(node, Either):
        pairs = [_ways(part) for part in node.parts]
        return sum(ways for ways, _ in pairs), max((ends for _, ends in pairs), default=0)
    return _ways_of_repeat(node)


def _ways_of_repeat(node: Repeat) -> tuple[int, int]:
    ways, open_ends = _ways(node.part)
    single = isinstance(node.part, Chars | AnyChar)
    if node.most is None:
        return ways, 1 if single else 2
    if open_ends and node.most > 1:
        return ways, 2
    chosen = node.most - node.least + 1
    if single:
        return chosen, 0
    repeated = ways ** min(node.most, 12) if ways > 1 else 1
    return min(chosen * repeated, _MOST_WAYS + 1), open_ends
