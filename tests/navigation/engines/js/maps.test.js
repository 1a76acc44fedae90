"use strict";

const assert = require("node:assert/strict");
const test = require("node:test");
const {
  addTo,
  append,
  getOrCreate,
  reachable,
} = require("../../../../src/codenib/navigation/engines/js/maps");

test("a value is created once for each key, even when it is false", () => {
  /** @type {Map<string, boolean>} */
  const map = new Map();
  let created = 0;
  const create = () => ++created > 1;
  assert.equal(getOrCreate(map, "a", create), false);
  assert.equal(getOrCreate(map, "a", create), false);
  assert.equal(created, 1);
});

test("lists keep every value and sets keep each once", () => {
  /** @type {Map<string, number[]>} */
  const lists = new Map();
  /** @type {Map<string, Set<number>>} */
  const sets = new Map();
  for (const value of [2, 1, 2]) {
    append(lists, "a", value);
    addTo(sets, "a", value);
  }
  assert.deepEqual(lists.get("a"), [2, 1, 2]);
  assert.deepEqual(sets.get("a"), new Set([2, 1]));
});

test("what is reachable has the start and ends in cycles", () => {
  const edges = new Map([
    ["a", ["b", "c"]],
    ["b", ["a"]],
    ["d", ["a"]],
  ]);
  assert.deepEqual(
    reachable(["a"], (node) => edges.get(node) ?? []),
    new Set(["a", "b", "c"]),
  );
});
