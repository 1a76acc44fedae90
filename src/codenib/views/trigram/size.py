"""A pattern in, how large it is once its counted repeats are written out; counts multiply when they nest.

`regex` writes counts out to compile: `(?:(?:a{1000}){1000}){1000}` took 55 s and all memory of a machine.
"""

from __future__ import annotations

import re

from codenib.views.trigram.syntax import pattern_tokens

MOST_NODES = 100_000
_COUNT = re.compile(r"(\d*)(,?)(\d*)\}")


def written_out(pattern: str) -> int:
    """About how many parts a pattern has; a count after a part multiplies it.

    >>> written_out("ab{10}c"), written_out("(?:a{10}b){10}")
    (12, 140)
    """
    sizes = [0]  # of the groups that are open
    last = 0  # the size of the part before
    skip = 0
    at = 0
    for token in pattern_tokens(pattern):
        at += len(token)
        if at <= skip:
            continue
        if token == "(":
            sizes.append(1)
            last = 0
        elif token == ")" and len(sizes) > 1:
            last = sizes.pop()
            sizes[-1] += last
        elif token == "{" and (count := _COUNT.match(pattern, at)):
            skip = count.end()
            times = max(int(number[:9]) for number in (count[1] or "0", count[3] or "0"))
            sizes[-1] += last * max(times - 1, 0)
            last *= max(times, 1)
        else:
            last = 1
            sizes[-1] += 1
    return sum(sizes)
