"use strict";

const assert = require("node:assert/strict");
const test = require("node:test");
const { moduleName, outsideName } = require("../../../../src/codenib/navigation/python/engine/targets");
const { withoutPlace } = require("../../../../src/codenib/navigation/python/engine/surface");

test("a module is called as it is imported", () => {
  assert.equal(moduleName("pkg/app.py"), "app");
  assert.equal(moduleName("pkg/__init__.pyi"), "pkg");
  assert.equal(moduleName("__init__.py"), undefined);
});

test("a file outside the repository is named below the root that it was searched in", () => {
  const roots = ["/env/lib/site-packages/", "/env/lib/"];
  assert.equal(outsideName("/env/lib/site-packages/attr/__init__.py", roots), "attr/__init__.py");
  assert.equal(outsideName("/x/typeshed-fallback/stdlib/os.pyi", roots), "stdlib/os.pyi");
  assert.equal(outsideName("/elsewhere/tool.py", roots), "tool.py");
});

test("a surface names a target without its place", () => {
  assert.equal(withoutPlace('["a.py",3,4]'), "a.py");
  assert.equal(withoutPlace('"os.py#path"'), "os.py#path");
});
