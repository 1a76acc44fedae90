"""Loading views, and the candidates that they rank."""

from __future__ import annotations

import pytest
from tests.gitrepo import GitRepo

from codenib.core.errors import StateError
from codenib.core.views import ViewKind
from codenib.runtime.query import compile_views
from codenib.runtime.views import load_views


def test_a_view_that_is_not_there_aborts_the_loading(shop: GitRepo) -> None:
    manifest = compile_views(shop.path, set())
    with pytest.raises(StateError, match="the graph view was not built"):
        load_views(manifest, [ViewKind.LEXICAL, ViewKind.GRAPH])


def test_ten_functions_are_found_behind_many_sections_that_rank_above_them(shop: GitRepo) -> None:
    sections = "\n".join(f"## Frobnicate {number}\n\nfrobnicate the frobnicator\n" for number in range(120))
    functions = "\n\n".join(
        f"def part_{number}():\n    return frobnicate({number})\n" for number in range(14)
    )
    shop.commit({"docs/frobnicate.md": sections, "shop/parts.py": functions})
    with load_views(compile_views(shop.path, set()), [ViewKind.LEXICAL]) as contexts:
        answer, blocks = contexts.candidates("frobnicate")
        assert len(blocks) == 10
        assert {block.item.path for block in blocks} == {"shop/parts.py"}
        assert all("frobnicate(" in block.text for block in blocks)
        assert answer.total >= 100
        few, found = contexts.candidates("with_tax", 10)
        assert found[0].item.symbol == "with_tax"
        assert not few.truncated
