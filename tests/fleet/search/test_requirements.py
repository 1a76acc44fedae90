"""Which version a repository asks for of a package that another one exports."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.fleet.search.conftest import index_text
from tests.gitrepo import GitRepo

from codenib.core.errors import InputError
from codenib.fleet.search.fleet import Fleet
from codenib.fleet.search.members import FleetMember

EXPORTERS = {
    "py": {
        "pyproject.toml": '[project]\nname = "Web_Client"\nversion = "2.1"\n',
        "webclient/__init__.py": "class Session: ...\n",
    },
    "rs": {
        "Cargo.toml": '[package]\nname = "json-value"\nversion = "1.0.3"\n',
        "src/lib.rs": "pub struct Value;\n",
    },
    "js": {
        "package.json": '{"name": "@ui/panel", "version": "0.4.0"}',
        "index.js": "export function open() {}\n",
    },
    "go": {"go.mod": "module example.org/mux\n", "mux.go": "package mux\n\nfunc NewRouter() {}\n"},
    "jars": {
        "pom.xml": "<project><groupId>org.acme</groupId><artifactId>codec</artifactId>"
        "<version>4.1</version></project>",
        "src/main/java/org/acme/codec/Hex.java": "package org.acme.codec;\n\npublic class Hex {}\n",
    },
}
ASKER = {
    "pyproject.toml": '[project]\nname = "app"\ndependencies = ["web-client>=1,<2"]\n',
    "uv.lock": '[[package]]\nname = "web-client"\nversion = "1.4"\n',
    "Cargo.toml": '[package]\nname = "app"\n[dependencies]\n'
    'value = { package = "json-value", version = "1.0" }\n',
    "package.json": '{"name": "app", "dependencies": {"@ui/panel": "github:ui/panel"}}',
    "go.mod": "module example.org/app\n\nrequire (\n\texample.org/mux v1.2.0\n)\n",
    "pom.xml": "<project><properties><codec>4.0</codec></properties><dependencies><dependency>"
    "<groupId>org.acme</groupId><artifactId>codec</artifactId><version>${codec}</version>"
    "</dependency></dependencies></project>",
    "tests/requirements.txt": "web-client==9\n",
}


@pytest.fixture
def fleet(git_repo: Callable[..., GitRepo]) -> Fleet:
    members = []
    for name, files in {**EXPORTERS, "app": ASKER, "other": {"a.py": "x = 1\n"}}.items():
        repository = git_repo(name)
        repository.commit(files)
        if name in ("py", "go"):
            for tag in ("v1.4.0", "v1.3", "v2.1", "nightly"):
                repository.git("tag", tag)
        index_text(repository)
        members.append(FleetMember(name, repository.path))
    return Fleet(members)


def test_an_answer_says_which_version_is_asked_for_and_whether_it_is_there(fleet: Fleet) -> None:
    def required(name: str) -> list[tuple[str, str, bool | None, tuple[str, ...]]]:
        answer = fleet.definitions(name, asker="app")
        assert len(answer) == 1
        return [(each.manifest, each.wanted, each.fits, each.tags) for each in answer.required]

    with fleet:
        assert required("webclient.Session") == [
            ("pyproject.toml", "<2,>=1", False, ("v1.4.0", "v1.3")),
            ("uv.lock", "1.4", False, ("v1.4.0",)),
        ]
        assert required("json_value::Value") == [("Cargo.toml", "1.0", True, ())]
        assert required("@ui/panel#open") == [("package.json", "github:ui/panel", None, ())]
        assert required("example.org/mux.NewRouter") == [("go.mod", "v1.2.0", None, ("v1.4.0", "v1.3"))]
        assert required("org.acme.codec.Hex") == [("pom.xml", "4.0", False, ())]


def test_what_is_not_asked_for_is_said_and_an_unknown_repository_is_an_error(fleet: Fleet) -> None:
    with fleet:
        other = fleet.definitions("webclient.Session", asker="other")
        plain = fleet.definitions("webclient.Session")
        misfit = fleet.definitions("webclient.Session", asker="app").required[0]
        with pytest.raises(InputError, match="no repository of the fleet is called secret"):
            fleet.definitions("webclient.Session", asker="secret")
    assert (other.required, other.note) == ((), "no manifest of other that is read asks for Web_Client")
    assert (plain.required, plain.note) == ((), "")
    assert str(misfit) == (
        "app asks for Web_Client <2,>=1 (pyproject.toml); py states 2.1, which does not fit; "
        "tags that fit: v1.4.0, v1.3"
    )
