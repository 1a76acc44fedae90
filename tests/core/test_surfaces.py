from __future__ import annotations

from codenib.core.surfaces import ChangedNames


def test_what_is_known_already_is_taken_off() -> None:
    both = ChangedNames(
        names={"a", "b"},
        constructed={"C"},
        implicit={"D"},
        keywords={"k"},
        imports={"x.py": {"os", "re"}},
        wide={"x.py": "why"},
    )
    assert both - ChangedNames({"a"}, imports={"x.py": {"os"}}) == ChangedNames(
        names={"b"},
        constructed={"C"},
        implicit={"D"},
        keywords={"k"},
        imports={"x.py": {"re"}},
        wide={"x.py": "why"},
    )
    assert not both - both
    assert ChangedNames({"a"}) + ChangedNames({"b"}) == ChangedNames({"a", "b"})
