"use strict";
/** The folder of an installed TypeScript and a checkout in, the loaded engine and its readers out. */

const path = require("node:path");
const { loadTypeScript } = require("./host/patched-typescript");
const { ReferenceQueries } = require("./references/queries");
const { SymbolIndex } = require("./references/symbol-index");
const { DeclarationReader } = require("./syntax/declarations");
const { RoleReader } = require("./syntax/roles");
const { tokenReader } = require("./syntax/tokens");

/** What serves every state of a checkout. */
class Engine {
  /**
   * @param {string} folder
   * @param {string} root
   */
  constructor(folder, root) {
    this.root = root;
    this.symbolIndex = new SymbolIndex();
    this.ts = loadTypeScript(folder, this.symbolIndex.hooks());
    this.libraries = `${this.ts.normalizePath(path.join(folder, "lib"))}/`;
    this.tokensOf = tokenReader(this.ts);
    this.symbolIndex.attach(this.ts, this.tokensOf, this.libraries);
    this.queries = new ReferenceQueries(this.ts, this.symbolIndex);
    this.declarations = new DeclarationReader(this.ts);
    this.roles = new RoleReader(this.ts);
  }
}

module.exports = { Engine };
