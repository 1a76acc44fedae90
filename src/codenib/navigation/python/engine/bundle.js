"use strict";
// The folder of an installed basedpyright in, its internal modules out (by their source path, e.g. "analyzer/service").

/** @import { InnerModules } from "./basedpyright" */

const fs = require("node:fs");
const Module = require("node:module");
const path = require("node:path");

// The bundle's inner modules have no stable interface: only this version is known to fit the calls that we make.
const VERSION = "1.40.2";
// The bundle ends by starting a server; from this line on we hand out its module loader instead.
const ENTRY = "var __webpack_exports__ = {};";
const LOADER = "return void (module.exports = __webpack_require__);\n})()";

class EngineError extends Error {}

/**
 * @param {string} folder
 * @returns {InnerModules}
 */
function loadBundle(folder) {
  const bundle = path.join(folder, "dist", "pyright-langserver.js");
  const text = readBundle(bundle);
  const entry = text.lastIndexOf(ENTRY);
  if (entry < 0) throw new EngineError(`the basedpyright engine has another form than version ${VERSION}`);
  const loaded = /** @type {any} */ (new Module(bundle, /** @type {any} */ (module)));
  loaded.filename = bundle;
  loaded.paths = /** @type {any} */ (Module)._nodeModulePaths(path.dirname(bundle));
  /** @type {any} */ (globalThis).__rootDirectory = path.join(folder, "dist") + path.sep;
  loaded._compile(text.slice(0, entry) + LOADER, bundle);
  const version = loaded.exports("../pyright-internal/src/version.json");
  if (version !== VERSION)
    throw new EngineError(`basedpyright ${version} is installed, ${VERSION} is needed`);
  return (name) => loaded.exports(`../pyright-internal/src/${name}.ts`);
}

/**
 * @param {string} bundle
 * @returns {string}
 */
function readBundle(bundle) {
  try {
    return fs.readFileSync(bundle, "utf8");
  } catch {
    throw new EngineError(`no basedpyright engine at ${bundle}`);
  }
}

module.exports = { EngineError, loadBundle };
