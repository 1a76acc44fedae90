"""What a name may mean, and in which order."""

from __future__ import annotations

from collections.abc import Callable

from tests.gitrepo import GitRepo
from tests.serving.navigation.test_navigator import Backends

from codenib.core.symbols import NavigationAnswer
from codenib.core.views import ViewKind
from codenib.serving.workspace import Workspace

FILES = {
    "shop/urls.py": "def url_for(\n    endpoint: str,\n    **more: object,\n) -> str:\n    return endpoint\n",
    "shop/app.py": (
        "class App:\n    def url_for(self, endpoint: str) -> str:\n        return endpoint\n\n\n"
        "def outer():\n    def inner():\n        return LIMIT\n    return inner\n\n\nLIMIT = 3\n"
    ),
    "shop/page.py": "from shop.urls import url_for\n\nLINK = url_for('page')\n",
    "shop/menu.py": "from shop.urls import url_for\n\n\ndef menu():\n    return url_for('menu')\n",
    "tests/test_urls.py": "def url_for(endpoint):\n    return 'a stub that is used nowhere'\n",
    "dist/bundle.py": "def url_for(endpoint):\n    return endpoint\n",
    "notes.md": "# Notes\n\n`url_for` builds links.\n",
}


def meant(answer: NavigationAnswer) -> list[tuple[str, int, str, str]]:
    return [(each.place.path, each.place.line, each.symbol, each.kind) for each in answer.meanings]


def test_several_meanings_are_an_answer_with_the_most_used_first(git_repo: Callable[..., GitRepo]) -> None:
    repository = git_repo()
    repository.commit(FILES)
    with Workspace(repository.path) as workspace:
        answer = workspace.definition("url_for")
        assert meant(answer) == [
            ("shop/urls.py", 1, "url_for", "function"),
            ("shop/app.py", 2, "App.url_for", "method"),
            ("dist/bundle.py", 1, "url_for", "function"),
            ("tests/test_urls.py", 1, "url_for", "function"),
        ]
        assert answer.meanings[0].signature == "def url_for(endpoint: str, **more: object) -> str"
        assert answer.meanings[0].text == FILES["shop/urls.py"].rstrip()
        assert answer.meanings[3].marks == ("test",)
        assert [place.path for place in answer] == [each.place.path for each in answer.meanings]
        assert (answer.provider, answer.granularity, answer.completeness) == ("syntactic", "name", "unknown")
        one = workspace.definition("url_for", limit=1)
        assert (len(one), len(one.meanings), one.total) == (1, 1, 4)
        assert meant(workspace.definition("App.url_for")) == [("shop/app.py", 2, "App.url_for", "method")]


def test_names_inside_functions_and_constants_are_declarations(git_repo: Callable[..., GitRepo]) -> None:
    repository = git_repo()
    repository.commit(FILES)
    with Workspace(repository.path) as workspace:
        for name in ("inner", "outer.inner"):
            assert meant(workspace.definition(name)) == [("shop/app.py", 7, "outer.inner", "function")]
        assert meant(workspace.definition("LIMIT"))[0][:2] == ("shop/app.py", 12)


def test_comments_above_and_headings_of_prose_declare_nothing(git_repo: Callable[..., GitRepo]) -> None:
    repository = git_repo()
    repository.commit(
        {
            "run.go": "package run\n\n// Start starts. See Start.\nfunc Start() error {\n\treturn nil\n}\n",
            "box.ts": "/**\n * A Box.\n   Box of things\n */\nexport class Box {\n  open() {}\n}\n",
            "docs/guide.md": "# run.Start\n\nText.\n",
        }
    )
    with Workspace(repository.path) as workspace:
        start = workspace.definition("Start")
        assert meant(start) == [("run.go", 4, "Start", "function")]
        assert start.meanings[0].signature == "func Start() error"
        assert meant(workspace.definition("Box")) == [("box.ts", 5, "Box", "class")]


def test_references_by_name_put_code_before_prose(git_repo: Callable[..., GitRepo]) -> None:
    repository = git_repo()
    repository.commit(FILES)
    with Workspace(repository.path) as workspace:
        answer = workspace.references("url_for")
    assert (answer.provider, answer.completeness) == ("syntactic", "unknown")
    assert answer[-1].path == "notes.md"
    assert "4 declarations have this name" in answer.note
    assert {place.path for place in answer} == FILES.keys()


def test_the_graph_has_several_meanings_too(git_repo: Callable[..., GitRepo]) -> None:
    repository = git_repo()
    repository.commit(
        {
            "tests/load.py": "def load\n",
            "shop/load.py": "def load\n",
            "shop/page.py": "def page load\n",
            "bin/run.rb": "def outer\n  def helper\n  end\nend\n",
        }
    )
    with Workspace(repository.path, find_backends=Backends()) as workspace:
        workspace.index([ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.GRAPH])
        answer = workspace.definition("load")
        assert [place.path for place in answer] == ["shop/load.py", "tests/load.py"]
        assert (answer.provider, answer.backend, answer.completeness) == ("static", "toy 1", "all")
        assert [each.kind for each in answer.meanings] == ["function", "function"]
        used = workspace.references("load")  # the one that is not a test's
        assert used.provider == "static"
        assert "also declared at 1 other place" in used.note
        assert meant(workspace.definition("helper")) == [("bin/run.rb", 2, "outer.helper", "function")]
