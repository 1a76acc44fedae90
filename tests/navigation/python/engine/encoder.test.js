"use strict";

const assert = require("node:assert/strict");
const test = require("node:test");
const { FactEncoder, encodeNothing } = require("../../../../src/codenib/navigation/python/engine/encoder");

const DECLARED = JSON.stringify(["a.py", 0, 4]);
const OTHER = JSON.stringify("os.py#path");
const positionAt = (/** @type {number} */ offset) => ({
  line: Math.floor(offset / 10),
  character: offset % 10,
});

/**
 * @param {string[]} definitions
 * @param {string[]} keys
 * @param {string[]} asks
 */
function answer(definitions, keys, asks) {
  return { definitions: new Set(definitions), keys: new Set(keys), asks: new Set(asks) };
}

test("rows are sorted by place and share their lists", () => {
  const encoder = new FactEncoder("a.py", positionAt, "project");
  encoder.add({ start: 12, length: 3 }, 4, answer([DECLARED], [DECLARED], [DECLARED]));
  encoder.add({ start: 4, length: 3 }, 1, answer([DECLARED], [DECLARED], [DECLARED]));
  const facts = JSON.parse(encoder.encode([], []));
  assert.deepEqual(facts.targets, [["a.py", 0, 4]]);
  assert.deepEqual(facts.lists, [[0]]);
  assert.deepEqual(facts.occurrences, [0, 4, 0, 7, 1, 0, 0, -1, 1, 2, 1, 5, 4, 0, 0, -1]);
});

test("a name that asks for nothing is told from one that asks for its keys", () => {
  const encoder = new FactEncoder("a.py", positionAt, "project");
  encoder.add({ start: 4, length: 3 }, 64, answer([], [OTHER], []));
  const facts = JSON.parse(encoder.encode([], []));
  assert.deepEqual(facts.lists, [[], [0]]);
  assert.deepEqual(facts.occurrences.slice(5), [-1, 1, 0]);
});

test("relations name their ends by number", () => {
  const facts = JSON.parse(
    new FactEncoder("a.py", positionAt, "project").encode([], [["inherit", DECLARED, OTHER]]),
  );
  assert.deepEqual(facts.relations, [["inherit", 0, 1]]);
});

test("of a file that cannot be read there are no facts", () => {
  const { path, ...rest } = JSON.parse(encodeNothing("gone.py"));
  assert.equal(path, "gone.py");
  assert.deepEqual(rest, {
    encoding: "utf-16",
    nodes: [],
    targets: [],
    lists: [],
    occurrences: [],
    relations: [],
    scope: "unresolved",
  });
});
