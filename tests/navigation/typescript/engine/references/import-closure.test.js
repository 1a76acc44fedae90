"use strict";

const assert = require("node:assert/strict");
const test = require("node:test");
const {
  ImportClosure,
} = require("../../../../../src/codenib/navigation/typescript/engine/references/import-closure");

/**
 * As much of a program as imports need.
 * @param {Record<string, string[]>} imports
 * @returns {any}
 */
function program(imports) {
  const reasons = new Map();
  for (const [file, targets] of Object.entries(imports))
    for (const to of targets) reasons.set(to, [...(reasons.get(to) ?? []), { file }, { kind: "root" }]);
  return {
    getFileIncludeReasons: () => reasons,
    getSourceFile: (/** @type {string} */ file) => (file in imports ? { path: file } : undefined),
  };
}

const at = (/** @type {string} */ fileName) => ({ fileName, textSpan: { start: 0, length: 1 } });

test("a file reaches what it imports, and what that imports", () => {
  const closure = new ImportClosure(program({ a: ["b"], b: ["c"], c: [], d: ["a"] }));
  closure.startAt("a");
  assert.deepEqual(
    ["a", "b", "c", "d", "gone"].map((file) => closure.has(file)),
    [true, true, true, false, false],
  );
});

test("fingerprints are equal for equal sets of reached files alone", () => {
  const closure = new ImportClosure(program({ a: ["b"], b: ["a"], c: ["a"] }));
  const prints = ["a", "b", "c"].map((file) => {
    closure.startAt(file);
    return closure.fingerprint;
  });
  assert.equal(prints[0], prints[1]);
  assert.notEqual(prints[0], prints[2]);
});

test("what a query found is cut down to the files that are reached", () => {
  const closure = new ImportClosure(program({ a: ["b"], b: [], c: [] }));
  closure.startAt("a");
  const groups = [{ definition: at("b"), references: [at("c"), at("b"), at("a")] }];
  const part = closure.restrict("query", groups);
  assert.equal(part.name, "a b");
  assert.deepEqual(part.groups, [{ definition: at("b"), references: [at("a"), at("b")] }]);
  closure.startAt("c");
  assert.deepEqual(closure.restrict("query", groups).groups[0].references, [at("c")]);
});

test("of a query about one file all is reached or nothing", () => {
  const closure = new ImportClosure(program({ a: [], b: [] }));
  closure.startAt("a");
  assert.equal(closure.restrict("one", [{ definition: at("a"), references: [at("a")] }]).name, "");
  assert.deepEqual(closure.restrict("two", [{ definition: at("b"), references: [at("b")] }]).groups, []);
});
