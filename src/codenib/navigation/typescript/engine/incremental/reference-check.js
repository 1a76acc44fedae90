"use strict";
/**
 * A token and the set of its references after an edit in, an error out when the two cannot belong together.
 *
 * A set must have the token that asks for it, and each declaration of that name, in a file that the edit
 * affects, to which the token leads. Where one is missing all files are searched; an answer that differs then
 * from the cached one shows that the cache is wrong, and nothing of it is used.
 */

/** @import ts from "typescript" */
/** @import { ReferenceGroup } from "../typescript-internals" */
/** @import { FactTable } from "../facts/fact-table" */
/** @import { ReferenceQueries } from "../references/queries" */
/** @import { TokenAnswer } from "./file-answers" */
/** @import { ProgramUpdate } from "./program-update" */
/** @typedef {TokenAnswer & { query: string }} QueriedToken */

const { getOrCreate } = require("../../../engines/js/maps");

/** What was cached contradicts what the engine says. */
class CacheContradiction extends Error {}

class ReferenceCheck {
  /**
   * @param {ReferenceQueries} queries
   * @param {FactTable} facts
   * @param {Map<string, number>} fileNumbers
   */
  constructor(queries, facts, fileNumbers) {
    this.queries = queries;
    this.facts = facts;
    this.fileNumbers = fileNumbers;
    /** @type {Map<ts.Program, Set<string>>} */
    this.verified = new Map();
  }

  /**
   * @param {ProgramUpdate} update how the program came about by an edit
   * @param {ts.Program} program
   * @param {string} file
   * @param {QueriedToken} token
   * @param {number} set
   */
  verify(update, program, file, token, set) {
    if (!this.isDoubtful(update, program, file, token, set)) return;
    const verified = getOrCreate(this.verified, program, () => new Set());
    if (verified.has(token.query)) return;
    verified.add(token.query);
    const cached = this.queries.references(program, token.node, token.query);
    const searched = this.queries.searchFor(program, token.node, token.node.getStart());
    if (!isSameSpans(cached, searched))
      throw new CacheContradiction(
        `what was kept of ${token.name} in ${file} did not hold: all files were asked`,
      );
  }

  /**
   * @param {ProgramUpdate} update
   * @param {ts.Program} program
   * @param {string} file
   * @param {QueriedToken} token
   * @param {number} set
   */
  isDoubtful(update, program, file, token, set) {
    if ((update.refreshed.has(token.query) || update.affects(file)) && this.isMissing(set, file, token))
      return true;
    return token.definitions.some((each) => {
      if (typeof each === "string" || !update.affects(each.file)) return false;
      const text = program.getSourceFile(each.file)?.text.slice(each.start, each.end);
      return text === token.name && this.isMissing(set, each.file, each);
    });
  }

  /**
   * @param {number} set
   * @param {string} file
   * @param {{ start: number, end: number }} span
   */
  isMissing(set, file, { start, end }) {
    const number = /** @type {number} */ (this.fileNumbers.get(file));
    return !this.facts.contains(set, { file: number, start, end });
  }
}

/**
 * @param {ReferenceGroup[]} some
 * @param {ReferenceGroup[]} others
 */
function isSameSpans(some, others) {
  const [one, two] = [some, others].map((groups) => new Set(groups.flatMap(spansOf)));
  return one.size === two.size && [...one].every((each) => two.has(each));
}

/** @param {ReferenceGroup} group */
function spansOf({ references }) {
  return references.map(({ fileName, textSpan }) => `${fileName} ${textSpan.start} ${textSpan.length}`);
}

module.exports = { CacheContradiction, ReferenceCheck };
