"""Compose file and manifests: of the committed schema, with options and addresses that the product has."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from codenib.adapters.cli.commands.serve import serve
from codenib.adapters.mcp.transport.points import HEALTH, READY

ROOT = Path(__file__).resolve().parent.parent
MANIFESTS = sorted((ROOT / "deploy" / "kubernetes").glob("*.yaml"))
_OPTIONS = {option for parameter in serve.params for option in parameter.opts}


def _documents() -> list[dict[str, Any]]:
    return [each for file in MANIFESTS for each in yaml.safe_load_all(file.read_text("utf-8"))]


def _validator() -> Draft202012Validator:
    schema = json.loads((ROOT / "deploy" / "kubernetes" / "schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_every_manifest_is_of_the_schema() -> None:
    assert {each["kind"] for each in _documents()} == {
        "PersistentVolumeClaim",
        "Deployment",
        "Service",
        "RayCluster",
    }
    for document in _documents():
        assert [error.message for error in _validator().iter_errors(document)] == []


@pytest.mark.parametrize("kind", ["Deployment", "RayCluster"])
def test_the_schema_refuses_a_field_that_is_written_wrong(kind: str) -> None:
    document = copy.deepcopy(next(each for each in _documents() if each["kind"] == kind))
    spec = document["spec"]
    template = spec["template"] if kind == "Deployment" else spec["headGroupSpec"]["template"]
    template["spec"]["containers"][0]["recources"] = template["spec"]["containers"][0].pop("resources")
    assert not _validator().is_valid(document)


def test_commands_and_probes_are_the_products_own() -> None:
    pod = next(each for each in _documents() if each["kind"] == "Deployment")["spec"]["template"]["spec"]
    container = pod["containers"][0]
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]["codenib"]
    for words in (container["args"], compose["command"]):
        assert words[2] == "serve"
        assert {word for word in words[3:] if word.startswith("--")} <= _OPTIONS
    assert container["livenessProbe"]["httpGet"]["path"] == HEALTH
    assert container["readinessProbe"]["httpGet"]["path"] == READY
    assert HEALTH in compose["healthcheck"]["test"][-1]
    assert (compose["read_only"], compose["cap_drop"]) == (True, ["ALL"])
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")
    assert f"--uid {pod['securityContext']['runAsUser']}" in dockerfile
    assert "ARG EXTRAS" in dockerfile and compose["build"]["args"]["EXTRAS"] == "[fleet,observe]"
