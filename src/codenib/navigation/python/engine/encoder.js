"use strict";
// Occurrences with their targets in, one file's line of facts out: targets and lists interned, rows sorted.

/** @import { Position, Span } from "./basedpyright" */

/**
 * Who lists the occurrences of a file that the configuration excludes: reference searches that start in this file
 * ("itself"), or also those that start in another such file ("together").
 * @typedef {"itself" | "together" | undefined} Visibility
 */
/**
 * What a name leads to: targets as JSON texts.
 * @typedef {object} Answer
 * @property {Set<string>} definitions
 * @property {Set<string>} keys what a reference search compares there
 * @property {Set<string>} asks what a reference search that starts there looks for
 */
/** @typedef {[kind: string, source: string, target: string]} Relation */
/** @typedef {Answer & { place: number[], isScoped: boolean }} Row */

// Stands before keys in files that are searched together, and only when a search starts in one of them.
const TOGETHER = "imported only";

class FactEncoder {
  /**
   * @param {string} file
   * @param {(offset: number) => Position} positionAt
   * @param {Visibility} visibility
   */
  constructor(file, positionAt, visibility) {
    this.file = file;
    this.positionAt = positionAt;
    this.visibility = visibility;
    this.scope = visibility === "together" ? TOGETHER : `${file} only`;
    /** @type {Map<string, number>} */
    this.targets = new Map();
    /** @type {Map<string, number>} */
    this.lists = new Map();
    /** @type {Row[]} */
    this.rows = [];
    /** @type {Set<string>} */
    this.scopedKeys = new Set();
  }

  /**
   * @param {Span} span
   * @param {number} roles
   * @param {Answer} answer
   * @param {boolean} isLoose the server lists this occurrence only for searches that start in this file
   */
  add(span, roles, { definitions, keys, asks }, isLoose = false) {
    const start = this.positionAt(span.start);
    const end = this.positionAt(span.start + span.length);
    const place = [start.line, start.character, end.line, end.character, roles];
    const isScoped = !!this.visibility || isLoose;
    if (isScoped) for (const key of keys) this.scopedKeys.add(key);
    this.rows.push({ place, definitions, keys, asks, isScoped });
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
      `"occurrences":[${rows.join(",")}],"relations":[${related.join(",")}]}\n`
    );
  }

  /** @param {Relation} relation */
  relation([kind, source, target]) {
    return `["${kind}",${intern(this.targets, source)},${intern(this.targets, target)}]`;
  }

  /** @param {Row} row */
  row({ place, definitions, keys, asks, isScoped }) {
    const listed = isScoped ? this.scopedOf(keys, place) : keys;
    const wanted = this.widen(asks);
    const asked = isSameSet(listed, wanted) ? -1 : this.list(wanted, true);
    return `${place.join(",")},${this.list(definitions)},${this.list(listed)},${asked}`;
  }

  /**
   * A declaration is listed wherever the search starts, even when the rest of its file is not searched.
   * @param {Set<string>} keys
   * @param {number[]} place
   */
  scopedOf(keys, [line, column]) {
    const scopedKeys = new Set([...keys].map((key) => scoped(this.scope, key)));
    const itself = JSON.stringify([this.file, line, column]);
    return keys.has(itself) ? scopedKeys.add(itself) : scopedKeys;
  }

  /** @param {Set<string>} asks */
  widen(asks) {
    const wanted = new Set(asks);
    for (const key of asks) {
      if (this.visibility || this.scopedKeys.has(key)) wanted.add(scoped(this.scope, key));
    }
    return wanted;
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
  return new FactEncoder(file, () => ({ line: 0, character: 0 }), undefined).encode([], []);
}

/**
 * A declaration keeps its place beside the scope: the product names both without lines.
 * @param {string} scope
 * @param {string} key
 */
function scoped(scope, key) {
  const target = JSON.parse(key);
  const isDeclaration = Array.isArray(target) && target.length === 3;
  return JSON.stringify(isDeclaration ? [...target, scope] : `${scope} ${key}`);
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
