"use strict";
/**
 * A program before and after an edit in, what still holds of the queries out.
 *
 * Of a references query the members in files that are not affected (affected-files.js) stay; it is asked again, in
 * affected files only, when it had members there, or a token there is related to a symbol that it looks for.
 */

/** @import ts from "typescript" */
/** @import { AnyNode, FileSpan, ReferenceGroup } from "../typescript-internals" */
/** @import { Engine } from "../engine" */
/** @import { ProgramMemory } from "../references/queries" */
/** @import { SymbolKey } from "../references/symbol-index" */
/** @import { FileAnswers, PlaceTarget } from "./file-answers" */
/** @typedef {(key: SymbolKey) => void} Touch */

const { AffectedFiles } = require("./affected-files");

/** Imports of imports are followed so many steps. */
const MAX_STEPS = 20;

class ProgramUpdate {
  /**
   * @param {Engine} engine
   * @param {ts.Program} before
   * @param {ts.Program} after
   * @param {Map<string, FileAnswers>} answers what is known of each file, by name, from the program before
   * @param {Set<string>} edited the files, by name, that changed anywhere
   */
  constructor(engine, before, after, answers, edited) {
    this.ts = engine.ts;
    this.symbolIndex = engine.symbolIndex;
    this.queries = engine.queries;
    this.after = after;
    this.reason = "";
    /** @type {AffectedFiles | null} null after the run, for it has the program before */
    this.analysis = new AffectedFiles(engine, before, after, answers, edited);
    /** @type {Map<string, ts.Node>} a token of a file that is not affected, for each query */
    this.askers = new Map();
    /** @type {Map<string, ReferenceGroup[]>} queries that are to be asked again, and what they found before */
    this.stale = new Map();
    /** @type {Set<string>} queries whose tokens are to be named anew */
    this.renamedQueries = new Set();
    /** @type {Set<string>} queries that were asked again */
    this.refreshed = new Set();
    /** @type {ts.SourceFile[]} the affected files of the program after the edit */
    this.files = [];
    /** @type {Set<string>} the names of affected files, before and after */
    this.names = new Set();
  }

  get running() {
    if (!this.analysis) throw new Error("the run of this update is over");
    return this.analysis;
  }

  /** Works it out; false when all files are to be asked. */
  analyze() {
    const analysis = this.running;
    const isPartial = analysis.analyze();
    this.reason = analysis.refusal;
    if (!isPartial) return false;
    this.files = analysis.files();
    this.names = analysis.names();
    this.takeOver(analysis);
    return true;
  }

  /**
   * Where a definition is now.
   * @param {PlaceTarget} target
   */
  movedTarget(target) {
    return this.running.movedTarget(target);
  }

  /**
   * The definition of what a query found before, where it is now; null where that is not known. A session asks other
   * projects at that place.
   * @param {FileSpan | undefined} definition
   * @returns {FileSpan | undefined | null}
   */
  movedDefinition(definition) {
    if (!definition || !this.affects(definition.fileName)) return definition;
    const { fileName, textSpan } = definition;
    if (!this.after.getSourceFile(fileName)) return null;
    const places = this.running.places.get(fileName);
    if (!places) return definition;
    const moved = places.get(textSpan.start);
    return moved ? { fileName, textSpan: { start: moved.start, length: moved.end - moved.start } } : null;
  }

  /** @param {string} fileName */
  affects(fileName) {
    return this.names.has(fileName);
  }

  /**
   * What is known of queries and tokens passes to the program after the edit.
   * @param {AffectedFiles} analysis
   */
  takeOver({ before, now, answers }) {
    const { symbolIndex, queries, after, names } = this;
    const old = [...names].map((name) => before.getSourceFile(name)).filter((file) => !!file);
    const affected = [...this.files, ...old].filter((file) => !symbolIndex.isLibrary(file));
    const [checker, successor] = [before.getTypeChecker(), after.getTypeChecker()];
    symbolIndex.inherit(checker, successor, affected);
    const unchanged = new Set(now.values());
    const covers = (/** @type {ts.SourceFile} */ file) => unchanged.has(file) && !names.has(file.fileName);
    symbolIndex.predecessor = { checker, successor, covers };
    const memory = this.inheritQueries(queries.memory(before), queries.memory(after));
    queries.memories.delete(before);
    queries.updates.set(after, this);
    for (const [name, { tokens }] of answers) {
      if (names.has(name)) continue;
      for (const { query, node } of tokens)
        if (query !== null && !this.askers.has(query)) this.askers.set(query, node);
    }
    this.invalidateGains(memory);
  }

  /**
   * @param {ProgramMemory} from
   * @param {ProgramMemory} to
   */
  inheritQueries(from, to) {
    const { origins, firsts, searchedFor, covered, imports, named } = from;
    Object.assign(to, { origins, firsts, searchedFor, covered, imports, named });
    const led = this.queriesOfImports(imports);
    for (const [origin, { query }] of firsts) if (led.has(query)) firsts.delete(origin);
    for (const [query, groups] of from.groups) {
      if (led.has(query)) continue;
      const isHit =
        query.startsWith("node ") ||
        groups.some(({ definition, references }) =>
          [definition, ...references].some((each) => each && this.names.has(each.fileName)),
        );
      (isHit ? this.stale : to.groups).set(query, groups);
    }
    return to;
  }

  /** The affected files of the program after the edit that are not the engine's own. */
  ownFiles() {
    return this.files.filter((file) => !this.symbolIndex.isLibrary(file));
  }

  /**
   * The queries that start at an import of an affected file. It may lead to another thing: nothing of what they found
   * holds.
   * @param {ProgramMemory["imports"]} imports
   */
  queriesOfImports(imports) {
    return new Set([...this.names].flatMap((name) => [...(imports.get(name) ?? [])]));
  }

  /**
   * Queries that find a token of an affected file now are to be asked again.
   * @param {ProgramMemory} memory
   */
  invalidateGains(memory) {
    const { symbolIndex, after } = this;
    /** @type {Touch} */
    const touch = (key) => {
      for (const query of memory.searchedFor.get(key) ?? []) this.invalidate(memory, query);
      for (const query of memory.covered.get(key) ?? []) this.renamedQueries.add(query);
    };
    const files = this.ownFiles();
    // Symbols of JavaScript may merge while types are worked out: that comes first, as at a build.
    const { GoToDefinition } = this.ts;
    for (const file of files)
      for (const node of symbolIndex.tokensOf(file).asked)
        attempt(() => GoToDefinition.getDefinitionAtPosition(after, file, node.getStart(file)));
    for (const file of files) {
      this.touchRelated(file, touch);
      for (const name of attempt(() => this.crossingNames(file, touch)) ?? [])
        for (const query of memory.named.get(name) ?? []) this.invalidate(memory, query);
      for (const node of symbolIndex.tokensOf(file).asked) {
        const query = attempt(() => this.queries.queryOf(after, node));
        if (query) this.invalidate(memory, query);
      }
    }
  }

  /**
   * Touches the symbols that a file's tokens are related to or lead to.
   * @param {ts.SourceFile} file
   * @param {Touch} touch
   */
  touchRelated(file, touch) {
    const checker = this.after.getTypeChecker();
    for (const token of [...this.symbolIndex.tokensOf(file).byName.values()].flat()) {
      const related = attempt(() => this.symbolIndex.related(checker, token));
      for (const key of related?.certain ?? []) touch(/** @type {SymbolKey} */ (key));
      if (related?.possible !== undefined) touch(related.possible);
      for (const key of attempt(() => this.aliasedBy(checker, token)) ?? []) touch(key);
    }
  }

  /**
   * The names that a file imports and exports, and the files it imports them from: where modules export all of
   * others a search compares names, not symbols. What such modules export by default is touched.
   * @param {ts.SourceFile} file
   * @param {Touch} touch
   */
  crossingNames(file, touch) {
    const { ts, after } = this;
    const checker = this.after.getTypeChecker();
    /** @type {Set<string>} */
    const names = new Set();
    for (const node of this.symbolIndex.tokensOf(file).asked) {
      const { parent } = node;
      if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent) || ts.isBindingElement(parent))
        names.add(/** @type {string} */ (/** @type {AnyNode} */ (node).text));
      if (!ts.isStringLiteralLike(node) || !ts.isModuleSpecifierLike(node)) continue;
      const resolved = after.getResolvedModuleFromModuleSpecifier(node)?.resolvedModule;
      if (resolved) names.add(` ${resolved.resolvedFileName}`);
      this.touchDefaults(checker, checker.getSymbolAtLocation(node), touch);
    }
    return names;
  }

  /**
   * @param {ts.TypeChecker} checker
   * @param {ts.Symbol | undefined} start
   * @param {Touch} touch
   */
  touchDefaults(checker, start, touch) {
    const { Default, ExportEquals, ExportStar } = this.ts.InternalSymbolName;
    const visited = new Set();
    for (const queue = [start]; queue.length; ) {
      const module = queue.pop();
      if (!module?.exports || visited.has(module)) continue;
      visited.add(module);
      for (const name of [Default, ExportEquals]) {
        const symbol = module.exports.get(name);
        if (!symbol) continue;
        touch(this.symbolIndex.keyOf(symbol));
        for (const key of this.aliasSteps(checker, symbol, MAX_STEPS - 1)) touch(key);
      }
      for (const each of module.exports.get(ExportStar)?.declarations ?? []) {
        const { moduleSpecifier } = /** @type {AnyNode} */ (each);
        if (moduleSpecifier) queue.push(checker.getSymbolAtLocation(moduleSpecifier));
      }
    }
  }

  /**
   * What an import or export leads to, step by step.
   * @param {ts.TypeChecker} checker
   * @param {ts.Node} token
   */
  aliasedBy(checker, token) {
    const symbol = checker.getSymbolAtLocation(token);
    return symbol ? [...this.aliasSteps(checker, symbol, MAX_STEPS)] : [];
  }

  /**
   * @param {ts.TypeChecker} checker
   * @param {ts.Symbol} start
   * @param {number} most
   */
  *aliasSteps(checker, start, most) {
    let symbol = /** @type {ts.Symbol | undefined} */ (start);
    for (let step = 0; symbol && symbol.flags & this.ts.SymbolFlags.Alias && step < most; step++) {
      symbol = checker.getImmediateAliasedSymbol(symbol);
      if (symbol) yield this.symbolIndex.keyOf(symbol);
    }
  }

  /**
   * @param {ProgramMemory} memory
   * @param {string} query
   */
  invalidate(memory, query) {
    const groups = memory.groups.get(query);
    if (!groups || this.refreshed.has(query)) return;
    memory.groups.delete(query);
    this.stale.set(query, groups);
  }

  /**
   * Whether a query that a file was asked before has the same answer now.
   * @param {string} file
   * @param {string | null} query
   */
  isUnchanged(file, query) {
    if (this.affects(file)) return false;
    if (query === null) return true;
    return this.queries.memory(this.after).groups.has(query) && !this.refreshed.has(query);
  }

  /**
   * Makes a query that was asked before hold now; false when nobody is left to ask it.
   * @param {string} query
   */
  refresh(query) {
    if (!this.stale.has(query)) return true;
    const node = this.askers.get(query);
    if (!node) return false;
    this.queries.references(this.after, node, query);
    return true;
  }

  /** Undoes what was taken over. */
  discard() {
    this.symbolIndex.memories.delete(this.after.getTypeChecker());
    this.queries.memories.delete(this.after);
    this.release();
  }

  /** Lets go of the program before. */
  release() {
    this.symbolIndex.predecessor = null;
    this.queries.updates.delete(this.after);
    this.analysis = null;
    this.askers.clear();
  }
}

/**
 * Where the engine fails nothing is known.
 * @template T
 * @param {() => T} ask
 * @returns {T | undefined}
 */
function attempt(ask) {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

module.exports = { ProgramUpdate };
