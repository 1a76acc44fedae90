"use strict";
/**
 * node serve.js TYPESCRIPT_FOLDER ROOT: stays, and answers requests, a line of JSON each, on standard output.
 *
 *   {"sync": FILES, "changed": PATHS}   the files there are now, and which of them changed, came or went
 *   {"lines": PATHS, "anew": BOOLEAN}   the lines that differ from those given last, or all; then a report
 *
 * After each answer comes {"end": COUNT}; {"error": REASON} when it failed.
 */

const crypto = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const { progressReporter, serveRequests, writeLine, writeText } = require("../../engines/js/wire");
const { Driver } = require("./driver");
const { Engine } = require("./engine");
const { FileCache } = require("./host/file-cache");
const { AnswerCache } = require("./incremental/answer-cache");
const { CacheContradiction } = require("./incremental/reference-check");

class Service {
  /**
   * @param {string} folder
   * @param {string} root
   */
  constructor(folder, root) {
    this.engine = new Engine(folder, root);
    this.root = root;
    this.cache = new AnswerCache(this.engine, new FileCache(this.engine.ts, root));
    /** @type {Set<string>} */
    this.files = new Set();
    /** @type {Set<string>} */
    this.edited = new Set();
    /** @type {Map<string, { fingerprint: string, digest: string }>} of the lines given last */
    this.given = new Map();
  }

  /** @param {any} request */
  handle(request) {
    return request.sync ? this.sync(request.sync, request.changed) : this.lines(request.lines, request.anew);
  }

  /**
   * @param {string[]} files
   * @param {string[]} changed
   */
  sync(files, changed) {
    const before = this.files;
    this.files = new Set(files);
    const names = changed.map((file) => path.posix.join(this.root, file));
    const isListChanged = changed.some((file) => before.has(file) !== this.files.has(file));
    this.cache.fileCache.change(names, isListChanged);
    for (const name of names) this.edited.add(name);
    return 0;
  }

  /**
   * @param {string[]} paths
   * @param {boolean} anew
   */
  lines(paths, anew) {
    const { lines, same } = this.collect(paths, anew);
    for (const line of lines) writeText(`${line}\n`);
    writeLine({ report: { asked: this.cache.asked, reasons: this.cache.reasons }, same });
    return paths.length;
  }

  /**
   * The lines that differ from those given last, or all; and the files whose lines do not.
   * @param {string[]} paths
   * @param {boolean} anew
   */
  collect(paths, anew) {
    /** @type {string[]} */
    const lines = [];
    /** @type {string[]} */
    const same = [];
    const given = new Map();
    let at = 0;
    for (const { encode, fingerprint } of this.facts(paths).encodings(true)) {
      const file = paths[at++];
      const known = anew ? undefined : this.given.get(file);
      const line = known?.fingerprint === fingerprint ? undefined : encode();
      const digest = line === undefined ? known?.digest : digestOf(line);
      given.set(file, { fingerprint, digest });
      if (line === undefined || digest === known?.digest) same.push(file);
      else lines.push(line);
    }
    this.cache.end();
    this.edited = new Set();
    this.given = given;
    return { lines, same };
  }

  /** @param {string[]} paths */
  facts(paths) {
    const run = () => new Driver(this.engine, paths, progressReporter(), this.cache).run();
    this.cache.begin(this.edited);
    try {
      return run();
    } catch (error) {
      if (!(error instanceof CacheContradiction)) throw error;
      this.cache.forget(error.message);
      return run();
    }
  }
}

/** @param {string} line */
function digestOf(line) {
  return crypto.createHash("sha1").update(line).digest("base64");
}

/** @param {string[]} argv */
async function main([folder, root]) {
  const service = new Service(fs.realpathSync(folder), fs.realpathSync(root));
  await serveRequests((request) => service.handle(request));
}

main(process.argv.slice(2)).catch((error) => {
  process.stderr.write(`error ${error.message}\n`);
  process.exitCode = 1;
});
