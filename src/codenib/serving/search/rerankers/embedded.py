"""Our own small reranker: the installed package `codenib_reranker` in, a reranker out.

The model is a package of its own (models/codenib-reranker in this repository), because it is larger than
all the rest of CodeNib. It holds no code, only the files of an ONNX folder.
"""

from __future__ import annotations

import importlib.util
from contextlib import ExitStack
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import as_file, files
from pathlib import Path

from codenib.core.errors import ProviderError, StateError
from codenib.serving.search.rerankers.onnx import open_onnx_reranker
from codenib.serving.search.rerankers.pointwise import PointwiseReranker
from codenib.views.dense.embedders.onnx import find_model

PACKAGE = "codenib_reranker"
DISTRIBUTION = "codenib-reranker"
# Not on a registry yet: the folder is in this repository.
EXTRA_HINT = "pip install ./models/codenib-reranker '.[onnx]'"

_unpacked = ExitStack()  # a package inside a zip file is unpacked for as long as the process lives


def open_embedded(*, threads: int | None = None) -> PointwiseReranker:
    """The model of the installed package, loaded."""
    if not embedded_installed():
        raise ProviderError(f"the package {DISTRIBUTION} is not installed", hint=EXTRA_HINT)
    folder = Path(_unpacked.enter_context(as_file(files(PACKAGE))))
    if find_model(folder) is None:
        raise StateError(
            f"the package {DISTRIBUTION} holds no model: {folder}",
            hint=f"pip install --force-reinstall {DISTRIBUTION}",
        )
    return open_onnx_reranker(folder, name=_name(), threads=threads)


def embedded_installed() -> bool:
    """Whether the package is there; cheap, nothing is loaded."""
    return importlib.util.find_spec(PACKAGE) is not None


def _name() -> str:
    try:
        return f"{DISTRIBUTION} {version(DISTRIBUTION)}"
    except PackageNotFoundError:  # a folder on the path, not installed
        return DISTRIBUTION
