"""Facts per file in, the queryable graph out: one table of nodes, one of occurrences, and their indexes.

Node numbers: folders first, then files, then declarations by file and place. A *key* is a node's number, or
beyond the last node that of something outside the repository. All arrays are plain `.npy` files that readers
map; nothing here looks at source text.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path, PurePosixPath

import numpy as np

from codenib.core.facts import (
    NO_REFERENCE,
    OCCURRENCE_COLUMNS,
    OCCURRENCE_LISTS,
    RELATIONS,
    FileScope,
    NodeKind,
)
from codenib.views.arrays import save_array
from codenib.views.graph.assembly.edges import derive_edges, importance, write_edges
from codenib.views.graph.assembly.strings import write_strings
from codenib.views.graph.assembly.tables import Tables, distinct
from codenib.views.graph.facts.file import OUTSIDE, OWN_FILE, FileFacts
from codenib.views.graph.facts.rows import CODE_NAME, NODE, OCCURRENCE, RANGE, RELATION, Ints, Rows


def assemble(facts: Sequence[FileFacts], out: Path) -> dict[str, int]:
    """Write the graph of these files (in path order) into `out`; how many of each there are."""
    paths = [each.path for each in facts]
    folders = _folders(paths)
    files_at, nodes_at = len(folders), len(folders) + len(paths)
    first = np.array([*accumulate((len(each.names) for each in facts), initial=nodes_at)], np.int32)
    count = int(first[-1])
    keys, outside = _number(facts, paths, files_at, first)
    tables = _tables(facts, folders, files_at, first, keys)
    key_count = count + len(outside)
    _write_tables(tables, out)
    _write_names(facts, folders, paths, outside, out)
    _write_places(tables, key_count, out)
    _write_unknown(facts, out)
    relations = _relations(facts, keys)
    _write_relations(relations, out)
    edges = derive_edges(tables, relations, count)
    write_edges(edges, count, out)
    save_array(out / "importance.npy", importance(edges, count))
    return {
        "folders": len(folders),
        "files": len(paths),
        "nodes": count,
        "edges": len(edges),
        "occurrences": len(tables.occurrences),
        "outside": len(outside),
    }


def _folders(paths: Sequence[str]) -> list[str]:
    found = {"."}
    for path in paths:
        for parent in PurePosixPath(path).parents:
            if str(parent) in found:
                break
            found.add(str(parent))
    return sorted(found)


def _number(
    facts: Sequence[FileFacts], paths: Sequence[str], files_at: int, first: Ints
) -> tuple[list[Ints], list[str]]:
    """For each file the keys of its targets; and what is outside, in the order of its numbers."""
    known = {f"{path}#": files_at + at for at, path in enumerate(paths)}
    for at, each in enumerate(facts):
        start = int(first[at])
        known.update({name: start + i for i, name in enumerate(each.identities)})
    names = {target for each in facts for target in each.targets if isinstance(target, str)}
    outside = sorted(name for name in names if name not in known)
    count = int(first[-1])
    known.update({name: count + at for at, name in enumerate(outside)})
    keys = []
    for at, each in enumerate(facts):
        start, own = int(first[at]), files_at + at
        row = [
            known[target] if isinstance(target, str) else own if target == OWN_FILE else start + target
            for target in each.targets
        ]
        keys.append(np.array(row, np.int32))
    return keys, outside


def _tables(
    facts: Sequence[FileFacts], folders: Sequence[str], files_at: int, first: Ints, keys: Sequence[Ints]
) -> Tables:
    nodes_at = files_at + len(facts)
    count = int(first[-1])
    rows = _stack([each.nodes for each in facts], NODE)
    number = {folder: at for at, folder in enumerate(folders)}
    parents = np.full(count, -1, np.int32)
    for folder, at in number.items():
        if folder != ".":
            parents[at] = number[str(PurePosixPath(folder).parent)]
    for at, each in enumerate(facts):
        parents[files_at + at] = number[str(PurePosixPath(each.path).parent)]
    sizes = [len(each.names) for each in facts]
    starts = np.repeat(first[:-1], sizes)
    owner = np.repeat(np.arange(files_at, nodes_at, dtype=np.int32), sizes)
    parents[nodes_at:] = np.where(rows["parent"] < 0, owner, rows["parent"] + starts)
    kinds = np.zeros(count, np.uint8)
    kinds[files_at:nodes_at] = NodeKind.FILE
    kinds[nodes_at:] = rows["kind"]
    ranges = np.zeros(count, RANGE)
    for name in RANGE.names or ():
        ranges[name][nodes_at:] = rows[name]
    flags = np.zeros(count, np.uint8)
    flags[nodes_at:] = rows["flags"]
    file_of = np.full(count, -1, np.int32)
    file_of[files_at:nodes_at] = np.arange(len(facts))
    file_of[nodes_at:] = owner - files_at
    list_ptr, list_items, occurrences = _merge_lists(facts, keys)
    first_occurrence = np.array([0, *accumulate(len(each.occurrences) for each in facts)], np.int32)
    return Tables(
        kinds=kinds,
        parents=parents,
        ranges=ranges,
        flags=flags,
        file_of=file_of,
        first_node=first,
        occurrences=occurrences,
        first_occurrence=first_occurrence,
        list_ptr=list_ptr,
        list_items=list_items,
        files_at=files_at,
        nodes_at=nodes_at,
    )


def _merge_lists(facts: Sequence[FileFacts], keys: Sequence[Ints]) -> tuple[Ints, Ints, Rows]:
    """One table of lists for all files, with sorted keys; the occurrences point into it."""
    items = _flat([keys[at][each.list_items] for at, each in enumerate(facts)])
    sizes = _flat([np.diff(each.list_ptr) for each in facts])
    ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    within = np.repeat(np.arange(len(sizes)), sizes)
    items = items[np.lexsort((items, within))]
    starts = [0, *accumulate(len(each.list_ptr) - 1 for each in facts)]
    moved = []
    for each, start in zip(facts, starts, strict=False):
        rows = each.occurrences.copy()
        for name in OCCURRENCE_LISTS:
            rows[name] += np.where(rows[name] >= 0, start, 0).astype(np.int32)
        moved.append(rows)
    return ptr, items.astype(np.int32), _stack(moved, OCCURRENCE)


def _relations(facts: Sequence[FileFacts], keys: Sequence[Ints]) -> Rows:
    """The relations between keys; sorted, each once."""
    rows = []
    for at, each in enumerate(facts):
        if len(each.relations):
            relations = each.relations.copy()
            for side in ("source", "to"):
                relations[side] = keys[at][relations[side]]
            rows.append(relations)
    return np.unique(_stack(rows, RELATION))


def _write_relations(relations: Rows, out: Path) -> None:
    sizes = np.bincount(relations["kind"], minlength=len(RELATIONS))
    save_array(out / "relation_ptr.npy", np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32))
    save_array(out / "relation_source.npy", np.ascontiguousarray(relations["source"]))
    save_array(out / "relation_to.npy", np.ascontiguousarray(relations["to"]))


def _write_tables(tables: Tables, out: Path) -> None:
    save_array(out / "kinds.npy", tables.kinds)
    save_array(out / "parents.npy", tables.parents)
    save_array(out / "ranges.npy", tables.ranges.view("<i4").reshape(len(tables.ranges), -1))
    save_array(out / "flags.npy", tables.flags)
    save_array(out / "file_of.npy", tables.file_of)
    save_array(out / "first_node.npy", tables.first_node)
    save_array(out / "first_occurrence.npy", tables.first_occurrence)
    save_array(out / "list_ptr.npy", tables.list_ptr)
    save_array(out / "list_items.npy", tables.list_items)
    for name in OCCURRENCE_COLUMNS:
        kind = np.uint16 if name == "roles" else np.int32
        save_array(out / f"occurrence_{name}.npy", tables.occurrences[name].astype(kind))
    spanning = np.flatnonzero(tables.occurrences["end_line"] > tables.occurrences["line"])
    save_array(out / "spanning.npy", spanning.astype(np.int32))


def _write_names(
    facts: Sequence[FileFacts],
    folders: Sequence[str],
    paths: Sequence[str],
    outside: Sequence[str],
    out: Path,
) -> None:
    names = [name for each in facts for name in each.names]
    write_strings(out, "names", [*folders, *paths, *names])
    write_strings(out, "outside", [name.removeprefix(OUTSIDE) for name in outside])
    start = len(folders) + len(paths)
    lowered = [name.lower() for name in names]
    order = sorted(range(len(names)), key=lowered.__getitem__)
    save_array(out / "by_name.npy", np.array(order, np.int32) + np.int32(start))
    groups = sorted({each.group for each in facts})
    write_strings(out, "groups", groups)
    save_array(out / "group_of.npy", np.array([groups.index(each.group) for each in facts], np.uint8))
    scopes = list(FileScope)
    save_array(out / "scope_of.npy", np.array([scopes.index(each.scope) for each in facts], np.uint8))


def _write_places(tables: Tables, key_count: int, out: Path) -> None:
    """For each key, where it occurs: what is an occurrence of it, and what is a name and defined by it.

    The second is what makes references the inverse of definitions, whatever files a server would search.
    """
    every = np.arange(len(tables.occurrences), dtype=np.int32)
    named = np.flatnonzero((tables.occurrences["roles"] & NO_REFERENCE) == 0).astype(np.int32)
    found = [tables.targets_of(every, "keys"), tables.targets_of(named, "defs")]
    keys = np.concatenate([targets for _, targets in found]).astype(np.int64)
    occurrences = np.concatenate([having for having, _ in found])
    pairs = distinct((keys << 32) | occurrences)
    keys, occurrences = pairs >> 32, (pairs & 0xFFFFFFFF).astype(np.int32)
    ptr = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=key_count))])
    save_array(out / "place_ptr.npy", ptr.astype(np.int32))
    save_array(out / "places.npy", occurrences)


def _write_unknown(facts: Sequence[FileFacts], out: Path) -> None:
    """Names in code that nobody resolved: by file and place, and for each name the rows that have it."""
    names = sorted({name for each in facts for name in each.unknown_names})
    number = {name: at for at, name in enumerate(names)}
    numbered = [np.array([number[name] for name in each.unknown_names], np.int32) for each in facts]
    rows = _stack([each.unknown for each in facts], CODE_NAME)
    which = _flat([numbers[each.unknown["name"]] for numbers, each in zip(numbered, facts, strict=True)])
    first = np.array([0, *accumulate(len(each.unknown) for each in facts)], np.int32)
    ptr = np.concatenate([[0], np.cumsum(np.bincount(which, minlength=len(names)))])
    write_strings(out, "unknown_names", names)
    save_array(out / "first_unknown.npy", first)
    save_array(out / "unknown_line.npy", rows["line"].astype(np.int32))
    save_array(out / "unknown_column.npy", rows["column"].astype(np.int32))
    save_array(out / "unknown_name.npy", which.astype(np.int32))
    save_array(out / "unknown_use.npy", rows["use"].astype(np.uint8))
    save_array(out / "unknown_ptr.npy", ptr.astype(np.int32))
    save_array(out / "unknown_rows.npy", np.argsort(which, kind="stable").astype(np.int32))


def _stack(parts: Sequence[Rows], row_type: np.dtype[np.void]) -> Rows:
    return np.concatenate(parts) if parts else np.zeros(0, row_type)


def _flat(parts: Sequence[Ints]) -> Ints:
    return np.concatenate(parts) if parts else np.zeros(0, np.int32)
