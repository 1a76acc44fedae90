"use strict";

const assert = require("node:assert/strict");
const test = require("node:test");
const { loadedEngine, parse, skip } = require("../loaded");

/**
 * Name, kind, parent and whether local of each declaration.
 * @param {string} text
 * @param {string} [file]
 */
function declared(text, file) {
  const nodes = loadedEngine().declarations.of(parse(text, file));
  return nodes.map(({ name, kind, parent, local }) => [name, kind, parent, local]);
}

test("members are below their class, and locals are marked", { skip }, () => {
  assert.deepEqual(declared("class A { b = 1; c(d: number) { const e = () => 1; } }"), [
    ["A", "class", -1, 0],
    ["b", "field", 0, 0],
    ["c", "method", 0, 0],
    ["d", "parameter", 2, 1],
    ["e", "function", 2, 1],
  ]);
});

test("what a pattern binds is declared, the pattern is not", { skip }, () => {
  assert.deepEqual(declared("const { a, b: [c] } = x; let d;"), [
    ["a", "variable", -1, 0],
    ["c", "variable", -1, 0],
    ["d", "variable", -1, 0],
  ]);
});

test("a parameter with a modifier is a property", { skip }, () => {
  assert.deepEqual(declared("class A { constructor(private b: string) {} }").at(-1), ["b", "property", 1, 0]);
});

test("an assignment to a member declares it in JavaScript", { skip }, () => {
  assert.deepEqual(declared("exports.run = function () {};", "a.js"), [["run", "method", -1, 0]]);
});
