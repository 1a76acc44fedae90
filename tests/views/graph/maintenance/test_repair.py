from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.views.graph.sample import facts_of

from codenib.views.graph.facts.canonical import canonical
from codenib.views.graph.maintenance.bodies import bodies
from codenib.views.graph.maintenance.repair import plan_repair, repaired
from codenib.views.graph.maintenance.text_edit import TextEdit

BODIES = [
    "    return 1",
    "    helper()\n    return 2",
    "    def inner():\n        return helper()\n    return inner",
]
FUNCTIONS = st.lists(
    st.tuples(st.sampled_from(["helper", "one", "two", "three", "four"]), st.sampled_from(BODIES)),
    max_size=6,
    unique_by=lambda row: row[0],
)
#: Long functions that stay, so that a repair is worth it.
TAIL = "".join(f"def keep{n}():\n" + "    helper()\n" * 20 + "    return one\n\n" for n in range(5))


def text_of(functions: list[tuple[str, str]]) -> str:
    return "".join(f"def {name}():\n{body}\n\n" for name, body in functions) + TAIL


@given(FUNCTIONS, FUNCTIONS)
def test_a_repaired_file_has_the_facts_of_one_that_was_asked_as_a_whole(
    before: list[tuple[str, str]], after: list[tuple[str, str]]
) -> None:
    old, new = (facts_of("a.py", text_of(functions)) for functions in (before, after))
    edit = TextEdit(text_of(before).encode(), text_of(after).encode())
    declared = set(old.identities) ^ set(new.identities)
    changed = {name.partition("#")[2].partition(":")[0].rpartition(".")[2] for name in declared}
    # A body that writes a name which came or went is asked for again.
    repair = plan_repair(
        edit, bodies(old), bodies(new), lambda text: not any(name.encode() in text for name in changed)
    )
    if repair is None:
        return
    chosen = [any(a <= row <= b for a, b in repair.within) for row in new.occurrences["line"].tolist()]
    part = replace(new, occurrences=new.occurrences[chosen])
    whole, moved = repaired(old, part, repair)
    assert whole.plain() == new.plain()
    assert moved == chosen.count(False)


def test_a_file_of_a_few_lines_is_not_worth_a_repair() -> None:
    old, new = "def a():\n    return 1\n", "def a():\n    return 2\n"
    edit = TextEdit(old.encode(), new.encode())
    plan = plan_repair(edit, bodies(facts_of("a.py", old)), bodies(facts_of("a.py", new)), lambda _: True)
    assert plan is None


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_the_numbering_of_targets_and_lists_does_not_matter(order: tuple[int, int, int]) -> None:
    facts = facts_of("a.py", "def x(): x\ndef y(): x; y\ndef z(): z; y; x\n")
    sizes = [facts.list_items[a:b].tolist() for a, b in zip(facts.list_ptr, facts.list_ptr[1:], strict=False)]
    mixed = [sizes[at] for at in order]
    moved = {old: new for new, old in enumerate(order)}
    rows = facts.occurrences.copy()
    for column in ("defs", "keys"):
        rows[column] = [moved.get(number, -1) for number in rows[column].tolist()]
    other = replace(
        facts,
        list_items=np.array([item for one in mixed for item in one], np.int32),
        list_ptr=np.cumsum([0, *map(len, mixed)]).astype(np.int32),
        occurrences=rows,
    )
    assert canonical(other).plain() == canonical(facts).plain()
