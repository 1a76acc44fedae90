"use strict";
/** One file's part of the facts in, its line's value out: the tables of targets and lists that its occurrences share. */

/** @import { DeclaredNode } from "../syntax/declarations" */
/** @import { AskedToken, FactTable, Partition, Place, TableTarget } from "./fact-table" */

const { getOrCreate } = require("../../../engines/js/maps");
const { ROLE } = require("../../../engines/js/wire");
const { positionIn } = require("./positions");

class FileEncoder {
  /**
   * @param {FactTable} facts
   * @param {number} file
   * @param {Partition} partition
   */
  constructor(facts, file, partition) {
    this.facts = facts;
    this.file = file;
    this.partition = partition;
    this.own = facts.files[file];
    /** @type {unknown[]} */
    this.targets = [];
    /** @type {Map<string, number>} */
    this.targetIds = new Map();
    /** @type {number[][]} */
    this.lists = [];
    /** @type {Map<string, number>} */
    this.listIds = new Map();
    /** @type {Map<number, number>} */
    this.listsOfSets = new Map();
  }

  /** @param {number[]} ids the file's occurrences, in the order of the text */
  encode(ids) {
    const { facts, own, partition } = this;
    const rows = [];
    // Numbers are given by first use, in the order of the text: the same however the facts came about.
    for (const id of ids) {
      const asked = own.asked.get(id);
      if (asked || partition.group[id] >= 0) rows.push(this.row(id, asked));
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
      relations: [...new Map(relations.map((row) => [row.join(" "), row])).values()],
      scope: own.scope,
    };
  }

  /**
   * @param {number} id
   * @param {AskedToken | undefined} asked
   */
  row(id, asked) {
    const { facts, partition } = this;
    const span = [...this.at(facts.starts[id]), ...this.at(facts.ends[id])];
    const key = partition.keys.get(partition.group[id]);
    const keys = key === undefined ? -1 : this.list([key]);
    if (!asked) return [...span, ROLE.inexact, -1, keys, -1];
    const definitions = asked.definitions.length ? this.list(asked.definitions) : -1;
    const asks = this.asksOf(asked, keys);
    const roles = asked.roles | (this.isExact(asked, key) ? 0 : ROLE.inexact);
    return [...span, roles, definitions, keys, asks === keys ? -1 : asks];
  }

  /**
   * @param {AskedToken} asked
   * @param {number} keys
   */
  asksOf({ set }, keys) {
    if (set >= 0) return getOrCreate(this.listsOfSets, set, () => this.list(this.partition.keysOfSets[set]));
    return keys < 0 ? -1 : this.list([]);
  }

  /**
   * Whether the token's text is the name of everything that it is defined by.
   * @param {AskedToken} asked
   * @param {TableTarget | undefined} key
   */
  isExact({ definitions, name }, key) {
    const targets = definitions.length || key === undefined ? definitions : [key];
    return targets.every((target) => {
      if (typeof target === "string") return target.split("~")[0].split(/[#.]/).pop() === name;
      return target.start >= 0 && this.facts.nodeAt(target.file, target.start)?.name === name;
    });
  }

  /** @param {TableTarget[]} targets */
  list(targets) {
    const order = targets.length < 2 ? targets : [...targets].sort(byPlace);
    const ids = [...new Set(order.map((each) => this.target(each)))].sort((a, b) => a - b);
    return getOrCreate(this.listIds, ids.join(" "), () => this.lists.push(ids) - 1);
  }

  /** @param {TableTarget} target */
  target(target) {
    const isName = typeof target === "string";
    const key = isName ? target : `${target.file} ${target.start}`;
    return getOrCreate(
      this.targetIds,
      key,
      () => this.targets.push(isName ? target : this.location(target)) - 1,
    );
  }

  /** @param {Place} place */
  location({ file, start }) {
    const path = this.facts.paths[file];
    return start < 0 ? [path] : [path, ...positionIn(this.facts.files[file].lines, start)];
  }

  /** @param {DeclaredNode} node */
  node({ name, kind, parent, start, end, nameStart, nameEnd, local }) {
    const [nameLine, nameColumn] = this.at(nameStart);
    const [lastLine, lastColumn] = this.at(nameEnd);
    const endColumn = lastLine === nameLine ? lastColumn : this.at(this.own.lines[nameLine + 1] - 1)[1];
    return [name, kind, parent, ...this.at(start), ...this.at(end), nameLine, nameColumn, endColumn, local];
  }

  /** @param {number} offset */
  at(offset) {
    return positionIn(this.own.lines, offset);
  }
}

/**
 * Places by file and offset, then names.
 * @param {TableTarget} a
 * @param {TableTarget} b
 */
function byPlace(a, b) {
  if (typeof a !== "string" && typeof b !== "string") return a.file - b.file || a.start - b.start;
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : Number(a > b);
  return typeof a === "string" ? 1 : -1;
}

module.exports = { FileEncoder };
