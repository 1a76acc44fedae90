"use strict";
// The text of one file in, the engine and the parsed file out.

const { packageOf } = require("../../engines/js/toolbox");
const { Engine } = require("../../../../src/codenib/navigation/typescript/engine/engine");

const { folder, skip } = packageOf(/^typescript-\d/, "node_modules/typescript");

/** @type {Engine | undefined} */
let engine;

/** The engine, loaded once. */
function loadedEngine() {
  engine ??= new Engine(folder, "/none");
  return engine;
}

/**
 * @param {string} text
 * @param {string} [name]
 */
function parse(text, name = "a.ts") {
  const { ts } = loadedEngine();
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  ts.bindSourceFile(file, {});
  return file;
}

module.exports = { folder, loadedEngine, parse, skip };
