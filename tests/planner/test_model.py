"""A model chooses the route, says by which signals, and leaves the rules only where it is clearly better."""

from __future__ import annotations

import msgspec
import pytest

from codenib.core.answers import Plan, Route
from codenib.core.errors import InputError
from codenib.core.requests import SearchRequest
from codenib.planner.model import ActionWeights, DecisionModel, query_features, read_model
from codenib.planner.plan import make_plan
from codenib.planner.signals import read_signals

READY = {"ranked:lexical", "ranked:semantic", "ranked:semantic:instant"}
ISSUE = 'crash\nFile "app/core.py", line 3, in run\nFile "app/main.py", line 9, in main\nplease help'


def model(*, margin: float = 0.0, price: float = 0.0) -> DecisionModel:
    """The more frames a text has, the better words alone are; the learned order costs ten times as much."""
    return DecisionModel(
        kind="router",
        features=("frames", "words", "paths"),
        means=(0.0, 0.0, 0.0),
        scales=(1.0, 1.0, 1.0),
        actions={
            "lexical": ActionWeights((0.2, 0.5, 0.01, 0.0), (0.1, 0.0, 0.0, 0.0)),
            "hybrid:learned": ActionWeights((0.5, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)),
            "hybrid:weighted": ActionWeights((0.4, 0.0, 0.0, 0.0), (0.2, 0.0, 0.0, 0.0)),
        },
        price=price,
        margin=margin,
    )


def plan(query: str, given: DecisionModel | None, request: SearchRequest | None = None) -> Plan:
    return make_plan(request or SearchRequest(query), read_signals(query), READY, model=given)


def test_the_plan_names_the_model_its_version_and_the_two_signals_that_decided() -> None:
    chosen = plan(ISSUE, model())
    assert (chosen.route, chosen.fusion) == (Route.LEXICAL, "")
    assert chosen.model == f"router@{model().version}"
    assert chosen.decided_by == ("frames", "words")
    assert chosen.reason == f"{chosen.model} chose lexical by frames and words"
    assert chosen.estimate_ms == 6.0


def test_without_a_model_the_plan_is_that_of_the_rules_and_names_none() -> None:
    chosen = plan(ISSUE, None)
    assert (chosen.route, chosen.fusion, chosen.model, chosen.decided_by) == (Route.HYBRID, "learned", "", ())


def test_the_rules_stay_where_the_model_is_not_ahead_by_its_margin() -> None:
    chosen = plan(ISSUE, model(margin=5.0))
    assert (chosen.route, chosen.fusion) == (Route.HYBRID, "learned")
    assert chosen.reason == "it is an issue's text"
    assert chosen.model
    assert len(chosen.decided_by) == 2


def test_a_price_makes_a_cheaper_route_win() -> None:
    text = "something is wrong\nand it has no frames"
    assert plan(text, model()).fusion == "learned"
    assert plan(text, model(price=0.2)).fusion == "weighted"


def test_what_the_caller_asks_for_is_honoured_whatever_the_model_says() -> None:
    for request in (SearchRequest(ISSUE, route="hybrid"), SearchRequest(ISSUE, fusion="rrf")):
        chosen = plan(ISSUE, model(), request)
        assert chosen.route is Route.HYBRID
        assert chosen.model == ""


def test_where_a_reader_is_named_the_model_says_whether_and_how_many_places_it_reads() -> None:
    frames, plain = ISSUE, "something is wrong\nand it has no frames"
    few = ActionWeights((0.6, 0.0, 0.0, 0.0), (1.5, 0.0, 0.0, 0.0))
    many = ActionWeights((0.55, 0.1, 0.0, 0.0), (3.0, 0.0, 0.0, 0.0))
    actions = {"hybrid:learned": model().actions["hybrid:learned"]}
    reading = msgspec.structs.replace(
        model(), actions={**actions, "hybrid:learned+read10": few, "hybrid:learned+read30": many}
    )

    def read(text: str, given: DecisionModel | None, cut: int | None = None) -> tuple[str | None, int, str]:
        chosen = plan(text, given, SearchRequest(text, reranker="onnx:m", cut=cut))
        return chosen.reranker, chosen.k_rerank, chosen.model

    assert read(plain, None) == ("onnx:m", 30, "")
    assert read(plain, reading) == ("onnx:m", 10, reading.name)
    assert read(frames, reading) == ("onnx:m", 30, reading.name)
    dear = msgspec.structs.replace(reading, price=1.0)
    assert read(frames, dear) == (None, 0, dear.name)
    assert read(frames, dear, cut=7) == ("onnx:m", 7, "")  # asked for
    assert plan(frames, reading).reranker is None  # nobody named one
    assert read(frames, model()) == ("onnx:m", 30, model().name)  # it was learned without a reader


def test_without_vectors_no_model_chooses_a_route_that_needs_them() -> None:
    chosen = make_plan(SearchRequest(ISSUE), read_signals(ISSUE), {"ranked:lexical"}, model=model())
    assert (chosen.route, chosen.model) == (Route.LEXICAL, "")


def test_an_action_that_the_model_does_not_know_leaves_the_rules() -> None:
    choice = model().choose({"frames": 3.0}, ("hybrid:rrf", "lexical"), "hybrid:rrf")
    assert (choice.action, choice.signals) == ("hybrid:rrf", ())


def test_the_version_follows_what_decides_and_not_the_card() -> None:
    carded = msgspec.structs.replace(model(), card={"rows": 3})
    assert carded.version == model().version
    assert model(margin=1.0).version != model().version


def test_a_file_comes_back_as_it_was_and_what_is_no_policy_is_refused() -> None:
    assert read_model(msgspec.json.encode(model()), "x.json") == model()
    with pytest.raises(InputError, match=r"x\.json is no policy"):
        read_model(b'{"kind": "router"}', "x.json")
    short = msgspec.structs.replace(model(), means=(0.0,))
    with pytest.raises(InputError, match="another format"):
        read_model(msgspec.json.encode(short), "x.json")


def test_features_are_the_signals_as_numbers() -> None:
    features = query_features(read_signals(ISSUE))
    assert features["frames"] == pytest.approx(1.0986, abs=1e-3)
    assert features["question"] == 0.0
    assert query_features(read_signals("where are cookies parsed?"))["question"] == 1.0
