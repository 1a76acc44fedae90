"use strict";

const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const path = require("node:path");
const test = require("node:test");

const WIRE = path.resolve(__dirname, "../../../../src/codenib/navigation/engines/js/wire.js");

/**
 * Runs a script that has the module's exports, and gives the lines that it wrote.
 * @param {string} script
 * @param {string} input
 */
function run(script, input) {
  const names = "readPaths, serveRequests, stackOf, writeLine, writeText";
  const source = `const { ${names} } = require(${JSON.stringify(WIRE)});\n${script}`;
  const done = spawnSync(process.execPath, ["-e", source], { input, maxBuffer: 1 << 26 });
  assert.equal(done.status, 0, done.stderr.toString());
  return done.stdout.toString().split("\n").slice(0, -1);
}

test("each request is answered by its lines and their number", () => {
  const script = "serveRequests(({ names }) => { names.forEach(writeLine); return names.length; });";
  assert.deepEqual(run(script, '{"names":["a","b"]}\n{"names":[]}\n'), [
    '"a"',
    '"b"',
    '{"end":2}',
    '{"end":0}',
  ]);
});

test("a request that fails is answered by its reason, and the next one is served", () => {
  const script = "serveRequests(({ bad }) => { if (bad) throw new Error('no such file'); return 0; });";
  const [error, end] = run(script, '{"bad":true}\n{}\n');
  assert.match(JSON.parse(error).error, /^Error: no such file\n/);
  assert.equal(end, '{"end":0}');
});

test("a text larger than a pipe arrives whole", () => {
  const [line] = run("writeText('é'.repeat(1 << 20) + '\\n');", "");
  assert.equal(line.length, 1 << 20);
});

test("paths are the lines that are not empty", () => {
  assert.deepEqual(run("readPaths().forEach(writeLine);", "a.py\n\nb c.py\n"), ['"a.py"', '"b c.py"']);
});
