"use strict";
/**
 * Facts in, a number for each file out: equal numbers, from one run to the next, mean equal lines.
 *
 * Writing a line costs ten times as much as this, and after an edit most lines are as they were. A number
 * sums up all that a line is made of: the sheet of the file, and for each occurrence its keys, what it asks
 * for and where it leads, as path, line, column and name.
 */

class Prints {
  constructor(facts, group, keys, parts, place) {
    Object.assign(this, { facts, group, keys, place });
    this.texts = new Map();
    this.targets = new Map();
    this.keyed = new Map([...keys].map(([number, key]) => [number, this.target(key)]));
    this.sets = parts.map((part) => this.sum(part));
  }

  of(file, ids) {
    const { facts, group } = this;
    const own = facts.files[file];
    let total = new Pair();
    for (const id of ids) {
      const asked = own.asked.get(id);
      const key = group[id] < 0 ? NONE : this.keyed.get(group[id]);
      if (!asked && key === NONE) continue;
      const row = new Pair().add(facts.starts[id]).add(facts.ends[id]).join(key);
      if (asked) {
        row.add(asked.roles).add(asked.set < 0 ? 1 : 2);
        row.join(asked.set < 0 ? NONE : this.sets[asked.set]).join(this.sum(asked.definitions));
      }
      total.plus(row);
    }
    for (const [kind, source, to] of own.relations)
      total.plus(this.text(kind).copy().join(this.target(source)).join(this.target(to)));
    for (const [start, end] of own.extra) total.plus(new Pair().add(3).add(start).add(end));
    return `${own.mark} ${own.relations.length} ${total.one} ${total.two}`;
  }

  /** A number for targets in any order. */
  sum(targets) {
    const total = new Pair();
    for (const each of targets) total.plus(this.target(each));
    return total;
  }

  target(target) {
    if (typeof target === "string") return this.text(target);
    let found = this.targets.get(target);
    if (!found) this.targets.set(target, (found = this.text(this.place(target))));
    return found;
  }

  text(text) {
    let found = this.texts.get(text);
    if (found) return found;
    found = new Pair();
    for (let at = 0; at < text.length; at++) found.add(text.charCodeAt(at));
    this.texts.set(text, found);
    return found;
  }
}

/** Two numbers of 32 bits, mixed differently. */
class Pair {
  constructor(one = 17, two = 29) {
    this.one = one;
    this.two = two;
  }

  add(value) {
    this.one = mixed(this.one ^ value, 0x9e3779b1);
    this.two = mixed((this.two + value) | 0, 0x85ebca6b);
    return this;
  }

  join(other) {
    return this.add(other.one).add(other.two);
  }

  plus(other) {
    this.one = (this.one + mixed(other.one, 0xc2b2ae35)) | 0;
    this.two = (this.two + mixed(other.two, 0x27d4eb2f)) | 0;
  }

  copy() {
    return new Pair(this.one, this.two);
  }
}

function mixed(value, factor) {
  const found = Math.imul(value, factor);
  return found ^ (found >>> 15);
}

const NONE = new Pair(1, 1);

module.exports = { Prints };
