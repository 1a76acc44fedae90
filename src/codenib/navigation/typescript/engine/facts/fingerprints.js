"use strict";
/**
 * Facts in, a fingerprint for each file out: equal ones, from one run to the next, mean equal lines.
 *
 * Writing a line costs ten times as much as this, and after an edit most lines are as they were. A fingerprint
 * sums up all that a line is made of: the version of the file's answers, and for each occurrence its keys, what it
 * asks for and where it leads, as path, line, column and name.
 */

/** @import { FactTable, Partition, Place, TableTarget } from "./fact-table" */

const { getOrCreate } = require("../../../engines/js/maps");
const { positionIn } = require("./positions");

class Fingerprints {
  /**
   * @param {FactTable} facts
   * @param {Partition} partition
   */
  constructor(facts, partition) {
    this.facts = facts;
    this.partition = partition;
    /** @type {Map<string, Hash>} */
    this.texts = new Map();
    /** @type {Map<number, Hash>[]} for each file, the hashes of the places that others name */
    this.places = facts.paths.map(() => new Map());
    /** @type {Map<number, Hash>} */
    this.keys = new Map([...partition.keys].map(([group, key]) => [group, this.ofTarget(key)]));
    this.sets = partition.keysOfSets.map((keys) => this.sum(keys));
  }

  /**
   * @param {number} file
   * @param {number[]} occurrences
   */
  of(file, occurrences) {
    const { facts, partition } = this;
    const own = facts.files[file];
    const total = new Hash();
    for (const id of occurrences) {
      const asked = own.asked.get(id);
      const key = this.keys.get(partition.group[id]) ?? NONE;
      if (!asked && key === NONE) continue;
      const row = new Hash().mix(facts.starts[id]).mix(facts.ends[id]).join(key);
      if (asked) {
        row.mix(asked.roles).mix(asked.set < 0 ? 1 : 2);
        row.join(asked.set < 0 ? NONE : this.sets[asked.set]).join(this.sum(asked.definitions));
      }
      total.plus(row);
    }
    for (const [kind, source, to] of own.relations)
      total.plus(this.ofText(kind).copy().join(this.ofTarget(source)).join(this.ofTarget(to)));
    for (const [start, end] of own.unnamed) total.plus(new Hash().mix(3).mix(start).mix(end));
    return `${own.version} ${own.scope} ${own.relations.length} ${total.high} ${total.low}`;
  }

  /**
   * The hash of targets in any order.
   * @param {TableTarget[]} targets
   */
  sum(targets) {
    const total = new Hash();
    for (const each of targets) total.plus(this.ofTarget(each));
    return total;
  }

  /**
   * @param {TableTarget} target
   * @returns {Hash}
   */
  ofTarget(target) {
    if (typeof target === "string") return this.ofText(target);
    return getOrCreate(this.places[target.file], target.start, () => this.ofPlace(target));
  }

  /**
   * A place as others see it: path, line, column and name.
   * @param {Place} place
   */
  ofPlace({ file, start }) {
    const { facts } = this;
    const hash = this.ofText(facts.paths[file]).copy();
    if (start < 0) return hash;
    for (const each of positionIn(facts.files[file].lines, start)) hash.mix(each);
    return hash.join(this.ofText(facts.nodeAt(file, start)?.name ?? ""));
  }

  /**
   * @param {string} text
   * @returns {Hash}
   */
  ofText(text) {
    return getOrCreate(this.texts, text, () => {
      const hash = new Hash();
      for (let at = 0; at < text.length; at++) hash.mix(text.charCodeAt(at));
      return hash;
    });
  }
}

/** 64 bits: two numbers of 32 bits, mixed differently. */
class Hash {
  constructor(high = 17, low = 29) {
    this.high = high;
    this.low = low;
  }

  /** @param {number} value */
  mix(value) {
    this.high = scramble(this.high ^ value, 0x9e3779b1);
    this.low = scramble((this.low + value) | 0, 0x85ebca6b);
    return this;
  }

  /** @param {Hash} other */
  join(other) {
    return this.mix(other.high).mix(other.low);
  }

  /**
   * Adds another hash; the order of such additions does not count.
   * @param {Hash} other
   */
  plus(other) {
    this.high = (this.high + scramble(other.high, 0xc2b2ae35)) | 0;
    this.low = (this.low + scramble(other.low, 0x27d4eb2f)) | 0;
  }

  copy() {
    return new Hash(this.high, this.low);
  }
}

/**
 * @param {number} value
 * @param {number} factor
 */
function scramble(value, factor) {
  const product = Math.imul(value, factor);
  return product ^ (product >>> 15);
}

const NONE = new Hash(1, 1);

module.exports = { Fingerprints, Hash };
