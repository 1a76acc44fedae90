"use strict";
/**
 * Occurrences, definitions and reference sets in, one line of facts for each file out.
 *
 * The contract of facts is: a token has keys, and a request collects every token that has one of the keys
 * it asks for. Reference sets overlap (members of unions and base types, files that only some queries
 * reach), so tokens that are always found together become one key, named after the declaration among them; a
 * request asks for the keys that make up its set. For most names that is one key: their declaration.
 */

/** @import { DeclaredNode } from "../syntax/declarations" */
/** @typedef {{ file: number, start: number, end: number }} Place `start` is -1 for the file itself */
/** @typedef {Place | string} TableTarget a place in a listed file, or the name of one outside */
/** @typedef {{ name: string, roles: number, definitions: TableTarget[], set: number }} AskedToken `set`: -1 for none */
/**
 * @typedef {object} FileEntry
 * @property {string} text
 * @property {Int32Array} lines the offset of each line's start
 * @property {DeclaredNode[]} nodes
 * @property {DeclaredNode[]} named those of `nodes` that have names
 * @property {Map<number, AskedToken>} asked by the number of the occurrence
 * @property {[kind: string, source: TableTarget, destination: TableTarget][]} relations
 * @property {Map<number, number>} unnamed places that definitions lead to and that have no name: start to end
 * @property {number} version of the answers that the file's facts come from
 * @property {"project" | "loose" | "unresolved"} scope whether a project includes it; unresolved: the engine has no such file
 */
/**
 * The occurrences in groups that no set tells apart.
 * @typedef {object} Partition
 * @property {Int32Array} group of each occurrence; -1 for one that is in no set
 * @property {Map<number, TableTarget>} keys the name of each group
 * @property {TableTarget[][]} keysOfSets
 */

const { append, getOrCreate } = require("../../../engines/js/maps");
const { ROLE } = require("../../../engines/js/wire");
const { FileEncoder } = require("./file-encoder");
const { Fingerprints } = require("./fingerprints");
const { unnamedNode, withUnnamed } = require("./positions");

/** Longer spans than this are told apart by their starts alone. */
const MAX_LENGTH = 2 ** 20 - 1;
/** The most of a token's text in the name of a group. */
const MAX_NAME = 80;

class FactTable {
  /** @param {string[]} paths */
  constructor(paths) {
    this.paths = paths;
    /** @type {FileEntry[]} */
    this.files = paths.map(unresolvedFile);
    /** @type {Map<number, number>[]} */
    this.spans = paths.map(() => new Map());
    /** @type {number[]} the file of each occurrence; -1 for one of an earlier text of a file */
    this.owner = [];
    /** @type {number[]} */
    this.starts = [];
    /** @type {number[]} */
    this.ends = [];
    /** @type {Int32Array[]} */
    this.sets = [];
    /** @type {Map<string, number[]>} */
    this.setIds = new Map();
    /** @type {Map<number, number>[]} for each file, the start of a name to its node */
    this.nodesByName = [];
    /** @type {WeakMap<DeclaredNode[], Map<number, number>>} */
    this.nameIndexes = new WeakMap();
  }

  /** Prepares the facts of one run for the next: what is derived from several files goes. */
  restart() {
    for (const file of this.files) {
      file.nodes = file.named;
      if (file.unnamed.size) file.unnamed = new Map();
    }
  }

  /**
   * Forgets a file: its occurrences get new numbers.
   * @param {number} file
   */
  removeFile(file) {
    for (const id of this.spans[file].values()) this.owner[id] = -1;
    this.spans[file] = new Map();
    this.files[file] = unresolvedFile();
  }

  /**
   * Whether all occurrences of a set are of files as they are now.
   * @param {number} set
   */
  isCurrent(set) {
    for (const id of this.sets[set]) if (this.owner[id] < 0) return false;
    return true;
  }

  /** Which sets some token asks for. */
  askedSets() {
    const asked = new Uint8Array(this.sets.length);
    for (const file of this.files) for (const { set } of file.asked.values()) if (set >= 0) asked[set] = 1;
    return asked;
  }

  /**
   * The number of the occurrence at a span of a file.
   * @param {number} file
   * @param {number} start
   * @param {number} end
   */
  occurrence(file, start, end) {
    const spans = this.spans[file];
    const key = spanKey(start, end);
    const known = spans.get(key);
    if (known !== undefined) return known;
    const id = this.owner.push(file) - 1;
    spans.set(key, id);
    this.starts.push(start);
    this.ends.push(end);
    return id;
  }

  /**
   * The number of a set of occurrences; equal sets have one number.
   * @param {number[]} ids
   */
  set(ids) {
    const sorted = Int32Array.from(new Set(ids)).sort();
    let [one, two] = [7, 11];
    for (const id of sorted) {
      one = (Math.imul(one, 31) + id) | 0;
      two = (Math.imul(two, 1000003) ^ id) | 0;
    }
    const key = `${sorted.length} ${one} ${two}`;
    for (const id of this.setIds.get(key) ?? []) if (isEqual(this.sets[id], sorted)) return id;
    append(this.setIds, key, this.sets.length);
    return this.sets.push(sorted) - 1;
  }

  /**
   * Whether a set has the occurrence at a span of a file.
   * @param {number} set
   * @param {Place} place
   */
  contains(set, { file, start, end }) {
    const id = this.spans[file].get(spanKey(start, end));
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

  /**
   * Records a token that requests start from.
   * @param {Place} place
   * @param {AskedToken} token
   */
  ask({ file, start, end }, token) {
    this.files[file].asked.set(this.occurrence(file, start, end), token);
  }

  /**
   * Splits the occurrences into groups that no set tells apart; gives each occurrence's group.
   * @param {Uint8Array} asked the sets that count
   */
  groups(asked) {
    const group = new Int32Array(this.owner.length).fill(-1);
    /** @type {number[]} */
    const sizes = [];
    for (const [number, set] of this.sets.entries()) {
      if (!asked[number]) continue;
      /** @type {Map<number, number>} */
      const hits = new Map();
      for (const id of set) hits.set(group[id], (hits.get(group[id]) ?? 0) + 1);
      /** @type {Map<number, number>} */
      const moved = new Map();
      for (const [old, count] of hits) {
        if (old >= 0 && count === sizes[old]) continue;
        moved.set(old, sizes.length);
        sizes.push(count);
        if (old >= 0) sizes[old] -= count;
      }
      for (const id of set) group[id] = moved.get(group[id]) ?? group[id];
    }
    return group;
  }

  /** Yields each file's line, in the order of the paths. */
  *lines() {
    for (const { encode } of this.encodings(false)) yield encode();
  }

  /**
   * Yields for each file what encodes its line; and, if wanted, its fingerprint.
   * @param {boolean} withFingerprints
   */
  *encodings(withFingerprints) {
    const asked = this.askedSets();
    const group = this.groups(asked);
    this.addUnnamedNodes();
    /** @type {number[][]} */
    const byFile = this.paths.map(() => []);
    for (let id = 0; id < this.owner.length; id++) if (this.owner[id] >= 0) byFile[this.owner[id]].push(id);
    for (const ids of byFile)
      ids.sort((a, b) => this.starts[a] - this.starts[b] || this.ends[a] - this.ends[b]);
    const partition = this.partition(group, byFile, asked);
    const fingerprints = withFingerprints ? new Fingerprints(this, partition) : null;
    for (let file = 0; file < this.paths.length; file++) {
      const encode = () => JSON.stringify(new FileEncoder(this, file, partition).encode(byFile[file]));
      yield { encode, fingerprint: fingerprints ? fingerprints.of(file, byFile[file]) : "" };
    }
  }

  /**
   * @param {Int32Array} group
   * @param {number[][]} byFile
   * @param {Uint8Array} asked
   * @returns {Partition}
   */
  partition(group, byFile, asked) {
    const keys = this.nameGroups(group, byFile);
    const keyOf = (/** @type {number} */ each) => /** @type {TableTarget} */ (keys.get(each));
    const keysOfSets = this.sets.map((set, number) => {
      /** @type {Set<number>} */
      const groups = new Set();
      if (asked[number]) for (const id of set) groups.add(group[id]);
      return Array.from(groups, keyOf);
    });
    return { group, keys, keysOfSets };
  }

  /**
   * The node whose name starts there.
   * @param {number} file
   * @param {number} start
   * @returns {DeclaredNode | undefined}
   */
  nodeAt(file, start) {
    return this.files[file].nodes[this.nodesByName[file].get(start) ?? -1];
  }

  /**
   * Definitions may point at what has no name (a function expression, a file's first statement): they get
   * nodes too.
   */
  addUnnamedNodes() {
    this.nodesByName = this.files.map(({ nodes }) =>
      getOrCreate(this.nameIndexes, nodes, () => byNameStart(nodes)),
    );
    for (const file of this.files) {
      for (const { definitions } of file.asked.values())
        for (const target of definitions) this.noteUnnamed(target);
      for (const [, source, destination] of file.relations) {
        this.noteUnnamed(source);
        this.noteUnnamed(destination);
      }
    }
    for (const [index, file] of this.files.entries()) {
      if (!file.unnamed.size) continue;
      const unnamed = [...file.unnamed].sort((a, b) => a[0] - b[0]);
      file.nodes = withUnnamed(
        file.nodes,
        unnamed.map(([start, end]) => unnamedNode(file.text, start, end)),
      );
      this.nodesByName[index] = byNameStart(file.nodes);
    }
  }

  /** @param {TableTarget} target */
  noteUnnamed(target) {
    if (typeof target === "string" || target.start < 0) return;
    const { file, start, end } = target;
    if (!this.nodesByName[file].has(start)) this.files[file].unnamed.set(start, end);
  }

  /**
   * A stable name for each group: its first declaration, else what lies outside, else its first token's path
   * and text.
   * @param {Int32Array} group
   * @param {number[][]} byFile
   */
  nameGroups(group, byFile) {
    /** @type {Map<number, number[]>} */
    const members = new Map();
    for (const id of byFile.flat()) if (group[id] >= 0) append(members, group[id], id);
    /** @type {Map<number, TableTarget>} */
    const keys = new Map();
    /** @type {Map<string, number>} */
    const taken = new Map();
    for (const [number, ids] of members)
      keys.set(number, this.declared(ids) ?? this.synthetic(ids[0], taken));
    return keys;
  }

  /**
   * The first declaration among occurrences.
   * @param {number[]} ids
   * @returns {Place | undefined}
   */
  declared(ids) {
    for (const id of ids) {
      const file = this.owner[id];
      const asked = this.files[file].asked.get(id);
      if (!asked || !(asked.roles & ROLE.declaration)) continue;
      // Of a name in quotes the occurrence begins after the quote.
      for (const start of [this.starts[id], this.starts[id] - 1]) {
        if (this.nodesByName[file].has(start)) return { file, start, end: this.ends[id] };
      }
    }
    return undefined;
  }

  /**
   * @param {number} id
   * @param {Map<string, number>} taken
   */
  synthetic(id, taken) {
    const file = this.owner[id];
    const definitions = this.files[file].asked.get(id)?.definitions ?? [];
    const outside = definitions.length === 1 && typeof definitions[0] === "string" ? definitions[0] : "";
    const end = Math.min(this.ends[id], this.starts[id] + MAX_NAME);
    const text = this.files[file].text.slice(this.starts[id], end);
    const name = outside || `set:${this.paths[file]}#${text.split("\n")[0]}`;
    const count = (taken.get(name) ?? 0) + 1;
    taken.set(name, count);
    return count === 1 ? name : `${name}~${count}`;
  }
}

/** @returns {FileEntry} */
function unresolvedFile() {
  return {
    text: "",
    lines: new Int32Array(0),
    nodes: [],
    named: [],
    asked: new Map(),
    relations: [],
    unnamed: new Map(),
    version: 0,
    scope: "unresolved",
  };
}

/**
 * @param {number} start
 * @param {number} end
 */
function spanKey(start, end) {
  return start * (MAX_LENGTH + 1) + Math.min(end - start, MAX_LENGTH);
}

/**
 * @param {DeclaredNode[]} nodes
 * @returns {Map<number, number>}
 */
function byNameStart(nodes) {
  return new Map(nodes.map(({ nameStart }, index) => [nameStart, index]));
}

/**
 * @param {Int32Array} a
 * @param {Int32Array} b
 */
function isEqual(a, b) {
  return a.length === b.length && a.every((id, at) => id === b[at]);
}

module.exports = { FactTable, unresolvedFile };
