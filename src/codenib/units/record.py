"""Units of a blob to bytes and back, for the cache: a MessagePack array, rows as five-element arrays."""

from __future__ import annotations

import msgspec

from codenib.core.source import BlobUnits, Level, UnitRow

# start, end, level, leaf and test in one number (test * 8 + level * 2 + leaf), kind, symbol
_Row = tuple[int, int, int, str, str]
_Record = tuple[str, int, str, list[_Row]]

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Record)
_LEVELS = tuple(Level)
_TEST = 8


def encode_units(units: BlobUnits) -> bytes:
    """The bytes that `decode_units` turns back into `units`. Same units, same bytes."""
    rows = [
        (row.start_line, row.end_line, row.test * _TEST + row.level * 2 + row.leaf, row.kind, row.symbol)
        for row in units.rows
    ]
    return _encoder.encode((units.language, units.lines, units.skip, rows))


def decode_units(record: bytes) -> BlobUnits:
    """The units that `encode_units` wrote."""
    language, lines, skip, rows = _decoder.decode(record)
    return BlobUnits(
        language,
        lines,
        tuple(
            [
                UnitRow(
                    start,
                    end,
                    _LEVELS[packed % _TEST >> 1],
                    kind,
                    symbol,
                    leaf=bool(packed & 1),
                    test=packed >= _TEST,
                )
                for start, end, packed, kind, symbol in rows
            ]
        ),
        skip,
    )
