"""Everything that reads bytes or text of strangers: each as one function of bytes, with seeds to draw from.

A decoder ends in a value or in one of its `refusals`. `failures` are inputs that once ended otherwise: they
are tried first, in every run.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path

import msgspec
import numpy as np
from tests.navigation.scip.scip_encode import encode
from tests.navigation.scip.test_facts import FILES, ZOO

from codenib.adapters.mcp.tools.arguments import parse
from codenib.adapters.mcp.tools.catalogue import ALL_TOOLS
from codenib.adapters.mcp.transport.handshake import EarlyAnswers
from codenib.core.errors import UNDECODABLE, CodenibError
from codenib.core.requests import SearchRequest
from codenib.core.text.globs import path_filter
from codenib.core.views import MANIFEST_SCHEMA
from codenib.manifest.files import with_checksum
from codenib.manifest.store import Store
from codenib.navigation.cpp.clangd.shards import read_shard
from codenib.navigation.cpp.compile_commands import commands_in, read_entries
from codenib.navigation.engines.messages import FrameError, Frames, decode, frame
from codenib.navigation.live.results import ResponseReader
from codenib.navigation.live.text import DiskTexts
from codenib.navigation.scip.facts import lower
from codenib.navigation.scip.wire import ScipDocument, ScipIndex, ScipOccurrence, read_index
from codenib.planner.plan import make_plan
from codenib.planner.signals import read_signals
from codenib.serving.navigation.positions import parse_place
from codenib.snapshot.ignore import ignored
from codenib.units.extract import extract
from codenib.units.notebook_code import as_python, from_cell
from codenib.units.record import encode_units
from codenib.views.arrays import map_part
from codenib.views.lexical.query import query_terms
from codenib.views.segments import read_segments
from codenib.views.trigram.matching.matcher import Deadline
from codenib.views.trigram.pattern import compile_pattern

_JSON = (b"[", b"]", b"{", b"}", b'"', b":", b",", b"null", b"1e999", b"0.5", b'"\\ud800"', b"\\u0000")
_TEXT = "def save(self):\n    return Größe[0]\n\nclass Tür: pass\n"


@dataclass(frozen=True)
class Decoder:
    """What reads one format."""

    name: str
    run: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    words: tuple[bytes, ...] = ()
    refusals: tuple[type[Exception], ...] = (CodenibError,)
    failures: tuple[bytes, ...] = ()


@cache
def _folder() -> Path:
    """A folder for what decoders read from disk, with a small checkout; forgotten with the process."""
    folder = Path(tempfile.mkdtemp(prefix="codenib-fuzz-"))
    (folder / "checkout").mkdir()
    (folder / "checkout" / "a.c").write_text(_TEXT)
    return folder


def forget_files() -> None:
    """Remove what the decoders wrote."""
    shutil.rmtree(_folder(), ignore_errors=True)
    _folder.cache_clear()


def _file(name: str, data: bytes) -> Path:
    path = _folder() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def _words(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


# -- one function a decoder


def read_scip(data: bytes) -> object:
    return list(lower(read_index(data), FILES.get))


def read_frames(data: bytes) -> object:
    frames = Frames()
    half = len(data) // 2
    return [decode(body) for part in (data[:half], data[half:]) for body in frames.feed(part)]


def read_server_answers(data: bytes) -> object:
    root = _folder() / "checkout"
    reader = ResponseReader(root, DiskTexts(root), "utf-16", lambda path: path == "a.c")
    raw = msgspec.Raw(data)
    uri = data.replace(b"ROOT", str(root).encode())
    return reader.locations(msgspec.Raw(uri)) if data[:1] != b" " else reader.symbols(raw, "a.c")


def read_clangd_shard(data: bytes) -> object:
    return read_shard(_file("shard.idx", data))


def read_compile_commands(data: bytes) -> object:
    root = _folder() / "checkout"
    database = _file("compile_commands.json", data.replace(b"ROOT", str(root).encode()))
    return commands_in(read_entries(database), root)


def read_manifest(data: bytes) -> object:
    """With its checksum, which would refuse all else; without, where it is no object."""
    store = Store("key", root=_folder())
    data = with_checksum(data) if data[:1] == b"{" else data
    for place in ("manifests/s.json", "trees/t.json", "heads/w.json"):
        _file(f"repos/key/{place}", data)
    whole = store.manifest("s"), store.manifests(), store.head("w")
    return whole, store.tree("t")


def read_artifact(data: bytes) -> object:
    _file("artifact/view.json", data)
    return read_segments(_folder() / "artifact")


def read_array(data: bytes) -> object:
    _file("artifact/s.part.npy", data)
    return map_part(_folder() / "artifact", "s", "part").shape


def read_mcp_line(data: bytes) -> object:
    early = EarlyAnswers(all_tools=True)
    return early.answer(data), early.answer(data)


def read_mcp_arguments(data: bytes) -> object:
    """What the SDK hands on: a tool's name and an object of JSON, as pydantic reads it."""
    try:
        request = msgspec.json.decode(data, type=dict[str, dict[str, object]])
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return None  # the SDK's to refuse
    return [
        parse(tool.name, tool.parameters, request[tool.name]) for tool in ALL_TOOLS if tool.name in request
    ]


def read_query(data: bytes) -> object:
    text = _words(data)
    return query_terms(text), make_plan(SearchRequest(text), read_signals(text), ("lexical", "graph"))


def read_place(data: bytes) -> object:
    return parse_place(_words(data))


def read_globs(data: bytes) -> object:
    accepts = path_filter(_words(data).split("\n"))
    return accepts and [accepts(path) for path in ("src/a/b.py", "a" * 60, "a/" * 30 + "x", "")]


def read_pattern(data: bytes) -> object:
    text = _words(data[1:])
    pattern = compile_pattern(text, ignore_case=data[:1] == b"i", literal=data[:1] == b"l")
    if not pattern.cheap or pattern.matcher is None:
        return pattern.need  # what may be slow is matched by a worker, which is killed
    deadline = Deadline(0.05)
    try:
        return [pattern.spans(_TEXT[start:end], deadline) for start, end in pattern.lines(_TEXT, deadline)]
    except TimeoutError:
        return None  # a search then says that it is not complete


def read_ignore_file(data: bytes) -> object:
    return ignored(data, ["src/a.py", "b/c/d.txt", "é"])


def read_notebook(data: bytes) -> object:
    code = as_python(data)
    assert code is None or code.count(b"\n") == data.count(b"\n")
    return encode_units(extract(data, "notebook")), from_cell(data, 0, 0, 3)


def _shard() -> bytes:
    strings = b"\0\0\0\0" + b"\0file:///a.c\0name\0"
    places = bytes([1, 0, 4, 0, 8])
    symbol = bytes(8) + bytes([5, 1, 2, 0, 0]) + places * 2 + bytes([1, 0, 0, 0, 0, 0, 0, 0])
    chunks = {
        b"meta": (20).to_bytes(4, "little"),
        b"stri": strings,
        b"symb": symbol,
        b"refs": bytes(8) + bytes([1, 1]) + places + bytes(8),
        b"rela": bytes(8) + b"\1" + bytes(8),
        b"srcs": bytes([1, 1]) + b"12345678" + bytes([0]),
    }
    body = b"".join(
        name + len(data).to_bytes(4, "little") + data + b"\0" * (len(data) & 1)
        for name, data in chunks.items()
    )
    return b"RIFF" + len(body).to_bytes(4, "little") + b"CdIx" + body


def _array(value: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> bytes:
    out = BytesIO()
    np.save(out, value, allow_pickle=False)
    return out.getvalue()


_RANGE = {"start": {"line": 0, "character": 4}, "end": {"line": 1, "character": 8}}
_BEFORE_THE_FILE = _json([{"uri": "file://ROOT/a.c", "range": _RANGE}]).replace(b'"line": 1', b'"line": -99')
_ONE = (0, 0, 0, 1)
_DEEP = b"[" * 100_000
_MANIFEST = {
    "schema": MANIFEST_SCHEMA,
    "snapshot": "s",
    "tree": "t",
    "commit": "c",
    "dirty": False,
    "views": {},
    "skipped": {},
}  # fmt: skip
_COMMANDS = [
    {"file": "a.c", "directory": "ROOT", "arguments": ["cc", "-I", "include", "-DX=1", "-c", "a.c"]},
    {"file": "ROOT/a.c", "directory": "/elsewhere", "command": "clang++ -std=c++17 -include x.h 'a b.c'"},
]
_NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["# Title\n", "text"]},
        {"cell_type": "code", "source": "import os\n", "outputs": [{"data": "x"}]},
    ]
}
_CALLS = {
    "search": {"query": "save session", "k": 5, "paths": ["src/**"], "max_tokens": "900"},
    "read": {"path": "a.py:3-9"},
    "callers": {"name": "save", "depth": 2},
    "search_regex": {"pattern": "a+", "ignore_case": "true"},
}
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    },
}
_TRACE = (
    b'Fails\n\n  File "src/app.py", line 3, in run\nValueError: bad\n#0 0xab in main at a.c:3\n'
    b"who calls `save()`?"
)

_SURROGATE = json.dumps(_NOTEBOOK, indent=1).replace("Title", "\\ud800").encode()
_UNCLOSED = ScipIndex("t", "1", (ScipDocument("a.py", "utf-8", (ScipOccurrence(_ONE, "s m p v f(x", 1),)),))
_NO_JSON = (b'{"schema": "\xff", "format": "\xff"}', _DEEP, b'{"jsonrpc": ' + _DEEP)
_SHARDS = (_shard()[:12] + b"meta\0\0\0\0", _shard()[:80], _shard().replace(b"refs", b"symb"))


def _framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


DECODERS: Sequence[Decoder] = (
    Decoder("scip", read_scip, (encode(ZOO), encode(ZOO)[:40]), failures=(encode(_UNCLOSED),)),
    Decoder(
        "lsp-frames",
        read_frames,
        (frame({"jsonrpc": "2.0", "id": 1, "result": [1]}), frame({"method": "x", "params": {"a": "é"}})),
        (b"Content-Length: ", b"\r\n\r\n", *_JSON),
        (FrameError,),
        (_framed(b'"\xff"'), _framed(_DEEP), _framed(b"9" * 5000)),
    ),
    Decoder(
        "lsp-answers",
        read_server_answers,
        (
            _json([{"uri": "file://ROOT/a.c", "range": _RANGE}]),
            _json({"targetUri": "file://ROOT/a.c", "targetSelectionRange": _RANGE}),
            b" "
            + _json([{"name": "n", "kind": 5, "range": _RANGE, "children": [{"name": "m", "kind": 99}]}]),
        ),
        (b"file://", b"%00", b"line", *_JSON),
        UNDECODABLE,
        (b'[{"uri": "\xff"}]', b'[{"uri": "file://["}]', _DEEP, _BEFORE_THE_FILE),
    ),
    Decoder("clangd-shard", read_clangd_shard, (_shard(),), (b"stri", b"symb", b"srcs"), failures=_SHARDS),
    Decoder(
        "compile-commands",
        read_compile_commands,
        (_json(_COMMANDS),),
        (b"ROOT", b"..", b"@", b"/", b"'", b"file", b"directory", b"command", *_JSON),
        failures=(_json([{"file": "a" * 5000, "arguments": ["cc", "-include", "b" * 5000]}]), _DEEP),
    ),
    Decoder(
        "manifest",
        read_manifest,
        (_json(_MANIFEST), b'{"a.py": "1"}'),
        (b"schema", *_JSON),
        failures=_NO_JSON,
    ),
    Decoder(
        "artifact",
        read_artifact,
        (_json({"format": 1, "segments": [{"name": "s", "files": 1, "dead": [0]}]}), b"{}"),
        (b"../", b"segments", *_JSON),
        failures=(*_NO_JSON, b'{"format": 1, "segments": [{"name": "\\u0000", "files": 1, "dead": []}]}'),
    ),
    Decoder(
        "array-part",
        read_array,
        (_array(np.arange(6)), _array(np.zeros(3, [("a", "<u4"), ("b", "V32")]))),
        (b"'descr'", b"'shape'", b"(", b")", b"|O", b"99999999999", b"'", b","),
        (ValueError, OSError),  # as its contract says; the views make a StateError of these
        (b"", _array(np.arange(6)).replace(b"{", b"("), _array(np.arange(6)).replace(b"{'", b"{")),
    ),
    Decoder(
        "mcp-line",
        read_mcp_line,
        (_json(_INITIALIZE),),
        (b"tools/list", b"server/discover", *_JSON),
        failures=_NO_JSON,
    ),
    Decoder(
        "mcp-arguments",
        read_mcp_arguments,
        tuple(_json({name: given}) for name, given in _CALLS.items()),
        (b"true", b"-1", b"1e30", *_JSON),
    ),
    Decoder(
        "query", read_query, (_TRACE, b"where is the session saved"), (b"::", b"->", b".py:", b"`", b'"')
    ),
    Decoder(
        "place",
        read_place,
        (b"src/app.py:12:5", b"a.py:1-2", b"Cart.total"),
        (b":", b"-", b"1"),
        failures=(b"a:" + b"1" * 5000,),
    ),
    Decoder(
        "glob",
        read_globs,
        (b"src/**/*.py\n!*_test.py", b"{a,b}/[!x-z]?"),
        (b"**", b"**/", b"{", b"[", b"]", b","),
    ),
    Decoder(
        "pattern",
        read_pattern,
        (b" (a|b)+c{2,3}[^x-z]\\d$", b"iG(?=r)(?P<n>o)(?P=n)", b"ldef save", b" (?<=d)ef\\b|\\p{L}+"),
        (b"(?", b"(", b")", b"*", b"{1,999}", b"[", b"]", b"|", b"\\", b"(?:a+)+", b"{e<=1}", b"\\N{DASH}"),
        failures=(b"l" + b"9" * 240_000, b" " + b"\xff" * 6000 + b"(a|b)+c{2,3\xed\xa0\x80}[^x-z]\\d{e<=1}$"),
    ),
    Decoder(
        "ignore-file", read_ignore_file, (b"*.py\n!src/\n/b/**/d.txt\n# c\n",), (b"**", b"[", b"!", b"\\")
    ),
    Decoder(
        "notebook",
        read_notebook,
        (json.dumps(_NOTEBOOK, indent=1).encode(),),
        (b"cells", b"source", *_JSON),
        failures=(_SURROGATE,),
    ),
)
