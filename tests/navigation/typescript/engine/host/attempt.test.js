"use strict";

const assert = require("node:assert/strict");
const test = require("node:test");
const { attempt } = require("../../../../../src/codenib/navigation/typescript/engine/host/attempt");

test("a failure of the engine is no answer, one of ours is raised", () => {
  assert.equal(
    attempt(() => 1),
    1,
  );
  assert.equal(
    attempt(() => {
      throw new Error("Debug Failure. False expression.");
    }),
    undefined,
  );
  assert.throws(
    () =>
      attempt(() => {
        throw new TypeError("ours");
      }),
    /ours/,
  );
});
