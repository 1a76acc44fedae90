"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { spawn } = require("node:child_process");
const readline = require("node:readline");
const test = require("node:test");
const { occurrences, project, run } = require("../../engines/js/toolbox");
const { folder, skip } = require("./loaded");

const FILES = {
  "tsconfig.json": '{"compilerOptions": {"strict": true}}',
  "shapes.ts":
    "export class Shape { area() { return 0; } }\nexport class Square extends Shape { area() { return 1; } }\n",
  "use.ts": "import { Square } from './shapes';\nnew Square().area();\n",
};
const SOURCES = ["shapes.ts", "use.ts"];
const SERVE = path.resolve(__dirname, "../../../../src/codenib/navigation/typescript/engine/serve.js");

test("a call leads to the method that runs, and a class to its base", { skip }, (context) => {
  const root = project(context, FILES);
  const [shapes, use] = run("typescript/engine/main.js", [folder, root], `${SOURCES.join("\n")}\n`);
  assert.deepEqual(occurrences(use).get("1:13").definitions, [["shapes.ts", 1, 36]]);
  assert.deepEqual(
    shapes.relations.map((/** @type {any[]} */ [kind, source, target]) => [
      kind,
      shapes.targets[source],
      shapes.targets[target],
    ]),
    [
      ["inherit", ["shapes.ts", 1, 13], ["shapes.ts", 0, 13]],
      ["override", ["shapes.ts", 1, 36], ["shapes.ts", 0, 21]],
    ],
  );
});

test("files that no project includes do not find each other's globals", { skip }, (context) => {
  const root = project(context, { "a.js": "var shared = 1;\nshared;\n", "b.js": "var shared = 2;\n" });
  const [a, b] = run("typescript/engine/main.js", [folder, root], "a.js\nb.js\n");
  assert.deepEqual(occurrences(a).get("1:0").definitions, [["a.js", 0, 4]]);
  assert.notDeepEqual(occurrences(a).get("0:4").keys, occurrences(b).get("0:4").keys);
});

test("after an edit a resident engine gives the lines that differ, as a build has them", {
  skip,
}, async (context) => {
  const root = project(context, FILES);
  const server = spawn(process.execPath, [SERVE, folder, root], { stdio: ["pipe", "pipe", "inherit"] });
  context.after(() => server.kill());
  const lines = readline.createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  /** @type {(request: object) => Promise<any[]>} */
  const ask = async (request) => {
    server.stdin.write(`${JSON.stringify(request)}\n`);
    const rows = [];
    for (let row = JSON.parse((await lines.next()).value); !("end" in row); ) {
      rows.push(row);
      row = JSON.parse((await lines.next()).value);
    }
    return rows;
  };
  await ask({ sync: SOURCES, changed: SOURCES });
  const [shapes, use, first] = await ask({ lines: SOURCES, anew: true });
  assert.deepEqual([shapes.path, use.path, first.same], ["shapes.ts", "use.ts", []]);
  fs.writeFileSync(path.join(root, "use.ts"), `\n${FILES["use.ts"]}`);
  await ask({ sync: SOURCES, changed: ["use.ts"] });
  const [moved, report] = await ask({ lines: SOURCES, anew: false });
  assert.deepEqual(report, { report: { asked: 1, reasons: [] }, same: ["shapes.ts"] });
  const built = run("typescript/engine/main.js", [folder, root], `${SOURCES.join("\n")}\n`);
  assert.deepEqual(moved, built[1]);
});
