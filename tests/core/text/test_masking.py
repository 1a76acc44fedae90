"""Several texts, masked together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codenib.core.text.masking import mask_tokens, mask_tokens_of

PIECES = (
    "ghp_", "a1" * 18, "aws_secret_access_key", " = ", "\n", "Ab1/" * 10, ":AA", "7", "x" * 33, "eyJ",
    "k" * 12, ".", "sk-", "\\n", "é", "AKIA", "Q" * 16, "",
)  # fmt: skip


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=6).map("".join), max_size=6))
def test_texts_that_are_masked_together_are_masked_as_each_alone(texts: list[str]) -> None:
    assert mask_tokens_of(texts) == [mask_tokens(text) for text in texts]
