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
const { matchDeclarations } = require("../incremental/matching");

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
    prepareRegistry(ts, this.registry);
    numberAlike(ts, this.registry);
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
 * @param {TypeScript} ts
 * @param {ts.DocumentRegistry} registry
 */
function prepareRegistry(ts, registry) {
  leaveOutDeep(ts, registry);
  retainParsed(registry);
}

/**
 * Numbers the declarations of a file's next text like those of the last one as soon as it is parsed. Projects share the
 * parsed file, and one that starts anew would number it otherwise for all.
 * @param {TypeScript} ts
 * @param {ts.DocumentRegistry} registry
 */
function numberAlike(ts, registry) {
  const inner = /** @type {any} */ (registry);
  /** @type {Map<string, WeakRef<ts.SourceFile>>} */
  const latest = new Map();
  for (const name of ["acquireDocumentWithKey", "updateDocumentWithKey"]) {
    const parse = inner[name];
    /** @type {(file: string, path: string, options: object, key: string, ...rest: unknown[]) => ts.SourceFile} */
    inner[name] = (file, path, options, key, ...rest) => {
      const source = parse(file, path, options, key, ...rest);
      const id = `${path} ${key} ${source.impliedNodeFormat}`;
      const before = latest.get(id)?.deref();
      if (before === source) return source;
      if (before) matchDeclarations(ts, before, source);
      latest.set(id, new WeakRef(source));
      return source;
    };
  }
}

/** Levels of a tree that every reader of it can go down: the engine's own stand 1,500 at the stack's usual size. */
const MAX_DEPTH = 1000;

/** @type {WeakSet<ts.SourceFile>} files that are deeper than the stack, as the empty ones that stand for them */
const tooDeep = new WeakSet();
/** @type {WeakSet<ts.SourceFile>} files that were bound and found to be no deeper: every new server asks for each file again */
const readable = new WeakSet();

/**
 * Gives an empty file for one that cannot be parsed or bound within the stack: otherwise it would cost every other file
 * its answers.
 * @param {TypeScript} ts
 * @param {ts.DocumentRegistry} registry
 */
function leaveOutDeep(ts, registry) {
  const inner = /** @type {any} */ (registry);
  for (const name of ["acquireDocumentWithKey", "updateDocumentWithKey"]) {
    const parse = inner[name];
    /** @type {(file: string, path: string, options: any, key: string, text: object, version: string, ...rest: unknown[]) => ts.SourceFile} */
    inner[name] = (file, path, options, key, text, version, ...rest) => {
      try {
        const source = parse(file, path, options, key, text, version, ...rest);
        if (readable.has(source)) return source;
        ts.bindSourceFile(source, options.getCompilationSettings?.() ?? options);
        checkDepth(ts, source);
        readable.add(source);
        return source;
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        const nothing = ts.ScriptSnapshot.fromString("");
        const source = parse(file, path, options, key, nothing, `${version} too deep`, ...rest);
        tooDeep.add(source);
        return source;
      }
    };
  }
}

/**
 * @param {TypeScript} ts
 * @param {ts.SourceFile} source
 */
function checkDepth(ts, source) {
  /** @type {ts.Node[]} */
  let level = [source];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw new RangeError(`${source.fileName} is deeper than ${MAX_DEPTH} levels`);
    /** @type {ts.Node[]} */
    const below = [];
    for (const node of level) ts.forEachChild(node, (child) => void below.push(child));
    level = below;
  }
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

module.exports = { FileCache, newLookups, prepareRegistry, tooDeep };
