"use strict";

const assert = require("node:assert/strict");
const test = require("node:test");
const { FactTable } = require("../../../../../src/codenib/navigation/typescript/engine/facts/fact-table");
const { occurrences } = require("../../../engines/js/toolbox");

/** @typedef {import("../../../../../src/codenib/navigation/typescript/engine/syntax/declarations").DeclaredNode} DeclaredNode */

/** Two files: `one` is declared in the first and used in both, `two` only in the second. */
function table() {
  const facts = new FactTable(["a.ts", "b.ts"]);
  const declared = { file: 0, start: 4, end: 7 };
  for (const [file, text] of ["let one;\none;\n", "one; two;\n"].entries())
    Object.assign(facts.files[file], { text, lines: Int32Array.from([0, text.indexOf("\n") + 1]) });
  /** @type {DeclaredNode} */
  const node = {
    name: "one",
    kind: "variable",
    parent: -1,
    start: 4,
    end: 7,
    nameStart: 4,
    nameEnd: 7,
    local: 0,
  };
  facts.files[0].nodes = [node];
  const spans = [declared, { file: 0, start: 9, end: 12 }, { file: 1, start: 0, end: 3 }];
  const set = facts.set(spans.map(({ file, start, end }) => facts.occurrence(file, start, end)));
  for (const [at, span] of spans.entries())
    facts.ask(span, { name: "one", roles: at === 0 ? 1 : 0, definitions: [declared], set });
  facts.ask({ file: 1, start: 5, end: 8 }, { name: "two", roles: 0, definitions: ["lib.d.ts#two"], set: -1 });
  return { facts, set };
}

test("tokens that are found together have one key: the declaration among them", () => {
  const [a, b] = [...table().facts.lines()].map((line) => JSON.parse(line));
  const declaration = ["a.ts", 0, 4];
  assert.deepEqual(occurrences(a).get("1:0").keys, [declaration]);
  assert.deepEqual(occurrences(b).get("0:0"), {
    roles: 0,
    definitions: [declaration],
    keys: [declaration],
    asks: [declaration],
  });
});

test("a token without references has a definition and no key", () => {
  const [, b] = [...table().facts.lines()].map((line) => JSON.parse(line));
  const { definitions, keys } = occurrences(b).get("0:5");
  assert.deepEqual([definitions, keys], [["lib.d.ts#two"], []]);
});

test("sets that overlap split into the keys that they have in common", () => {
  const { facts, set } = table();
  const used = facts.occurrence(1, 0, 3);
  const alone = facts.set([used]);
  assert.notEqual(alone, set);
  assert.equal(facts.set([used, used]), alone);
  facts.ask({ file: 1, start: 0, end: 3 }, { name: "one", roles: 0, definitions: [], set: alone });
  const [a, b] = [...facts.lines()].map((line) => JSON.parse(line));
  assert.equal(occurrences(a).get("1:0").asks.length, 2);
  assert.deepEqual(occurrences(b).get("0:0").keys, ["set:b.ts#one"]);
});

test("a set contains the occurrences that it was built of", () => {
  const { facts, set } = table();
  assert.ok(facts.contains(set, { file: 1, start: 0, end: 3 }));
  assert.ok(!facts.contains(set, { file: 1, start: 5, end: 8 }));
  assert.ok(!facts.contains(set, { file: 1, start: 7, end: 8 }));
});

test("a set with an occurrence of a file that was edited is not current", () => {
  const { facts, set } = table();
  assert.ok(facts.isCurrent(set));
  facts.removeFile(1);
  assert.ok(!facts.isCurrent(set));
  assert.notEqual(facts.set([facts.occurrence(1, 0, 3)]), set);
  assert.deepEqual(JSON.parse([...facts.lines()][1]).occurrences, []);
});

test("equal facts have equal fingerprints, and a moved definition another one", () => {
  const prints = (/** @type {FactTable} */ facts) =>
    [...facts.encodings(true)].map(({ fingerprint }) => fingerprint);
  const [a, b] = prints(table().facts);
  assert.deepEqual(prints(table().facts), [a, b]);
  const { facts } = table();
  facts.files[0].lines = Int32Array.from([0, 2, 9]);
  assert.notEqual(prints(facts)[1], b);
});

test("a definition without a name gets a node of its own", () => {
  const { facts } = table();
  facts.ask(
    { file: 1, start: 5, end: 8 },
    { name: "two", roles: 0, definitions: [{ file: 0, start: 9, end: 12 }], set: -1 },
  );
  const [a] = [...facts.lines()].map((line) => JSON.parse(line));
  assert.deepEqual(
    a.nodes.map((/** @type {any[]} */ [name]) => name),
    ["one", "one"],
  );
});
