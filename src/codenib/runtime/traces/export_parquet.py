"""Rows of one type in, a Parquet file out. The one module that imports pyarrow, and only when asked to."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from codenib.core.errors import InputError, extra_hint
from codenib.runtime.traces.export_rows import ChatMessage

if TYPE_CHECKING:
    import pyarrow


def check_parquet() -> None:
    """Raise when Parquet cannot be written here."""
    try:
        import pyarrow.parquet

        pyarrow.json_()
    except (ImportError, AttributeError) as error:
        raise InputError(
            "Parquet needs pyarrow 19 or newer",
            hint=f"{extra_hint('parquet')}, or --no-parquet for JSON Lines alone",
        ) from error


def write_parquet(file: Path, rows: Sequence[msgspec.Struct], kind: type[msgspec.Struct]) -> None:
    """Write rows with the columns of their type, also when there is none."""
    import pyarrow as pa
    from pyarrow import parquet

    names = [field.encode_name for field in msgspec.structs.fields(kind)]
    hints = [get_type_hints(kind)[field.name] for field in msgspec.structs.fields(kind)]
    columns = [
        _chats([getattr(row, name) for row in rows])
        if hint == tuple[ChatMessage, ...]
        else pa.array([msgspec.to_builtins(getattr(row, name)) for row in rows], _arrow(hint))
        for name, hint in zip(names, hints, strict=True)
    ]
    parquet.write_table(pa.table(columns, names=names), file)


def _chats(chats: Sequence[Sequence[ChatMessage]]) -> pyarrow.Array:
    """A column of chats: lists of messages as JSON, which loaders give as objects with the keys they have."""
    import pyarrow as pa

    offsets = [0, *accumulate(map(len, chats))]
    texts = [msgspec.json.encode(message).decode() for chat in chats for message in chat]
    messages = pa.ExtensionArray.from_storage(pa.json_(), pa.array(texts, pa.string()))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), messages)


def _fields(kind: type[msgspec.Struct]) -> list[pyarrow.Field]:
    import pyarrow as pa

    hints = get_type_hints(kind)
    return [pa.field(field.encode_name, _arrow(hints[field.name])) for field in msgspec.structs.fields(kind)]


def _arrow(hint: Any) -> pyarrow.DataType:
    import pyarrow as pa

    plain = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    if hint in plain:
        return plain[hint]
    if get_origin(hint) is Literal:
        return pa.string()
    if get_origin(hint) in (Union, UnionType):
        (given,) = (each for each in get_args(hint) if each is not NoneType)
        return _arrow(given)
    if get_origin(hint) is tuple:
        return pa.list_(_arrow(get_args(hint)[0]))
    return pa.struct(_fields(hint))
