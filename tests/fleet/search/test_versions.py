"""Whether a version is what is asked for; what is not known is not guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codenib.fleet.search.versions import fits, is_same, newest_fitting

numbers = st.tuples(*[st.integers(0, 30)] * 3)


@pytest.mark.parametrize(
    ("ecosystem", "wanted", "version", "expected"),
    [
        ("python", ">=2,<3", "2.32.3", True),
        ("python", "~=2.1", "3.0", False),
        ("python", "", "3.0", True),
        ("python", "^1.2", "1.3", None),
        ("javascript", "^1.2.0 || ~3.1", "3.1.9", True),
        ("javascript", "1.2.x", "1.3.0", False),
        ("javascript", ">= 1.2 <2", "1.9.9", True),
        ("javascript", "1.2.3 - 1.4", "1.4.7", True),
        ("javascript", "*", "7.0.0", True),
        ("javascript", "latest", "7.0.0", None),
        ("javascript", "workspace:*", "7.0.0", None),
        ("javascript", "^1.0.0", "2.0.0-beta.1", None),
        ("rust", "0.2.3", "0.3.0", False),
        ("rust", "1", "1.9.0", True),
        ("rust", "=1.0.3", "1.0.4", False),
        ("rust", ">=1.2, <1.5", "1.4.9", True),
        ("rust", "", "1.0.0", None),
        ("go", "v1.4.0", "1.9.2", True),
        ("go", "v1.4.0", "1.3.0", False),
        ("go", "v0.0.0-20200101000000-abcdefabcdef", "1.0.0", None),
        ("java", "2.8.9", "2.8.9", True),
        ("java", "2.8.9", "2.14.1-SNAPSHOT", False),
        ("java", "[1.0,2.0)", "1.9.1", True),
        ("java", "(,2.0]", "2.0.0", True),
        ("java", "${codec.version}", "1.0", None),
        ("cobol", "1", "1", None),
        ("rust", "1", "", None),
    ],
)
def test_a_version_fits_does_not_or_is_not_known(
    ecosystem: str, wanted: str, version: str, expected: bool | None
) -> None:
    assert fits(ecosystem, wanted, version) is expected


@given(numbers, numbers)
def test_bounds_of_one_version_agree_with_each_other(asked: tuple[int, ...], there: tuple[int, ...]) -> None:
    wanted, version = (".".join(map(str, each)) for each in (asked, there))
    for ecosystem in ("rust", "javascript"):
        assert fits(ecosystem, f">={wanted}", version) is (there >= asked)
        assert fits(ecosystem, f"<{wanted}", version) is (there < asked)
        assert fits(ecosystem, f"<={wanted}", version) is not fits(ecosystem, f">{wanted}", version)
        if fits(ecosystem, f"~{wanted}", version):
            assert fits(ecosystem, f">={wanted}", version)
        assert fits(ecosystem, f"^{wanted}", wanted) is True
    assert fits("rust", wanted, version) is fits("javascript", f"^{wanted}", version)


def test_a_lock_names_one_version() -> None:
    assert is_same("python", "1.0", "1.0.0") is True
    assert is_same("rust", "1.0.0", "1.0.1") is False
    assert is_same("go", "v1.0.0", "") is None


def test_tags_that_fit_are_of_the_package_released_and_newest_first() -> None:
    tags = ["v1.0.0", "v1.10.0", "v1.9.0", "v1.11.0-rc1", "v2.0.0", "clap_derive-v1.12.0", "clap-v1.2.0", "x"]

    assert newest_fitting(tags, "clap", "", lambda each: fits("rust", "1.2", each)) == [
        "v1.10.0",
        "v1.9.0",
        "clap-v1.2.0",
    ]
    assert newest_fitting(
        ["v1.0.0", "sub/v1.4.0"], "a.org/m/sub", "sub", lambda each: fits("go", "v1.2.0", each)
    ) == ["sub/v1.4.0"]
