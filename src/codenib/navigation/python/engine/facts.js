"use strict";
// node facts.js ENGINE_FOLDER ROOT [PYTHON] < list of files, one per line: prints one JSON line of facts for each.
// Lines on standard error that begin with "progress " say how many files are done.

const { readPaths, stackOf, writeText } = require("../../engines/js/wire");
const { EngineError, loadBundle } = require("./bundle");
const { encodeNothing } = require("./encoder");
const { FactBuilder } = require("./fact-builder");
const { addLoose, isReadable, openProject } = require("./project");
const { Resolver } = require("./resolver");

/** @param {string[]} argv */
async function main([folder, root, python]) {
  const files = readPaths();
  const readable = files.filter((file) => isReadable(root, file));
  const project = await openProject(loadBundle(folder), root, python);
  const present = new Set(readable);
  const builder = new FactBuilder(project, new Resolver(project, present), addLoose(project, readable));
  let done = 0;
  for (const file of files) {
    writeText(present.has(file) ? builder.factsOf(file) : encodeNothing(file));
    process.stderr.write(`progress ${++done}\n`);
    builder.limitMemory();
  }
  project.temp.dispose();
  builder.checkFailures();
}

main(process.argv.slice(2)).then(
  () => process.exit(0),
  (error) => {
    process.stderr.write(error instanceof EngineError ? `error ${error.message}\n` : `${stackOf(error)}\n`);
    process.exit(1);
  },
);
