"use strict";
// The folder of an installed basedpyright in, its internal modules out (by their source path, e.g. "analyzer/service").

const fs = require("fs");
const Module = require("module");
const path = require("path");

// The bundle's inner modules have no stable interface: only this version is known to fit the calls that we make.
const VERSION = "1.40.2";
// The bundle ends by starting a server; from this line on we hand out its module loader instead.
const ENTRY = "var __webpack_exports__ = {};";

class EngineError extends Error {}

function load(folder) {
  const bundle = path.join(folder, "dist", "pyright-langserver.js");
  let text;
  try {
    text = fs.readFileSync(bundle, "utf8");
  } catch {
    throw new EngineError(`no basedpyright engine at ${bundle}`);
  }
  const at = text.lastIndexOf(ENTRY);
  if (at < 0) {
    throw new EngineError(`the basedpyright engine has another form than version ${VERSION}`);
  }
  const held = new Module(bundle, module);
  held.filename = bundle;
  held.paths = Module._nodeModulePaths(path.dirname(bundle));
  global.__rootDirectory = path.join(folder, "dist") + path.sep;
  held._compile(text.slice(0, at) + "return void (module.exports = __webpack_require__);\n})()", bundle);
  const inner = (name) => held.exports(`../pyright-internal/src/${name}.ts`);
  const found = held.exports("../pyright-internal/src/version.json");
  if (found !== VERSION) {
    throw new EngineError(`basedpyright ${found} is installed, ${VERSION} is needed`);
  }
  return inner;
}

module.exports = { load, EngineError, VERSION };
