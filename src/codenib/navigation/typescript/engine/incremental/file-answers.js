"use strict";
/**
 * What the engine said about one file in, out what of it holds after an edit. Targets name files by path, so that
 * answers outlive a list of paths.
 */

/** @import ts from "typescript" */
/** @import { FileSpan } from "../typescript-internals" */
/** @import { DeclaredNode } from "../syntax/declarations" */
/** @import { Relation, Target } from "../syntax/relations" */
/** @typedef {Exclude<Target, string>} PlaceTarget */
/** @typedef {{ name: string, file: string, query: string | null, found: FileSpan[] }} AskedQuery one of a project, by its name */
/**
 * `asked`: the queries that they came from. `holders`: which projects have the files that these found, as a session goes
 * on to each of them.
 * @typedef {FileSpan[] & { asked?: AskedQuery[], holders?: string }} FoundReferences
 */
/**
 * @typedef {object} TokenAnswer
 * @property {number} start
 * @property {number} end
 * @property {string} name
 * @property {number} roles
 * @property {Target[]} definitions
 * @property {ts.Node} node
 * @property {string | null} query
 * @property {string} visible where its definition is, when other files can see it
 * @property {boolean} isNeeded whether it has a row even when nothing is known of it
 * @property {FoundReferences | null} references what a session found in several projects
 */

let versions = 0;

class FileAnswers {
  /**
   * @param {string} file
   * @param {string} text
   * @param {Int32Array} lines the offset of each line's start
   */
  constructor(file, text, lines) {
    this.file = file;
    this.text = text;
    this.lines = lines;
    /** @type {DeclaredNode[]} */
    this.nodes = [];
    /** @type {Relation[]} */
    this.relations = [];
    /** @type {TokenAnswer[]} */
    this.tokens = [];
    /** @type {Set<string> | null} */
    this.targetFiles = null;
    this.version = ++versions;
  }

  *targets() {
    for (const { definitions } of this.tokens) yield* definitions;
    for (const [, source, destination] of this.relations) yield* [source, destination];
  }

  /**
   * Whether it leads into one of these files.
   * @param {Set<string>} files
   */
  leadsInto(files) {
    if (!this.targetFiles) {
      this.targetFiles = new Set();
      for (const target of this.targets()) if (typeof target !== "string") this.targetFiles.add(target.file);
    }
    return [...this.targetFiles].some((file) => files.has(file));
  }

  /**
   * Whether it leads into one of these files, and has a target that passes the test.
   * @param {Set<string>} files
   * @param {(target: PlaceTarget) => boolean} test
   */
  leadsTo(files, test) {
    if (!this.leadsInto(files)) return false;
    for (const target of this.targets()) if (typeof target !== "string" && test(target)) return true;
    return false;
  }

  /**
   * The answers with targets where they are now, and with queries named anew where `queryOf` gives other names.
   * @param {Set<string>} files those in which targets moved
   * @param {(target: PlaceTarget) => PlaceTarget} moved
   * @param {((token: TokenAnswer) => string | null) | null} queryOf null where no name is another
   */
  after(files, moved, queryOf) {
    const isMoved = this.leadsInto(files);
    if (!isMoved && !queryOf) return this;
    const isIn = (/** @type {Target} */ target) => typeof target !== "string" && files.has(target.file);
    const move = (/** @type {Target} */ target) =>
      typeof target !== "string" && files.has(target.file) ? moved(target) : target;
    const answers = new FileAnswers(this.file, this.text, this.lines);
    answers.nodes = this.nodes;
    answers.version = this.version;
    answers.relations = isMoved
      ? this.relations.map(([kind, source, to]) => [kind, move(source), move(to)])
      : this.relations;
    answers.tokens = this.tokens.map((token) => {
      const query = queryOf ? queryOf(token) : token.query;
      const isHit = isMoved && token.definitions.some(isIn);
      if (query === token.query && !isHit) return token;
      return { ...token, query, definitions: isHit ? token.definitions.map(move) : token.definitions };
    });
    return answers;
  }
}

module.exports = { FileAnswers };
