"""The worked examples of the paper's appendix "Metric Definitions and Worked Examples", and their edges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codenib.evals.metrics.scoring import (
    ModelCall,
    SourceBlock,
    VectorCheck,
    amortised_after,
    answer_recall,
    block_recall,
    callable_recall,
    check_graph,
    committed,
    distinct,
    isolated_cost,
    navigation_match,
    neighbor_recall,
    recall,
    reciprocal_rank,
    repeated_tokens,
    resident_cost,
    success,
    trajectory_tokens,
    update_speedup,
)

# -- patch-target coverage and all-file success

RANKED = ["A:f1", "A:f2", "C:g", "B:h"]
FILES = [each.partition(":")[0] for each in RANKED]


def test_ranked_blocks_collapse_to_distinct_files() -> None:
    assert distinct(FILES) == ["A", "C", "B"]


def test_at_two_file_recall_is_half_and_success_is_zero() -> None:
    assert recall(FILES, {"A", "B"}, 2) == 0.5
    assert success(FILES, {"A", "B"}, 2) == 0.0


def test_at_three_both_are_one() -> None:
    assert recall(FILES, {"A", "B"}, 3) == 1.0
    assert success(FILES, {"A", "B"}, 3) == 1.0


def test_a_score_without_targets_is_refused() -> None:
    with pytest.raises(ValueError, match="target"):
        recall(FILES, [], 3)


def test_the_first_target_gives_the_reciprocal_rank() -> None:
    assert reciprocal_rank(FILES, {"B"}) == pytest.approx(1 / 3)
    assert reciprocal_rank(FILES, {"Z"}) == 0.0


# -- symbols by overlap, as the rows define them


def test_a_block_is_found_when_a_returned_unit_of_its_path_overlaps_it() -> None:
    targets = [SourceBlock("a.py", 10, 20), SourceBlock("b.py", 5, 9)]
    assert block_recall([SourceBlock("a.py", 20, 30), SourceBlock("b.py", 10, 12)], targets, 10) == 0.5


def test_only_callables_cover_under_the_strict_reading() -> None:
    whole = SourceBlock("a.py", 1, 500, level="L0")
    function = SourceBlock("a.py", 12, 14, level="L2")
    targets = [SourceBlock("a.py", 10, 20)]
    assert block_recall([whole], targets, 10) == 1.0
    assert callable_recall([whole], targets, 10) == 0.0
    assert callable_recall([whole, function], targets, 10) == 1.0
    assert callable_recall([whole, function], targets, 1) == 0.0


# -- physical-index fidelity


def test_eight_shared_identities_of_ten_score_point_eight() -> None:
    assert neighbor_recall([*range(8), 98, 99], range(10)) == 0.8


def test_a_permutation_of_all_ten_scores_one() -> None:
    assert neighbor_recall(reversed(range(10)), range(10)) == 1.0


# -- navigation compatibility


def test_the_same_places_match_whatever_their_order() -> None:
    assert navigation_match([("b.py", 30), ("a.py", 10), ("a.py", 10)], [("a.py", 10), ("b.py", 30)])


@pytest.mark.parametrize("live", [[("a.py", 10)], [("a.py", 11), ("b.py", 30)]])
def test_an_omitted_place_or_another_line_is_a_mismatch(live: list[tuple[str, int]]) -> None:
    assert not navigation_match([("a.py", 10), ("b.py", 30)], live)


# -- maintenance output checks

EDGES = [("calls", "f", "g", 3), ("calls", "f", "g", 4), ("imports", "m", "n", 1)]


def test_one_missing_typed_edge_fails_however_near_the_f1_is_to_one() -> None:
    many = [("calls", "f", str(number), number) for number in range(1000)]
    check = check_graph(many[1:], many, [], [])
    assert not check.exact
    assert check.edge_f1 > 0.999


def test_facts_are_a_multiset() -> None:
    assert check_graph(EDGES, [*EDGES, EDGES[0]], [], []).facts_equal is False


def test_a_graph_transition_needs_facts_changed_facts_and_serving() -> None:
    same = [("a.py", 1)]
    assert check_graph(EDGES, EDGES, EDGES[:1], [(same, same)]).exact
    replayed = check_graph(EDGES, EDGES, [], [(same, same), (same, [("a.py", 2)])])
    assert not replayed.exact
    assert replayed.serving_agreement == 0.5
    assert not check_graph(EDGES[1:], EDGES, EDGES[:1], []).changed_facts_equal


def test_swapped_ranks_in_the_replay_fail_a_vector_transition() -> None:
    maintained, rebuilt = [*range(8), 9, 8], list(range(10))
    check = VectorCheck(identities_equal=True, vectors_equal=True, replay_equal=maintained == rebuilt)
    assert not check.exact
    assert neighbor_recall(maintained, rebuilt) == 1.0


def test_the_setup_is_charged_by_its_share() -> None:
    assert update_speedup(10.0, 1.0) == 10.0
    assert update_speedup(10.0, 1.0, setup_s=5.0, share=5) == 5.0


# -- committed-answer localization

TARGETS = [SourceBlock("A", 10, 20), SourceBlock("B", 30, 40), SourceBlock("C", 50, 60)]


def test_an_answer_that_covers_two_of_three_targets_scores_two_thirds() -> None:
    answer = [SourceBlock("A", 15, 18), SourceBlock("C", 55, 65), SourceBlock("D", 1, 8)]
    assert answer_recall(answer, TARGETS, 5) == pytest.approx(2 / 3)


def test_an_answer_without_a_usable_span_scores_zero() -> None:
    assert answer_recall([], TARGETS, 5) == 0.0


def test_overlapping_predictions_take_one_place() -> None:
    answer = [SourceBlock("A", 1, 30), SourceBlock("A", 5, 8), SourceBlock("B", 31, 31)]
    assert committed(answer) == [answer[0], answer[2]]
    assert answer_recall(answer, TARGETS, 2) == pytest.approx(2 / 3)


# -- trajectory tokens


def test_a_trajectory_sums_what_the_provider_reports_of_every_call() -> None:
    assert trajectory_tokens([ModelCall(100, 10), ModelCall(250, 20), ModelCall(300, 5)]) == 685


def test_an_observation_kept_from_the_second_of_six_calls_costs_four_prompts() -> None:
    m, j, b = 6, 2, 100
    kept = dict.fromkeys(range(j + 1, m + 1), b)
    assert repeated_tokens(kept) == b * (m - j) == 400


def test_a_rewrite_ends_the_cost_of_what_it_drops() -> None:
    assert repeated_tokens({3: 100, 4: 100}) == 200


# -- lifecycle accounting


def test_the_projections_are_the_papers() -> None:
    build, load, trace = 116.7, 7.40, 0.727
    assert isolated_cost(build, load, trace, 20, 20) == pytest.approx(13.27, abs=0.01)
    assert resident_cost(build, load, trace, 20, 20) == pytest.approx(6.24, abs=0.01)
    assert resident_cost(build, load, trace, 20, 100) == pytest.approx(1.27, abs=0.01)


def test_a_build_pays_after_its_extra_cost_over_the_saving() -> None:
    assert amortised_after(2.0 - 0.0064, 0.883e-3) == pytest.approx(2258, abs=1)
    assert amortised_after(1.0, 0.0) is None


# -- properties

items = st.lists(st.integers(0, 12), max_size=20)


@given(items, st.sets(st.integers(0, 12), min_size=1), st.integers(1, 20))
def test_recall_grows_with_k_and_success_is_full_recall(
    returned: list[int], targets: set[int], k: int
) -> None:
    assert recall(returned, targets, k) <= recall(returned, targets, k + 1)
    assert success(returned, targets, k) == float(recall(returned, targets, k) == 1.0)


blocks = st.builds(
    lambda path, start, length: SourceBlock(path, start, start + length),
    st.sampled_from("ab"), st.integers(1, 30), st.integers(0, 5),
)  # fmt: skip


@given(st.lists(blocks, max_size=10), st.lists(blocks, min_size=1, max_size=5))
def test_committed_spans_never_overlap_and_cover_no_more_than_all_spans_do(
    answers: list[SourceBlock], targets: list[SourceBlock]
) -> None:
    kept = committed(answers)
    assert not any(a.overlaps(b) for at, a in enumerate(kept) for b in kept[at + 1 :])
    assert answer_recall(answers, targets, 99) <= block_recall(answers, targets, 99)
