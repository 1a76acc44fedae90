"use strict";
/**
 * Which files changed in, out what still holds of the others: their texts and parsed trees, and what was looked up
 * on disk. Each state of the checkout gets a server of its own, so that files find their projects as they do at a
 * build. A file that did not change is the same parsed object for both servers, and so are its nodes and symbols:
 * what was worked out about them still holds.
 */

/** @import ts from "typescript" */
/** @import { TypeScript } from "../typescript-internals" */
/**
 * @typedef {object} Lookups
 * @property {Map<string, boolean>} files
 * @property {Map<string, boolean>} folders
 * @property {Map<string, string>} real
 * @property {Map<string, string[]>} listed
 */

const { getOrCreate } = require("../../../engines/js/maps");

/** Characters of closed projects' files that stay parsed, at about 20 bytes of memory each. */
const MAX_PARSED = 30e6;
const SOURCE = /\.[cm]?[jt]sx?$/;

class FileCache {
  /**
   * @param {TypeScript} ts
   * @param {string} root
   */
  constructor(ts, root) {
    this.lookups = newLookups();
    /** @type {Map<string, number>} */
    const versions = new Map();
    this.versions = versions;
    /** @type {Map<string, string | undefined>} */
    this.texts = new Map();
    this.registry = ts.createDocumentRegistryInternal(ts.sys.useCaseSensitiveFileNames, root);
    retainParsed(this.registry);
    const info = /** @type {any} */ (ts.server.ScriptInfo.prototype);
    const latest = info.getLatestVersion;
    // A server counts versions from its start: ours go on.
    info.getLatestVersion = function () {
      latest.call(this);
      return String(versions.get(this.fileName) || 0);
    };
  }

  /**
   * The text of a source; configurations are read each time, for nobody says when they change.
   * @param {string} name
   * @param {() => string | undefined} read
   */
  read(name, read) {
    return SOURCE.test(name) ? getOrCreate(this.texts, name, read) : read();
  }

  /**
   * @param {string[]} files those that changed, came or went
   * @param {boolean} isListChanged whether some came or went
   */
  change(files, isListChanged) {
    for (const file of files) {
      this.versions.set(file, (this.versions.get(file) || 0) + 1);
      this.texts.delete(file);
    }
    if (isListChanged) for (const known of Object.values(this.lookups)) known.clear();
  }
}

/** @returns {Lookups} */
function newLookups() {
  return { files: new Map(), folders: new Map(), real: new Map(), listed: new Map() };
}

/**
 * Retains parsed files when their project is closed, up to a limit: in a repository of fifty projects most have
 * the standard library and the same few packages in common.
 * @param {ts.DocumentRegistry} registry
 */
function retainParsed(registry) {
  const { acquireDocumentWithKey: acquire, releaseDocumentWithKey: release } = /** @type {any} */ (registry);
  /** @type {Map<string, number>} */
  const sizes = new Map();
  /** @type {Set<string>} */
  const retained = new Set();
  let room = MAX_PARSED;
  Object.assign(registry, {
    /** @type {(name: string, file: string, options: object, key: string, ...rest: unknown[]) => ts.SourceFile} */
    acquireDocumentWithKey: (name, file, options, key, ...rest) => {
      const source = acquire(name, file, options, key, ...rest);
      sizes.set(`${file} ${key}`, source.text.length);
      return source;
    },
    /** @type {(file: string, key: string, ...rest: unknown[]) => void} */
    releaseDocumentWithKey: (file, key, ...rest) => {
      const id = `${file} ${key}`;
      if (retained.has(id)) return;
      const size = sizes.get(id) ?? 0;
      if (size > room) release(file, key, ...rest);
      else {
        retained.add(id);
        room -= size;
      }
    },
  });
}

module.exports = { FileCache, newLookups, retainParsed };
