"""A name that code imports leads to the repository whose manifest exports its package."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.fleet.search.conftest import index_text
from tests.gitrepo import GitRepo

from codenib.fleet.search.fleet import Fleet
from codenib.fleet.search.members import FleetMember
from codenib.fleet.search.packages import ExportedPackage

SESSION = "class Session:\n    def get(self):\n        return 1\n"
REPOSITORIES = {
    "web": {
        "pyproject.toml": '[project]\nname = "web-client"\nversion = "2.1"\n',
        "src/webclient/__init__.py": "",
        "src/webclient/sessions.py": SESSION,
        "tests/helpers.py": SESSION,
    },
    "store": {
        "setup.cfg": "[metadata]\nname = store\nversion = attr: store.version\n",
        "store/__init__.py": "",
        "store/sessions.py": SESSION,
    },
    "mux": {
        "go.mod": "module example.org/mux/v5\n\ngo 1.22\n",
        "mux.go": "package mux\n\nfunc NewRouter() {}\n",
    },
    "json": {
        "Cargo.toml": '[workspace]\nmembers = ["value"]\n',
        "value/Cargo.toml": '[package]\nname = "json-value"\nversion = "1.0.3"\n',
        "value/src/lib.rs": "pub struct Value;\n",
    },
    "panel": {
        "package.json": '{"name": "@ui/panel", "version": "0.4.0"}',
        "index.js": "export function open() {}\n",
        "broken/package.json": "{",
    },
    "jars": {
        "pom.xml": '<project xmlns="http://maven.apache.org/POM/4.0.0"><groupId>org.acme</groupId>'
        "<artifactId>parent</artifactId><version>4.1</version></project>",
        "codec/pom.xml": '<project xmlns="http://maven.apache.org/POM/4.0.0"><parent><groupId>org.acme</groupId>'
        "<version>4.1</version></parent><artifactId>codec</artifactId></project>",
        "codec/src/main/java/org/acme/codec/Hex.java": "package org.acme.codec;\n\npublic class Hex {}\n",
        "codec/src/main/java/org/acme/codec/io/In.java": "package org.acme.codec.io;\n\npublic class In {}\n",
        "codec/src/test/java/org/acme/codec/Hex.java": "package org.acme.codec;\n\npublic class Hex {}\n",
        "evil/pom.xml": '<!DOCTYPE p [<!ENTITY a "b">]><project><artifactId>&a;</artifactId></project>',
        "wires/build.gradle": "group = 'org.wires'\nversion = '0.9'\n",
        "wires/src/main/java/org/wires/Wire.java": "package org.wires;\n\npublic class Wire {}\n",
    },
}


@pytest.fixture
def fleet(git_repo: Callable[..., GitRepo]) -> Fleet:
    members = []
    for name, files in REPOSITORIES.items():
        repository = git_repo(name)
        repository.commit(files)
        index_text(repository)
        members.append(FleetMember(name, repository.path))
    return Fleet(members)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("webclient.Session", ("web", "src/webclient/sessions.py", "web-client 2.1")),
        ("webclient.sessions.Session.get", ("web", "src/webclient/sessions.py", "web-client 2.1")),
        ("store.sessions.Session", ("store", "store/sessions.py", "store")),
        ("example.org/mux/v5.NewRouter", ("mux", "mux.go", "example.org/mux/v5")),
        ("json_value::Value", ("json", "value/src/lib.rs", "json-value 1.0.3")),
        ("@ui/panel#open", ("panel", "index.js", "@ui/panel 0.4.0")),
        ("org.acme.codec.Hex", ("jars", "codec/src/main/java/org/acme/codec/Hex.java", "org.acme:codec 4.1")),
        (
            "org.acme.codec.io.In",
            ("jars", "codec/src/main/java/org/acme/codec/io/In.java", "org.acme:codec 4.1"),
        ),
        ("org.wires.Wire", ("jars", "wires/src/main/java/org/wires/Wire.java", "org.wires:wires 0.9")),
    ],
)
def test_an_imported_name_leads_to_the_package_that_declares_it(
    fleet: Fleet, name: str, expected: tuple[str, str, str]
) -> None:
    with fleet:
        answer = fleet.definitions(name)
    first = answer[0]
    assert (first.repository, first.symbol.path, first.package) == expected
    assert {each.repository for each in answer} == {expected[0]}
    assert not any("/test/" in each.symbol.path for each in answer)
    assert (answer.note, answer.coverage.complete) == ("", True)


def test_a_name_that_no_package_has_is_answered_by_name_and_says_so(fleet: Fleet) -> None:
    with fleet:
        unknown = fleet.definitions("requests.Session")
        missing = fleet.definitions("webclient.NewRouter")
        hidden = fleet.definitions("webclient.Session", allowed={"store", "mux"})
    assert {each.repository for each in unknown} == {"web", "store"}
    assert not any(each.package for each in unknown) and unknown.note.startswith("by name: no repository")
    assert [each.repository for each in missing] == ["mux"]
    assert missing.note == "by name: web-client 2.1 of web does not declare it"
    assert {each.repository for each in hidden} == {"store"}
    assert "web" not in hidden.note


def test_a_package_is_no_prefix_of_a_longer_word() -> None:
    package = ExportedPackage("python", "web", "1", "", ("web",))
    assert package.rest_of("website.Session") is None
    assert package.rest_of("web") is None
    assert package.rest_of("web.Session") == "Session"
