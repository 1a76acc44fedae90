"use strict";

const assert = require("node:assert/strict");
const test = require("node:test");
const { loadedEngine, skip } = require("../loaded");
const { FileCache } = require("../../../../../src/codenib/navigation/typescript/engine/host/file-cache");

test("declarations have their numbers before a project asks for them", { skip }, () => {
  const { ts } = loadedEngine();
  const { registry } = new FileCache(ts, "/none");
  const options = { target: ts.ScriptTarget.Latest };
  const key = registry.getKeyForCompilationSettings(options);
  const [one, two] = ["function f() { return 1 }", "// Moved.\nfunction f() { return 2 }"].map((text, at) => {
    const snapshot = ts.ScriptSnapshot.fromString(text);
    const path = /** @type {import("typescript").Path} */ ("/none/a.ts");
    return registry.acquireDocumentWithKey(path, path, options, key, snapshot, String(at));
  });
  const [before, after] = [one, two].map(({ statements }) => /** @type {any} */ (statements[0]));
  assert.notEqual(before, after);
  assert.equal(ts.getNodeId(after), ts.getNodeId(before));
  assert.equal(ts.getSymbolId(after.symbol), ts.getSymbolId(before.symbol));
});
