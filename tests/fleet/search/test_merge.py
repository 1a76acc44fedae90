"""Places go to the repositories that were probably meant."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codenib.fleet.search.merge import RepositoryStanding, beliefs, share_places

standings = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=3),
    st.builds(RepositoryStanding, st.floats(1e-6, 1.0), st.floats(0.1, 500.0), st.integers(0, 30)),
    max_size=8,
)


@given(standings, st.integers(1, 20))
def test_every_place_is_filled_and_the_likelier_repository_has_no_fewer(
    asked: dict[str, RepositoryStanding], k: int
) -> None:
    slots = share_places(asked, k)
    likely = beliefs(asked)
    places = {name: sum(slot.repository == name for slot in slots) for name in asked}

    assert len(slots) == min(k, sum(each.results for each in asked.values()))
    assert [slot.score for slot in slots] == sorted((slot.score for slot in slots), reverse=True)
    for name, count in places.items():
        for other, standing in asked.items():
            if likely[other] > likely[name] and standing.results >= k:
                assert places[other] >= count


def test_a_lucky_hit_of_an_unlikely_repository_does_not_fill_the_list() -> None:
    right = RepositoryStanding(1.0, 80.0, 30)
    lucky = RepositoryStanding(0.02, 100.0, 30)

    slots = share_places({"right": right, "lucky": lucky}, 10)

    assert sum(slot.repository == "right" for slot in slots) >= 9
