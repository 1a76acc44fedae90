"""Our own reranker, as a package that is there, is empty, or is not there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.serving.search.rerankers.tiny import write_cross_encoder

CODE = """
import sys
from codenib.core.errors import CodenibError
from codenib.serving.search.rerankers.choose import open_reranker
try:
    reranker = open_reranker("embedded")
    print(reranker.identity.model, reranker.identity.kind, len(reranker.scores("load", ["save", "find"])))
except CodenibError as error:
    print(type(error).__name__, error.message, "|", error.hint)
"""


def opened(prologue: str) -> str:
    done = subprocess.run([sys.executable, "-c", prologue + CODE], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def on_path(folder: Path) -> str:
    return f"import sys; sys.path.insert(0, {str(folder)!r})"


def test_an_installed_package_opens(tmp_path: Path) -> None:
    package = write_cross_encoder(tmp_path / "codenib_reranker")
    (package / "__init__.py").write_text("")
    said = opened(on_path(tmp_path)).split()
    assert said[0] == "codenib-reranker"
    assert said[-2:] == ["cross-encoder", "2"]


def test_without_the_package_the_install_command_is_told() -> None:
    said = opened("import sys; sys.modules['codenib_reranker'] = None")
    assert said.startswith("ProviderError the package codenib-reranker is not installed")
    assert said.endswith("| pip install ./models/codenib-reranker '.[onnx]'")


def test_a_package_without_its_model_is_told(tmp_path: Path) -> None:
    (tmp_path / "codenib_reranker").mkdir()
    (tmp_path / "codenib_reranker" / "__init__.py").write_text("")
    said = opened(on_path(tmp_path))
    assert said.startswith("StateError the package codenib-reranker holds no model")
    assert "--force-reinstall" in said
