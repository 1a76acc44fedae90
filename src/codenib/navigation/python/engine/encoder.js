"use strict";
// Occurrences with their targets in, one file's line of facts out: targets and lists interned, rows sorted.

/** @import { Position, Span } from "./basedpyright" */

/**
 * Whether a configuration includes a file; of an unresolved one nothing could be read.
 * @typedef {"project" | "loose" | "unresolved"} Scope
 */
/**
 * What a name leads to: targets as JSON texts.
 * @typedef {object} Answer
 * @property {Set<string>} definitions
 * @property {Set<string>} keys what a reference search compares there
 * @property {Set<string>} asks what a reference search that starts there looks for
 */
/** @typedef {[kind: string, source: string, target: string]} Relation */
/** @typedef {Answer & { place: number[] }} Row */

class FactEncoder {
  /**
   * @param {string} file
   * @param {(offset: number) => Position} positionAt
   * @param {Scope} scope
   */
  constructor(file, positionAt, scope) {
    this.file = file;
    this.positionAt = positionAt;
    this.scope = scope;
    /** @type {Map<string, number>} */
    this.targets = new Map();
    /** @type {Map<string, number>} */
    this.lists = new Map();
    /** @type {Row[]} */
    this.rows = [];
  }

  /**
   * @param {Span} span
   * @param {number} roles
   * @param {Answer} answer
   */
  add(span, roles, { definitions, keys, asks }) {
    const start = this.positionAt(span.start);
    const end = this.positionAt(span.start + span.length);
    const place = [start.line, start.character, end.line, end.character, roles];
    this.rows.push({ place, definitions, keys, asks });
  }

  /**
   * @param {(string | number)[][]} nodes
   * @param {Relation[]} relations
   */
  encode(nodes, relations) {
    this.rows.sort((a, b) => byPlace(a.place, b.place));
    const rows = this.rows.map((row) => this.row(row));
    const related = relations.map((relation) => this.relation(relation));
    const lists = [...this.lists.keys()].map((text) => `[${text}]`);
    return (
      `{"path":${JSON.stringify(this.file)},"encoding":"utf-16","nodes":${JSON.stringify(nodes)},` +
      `"targets":[${[...this.targets.keys()].join(",")}],"lists":[${lists.join(",")}],` +
      `"occurrences":[${rows.join(",")}],"relations":[${related.join(",")}],"scope":"${this.scope}"}\n`
    );
  }

  /** @param {Relation} relation */
  relation([kind, source, target]) {
    return `["${kind}",${intern(this.targets, source)},${intern(this.targets, target)}]`;
  }

  /** @param {Row} row */
  row({ place, definitions, keys, asks }) {
    const asked = isSameSet(keys, asks) ? -1 : this.list(asks, true);
    return `${place.join(",")},${this.list(definitions)},${this.list(keys)},${asked}`;
  }

  /**
   * The number of a list of targets; -1 for an empty one that need not be told from none.
   * @param {Set<string>} targets
   */
  list(targets, keepEmpty = false) {
    if (targets.size === 0 && !keepEmpty) return -1;
    const indexes = [...targets].map((target) => intern(this.targets, target));
    return intern(this.lists, indexes.sort((a, b) => a - b).join(","));
  }
}

/**
 * The line of a file of which nothing can be read.
 * @param {string} file
 */
function encodeNothing(file) {
  return new FactEncoder(file, () => ({ line: 0, character: 0 }), "unresolved").encode([], []);
}

/**
 * @param {Map<string, number>} table
 * @param {string} text
 */
function intern(table, text) {
  const index = table.get(text) ?? table.size;
  if (index === table.size) table.set(text, index);
  return index;
}

/**
 * @param {number[]} a
 * @param {number[]} b
 */
function byPlace(a, b) {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3];
}

/**
 * @param {Set<string>} some
 * @param {Set<string>} others
 */
function isSameSet(some, others) {
  return some.size === others.size && [...some].every((one) => others.has(one));
}

module.exports = { FactEncoder, encodeNothing };
