"""Every case of the corpus."""

from __future__ import annotations

from tests.hostile.corpus.engines import engine_cases
from tests.hostile.corpus.files import file_cases
from tests.hostile.corpus.further import further_cases
from tests.hostile.corpus.git_configuration import configuration_cases
from tests.hostile.corpus.git_objects import object_cases
from tests.hostile.corpus.sources import source_cases
from tests.hostile.corpus.texts import text_cases

CASES = (
    *configuration_cases(),
    *object_cases(),
    *file_cases(),
    *source_cases(),
    *text_cases(),
    *engine_cases(),
    *further_cases(),
)
