"use strict";

const assert = require("node:assert/strict");
const test = require("node:test");
const {
  positionIn,
  unnamedNode,
  withUnnamed,
} = require("../../../../../src/codenib/navigation/typescript/engine/facts/positions");

/** @typedef {import("../../../../../src/codenib/navigation/typescript/engine/syntax/declarations").DeclaredNode} DeclaredNode */

/**
 * @param {string} name
 * @param {number} start
 * @param {number} end
 * @param {number} parent
 * @returns {DeclaredNode}
 */
function node(name, start, end, parent) {
  return { name, kind: "class", parent, start, end, nameStart: start, nameEnd: start + 1, local: 0 };
}

test("an offset is on the last line that starts at or before it", () => {
  const lines = Int32Array.from([0, 4, 5]);
  assert.deepEqual(positionIn(lines, 0), [0, 0]);
  assert.deepEqual(positionIn(lines, 3), [0, 3]);
  assert.deepEqual(positionIn(lines, 4), [1, 0]);
  assert.deepEqual(positionIn(lines, 9), [2, 4]);
});

test("a place without a name is called after what stands there", () => {
  const text = "x; function () {} class {} () => 1; value\n";
  const kind = (/** @type {string} */ part) => {
    const { name, kind } = unnamedNode(text, text.indexOf(part), text.indexOf(part) + part.length);
    return [name, kind];
  };
  assert.deepEqual(kind("function () {}"), ["<anonymous>", "function"]);
  assert.deepEqual(kind("class {}"), ["<anonymous>", "class"]);
  assert.deepEqual(kind("() => 1"), ["<anonymous>", "function"]);
  assert.deepEqual(kind("value"), ["value", "variable"]);
});

test("the whole of a file is its module, whatever comment it begins with", () => {
  const text = "#!/usr/bin/env node\n// first\nrun();\n";
  const { name, kind, start, end } = unnamedNode(text, text.indexOf("run"), text.length);
  assert.deepEqual([name, kind, end - start], ["<module>", "module", 1]);
});

test("added nodes are put in order, below the node around them", () => {
  const added = { ...node("<anonymous>", 2, 8, -1), isAdded: true };
  const nodes = withUnnamed([node("a", 0, 10, -1), node("b", 4, 6, 0)], [added]);
  assert.deepEqual(
    nodes.map(({ name, parent }) => [name, parent]),
    [
      ["a", -1],
      ["<anonymous>", 0],
      ["b", 0],
    ],
  );
});
