"use strict";
// The name of an engine's package in, the folder where the toolbox has it out; and small projects to run it on.

const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const ROOT = path.resolve(__dirname, "../../../..");
const BOX = process.env.CODENIB_TOOLBOX ?? path.join(ROOT, ".tools", "box");

/**
 * The folder of a package, and the reason to skip the tests that need it; where CODENIB_TOOLS says that all tools are
 * required, a missing one is no reason.
 * @param {RegExp} tool the name of the tool's folder in the toolbox
 * @param {string} inside the package's folder in it
 */
function packageOf(tool, inside) {
  const names = fs.existsSync(BOX) ? fs.readdirSync(BOX).filter((name) => tool.test(name)) : [];
  const folder = path.join(BOX, names.sort().at(-1) ?? "", inside);
  const isMissing = names.length === 0 || !fs.existsSync(folder);
  const isRequired = process.env.CODENIB_TOOLS === "required";
  return { folder, skip: isMissing && !isRequired ? `${inside} is not installed: make tools` : false };
}

/**
 * A folder with these files, gone after the test.
 * @param {{ after(done: () => void): void }} context
 * @param {Record<string, string>} files
 */
function project(context, files) {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "engine-")));
  context.after(() => fs.rmSync(root, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), text);
  }
  return root;
}

/**
 * Runs a script of an engine and gives what it wrote: a value for each line.
 * @param {string} script below src/codenib/navigation
 * @param {string[]} argv
 * @param {string} input
 * @returns {any[]}
 */
function run(script, argv, input) {
  const file = path.join(ROOT, "src/codenib/navigation", script);
  const done = spawnSync(process.execPath, [file, ...argv], { input, maxBuffer: 1 << 28 });
  assert.equal(done.status, 0, done.stderr.toString());
  return done.stdout
    .toString()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/**
 * The occurrences of a line of facts, by their line and column: roles and the lists of targets.
 * @param {any} facts
 */
function occurrences(facts) {
  const rows = new Map();
  for (let at = 0; at < facts.occurrences.length; at += 8) {
    const [line, column, , , roles, definitions, keys, asks] = facts.occurrences.slice(at, at + 8);
    const list = (/** @type {number} */ number) =>
      number < 0 ? [] : facts.lists[number].map((/** @type {number} */ target) => facts.targets[target]);
    rows.set(`${line}:${column}`, {
      roles,
      definitions: list(definitions),
      keys: list(keys),
      asks: list(asks < 0 ? keys : asks),
    });
  }
  return rows;
}

module.exports = { occurrences, packageOf, project, run };
