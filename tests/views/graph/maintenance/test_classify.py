from __future__ import annotations

from tests.views.graph.sample import SHOP, facts_of

from codenib.views.graph.maintenance.classify import symbol_changes
from codenib.views.graph.maintenance.text_edit import TextEdit

NEW = """\
import os

def fmt(x):
    return x

class Shop:
    def run(self):
        self.open = True
        fmt(new(1))

def bar():
    return 1

def new(x):
    return fmt(x)
"""


def test_each_declaration_has_its_fate() -> None:
    changes = symbol_changes(
        facts_of("a.py", SHOP), facts_of("a.py", NEW), TextEdit(SHOP.encode(), NEW.encode())
    )
    found = {each.symbol: (each.change, each.by) for each in changes}
    assert found["old"] == ("deleted", 0)
    assert found["new"] == ("added", 0)
    assert found["Shop.run"][0] == "affected"
    assert found["fmt"] == ("unchanged", 0)
    assert found["bar"] == ("shifted", -3)
