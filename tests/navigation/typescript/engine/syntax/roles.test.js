"use strict";

const assert = require("node:assert/strict");
const test = require("node:test");
const { ROLE } = require("../../../../../src/codenib/navigation/engines/js/wire");
const { loadedEngine, parse, skip } = require("../loaded");

/**
 * The roles of each token that is asked, by its text.
 * @param {string} text
 */
function roles(text) {
  const file = parse(text);
  const { tokensOf, roles } = loadedEngine();
  return Object.fromEntries(tokensOf(file).asked.map((node) => [node.getText(file), roles.of(node)]));
}

test("a name is told by what it is used for", { skip }, () => {
  const found = roles("import { a } from './m'; let b: C = d(); b2 = new E`x`; class F extends G.H {}");
  assert.equal(found.a, ROLE.declaration | ROLE.import);
  assert.equal(found["'./m'"], ROLE.import | ROLE.inexact);
  assert.equal(found.b, ROLE.declaration);
  assert.equal(found.C, ROLE.type);
  assert.equal(found.d, ROLE.call);
  assert.equal(found.b2, ROLE.write);
  assert.equal(found.H & ROLE.inherit, ROLE.inherit);
});

test("what a call of import or require names is imported", { skip }, () => {
  assert.equal(roles("import('./a');")["'./a'"] & ROLE.import, ROLE.import);
});
