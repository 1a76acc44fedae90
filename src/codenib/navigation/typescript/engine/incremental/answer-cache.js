"use strict";
/**
 * The answers of one run over a checkout in, those of them that hold in the next run out. Answers are cached by
 * file, programs by the name of their project.
 */

/** @import ts from "typescript" */
/** @import { Engine } from "../engine" */
/** @import { FileCache } from "../host/file-cache" */
/** @import { FileAnswers } from "./file-answers" */
/** @typedef {{ project: string, context: string, answers: FileAnswers }} CachedFile */
/**
 * How a project's program of this run came about.
 * @typedef {object} ProgramState
 * @property {ts.Program} program the one that answers
 * @property {ts.Program} loaded the one that the server loaded last
 * @property {boolean} isSame whether it is the program of the run before
 * @property {ProgramUpdate | null} update what of it is known from the run before
 */

const v8 = require("node:v8");
const vm = require("node:vm");
const { isSameProgram } = require("./program-graph");
const { ProgramUpdate } = require("./program-update");
const { RecordedFacts } = require("./recorded-facts");

/** The part of the heap that may be in use, without what nobody needs any more, before projects are forgotten. */
const MAX_HEAP = 0.8;

v8.setFlagsFromString("--expose-gc");
/** @type {() => void} takes a second or two; to forget projects costs the answers of all their files, run after run */
const collectGarbage = vm.runInNewContext("gc");

class AnswerCache {
  /**
   * @param {Engine} engine
   * @param {FileCache} fileCache
   */
  constructor(engine, fileCache) {
    this.engine = engine;
    this.fileCache = fileCache;
    /** @type {Map<string, ts.Program>} those of the run before */
    this.programs = new Map();
    /** @type {Map<string, CachedFile>} those of the run before */
    this.files = new Map();
    /** @type {Map<string, ProgramState>} those of this run */
    this.entered = new Map();
    /** @type {Map<string, CachedFile>} those of this run */
    this.next = new Map();
    /** @type {Set<string>} */
    this.edited = new Set();
    this.asked = 0;
    /** @type {string[]} */
    this.reasons = [];
    /** @type {RecordedFacts | null} */
    this.recorded = null;
    /** @type {Map<string, number>} sets of projects, by their names */
    this.holders = new Map();
  }

  /**
   * A new run.
   * @param {Set<string>} edited the files that changed, came or went since the last one
   */
  begin(edited) {
    this.edited = edited;
    this.entered = new Map();
    this.next = new Map();
    this.asked = 0;
    this.reasons = [];
  }

  /**
   * Starts the run again with nothing known.
   * @param {string} reason
   */
  forget(reason) {
    this.programs = new Map();
    this.files = new Map();
    this.recorded = null;
    this.engine.symbolIndex.predecessor = null;
    this.begin(this.edited);
    this.reasons.push(reason);
  }

  /**
   * The program that stands for the one just loaded: the same one, if it is known already.
   * @param {string} project
   * @param {ts.Program} loaded
   */
  enter(project, loaded) {
    const known = this.entered.get(project);
    if (known && (known.loaded === loaded || isSameProgram(known.program, loaded))) {
      known.loaded = loaded;
      return known.program;
    }
    this.evict(project);
    const before = known ? undefined : this.programs.get(project);
    const isSame = !!before && isSameProgram(before, loaded);
    const program = before && isSame ? before : loaded;
    const update = before && !isSame ? this.update(project, before, loaded) : null;
    this.entered.set(project, { program, loaded, isSame, update });
    return program;
  }

  /**
   * Forgets what other projects answered when memory runs out; the next run asks their files again.
   * @param {string} project
   */
  evict(project) {
    if (!isHeapFull()) return;
    collectGarbage();
    if (!isHeapFull()) return;
    for (const each of [...this.entered.keys()]) if (each !== project) this.entered.delete(each);
    for (const each of [...this.programs.keys()]) if (each !== project) this.programs.delete(each);
    for (const files of [this.files, this.next])
      for (const [file, entry] of [...files]) if (entry.project !== project) files.delete(file);
  }

  /**
   * @param {string} project
   * @param {ts.Program} before
   * @param {ts.Program} loaded
   */
  update(project, before, loaded) {
    /** @type {Map<string, FileAnswers>} */
    const answers = new Map();
    for (const [file, entry] of this.files) if (entry.project === project) answers.set(file, entry.answers);
    const update = new ProgramUpdate(this.engine, before, loaded, answers, this.edited);
    try {
      if (update.analyze()) return update;
    } catch (error) {
      update.reason = `the engine failed: ${/** @type {Error} */ (error).message}`;
    }
    update.discard();
    this.reasons.push(`${project}: ${update.reason}`);
    return null;
  }

  /**
   * Whether a query that an answer came from has the same answer now.
   * @param {string} project
   * @param {string} file
   * @param {string | null} query
   */
  isUnchanged(project, file, query) {
    const state = this.entered.get(project);
    return !!state && (state.isSame || !!state.update?.isUnchanged(file, query));
  }

  /**
   * What a query that a file was asked before finds now; null where the file may ask another.
   * @param {string} project
   * @param {string} file
   * @param {string} query
   */
  refreshed(project, file, query) {
    const state = this.entered.get(project);
    const { update, program } = state ?? {};
    if (!update || !program || update.affects(file) || update.renamedQueries.has(query)) return null;
    if (!update.refresh(query)) return null;
    return this.engine.queries.memory(program).groups.get(query) ?? null;
  }

  /**
   * What is known of a file and holds; null when it must be asked.
   * @param {string} file
   * @param {string} project
   * @param {string} context
   */
  recall(file, project, context) {
    const entry = this.files.get(file);
    const state = this.entered.get(project);
    if (!entry || !state || entry.context !== context || entry.project !== project) return null;
    const { answers } = entry;
    if (state.isSame) return answers.leadsTo(this.edited, () => true) ? null : answers;
    const { update, program } = state;
    if (!update || update.affects(file)) return null;
    const { renamedQueries } = update;
    const isRenamed =
      renamedQueries.size > 0 && answers.tokens.some(({ query }) => renamedQueries.has(query ?? ""));
    return answers.after(
      this.edited,
      (target) => update.movedTarget(target),
      isRenamed
        ? ({ node, query }) =>
            query !== null && renamedQueries.has(query) ? this.engine.queries.queryOf(program, node) : query
        : null,
    );
  }

  /**
   * The facts of the run before, where the next can start from them; else empty ones.
   * @param {string[]} paths
   * @param {Map<string, number>} fileNumbers
   */
  recordedFacts(paths, fileNumbers) {
    const numbers = [...this.edited]
      .map((file) => fileNumbers.get(file))
      .filter((file) => file !== undefined);
    if (!this.recorded?.isReusable(paths, new Set(numbers))) this.recorded = new RecordedFacts(paths);
    return this.recorded;
  }

  /**
   * @param {string} file
   * @param {CachedFile} entry
   * @param {boolean} isNew whether the engine was asked
   */
  remember(file, entry, isNew) {
    if (isNew) this.asked += 1;
    this.next.set(file, entry);
  }

  /** The run is over: what it found is what the next one starts from. */
  end() {
    this.files = this.next;
    this.programs = new Map();
    for (const [project, { program, update }] of this.entered) {
      this.programs.set(project, program);
      update?.release();
    }
    this.engine.symbolIndex.predecessor = null;
  }
}

function isHeapFull() {
  const { used_heap_size: used, heap_size_limit: limit } = v8.getHeapStatistics();
  return used >= MAX_HEAP * limit;
}

module.exports = { AnswerCache };
