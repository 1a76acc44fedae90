"use strict";
// node facts.js ENGINE_FOLDER ROOT [PYTHON] < list of files, one per line: prints one JSON line of facts for each.
// Lines on standard error that begin with "progress " say how many files are done.

const { readPaths, stackOf, writeText } = require("../../engines/js/wire");
const { EngineError, loadBundle } = require("./bundle");
const { encodeNothing } = require("./encoder");
const { ExcludedFiles, openExcluded } = require("./excluded");
const { FactBuilder } = require("./fact-builder");
const { isReadable, openProject } = require("./project");
const { Resolver } = require("./resolver");

/** @param {string[]} argv */
async function main([folder, root, python]) {
  const files = readPaths();
  const readable = files.filter((file) => isReadable(root, file));
  const project = await openProject(loadBundle(folder), root, python);
  const excluded = openExcluded(project, readable);
  const included = readable.filter((file) => !excluded.has(file));
  const resolver = new Resolver(project, new Set(readable));
  const excludedFiles = new ExcludedFiles(project, resolver.targets, readable, excluded, new Map());
  const builder = new FactBuilder(project, resolver, excludedFiles);
  // The lines in the order of `files`; undefined while a line is to come.
  /** @type {Map<string, string | undefined>} */
  const lines = new Map(files.map((file) => [file, encodeNothing(file)]));
  for (const file of readable) lines.set(file, undefined);
  let done = files.length - readable.length;
  // Excluded files come after: which of them are searched together depends on what the others import.
  for (const file of [...included, ...excluded]) {
    lines.set(file, builder.factsOf(file));
    process.stderr.write(`progress ${++done}\n`);
    flush(lines);
    builder.limitMemory();
  }
  flush(lines);
  project.temp.dispose();
  builder.checkFailures();
}

/**
 * Prints the lines that are ready, as far as none before them is missing.
 * @param {Map<string, string | undefined>} lines
 */
function flush(lines) {
  for (const [file, line] of lines) {
    if (line === undefined) return;
    writeText(line);
    lines.delete(file);
  }
}

main(process.argv.slice(2)).then(
  () => process.exit(0),
  (error) => {
    process.stderr.write(error instanceof EngineError ? `error ${error.message}\n` : `${stackOf(error)}\n`);
    process.exit(1);
  },
);
