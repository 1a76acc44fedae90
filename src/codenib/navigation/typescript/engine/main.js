"use strict";
/**
 * node main.js TYPESCRIPT_FOLDER ROOT < list of files (one path a line, relative to ROOT)
 *
 * Standard output: the facts, a line of JSON for each file. Standard error: "progress DONE TOTAL" lines; when it
 * fails, "error REASON" and exit status 1.
 */

const fs = require("node:fs");
const { progressReporter, readPaths, stackOf, writeText } = require("../../engines/js/wire");
const { Driver } = require("./driver");
const { Engine } = require("./engine");

function main() {
  const [folder, root] = process.argv.slice(2).map((each) => fs.realpathSync(each));
  const facts = new Driver(new Engine(folder, root), readPaths(), progressReporter(), null).run();
  for (const line of facts.lines()) writeText(`${line}\n`);
}

try {
  main();
} catch (error) {
  process.stderr.write(`error ${stackOf(error)}\n`);
  process.exitCode = 1;
}
