"use strict";

const assert = require("node:assert/strict");
const test = require("node:test");
const { occurrences, packageOf, project, run } = require("../../engines/js/toolbox");

const { folder, skip } = packageOf(/^basedpyright-/, "basedpyright");
const FILES = {
  "shapes.py":
    "class Shape:\n    def area(self): return 0\n\nclass Square(Shape):\n    def area(self): return 1\n",
  "use.py": "from shapes import Square\n\nbox = Square()\nbox.area()\n",
};

test("a call leads to the method that runs, and a class to its base", { skip }, (context) => {
  const root = project(context, FILES);
  const [shapes, use] = run("python/engine/facts.js", [folder, root], "shapes.py\nuse.py\n");
  const call = occurrences(use).get("3:4");
  assert.deepEqual(call.definitions, [["shapes.py", 4, 8]]);
  assert.deepEqual(call.keys, [["shapes.py", 4, 8]]);
  const names = shapes.nodes.map((/** @type {any[]} */ [name, kind, parent]) => [name, kind, parent]);
  assert.deepEqual(
    names.filter((/** @type {any[]} */ [, kind]) => kind !== "parameter"),
    [
      ["Shape", "class", -1],
      ["area", "method", 0],
      ["Square", "class", -1],
      ["area", "method", 3],
    ],
  );
  assert.deepEqual(
    shapes.relations.map((/** @type {any[]} */ [kind, source, target]) => [
      kind,
      shapes.targets[source][1],
      shapes.targets[target][1],
    ]),
    [
      ["inherit", 3, 0],
      ["override", 4, 1],
    ],
  );
});

test("a file that is missing has an empty line, in its place", { skip }, (context) => {
  const root = project(context, FILES);
  const lines = run("python/engine/facts.js", [folder, root], "gone.py\nuse.py\n");
  assert.deepEqual(
    lines.map((line) => [line.path, line.nodes.length > 0]),
    [
      ["gone.py", false],
      ["use.py", true],
    ],
  );
});

test("a resident engine says of each request how many lines it has", { skip }, (context) => {
  const root = project(context, FILES);
  const files = Object.keys(FILES);
  const requests = [
    { sync: files, changed: files },
    { nodes: ["use.py"] },
    { lines: files },
    { surfaces: ["shapes.py"], touched: [], entries: {}, held: [] },
  ];
  const input = requests.map((request) => `${JSON.stringify(request)}\n`).join("");
  const lines = run("python/engine/serve.js", [folder, root], input);
  assert.deepEqual(
    lines.filter((line) => "end" in line).map((line) => line.end),
    [0, 1, 2, 1],
  );
  const batch = run("python/engine/facts.js", [folder, root], "shapes.py\nuse.py\n");
  assert.deepEqual(lines.slice(3, 5), batch);
  assert.ok("Square.area" in lines.at(-2).surface);
});

test("a request before the first sync is an error, and the engine stays", { skip }, (context) => {
  const root = project(context, FILES);
  const [error, end] = run(
    "python/engine/serve.js",
    [folder, root],
    '{"nodes":["use.py"]}\n{"sync":[],"changed":[]}\n',
  );
  assert.match(error.error, /sync comes first/);
  assert.deepEqual(end, { end: 0 });
});
