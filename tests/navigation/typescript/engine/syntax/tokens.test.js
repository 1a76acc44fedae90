"use strict";

const assert = require("node:assert/strict");
const test = require("node:test");
const { loadedEngine, parse, skip } = require("../loaded");

/** @param {string} text */
function asked(text) {
  const file = parse(text);
  return loadedEngine()
    .tokensOf(file)
    .asked.map((node) => node.getText(file));
}

test("names and keywords that stand for something are asked, in order", { skip }, () => {
  assert.deepEqual(asked("class A { constructor() { this.b = 1; super.c(); } }"), [
    "A",
    "constructor",
    "this",
    "b",
    "super",
    "c",
  ]);
});

test("strings are asked where they name a module or a member", { skip }, () => {
  assert.deepEqual(asked('import "./m"; const a = { "b": "text" }; type C = D["e"];'), [
    '"./m"',
    "a",
    '"b"',
    "C",
    "D",
    '"e"',
  ]);
});

test("a token in a doc comment is read once, and strings are found behind their quote", { skip }, () => {
  const file = parse('/** @param {Kind} one */ function f(one) { return x["y"]; }', "a.js");
  const { byName, byPosition } = loadedEngine().tokensOf(file);
  assert.equal(byName.get("Kind")?.length, 1);
  assert.equal(byName.get("one")?.length, 2);
  const quote = file.text.indexOf('"y"');
  assert.equal(byPosition.get(quote), byPosition.get(quote + 1));
});

test("`export default` declares the name default", { skip }, () => {
  const { byName } = loadedEngine().tokensOf(parse("export default 1;"));
  assert.equal(byName.get("default")?.length, 1);
});
