"use strict";

const assert = require("node:assert/strict");
const test = require("node:test");
const {
  FileAnswers,
} = require("../../../../../src/codenib/navigation/typescript/engine/incremental/file-answers");

/** @returns {FileAnswers} */
function answers() {
  const made = new FileAnswers("/a.ts", "one;", Int32Array.from([0]));
  const token = { start: 0, end: 3, name: "one", roles: 0, node: /** @type {any} */ ({}), visible: "" };
  made.tokens = [
    {
      ...token,
      definitions: [{ file: "/b.ts", start: 4, end: 7 }, "lib#x"],
      query: "q",
      isNeeded: true,
      references: null,
    },
  ];
  made.relations = [["inherit", { file: "/a.ts", start: 0, end: 3 }, "lib#x"]];
  return made;
}

test("answers lead into the files of their definitions and relations", () => {
  assert.ok(answers().leadsInto(new Set(["/b.ts"])));
  assert.ok(answers().leadsInto(new Set(["/a.ts"])));
  assert.ok(!answers().leadsInto(new Set(["/c.ts"])));
  assert.ok(answers().leadsTo(new Set(["/b.ts"]), ({ start }) => start === 4));
  assert.ok(!answers().leadsTo(new Set(["/b.ts"]), ({ start }) => start === 9));
});

test("after an edit definitions are where they moved, and the version is the same", () => {
  const before = answers();
  const after = before.after(
    new Set(["/b.ts"]),
    (target) => ({ ...target, start: target.start + 10, end: target.end + 10 }),
    ({ query }) => query,
  );
  assert.equal(after.version, before.version);
  assert.deepEqual(after.tokens[0].definitions, [{ file: "/b.ts", start: 14, end: 17 }, "lib#x"]);
  assert.equal(before.tokens[0].definitions.length, 2);
});

test("a token that nothing changed for is the same object", () => {
  const before = answers();
  const after = before.after(
    new Set(["/c.ts"]),
    () => assert.fail(),
    ({ query }) => query,
  );
  assert.equal(after.tokens[0], before.tokens[0]);
  const renamed = before.after(
    new Set(),
    () => assert.fail(),
    () => "other",
  );
  assert.equal(renamed.tokens[0].query, "other");
});
