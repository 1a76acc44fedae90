"""An opened repository in, its licence by its own file out: the SPDX name, or that nobody can tell."""

from __future__ import annotations

import re

import msgspec

from codenib.core.errors import CodenibError
from codenib.core.requests import PUBLISHED
from codenib.serving.workspace import Workspace

#: What is recorded where a file is there and its text is of no licence that we know.
UNRECOGNIZED = "LicenseRef-unrecognized"
_FILE = re.compile(r"(?:licen[cs]e|copying|unlicense)(?:[.-][a-z0-9.-]*)?", re.IGNORECASE)
#: Words that only one licence has, the more particular ones first.
_WORDS = (
    ("AGPL-3.0", r"GNU AFFERO GENERAL PUBLIC LICENSE"),
    ("LGPL", r"GNU (?:LESSER|LIBRARY) GENERAL PUBLIC LICENSE"),
    ("GPL-3.0", r"GNU GENERAL PUBLIC LICENSE\s+Version 3"),
    ("GPL-2.0", r"GNU GENERAL PUBLIC LICENSE\s+Version 2"),
    ("Apache-2.0", r"Apache License,?\s+Version 2\.0"),
    ("MPL-2.0", r"Mozilla Public License,? (?:Version|v\.) ?2\.0"),
    ("BSL-1.0", r"Boost Software License"),
    ("Unlicense", r"This is free and unencumbered software released into the public domain"),
    ("CC0-1.0", r"CC0 1\.0 Universal"),
    ("ISC", r"Permission to use, copy, modify, and(?:/or)? distribute this software for any"),
    ("MIT", r"Permission is hereby granted, free of charge, to any person obtaining a copy"),
    ("BSD-3-Clause", r"Redistribution and use in source and binary forms[\s\S]*Neither the name"),
    ("BSD-2-Clause", r"Redistribution and use in source and binary forms"),
)
_MOST = 40_000


class Licence(msgspec.Struct, frozen=True):
    """`name` is the SPDX identifier; empty where the repository has no licence file at its top."""

    name: str = ""
    file: str = ""


def licence_of(workspace: Workspace) -> Licence:
    """The licence of the published snapshot of a workspace."""
    try:
        files = [path for path in workspace.reader.files(PUBLISHED) if _FILE.fullmatch(path)]
        for path in sorted(files, key=len):
            text = workspace.reader.read(path, (None, None), PUBLISHED).text
            return Licence(licence_name(text), path)
    except CodenibError:  # a file that cannot be read says nothing; the run goes on
        return Licence()
    return Licence()


def licence_name(text: str) -> str:
    """The licence that a text is.

    >>> licence_name("Permission is hereby granted, free of charge, to any person obtaining a copy")
    'MIT'
    """
    plain = re.sub(r"\s+", " ", text[:_MOST])
    for name, words in _WORDS:
        if re.search(words, plain, re.IGNORECASE):
            return name
    return UNRECOGNIZED
