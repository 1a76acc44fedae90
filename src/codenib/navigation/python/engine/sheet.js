"use strict";
// Occurrences with their targets in, one file's line of facts out: targets and lists interned, rows sorted.

// Stands before keys in files that are searched together, and only when a search starts in one of them.
const TOGETHER = "imported only";

class Sheet {
  // `alone`: "itself" when reference searches visit this file only when they start in it, "together" when also those
  // visit it that start in another such file.
  constructor(file, at, alone) {
    this.file = file;
    this.at = at;
    this.alone = alone;
    this.scope = alone === "together" ? TOGETHER : `${file} only`;
    this.targets = new Map();
    this.lists = new Map();
    this.rows = [];
    this.hidden = new Set();
  }

  // `loose`: the server lists this occurrence only for searches that start in this file.
  add(span, roles, { defs, keys, asks }, loose = false) {
    const start = this.at(span.start);
    const end = this.at(span.start + span.length);
    const place = [start.line, start.character, end.line, end.character, roles];
    const hides = !!this.alone || loose;
    if (hides) {
      keys.forEach((key) => this.hidden.add(key));
    }
    this.rows.push({ place, defs, keys, asks, hides });
  }

  text(nodes, relations) {
    this.rows.sort((a, b) => byPlace(a.place, b.place));
    const rows = this.rows.map((row) => this.row(row));
    const related = relations.map(([kind, source, target]) => this.relation(kind, source, target));
    const lists = [...this.lists.keys()].map((text) => `[${text}]`);
    return (
      `{"path":${JSON.stringify(this.file)},"encoding":"utf-16","nodes":${JSON.stringify(nodes)},` +
      `"targets":[${[...this.targets.keys()].join(",")}],"lists":[${lists.join(",")}],` +
      `"occurrences":[${rows.join(",")}],"relations":[${related.join(",")}]}\n`
    );
  }

  relation(kind, source, target) {
    return `["${kind}",${intern(this.targets, source)},${intern(this.targets, target)}]`;
  }

  row({ place, defs, keys, asks, hides }) {
    const shown = hides ? this.shownOf(keys, place) : keys;
    const wide = this.widen(asks);
    const asked = sameSet(shown, wide) ? -1 : this.list(wide, true);
    return `${place.join(",")},${this.list(defs)},${this.list(shown)},${asked}`;
  }

  // A declaration is listed wherever the search starts, even when the rest of its file is not searched.
  shownOf(keys, [line, column]) {
    const shown = new Set([...keys].map((key) => scoped(this.scope, key)));
    const itself = JSON.stringify([this.file, line, column]);
    return keys.has(itself) ? shown.add(itself) : shown;
  }

  widen(asks) {
    const wide = new Set(asks);
    for (const key of asks) {
      if (this.alone || this.hidden.has(key)) {
        wide.add(scoped(this.scope, key));
      }
    }
    return wide;
  }

  list(targets, keepEmpty = false) {
    if (targets.size === 0 && !keepEmpty) {
      return -1;
    }
    const indexes = [];
    for (const target of targets) {
      indexes.push(intern(this.targets, target));
    }
    return intern(this.lists, indexes.sort((a, b) => a - b).join(","));
  }
}

// A declaration keeps its place beside the scope: the product names both without lines.
function scoped(scope, key) {
  const target = JSON.parse(key);
  return JSON.stringify(
    Array.isArray(target) && target.length === 3 ? [...target, scope] : `${scope} ${key}`,
  );
}

function intern(table, text) {
  let index = table.get(text);
  if (index === undefined) {
    index = table.size;
    table.set(text, index);
  }
  return index;
}

function byPlace(a, b) {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3];
}

function sameSet(a, b) {
  if (a.size !== b.size) {
    return false;
  }
  for (const one of a) {
    if (!b.has(one)) {
      return false;
    }
  }
  return true;
}

module.exports = { Sheet };
