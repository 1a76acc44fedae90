"use strict";
/**
 * Occurrences, definitions and reference sets in, one line of facts for each file out.
 *
 * The contract of facts is: a token has keys, and a question collects every token that has one of the keys
 * it asks for. Reference sets overlap (members of unions and base types, files that only some questions
 * reach), so tokens that are always found together become one key, named after the declaration among them; a
 * question asks for the keys that make up its set. For most names that is one key: their declaration.
 */

const { ROLE } = require("./nodes.js");
const { Prints } = require("./prints.js");

/** Blanks and comments that a file begins with. */
const LEADING = /^(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/|#![^\n]*)*/;

class Facts {
  constructor(paths) {
    this.paths = paths;
    this.files = paths.map(() => ({
      text: "",
      lines: null,
      nodes: [],
      asked: new Map(),
      relations: [],
      extra: new Map(),
      mark: 0,
    }));
    this.spans = paths.map(() => new Map());
    this.owner = [];
    this.starts = [];
    this.ends = [];
    this.sets = [];
    this.setIds = new Map();
  }

  /** The number of the occurrence at a span of a file. */
  occurrence(file, start, end) {
    const spans = this.spans[file];
    const key = start * 1048576 + Math.min(end - start, 1048575);
    let id = spans.get(key);
    if (id === undefined) {
      spans.set(key, (id = this.owner.length));
      this.owner.push(file);
      this.starts.push(start);
      this.ends.push(end);
    }
    return id;
  }

  /** The number of a set of occurrences; equal sets have one number. */
  set(ids) {
    const sorted = Int32Array.from(new Set(ids)).sort();
    let one = 7,
      two = 11;
    for (const id of sorted) {
      one = (Math.imul(one, 31) + id) | 0;
      two = (Math.imul(two, 1000003) ^ id) | 0;
    }
    const key = `${sorted.length} ${one} ${two}`;
    const same = this.setIds.get(key) || [];
    for (const id of same) if (equal(this.sets[id], sorted)) return id;
    this.setIds.set(key, [...same, this.sets.length]);
    return this.sets.push(sorted) - 1;
  }

  /** Whether a set has the occurrence at a span of a file. */
  holds(set, file, start, end) {
    const id = this.spans[file].get(start * 1048576 + Math.min(end - start, 1048575));
    if (id === undefined) return false;
    const ids = this.sets[set];
    let [low, high] = [0, ids.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ids[middle] < id) low = middle + 1;
      else high = middle;
    }
    return ids[low] === id;
  }

  /** Records an asked token: its roles, its definitions and the set that its references are (-1: none). */
  ask(file, start, end, name, roles, definitions, set) {
    const id = this.occurrence(file, start, end);
    this.files[file].asked.set(id, { name, roles, definitions, set });
  }

  /** Splits the occurrences into groups that no set tells apart; gives each occurrence's group. */
  groups() {
    const group = new Int32Array(this.owner.length).fill(-1);
    const sizes = [];
    for (const set of this.sets) {
      const hits = new Map();
      for (const id of set) hits.set(group[id], (hits.get(group[id]) || 0) + 1);
      const moved = new Map();
      for (const [old, count] of hits) {
        if (old >= 0 && count === sizes[old]) continue;
        moved.set(old, sizes.length);
        sizes.push(count);
        if (old >= 0) sizes[old] -= count;
      }
      for (const id of set) {
        const next = moved.get(group[id]);
        if (next !== undefined) group[id] = next;
      }
    }
    return group;
  }

  /** Yields each file's line, in the order of the paths. */
  *lines() {
    for (const { make } of this.sheets(false)) yield make();
  }

  /** Yields for each file what makes its line; and, if wanted, a number that is equal for equal lines. */
  *sheets(isPrinted) {
    const group = this.groups();
    this.addMissingNodes();
    const byFile = this.paths.map(() => []);
    for (let id = 0; id < this.owner.length; id++) byFile[this.owner[id]].push(id);
    for (const ids of byFile)
      ids.sort((a, b) => this.starts[a] - this.starts[b] || this.ends[a] - this.ends[b]);
    const keys = this.nameGroups(group, byFile);
    const parts = this.sets.map((set) => {
      const found = new Set();
      for (const id of set) found.add(keys.get(group[id]));
      return [...found];
    });
    const prints = isPrinted ? new Prints(this, group, keys, parts, (target) => this.placeOf(target)) : null;
    for (let file = 0; file < this.paths.length; file++) {
      const make = () => JSON.stringify(new FileFacts(this, file, group, keys, parts).encode(byFile[file]));
      yield { make, print: prints ? prints.of(file, byFile[file]) : "" };
    }
  }

  /** A target as others see it: path, line, column and name. */
  placeOf({ file, start }) {
    const path = this.paths[file];
    if (start < 0) return path;
    const at = this.names[file].get(start);
    const name = at === undefined ? "" : this.files[file].nodes[at][0];
    return `${path} ${position(this.files[file].lines, start).join(" ")} ${name}`;
  }

  /**
   * Definitions may point at what has no name (a function expression, a file's first statement): they get
   * nodes too.
   */
  addMissingNodes() {
    this.names = this.files.map((each) => new Map(each.nodes.map((node, index) => [node[5], index])));
    for (const file of this.files) {
      for (const { definitions } of file.asked.values())
        for (const target of definitions) this.ensure(target);
      for (const [, source, destination] of file.relations)
        [source, destination].forEach((target) => this.ensure(target));
    }
    for (let index = 0; index < this.files.length; index++) this.placeExtra(index);
  }

  ensure(target) {
    if (typeof target === "string" || target.start < 0) return;
    if (!this.names[target.file].has(target.start))
      this.files[target.file].extra.set(target.start, target.end);
  }

  placeExtra(index) {
    const file = this.files[index];
    for (const [start, end] of [...file.extra].sort((a, b) => a[0] - b[0]))
      file.nodes.push(anonymous(file.text, start, end));
    if (!file.extra.size) return;
    const order = file.nodes
      .map((node, at) => at)
      .sort((a, b) => {
        const [x, y] = [file.nodes[a], file.nodes[b]];
        return x[3] - y[3] || y[4] - x[4] || a - b;
      });
    const place = new Map(order.map((old, at) => [old, at]));
    const stack = [];
    const nodes = order.map((old) => [...file.nodes[old]]);
    nodes.forEach((node, at) => {
      while (stack.length && nodes[stack[stack.length - 1]][4] < node[4]) stack.pop();
      node[2] =
        node[8] === "new"
          ? stack.length
            ? stack[stack.length - 1]
            : -1
          : node[2] < 0
            ? -1
            : place.get(node[2]);
      stack.push(at);
    });
    file.nodes = nodes;
    this.names[index] = new Map(nodes.map((node, at) => [node[5], at]));
  }

  /**
   * A stable name for each group: its first declaration, else what lies outside, else its first token's path
   * and text.
   */
  nameGroups(group, byFile) {
    const members = new Map();
    for (const ids of byFile) {
      for (const id of ids) {
        if (group[id] < 0) continue;
        const list = members.get(group[id]);
        if (list) list.push(id);
        else members.set(group[id], [id]);
      }
    }
    const keys = new Map();
    const taken = new Map();
    for (const [number, ids] of members) keys.set(number, this.declared(ids) || this.synthetic(ids, taken));
    return keys;
  }

  declared(ids) {
    for (const id of ids) {
      const file = this.owner[id];
      const asked = this.files[file].asked.get(id);
      if (!asked || !(asked.roles & ROLE.declaration)) continue;
      for (const start of [this.starts[id], this.starts[id] - 1]) {
        if (this.names[file].has(start)) return { file, start, end: this.ends[id] };
      }
    }
    return null;
  }

  synthetic(ids, taken) {
    const file = this.owner[ids[0]];
    const asked = this.files[file].asked.get(ids[0]);
    const outside =
      asked && asked.definitions.length === 1 && typeof asked.definitions[0] === "string"
        ? asked.definitions[0]
        : "";
    const text = this.files[file].text.slice(
      this.starts[ids[0]],
      Math.min(this.ends[ids[0]], this.starts[ids[0]] + 80),
    );
    const name = outside || `set:${this.paths[file]}#${text.split("\n")[0]}`;
    const count = (taken.get(name) || 0) + 1;
    taken.set(name, count);
    return count === 1 ? name : `${name}~${count}`;
  }
}

/** One file's facts: the tables of targets and lists that its occurrences share. */
class FileFacts {
  constructor(facts, file, group, keys, parts) {
    Object.assign(this, { facts, file, group, keys, parts });
    this.own = facts.files[file];
    this.targets = [];
    this.targetIds = new Map();
    this.lists = [];
    this.listIds = new Map();
    this.askIds = new Map();
  }

  encode(ids) {
    const { facts, own } = this;
    const rows = [];
    // Numbers are given by first use, in the order of the text: the same however the facts came about.
    for (const id of ids) {
      const asked = own.asked.get(id);
      if (!asked && this.group[id] < 0) continue;
      rows.push(this.row(id, asked));
    }
    rows.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3]);
    const nodes = own.nodes.map((node) => this.node(node));
    const relations = own.relations.map(([kind, source, destination]) => [
      kind,
      this.target(source),
      this.target(destination),
    ]);
    return {
      path: facts.paths[this.file],
      encoding: "utf-16",
      nodes,
      targets: this.targets,
      lists: this.lists,
      occurrences: rows.flat(),
      relations: unique(relations),
    };
  }

  row(id, asked) {
    const { facts } = this;
    const [line, column] = this.at(facts.starts[id]);
    const [endLine, endColumn] = this.at(facts.ends[id]);
    const key = this.group[id] < 0 ? undefined : this.keys.get(this.group[id]);
    const keys = key === undefined ? -1 : this.list([key]);
    if (!asked) return [line, column, endLine, endColumn, ROLE.inexact, -1, keys, -1];
    const definitions = asked.definitions.length ? this.list(asked.definitions) : -1;
    const asks = asked.set < 0 ? (keys < 0 ? -1 : this.list([])) : this.askList(asked.set);
    const roles = asked.roles | (this.isExact(asked, key) ? 0 : ROLE.inexact);
    return [line, column, endLine, endColumn, roles, definitions, keys, asks === keys ? -1 : asks];
  }

  askList(set) {
    let list = this.askIds.get(set);
    if (list === undefined) this.askIds.set(set, (list = this.list(this.parts[set])));
    return list;
  }

  /** Whether the token's text is the name of everything that it is defined by. */
  isExact(asked, key) {
    const targets = asked.definitions.length ? asked.definitions : key === undefined ? [] : [key];
    return targets.every((target) => {
      if (typeof target === "string") return target.split("~")[0].split(/[#.]/).pop() === asked.name;
      if (target.start < 0) return false;
      const { names, files } = this.facts;
      return files[target.file].nodes[names[target.file].get(target.start)][0] === asked.name;
    });
  }

  list(targets) {
    const order = targets.length < 2 ? targets : [...targets].sort(byPlace);
    const ids = [...new Set(order.map((each) => this.target(each)))].sort((a, b) => a - b);
    const key = ids.join(" ");
    let id = this.listIds.get(key);
    if (id === undefined) {
      this.listIds.set(key, (id = this.lists.length));
      this.lists.push(ids);
    }
    return id;
  }

  target(target) {
    const key = typeof target === "string" ? target : `${target.file} ${target.start}`;
    let id = this.targetIds.get(key);
    if (id === undefined) {
      this.targetIds.set(key, (id = this.targets.length));
      this.targets.push(typeof target === "string" ? target : this.location(target));
    }
    return id;
  }

  location({ file, start }) {
    const path = this.facts.paths[file];
    return start < 0 ? [path] : [path, ...position(this.facts.files[file].lines, start)];
  }

  node([name, kind, parent, start, end, nameStart, nameEnd, local]) {
    const [line, column] = this.at(start);
    const [endLine, endColumn] = this.at(end);
    const [nameLine, nameColumn] = this.at(nameStart);
    const [lastLine, lastColumn] = this.at(nameEnd);
    const oneLine = lastLine === nameLine ? lastColumn : this.at(this.own.lines[nameLine + 1] - 1)[1];
    return [name, kind, parent, line, column, endLine, endColumn, nameLine, nameColumn, oneLine, local];
  }

  at(offset) {
    return position(this.own.lines, offset);
  }
}

function position(lines, offset) {
  let low = 0,
    high = lines.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (lines[middle] <= offset) low = middle;
    else high = middle - 1;
  }
  return [low, offset - lines[low]];
}

function anonymous(text, start, end) {
  const whole = end >= text.trimEnd().length && start <= LEADING.exec(text)[0].length;
  if (whole) return ["<module>", "module", -1, start, start + 1, start, start + 1, 0, "new"];
  const source = text.slice(start, Math.min(end, start + 200));
  const word = /^[\w$]+$/.test(source) ? source : "";
  const kind = /^(async\b|function\b|\()/.test(source)
    ? "function"
    : /^class\b/.test(source)
      ? "class"
      : "variable";
  return [word || "<anonymous>", kind, -1, start, end, start, end, 0, "new"];
}

function byPlace(a, b) {
  if (typeof a === "string" || typeof b === "string")
    return typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "string" ? 1 : -1;
  return a.file - b.file || a.start - b.start;
}

function unique(rows) {
  const seen = new Set();
  return rows.filter((row) => !seen.has(row.join(" ")) && seen.add(row.join(" ")));
}

function equal(a, b) {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}

module.exports = { Facts };
