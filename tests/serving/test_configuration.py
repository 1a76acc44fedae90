"""What files say reaches the answers: files left out, tests, languages, views; secrets stay secrets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

from codenib.compiler.collect import collect
from codenib.core.errors import InputError
from codenib.core.views import ViewKind
from codenib.serving.configuration import command_defaults, describe_configuration
from codenib.serving.doctor import examine
from codenib.serving.workspace import Workspace

FILES = {
    "src/pay.py": "def pay(amount):\n    return amount\n",
    "qa/pay_check.py": "def check_pay():\n    assert pay(1)\n",
    "src/lib.foo": "<?php\nfunction total($prices) { return $prices; }\n",
    ".env": "PASSWORD=harbour\n",
}


@pytest.fixture
def shop(git_repo: Callable[..., GitRepo]) -> GitRepo:
    repo = git_repo("shop")
    repo.commit(FILES)
    return repo


def paths(workspace: Workspace, query: str, tests: str | None = None) -> list[str]:
    return [item.path for item in workspace.search(query, tests=tests)]  # type: ignore[arg-type]


def test_settings_decide_marks_languages_and_files_and_are_undone_with_their_file(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        assert paths(workspace, "pay", "exclude") == ["src/pay.py", "qa/pay_check.py"]
        assert not [unit for unit in workspace.units("src/lib.foo") if unit.symbol == "total"]
    shop.write(
        "codenib.toml",
        '[tests]\ninclude = ["qa/**"]\n[languages]\n"*.foo" = "php"\n[paths]\ninclude = ["src"]\n',
    )
    with Workspace(shop.path) as workspace:
        assert paths(workspace, "pay") == ["src/pay.py"]
        assert [unit.symbol for unit in workspace.units("src/lib.foo")][-1] == "total"
        assert workspace.read("src/lib.foo").language == "php"
        assert not any(workspace.verify().values())
    shop.write("codenib.toml", '[tests]\ninclude = ["qa/**"]\n')
    with Workspace(shop.path) as workspace:
        assert paths(workspace, "pay", "exclude") == ["src/pay.py"]
        found = {item.path: item.marks for item in workspace.search("pay")}
        assert found["qa/pay_check.py"] == ("test",)
    shop.remove("codenib.toml")
    with Workspace(shop.path) as workspace:
        assert paths(workspace, "pay", "exclude") == ["src/pay.py", "qa/pay_check.py"]


def test_only_views_that_a_setting_changes_are_built_anew(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        workspace.index()
    shop.write("codenib.toml", '[tests]\ninclude = ["qa/**"]\n')
    with Workspace(shop.path) as workspace:
        done = workspace.update().views
        assert [done[kind] for kind in (ViewKind.LEXICAL, ViewKind.DENSE)] == ["built", "built"]
        assert done[ViewKind.TRIGRAM] == "maintained"
        assert not any(workspace.verify().values())
    shop.write("codenib.toml", '[tests]\ninclude = ["qa/**"]\n[search]\nk = 3\n')
    with Workspace(shop.path) as workspace:
        assert set(workspace.update().views.values()) <= {"maintained", "reused"}


def test_gc_leaves_the_records_of_configured_languages(shop: GitRepo) -> None:
    shop.write("codenib.toml", '[languages]\n"*.foo" = "php"\n')
    with Workspace(shop.path) as workspace:
        workspace.index([ViewKind.LEXICAL])
        collect(keep=1)
        assert workspace.index([ViewKind.LEXICAL], rebuild=False).derived == 0
        shop.write("other.py", "x = 1\n")
        assert workspace.index([ViewKind.LEXICAL]).derived == 1


def test_no_file_of_a_repository_takes_a_secret_back(shop: GitRepo) -> None:
    shop.write("codenib.toml", '[paths]\ninclude = [".env", "src"]\n')
    with Workspace(shop.path) as workspace:
        assert ".env" not in workspace.files
        assert not workspace.regex("harbour").items


def test_views_are_those_that_are_configured(shop: GitRepo, own_home: Path) -> None:
    shop.write("codenib.toml", 'views = ["lexical"]\n')
    with Workspace(shop.path) as workspace:
        assert set(workspace.index().manifest.views) == {ViewKind.LEXICAL}
    (own_home / "codenib.toml").write_text('views = ["trigram"]\n')
    shop.remove("codenib.toml")
    with Workspace(shop.path) as workspace:
        assert ViewKind.TRIGRAM in workspace.index().manifest.views


def test_a_wrong_file_stops_a_question_and_says_where(shop: GitRepo) -> None:
    shop.write("codenib.toml", "\nserach.k = 5\n")
    with (
        Workspace(shop.path) as workspace,
        pytest.raises(InputError, match=r"codenib.toml:2: there is no key serach.k; the nearest is search.k"),
    ):
        workspace.search("pay")


def test_doctor_names_a_wrong_file(shop: GitRepo) -> None:
    shop.write("codenib.toml", "\nserach.k = 5\n")
    (check,) = [each for each in examine(shop.path) if each.name == "config"]
    assert check.state == "broken"
    assert check.hint.startswith("correct codenib.toml:2, or CODENIB_REPOSITORY_FILE=off")


def test_a_bare_repository_is_configured_by_its_head(shop: GitRepo, tmp_path: Path) -> None:
    shop.commit({"codenib.toml": "[search]\nk = 2\n[paths]\nexclude = ['qa']\n"})
    bare = shop.clone(tmp_path / "bare", "--bare").path
    assert command_defaults(bare) == {"search": {"k": 2}, "plan": {"k": 2}}
    (said,) = [each for each in describe_configuration(bare) if each.key == "search.k"]
    assert (said.value, said.origin, said.where) == (2, "repository", "codenib.toml:2")
    with Workspace(bare) as workspace:
        assert "qa/pay_check.py" not in workspace.files


def test_options_have_no_default_from_configuration_where_nothing_is_said(shop: GitRepo) -> None:
    assert command_defaults(shop.path / "src") == {}
