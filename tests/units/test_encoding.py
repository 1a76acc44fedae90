"""Sources that say in which encoding they are."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.gitrepo import GitRepo

from codenib.core.views import ViewKind
from codenib.serving.workspace import Workspace
from codenib.units.encoding import as_utf8


@pytest.mark.parametrize(
    ("head", "text", "encoding"),
    [
        ("# -*- coding: latin-1 -*-\n", "größe = 'é'\n", "latin-1"),
        ("#!/usr/bin/python\n# coding=cp1252\n", "price = '5 €'\n", "cp1252"),
        ("# vim: set fileencoding=gb18030 :\n", "名字 = '中文'\n", "gb18030"),
        ("// -*- coding: shift_jis -*-\n", "// 表示する\n", "shift_jis"),
        ('<?xml version="1.0" encoding="ISO-8859-1"?>\n', "<name>Müller</name>\n", "latin-1"),
        ("\ufeff", "name = 'größe'\n", "utf-16-le"),
        ("\ufeff", "name = 'größe'\n", "utf-16-be"),
    ],
)
def test_a_declared_encoding_is_read(head: str, text: str, encoding: str) -> None:
    assert as_utf8((head + text).encode(encoding)).decode() == head.removeprefix("\ufeff") + text


@pytest.mark.parametrize(
    "data",
    [
        "# coding: latin-1\nname = 'größe'\n".encode(),  # it is UTF-8, whatever it says
        b"name = '\xe9'\n",  # nothing is declared
        b"a\nb\n# coding: latin-1\n\xe9\n",  # only the first two lines count
        b"# coding: klingon\n\xe9\n",
        b"# coding: zlib\n\xe9\n",
        b"# coding: ascii\n\xe9\n",
        b"# coding: utf-7\n\xe9\n",
        b"\xff\xfe\x00",
        b"",
    ],
)
def test_all_other_bytes_stay_as_they_are(data: bytes) -> None:
    assert as_utf8(data) == data


def test_words_lines_and_texts_of_an_encoded_source_are_those_that_its_author_sees(
    git_repo: Callable[..., GitRepo],
) -> None:
    repository = git_repo("encoded")
    source = "# coding: gb18030\nX = 1\n\n\ndef 读取(路径):\n    return '中文'\n"
    (repository.path / "a.py").write_bytes(source.encode("gb18030"))
    (repository.path / "b.txt").write_bytes("\ufefffirst line\nsecond größe\n".encode("utf-16-le"))
    repository.commit({})
    with Workspace(repository.path) as workspace:
        workspace.index((ViewKind.LEXICAL, ViewKind.TRIGRAM))
        item = workspace.search("读取").items[0]
        assert (item.path, item.start_line, item.symbol) == ("a.py", 5, "读取")
        assert workspace.read("a.py", 5, 6).text == "def 读取(路径):\n    return '中文'"
        match = workspace.regex("größe").items[0]
        assert (match.path, match.line, match.text) == ("b.txt", 2, "second größe")
