"use strict";

const assert = require("node:assert/strict");
const test = require("node:test");
const { Hash } = require("../../../../../src/codenib/navigation/typescript/engine/facts/fingerprints");

test("mixing depends on the order, adding does not", () => {
  const value = (/** @type {Hash} */ hash) => `${hash.high} ${hash.low}`;
  assert.notEqual(value(new Hash().mix(1).mix(2)), value(new Hash().mix(2).mix(1)));
  const [one, two] = [new Hash().mix(1), new Hash().mix(2)];
  const sums = [
    [one, two],
    [two, one],
  ].map((parts) => {
    const total = new Hash();
    for (const part of parts) total.plus(part);
    return value(total);
  });
  assert.equal(sums[0], sums[1]);
  assert.equal(value(one.copy()), value(one));
});
