"""Questions to a fleet of small git repositories: routing, freshness, what is left out, who may know what."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.fleet.search.conftest import index_text
from tests.gitrepo import GitRepo

from codenib.core.errors import InputError
from codenib.fleet.search.fleet import Fleet
from codenib.fleet.search.members import FleetMember

Members = dict[str, FleetMember]


def test_an_answer_names_the_repository_of_each_place_and_whom_it_asked(fleet_members: Members) -> None:
    with Fleet(list(fleet_members.values())) as fleet:
        answer = fleet.search("send a message to an address", ask=1)

    assert (answer[0].repository, answer[0].path) == ("team/mailer", "mailer/send.py")
    assert answer[0].text.startswith("def send_message")
    assert [each.name for each in answer.coverage.asked] == ["team/mailer"]
    assert answer.coverage.repositories == 3
    assert answer.coverage.unlikely + answer.coverage.excluded == 2
    assert not answer.coverage.unavailable


def test_a_word_that_is_common_in_the_fleet_does_not_lift_an_unrelated_repository(
    fleet_members: Members,
) -> None:
    with Fleet(list(fleet_members.values())) as fleet:
        answer = fleet.search("checkout of a cart with prices", ask=3)
        likely = fleet.search("checkout of a cart with prices")

    assert answer[0].repository == "team/shop"
    assert {item.repository for item in likely} == {"team/shop"}
    assert "team/mailer" in likely.coverage.next_likely
    assert likely.coverage.asked[0].words[:2] == ("checkout", "cart")
    scores = [item.score for item in answer]
    assert scores == sorted(scores, reverse=True)
    best_elsewhere = max(item.score for item in answer if item.repository != "team/shop")
    assert best_elsewhere < answer[0].score / 2


def test_a_repository_that_the_query_calls_by_name_is_asked_first(fleet_members: Members) -> None:
    with Fleet(list(fleet_members.values())) as fleet:
        unnamed = fleet.search("sum of prices")
        named = fleet.search("mailer: sum of prices")
        linked = fleet.search("sum of prices\n\nSeen in https://example.org/Team/Mailer/issues/1")

    assert unnamed.coverage.asked[0].name == "team/shop"
    assert [each.coverage.asked[0].name for each in (named, linked)] == ["team/mailer"] * 2
    assert [each.coverage.asked[0].called for each in (unnamed, named, linked)] == [
        "",
        "mailer",
        "team/mailer",
    ]
    assert named.coverage.asked[0].likelihood > 0.5


def test_each_repository_keeps_its_own_order(fleet_members: Members) -> None:
    with Fleet(list(fleet_members.values())) as fleet:
        everywhere = fleet.search("prices", k=20)
        alone = {
            name: [item.place.span for item in fleet.search("prices", k=20, repos=[name])]
            for name in ("team/shop", "team/mailer")
        }

    for name, spans in alone.items():
        assert [item.place.span for item in everywhere if item.repository == name] == spans


def test_globs_choose_repositories_and_one_that_fits_none_is_an_error(fleet_members: Members) -> None:
    with Fleet(list(fleet_members.values())) as fleet:
        answer = fleet.search("prices", repos=["team/*", "!*/mailer"])

        assert {item.repository for item in answer} == {"team/shop"}
        assert answer.coverage.repositories == 1
        with pytest.raises(InputError, match="no repository of the fleet is called nobody"):
            fleet.search("prices", repos=["nobody/*"])


def test_an_answer_is_of_what_is_published_and_says_when_newer_commits_are_there(
    fleet_members: Members,
) -> None:
    shop = GitRepo(fleet_members["team/shop"].path)
    with Fleet(list(fleet_members.values())) as fleet:
        before = fleet.search("refund of a voucher", repos=["team/shop"])
        shop.commit({"shop/refund.py": "def refund_voucher(voucher):\n    return voucher.amount\n"})
        behind = fleet.search("refund of a voucher", repos=["team/shop"])
        index_text(shop)
        after = fleet.search("refund of a voucher", repos=["team/shop"])

    assert not before.items
    assert not behind.items
    assert [each.behind for each in after.coverage.asked] == [False]
    assert after[0].path == "shop/refund.py"
    assert after.coverage.asked[0].snapshot.commit == shop.head()


def test_what_was_never_indexed_is_named_as_not_asked(
    fleet_members: Members, git_repo: Callable[..., GitRepo]
) -> None:
    fresh = git_repo("fresh")
    fresh.commit({"a.py": "def send_message(): ...\n"})
    members = [*fleet_members.values(), FleetMember("team/fresh", fresh.path)]
    with Fleet(members) as fleet:
        answer = fleet.search("send a message")

    assert dict(answer.coverage.unavailable) == {"team/fresh": "it was never indexed"}
    assert not answer.coverage.complete


def test_what_is_not_allowed_changes_nothing_of_an_answer(
    fleet_members: Members, git_repo: Callable[..., GitRepo]
) -> None:
    allowed = {"team/shop", "other/parser"}
    secret = git_repo("secret")
    secret.commit({"cart.py": "def checkout(prices):\n    return prices\n" * 20})
    index_text(secret)
    known = [member for name, member in fleet_members.items() if name in allowed]
    with (
        Fleet(known) as alone,
        Fleet([*fleet_members.values(), FleetMember("x/secret", secret.path)]) as whole,
    ):
        own = alone.search("checkout of a cart with prices")
        tenants = whole.search("checkout of a cart with prices", allowed=allowed)
        with pytest.raises(InputError) as error:
            whole.search("prices", repos=["x/secret"], allowed=allowed)
        with pytest.raises(InputError) as missing:
            whole.search("prices", repos=["x/nobody"], allowed=allowed)
        opened = set(whole.workspaces.names())

    assert [(item.repository, item.place, item.score) for item in tenants] == [
        (item.repository, item.place, item.score) for item in own
    ]
    assert (tenants.total, tenants.coverage.repositories) == (own.total, 2)
    assert tenants.coverage.unlikely == own.coverage.unlikely
    assert error.value.message.replace("secret", "nobody") == missing.value.message
    assert opened
    assert opened <= {str(fleet_members[name].path) for name in allowed}


def test_open_views_stay_within_their_bytes(fleet_members: Members) -> None:
    members = list(fleet_members.values())
    with Fleet(members, memory_bytes=1) as fleet:
        answer = fleet.search("prices")

        assert {item.repository for item in answer} == {"team/shop", "team/mailer"}
        assert fleet.workspaces.size_bytes() <= 1
        assert answer[0].text  # what answered can still be read


def test_a_pattern_finds_the_lines_of_every_repository_and_says_that_these_are_all(
    fleet_members: Members,
) -> None:
    with Fleet(list(fleet_members.values())) as fleet:
        answer = fleet.regex(r"sum\(prices\)")
        limited = fleet.regex(r"def \w+", k=1)
        nowhere = fleet.regex("nowhere_at_all")

    assert [(item.repository, item.match.path, item.match.line) for item in answer] == [
        ("team/mailer", "mailer/prices.py", 2),
        ("team/shop", "shop/cart.py", 7),
    ]
    assert answer.complete
    assert (answer.total, answer.files) == (2, 2)
    assert (len(limited), limited.total, limited.truncated) == (1, 7, True)
    assert (nowhere.total, nowhere.complete) == (0, True)
    assert (nowhere.coverage.excluded, nowhere.coverage.asked) == (3, ())


def test_a_pattern_is_not_complete_while_a_repository_could_not_be_searched(
    fleet_members: Members, git_repo: Callable[..., GitRepo]
) -> None:
    fresh = git_repo("fresh")
    fresh.commit({"a.py": "prices = 1\n"})
    with Fleet([*fleet_members.values(), FleetMember("team/fresh", fresh.path)]) as fleet:
        unindexed = fleet.regex("prices")
        too_late = fleet.regex("prices", repos=["!team/fresh"], timeout_s=1e-9)

    assert not unindexed.complete
    assert dict(unindexed.coverage.unavailable) == {"team/fresh": "it was never indexed"}
    assert not too_late.complete
    assert set(too_late.coverage.unavailable) == {"team/shop", "team/mailer"}
    assert too_late.coverage.excluded == 1


def test_names_are_searched_in_every_repository_that_has_the_word(fleet_members: Members) -> None:
    with Fleet(list(fleet_members.values())) as fleet:
        answer = fleet.symbols("total")
        parts = fleet.symbols("connect")

    assert [(item.repository, item.symbol.qualified) for item in answer] == [("team/mailer", "total")]
    assert [each.name for each in answer.coverage.asked] == ["team/mailer"]
    assert answer.coverage.unlikely == 2
    assert [item.symbol.qualified for item in parts] == ["connect"]
