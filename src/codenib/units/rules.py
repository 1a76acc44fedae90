"""A path in, its language and marks out: by the product's rules, and by a snapshot's settings over them."""

from __future__ import annotations

from functools import lru_cache

from codenib.core.source import DEFAULT_SETTINGS, Mark, SourceSettings
from codenib.core.text.globs import path_filter
from codenib.units.languages import language_hint
from codenib.units.marks import marks_of


class PathRules:
    """What paths say under one value of settings. Pure: equal settings give equal answers.

    Engines choose their files by suffix, so the groups of the graph do not follow `languages`.
    """

    def __init__(self, settings: SourceSettings) -> None:
        self._tests = path_filter(settings.tests)
        self._not_tests = path_filter(settings.not_tests)
        self._languages = [(path_filter((glob,)), language) for glob, language in settings.languages]

    def language(self, path: str) -> str:
        """As `language_hint`; the settings come first."""
        for matches, language in self._languages:
            if matches is not None and matches(path):
                return language
        return language_hint(path)

    def marks(self, path: str) -> Mark:
        """As `marks_of`; the settings decide on tests where they name the path."""
        marks = marks_of(path)
        if self._not_tests is not None and self._not_tests(path):
            return marks & ~Mark.TEST
        if self._tests is not None and self._tests(path):
            return marks | Mark.TEST
        return marks


@lru_cache(maxsize=32)
def rules_of(settings: SourceSettings = DEFAULT_SETTINGS) -> PathRules:
    """The rules of a snapshot's settings; compiled globs are shared."""
    return PathRules(settings)
