"use strict";
/** The inferred program of many loose files in, what each of them alone would see out. */

/** @import ts from "typescript" */
/** @import { ReferenceGroup } from "../typescript-internals" */
/** @typedef {Map<string, Set<string>>} ImportEdges from the path of a file to those that it imports or refers to */
/** @typedef {{ name: string, groups: ReferenceGroup[] }} ReachedPart equal names have equal groups */

const crypto = require("node:crypto");
const { addTo, append, getOrCreate, reachable } = require("../../../engines/js/maps");

/** Which files one file reaches through imports and references. */
class ImportClosure {
  /** @param {ts.Program} program */
  constructor(program) {
    this.program = program;
    this.edges = importEdges(program);
    /** @type {Map<string, Map<string, ReferenceGroup["references"]>>} */
    this.filesByQuery = new Map();
    /** @type {Map<string, Buffer>} */
    this.digests = new Map();
    /** @type {Map<string, string>} */
    this.paths = new Map();
    /** @type {Set<string>} */
    this.reached = new Set();
    /** @type {Map<string, ReachedPart>} */
    this.parts = new Map();
  }

  /**
   * What follows is about this file.
   * @param {string} file
   */
  startAt(file) {
    this.reached = closure(this.edges, this.pathOf(file));
    this.parts = new Map();
  }

  /** Equal for equal sets of reached files. */
  get fingerprint() {
    let [sum, xor] = [0, 0];
    for (const path of this.reached) {
      const digest = getOrCreate(this.digests, path, () => crypto.createHash("sha1").update(path).digest());
      sum = (sum + digest.readInt32LE(0)) | 0;
      xor ^= digest.readInt32LE(4);
    }
    return `${this.reached.size} ${sum} ${xor}`;
  }

  /** @param {string} file */
  has(file) {
    return this.reached.has(this.pathOf(file));
  }

  /**
   * The engine's own form of a file's name; empty when the program has no such file.
   * @param {string} file
   */
  pathOf(file) {
    return getOrCreate(this.paths, file, () => this.program.getSourceFile(file)?.path ?? "");
  }

  /**
   * The reached part of what a query found. Goes over the fewer of the files that it found and those that are reached.
   * @param {string} query
   * @param {ReferenceGroup[]} groups
   */
  restrict(query, groups) {
    return getOrCreate(this.parts, query, () => this.reachedPart(this.byFile(query, groups), groups));
  }

  /**
   * @param {Map<string, ReferenceGroup["references"]>} files
   * @param {ReferenceGroup[]} groups
   * @returns {ReachedPart}
   */
  reachedPart(files, groups) {
    if (files.size === 1) {
      const [path] = files.keys();
      return this.reached.has(path) ? { name: "", groups } : { name: "none", groups: [] };
    }
    const [few, many] = files.size < this.reached.size ? [files, this.reached] : [this.reached, files];
    const reached = [...few.keys()].filter((path) => many.has(path)).sort();
    const definition = groups[0]?.definition;
    return {
      name: reached.join(" "),
      get groups() {
        const references = reached.flatMap((path) => files.get(path) ?? []);
        return reached.length ? [{ definition, references }] : [];
      },
    };
  }

  /**
   * @param {string} query
   * @param {ReferenceGroup[]} groups
   */
  byFile(query, groups) {
    return getOrCreate(this.filesByQuery, query, () => {
      const files = new Map();
      for (const { references } of groups) {
        for (const each of references) {
          const path = this.pathOf(each.fileName);
          if (path !== "") append(files, path, each);
        }
      }
      return files;
    });
  }
}

/**
 * @param {ts.Program} program
 * @returns {ImportEdges}
 */
function importEdges(program) {
  /** @type {ImportEdges} */
  const edges = new Map();
  program.getFileIncludeReasons().forEach((reasons, to) => {
    for (const { file } of reasons) if (file !== undefined) addTo(edges, /** @type {string} */ (file), to);
  });
  return edges;
}

/**
 * @param {ImportEdges} edges
 * @param {string} start
 */
function closure(edges, start) {
  return reachable([start], (path) => edges.get(path) ?? []);
}

module.exports = { ImportClosure, closure, importEdges };
