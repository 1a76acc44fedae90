"use strict";
/**
 * The facts of one run in, those that the next one need not record again out.
 *
 * Most answers hold after an edit. Of a file whose answers are the same objects as before, only the sets of its
 * queries may be others: those are compared, one token for each query, and put in place. Occurrences of edited
 * files get new numbers, so a set that has one of the old is never taken for a set of now.
 */

/** @import { AskedToken, TableTarget } from "../facts/fact-table" */
/** @import { ReferenceGroup } from "../typescript-internals" */
/** @import { Target } from "../syntax/relations" */
/** @import { FileAnswers, FoundReferences, TokenAnswer } from "./file-answers" */
/** @typedef {TokenAnswer & { query: string }} QueriedToken */
/**
 * The tokens of a file whose references are one set.
 * @typedef {object} SharedSet
 * @property {number} set
 * @property {QueriedToken[]} tokens
 * @property {AskedToken[]} asked their entries in the facts
 */
/** @typedef {{ answers: FileAnswers, sets: SharedSet[] }} RecordedFile */

const { FactTable } = require("../facts/fact-table");

/** Numbers that are given per number in use before all is recorded anew. */
const MAX_UNUSED = 3;

class RecordedFacts {
  /** @param {string[]} paths */
  constructor(paths) {
    this.paths = paths;
    this.facts = new FactTable(paths);
    /** @type {Map<number, RecordedFile>} */
    this.files = new Map();
    /** @type {WeakMap<Exclude<Target, string>, TableTarget>} */
    this.targets = new WeakMap();
    /** @type {WeakMap<FoundReferences, number>} the numbers of sets */
    this.numbers = new WeakMap();
    /** @type {WeakMap<ReferenceGroup[], Map<string, FoundReferences>>} what a file reaches of what one project has */
    this.found = new WeakMap();
    this.size = 0;
  }

  /**
   * Whether the next run can start from these facts; then what it must record is gone from them.
   * @param {string[]} paths
   * @param {Set<number>} edited
   */
  isReusable(paths, edited) {
    const { facts, files } = this;
    if (paths.length !== this.paths.length || paths.some((path, at) => path !== this.paths[at])) return false;
    const { length } = facts.owner;
    if (this.size && length + facts.sets.length > MAX_UNUSED * this.size) return false;
    this.size ||= length + facts.sets.length;
    for (const file of edited) {
      facts.removeFile(file);
      files.delete(file);
    }
    facts.restart();
    return true;
  }
}

module.exports = { RecordedFacts };
