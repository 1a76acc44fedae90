"use strict";
// node facts.js ENGINE_FOLDER ROOT [PYTHON] < list of files, one per line: prints one JSON line of facts for each.
// Lines on standard error that begin with "progress " say how many files are done.

const fs = require("fs");
const path = require("path");
const { load, EngineError } = require("./engine");
const { Maker, isFile, openOthers, writeAll } = require("./maker");
const { open } = require("./project");
const { Sheet } = require("./sheet");

async function main([folder, root, python]) {
  const files = fs.readFileSync(0, "utf8").split("\n").filter(Boolean);
  const readable = files.filter((file) => isFile(path.join(root, file)));
  const project = await open(load(folder), root, python);
  const others = openOthers(project, readable);
  const own = readable.filter((file) => !others.has(file));
  const maker = new Maker(project, readable, others);
  // The lines in the order of `files`; of what cannot be read there are no facts.
  const lines = new Map(files.map((file) => [file, new Sheet(file).text([], [])]));
  readable.forEach((file) => lines.set(file, undefined));
  let done = files.length - readable.length;
  // Files left out come after: which of them are searched together depends on what the others import.
  for (const file of [...own, ...others]) {
    lines.set(file, maker.lineOf(file));
    process.stderr.write(`progress ${++done}\n`);
    flush(lines);
    maker.letGo();
  }
  flush(lines);
  project.temp.dispose();
  maker.judge();
}

// Prints the lines that are ready, as far as none before them is missing.
function flush(lines) {
  for (const [file, line] of lines) {
    if (line === undefined) {
      return;
    }
    writeAll(line);
    lines.delete(file);
  }
}

main(process.argv.slice(2)).then(
  () => process.exit(0),
  (error) => {
    process.stderr.write(error instanceof EngineError ? `error ${error.message}\n` : `${error.stack}\n`);
    process.exit(1);
  },
);
