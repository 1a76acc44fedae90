"""What follows a name: whether it is called with the arguments of a template between."""

from __future__ import annotations

import pytest

from codenib.core.text.c_tokens import lex
from codenib.navigation.cpp.clangd.chosen import TEMPLATE_CALL, chosen_tokens


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("load<int>(1)", True),
        ("load<std::vector<std::pair<int, int>>>(1)", True),
        ("load<(1 > 2), sizeof(x)>(1)", True),
        ("load<int> x(1)", False),
        ("load < 3; f(x > (y))", False),
        ("if (load < 3) f(1)", False),
        ("load<int>", False),
        ("load<int>>(1)", False),
        ("load" + "<a" * 400 + ">" * 400 + "(1)", False),
    ],
)
def test_a_name_is_called_where_a_parenthesis_follows_the_arguments_of_its_template(
    text: str, called: bool
) -> None:
    after = {token.text: after for token, after, _ in chosen_tokens(lex(text, is_c=False), ())}
    assert (after["load"] == TEMPLATE_CALL) is called
