"""Rows of one type in, a Parquet file out. The one module that imports pyarrow, and only when asked to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from codenib.core.errors import InputError, extra_hint

if TYPE_CHECKING:
    import pyarrow


def check_parquet() -> None:
    """Raise when Parquet cannot be written here."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise InputError(
            "Parquet needs pyarrow", hint=f"{extra_hint('parquet')}, or --no-parquet for JSON Lines alone"
        ) from error


def write_parquet(file: Path, rows: Sequence[msgspec.Struct], kind: type[msgspec.Struct]) -> None:
    """Write rows with the columns of their type, also when there is none."""
    import pyarrow as pa
    from pyarrow import parquet

    columns = [msgspec.to_builtins(row) for row in rows]
    table = pa.Table.from_pylist(columns, schema=pa.schema(_fields(kind)))
    parquet.write_table(table, file)


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
