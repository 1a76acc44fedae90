"use strict";
/**
 * The files of a checkout in, the order to visit them in out, so that each project is loaded about once.
 *
 * Which project a file has is the server's decision when it is opened. What it finds in others depends on what
 * was opened before, so the order is that of a client which goes through the files by path.
 */

/** @import ts from "typescript" */
/** @import { TypeScript } from "../typescript-internals" */
/**
 * The files below one configuration.
 * @typedef {object} Folder
 * @property {string} config its path; "" for none
 * @property {string[]} listed the files that it lists
 * @property {string[]} unlisted the files that no configuration lists
 */

const path = require("node:path");
const { getOrCreate } = require("../../../engines/js/maps");

const NAMES = ["tsconfig.json", "jsconfig.json"];

class VisitOrder {
  /**
   * @param {TypeScript} ts
   * @param {ts.System} host
   * @param {string} root
   */
  constructor(ts, host, root) {
    this.ts = ts;
    this.host = host;
    this.root = root;
    /** @type {Map<string, string>} */
    this.nearest = new Map();
    /** @type {Map<string, { names: Set<string>, hasReferences: boolean }>} */
    this.parsed = new Map();
  }

  /**
   * The folders of one configuration each, by path. Files that only a configuration further up lists come last,
   * folder by folder: else that one would be loaded again for each of them.
   * @param {Iterable<string>} files
   */
  folders(files) {
    /** @type {Map<string, Folder>} */
    const folders = new Map();
    /** @type {Map<string, Folder>} */
    const visits = new Map();
    for (const file of files) {
      const near = this.configAbove(path.posix.dirname(file));
      const owner = this.ownerOf(near, file);
      if (owner !== near) folderOf(visits, owner).listed.push(file);
      else if (near !== "" && this.parse(near).names.has(file)) folderOf(folders, near).listed.push(file);
      else folderOf(folders, near).unlisted.push(file);
    }
    return [...byPath(folders), ...byPath(visits)];
  }

  /**
   * The first configuration, from the nearest one upwards, that lists the file; the nearest one where there is none.
   * @param {string} near
   * @param {string} file
   */
  ownerOf(near, file) {
    for (
      let config = near;
      config;
      config = this.configAbove(path.posix.dirname(path.posix.dirname(config)))
    ) {
      const { hasReferences, names } = this.parse(config);
      if (hasReferences) return near;
      if (names.has(file)) return config;
      if (path.posix.dirname(config) === this.root) break;
    }
    return near;
  }

  /**
   * The nearest configuration at or above `folder`, inside the checkout; "" when there is none.
   * @param {string} folder
   * @returns {string}
   */
  configAbove(folder) {
    if (folder !== this.root && !folder.startsWith(`${this.root}/`)) return "";
    return getOrCreate(this.nearest, folder, () => {
      const here = NAMES.map((name) => `${folder}/${name}`).find((file) => this.host.fileExists(file));
      return here || (folder === this.root ? "" : this.configAbove(path.posix.dirname(folder)));
    });
  }

  /** @param {string} config */
  parse(config) {
    return getOrCreate(this.parsed, config, () => {
      const host = { ...this.host, onUnRecoverableConfigFileDiagnostic() {} };
      const line = this.ts.getParsedCommandLineOfConfigFile(config, {}, host);
      const hasReferences = (line?.projectReferences?.length ?? 0) > 0;
      return { names: new Set(line ? line.fileNames : []), hasReferences };
    });
  }
}

/** @param {Map<string, Folder>} folders */
function byPath(folders) {
  return [...folders.values()].sort((a, b) => (a.config < b.config ? -1 : 1));
}

/**
 * @param {Map<string, Folder>} folders
 * @param {string} config
 */
function folderOf(folders, config) {
  return getOrCreate(folders, config, () => ({ config, listed: [], unlisted: [] }));
}

module.exports = { VisitOrder };
