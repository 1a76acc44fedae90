"""Routing by summaries alone: words, names and what a summary counts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from codenib.fleet.search.packages import ExportedPackage
from codenib.fleet.search.routing import Routing, route
from codenib.fleet.search.summary import RepoSummary, counted, short_hashes
from codenib.views.lexical.query import query_terms


def summary(counts: Mapping[str, int], *, package: str = "") -> RepoSummary:
    """A summary of 1,000 units that has each term in so many of them."""
    hashes = short_hashes(counts)
    order = np.argsort(hashes)
    units = counted(np.array(list(counts.values()))[order])
    return RepoSummary(
        snapshot="s",
        profiles={},
        units=1000,
        files=100,
        languages={},
        left_out=0,
        terms=hashes[order],
        unit_counts=units,
        file_counts=units,
        named_counts=np.zeros(len(units), np.uint8),
        grams=np.zeros(0, np.uint8),
        packages=(ExportedPackage("go", package, "", "", (package,)),) if package else (),
    )


def asked(query: str, summaries: Mapping[str, RepoSummary]) -> Routing:
    return route(query, query_terms(query), summaries)


def test_a_repository_of_long_units_is_not_likelier_for_having_every_word_in_more_of_them() -> None:
    short = {"socket": 8, "token": 16, "color": 64}
    long = {"socket": 64, "token": 128, "color": 512}

    routing = asked("socket token", {"a/short": summary(short), "b/long": summary(long)})

    assert [round(each.relevance, 6) for each in routing.repositories] == [1.0, 1.0]


def test_a_name_of_the_repository_or_of_its_package_outweighs_words() -> None:
    words = {"router": 64, "retry": 64, "color": 64}
    summaries = {
        "a/fits": summary(words),
        "b/panda": summary({**words, "router": 48, "mux": 1}, package="example.org/mux/v5"),
    }

    plain = asked("retry in the router", summaries).repositories
    by_package = asked("mux: retry in the router", summaries).repositories
    by_name = asked("panda: retry in the router", summaries).repositories

    assert [each.name for each in plain] == ["a/fits", "b/panda"]
    assert [(each.name, each.called) for each in by_package] == [("b/panda", "mux"), ("a/fits", "")]
    assert (by_name[0].name, by_name[0].called) == ("b/panda", "panda")


def test_a_name_that_is_a_common_word_counts_less_than_one_that_is_not() -> None:
    words = {"request": 64, "flask": 64, "retry": 64}
    summaries = {name: summary(words) for name in ("a/requests", "b/x", "c/y")}
    common = asked("requests retry", summaries).repositories
    rare = asked("zebra retry", {**summaries, "a/zebra": summary({**words, "zebra": 1})}).repositories

    assert common[0].name == "a/requests"
    assert rare[0].name == "a/zebra"
    assert rare[1].relevance < common[1].relevance


def test_what_has_no_word_of_the_query_is_left_out() -> None:
    summaries = {"a/x": summary({"router": 3}), "b/y": summary({"color": 3})}

    assert [each.name for each in asked("router", summaries).repositories] == ["a/x"]
    assert not asked("nothing", summaries).repositories
