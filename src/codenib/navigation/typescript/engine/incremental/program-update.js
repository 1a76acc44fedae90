"use strict";
/**
 * A program before and after an edit in, the files whose answers may differ out, and the queries.
 *
 * Affected are the edited files; files whose imports lead elsewhere; and files that depend on an affected one,
 * directly or not, and write a name that means something else there now (surface.js). The rest answers as
 * before: definitions move with the declarations that they lead to (matching.js). Of a references query the
 * members in files that are not affected stay; it is asked again, in affected files only, when it had members
 * there, or a token there is related to a symbol that it looks for.
 */

/** @import ts from "typescript" */
/** @import { AnyNode, ReferenceGroup } from "../typescript-internals" */
/** @import { Engine } from "../engine" */
/** @import { ProgramMemory } from "../references/queries" */
/** @import { SymbolKey } from "../references/symbol-index" */
/** @import { FileAnswers, PlaceTarget } from "./file-answers" */
/** @import { MovedPlaces } from "./matching" */
/** @typedef {(key: SymbolKey) => void} Touch */

const { closure, importEdges } = require("../references/import-closure");
const { isSameProgram, hasSameOptions, isSameSet, reversed } = require("./program-graph");
const { Surface } = require("./surface");
const { matchDeclarations } = require("./matching");

/** The share of a program's files, and the number, up to which fewer files are asked; beyond, asking all costs as much. */
const MAX_SHARE = 0.5;
const MAX_FEW = 12;
/** Imports of imports are followed so many steps. */
const MAX_STEPS = 20;

class ProgramUpdate {
  static isSame = isSameProgram;

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
    this.edited = edited;
    this.reason = "";
    /** @type {State | null} what is needed of the program before; null after the run */
    this.old = new State(before, after, answers);
    /** @type {Map<string, ts.SourceFile>} by path */
    this.now = byPath(after);
    /** @type {Map<string, string>} the path of each affected file, and why it is */
    this.affected = new Map();
    /** @type {Map<string, MovedPlaces>} where declarations of edited files went, by name */
    this.places = new Map();
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

  /** Works it out; false when all files are to be asked. */
  analyze() {
    const old = this.previous;
    if (!hasSameOptions(old.program, this.after)) return this.decline("its options changed");
    for (const [path, file] of this.now) this.compare(path, old.files.get(path), file);
    const removed = [...old.files.keys()].filter((path) => !this.now.has(path));
    old.removed = removed;
    const edited = [...this.affected.keys(), ...removed];
    const wide = edited.find((path) => this.changesOthers(path));
    if (wide) return this.decline(`${wide} declares for other modules`);
    if (!this.propagate(edited))
      return this.decline(`${this.affected.size} of ${old.answers.size} files may answer differently`);
    const mixed = [...this.affected.keys()].find((path) => this.isMixed(path));
    if (mixed) return this.decline(`${mixed} exports a whole and its parts`);
    for (const path of this.affected.keys())
      this.files.push(/** @type {ts.SourceFile} */ (this.now.get(path)));
    for (const { fileName } of this.files) this.names.add(fileName);
    for (const path of removed) this.names.add(/** @type {ts.SourceFile} */ (old.files.get(path)).fileName);
    this.takeOver();
    return true;
  }

  get previous() {
    if (!this.old) throw new Error("the run of this update is over");
    return this.old;
  }

  /** @param {string} reason */
  decline(reason) {
    this.reason = reason;
    return false;
  }

  /**
   * @param {string} path
   * @param {ts.SourceFile | undefined} old
   * @param {ts.SourceFile} now
   */
  compare(path, old, now) {
    const [before, after] = this.previous.edges;
    if (!old) this.affected.set(path, "new");
    else if (old !== now) {
      this.affected.set(path, "edited");
      // A checker would give out numbers of its own.
      this.ts.bindSourceFile(now, this.after.getCompilerOptions());
      this.places.set(now.fileName, matchDeclarations(this.ts, old, now));
    } else if (!isSameSet(before.get(path), after.get(path)))
      this.affected.set(path, "its imports lead elsewhere");
  }

  /**
   * The versions of a file, before and after, as far as there are.
   * @param {string} path
   */
  versionsOf(path) {
    return [this.previous.files.get(path), this.now.get(path)];
  }

  /**
   * Whether a file's edit may concern files that do not import it in ways that no name shows.
   * @param {string} path
   */
  changesOthers(path) {
    const [old, now] = this.versionsOf(path).map((file) => (file ? this.augmentations(file) : ""));
    return old !== now;
  }

  /**
   * Whether what the engine makes of a file's exports depends on the order of queries.
   * @param {string} path
   */
  isMixed(path) {
    return this.versionsOf(path).some((file) => {
      const exported = file?.commonJsModuleIndicator && file.symbol?.exports;
      return !!exported && exported.has(this.ts.InternalSymbolName.ExportEquals) && exported.size > 1;
    });
  }

  /** @param {ts.SourceFile} file */
  augmentations(file) {
    const { ts } = this;
    if (ts.isJsonSourceFile(file)) return file.text;
    const modules = file.statements.filter(
      (each) =>
        ts.isModuleDeclaration(each) && (ts.isStringLiteral(each.name) || ts.isGlobalScopeAugmentation(each)),
    );
    return modules.map((each) => each.getText(file)).join("\n");
  }

  /**
   * Adds to the affected files until no name that one shows means something else to others; false when they are too
   * many.
   * @param {string[]} edited
   */
  propagate(edited) {
    const { answers } = this.previous;
    let front = edited;
    for (let isFirst = true; front.length; isFirst = false) {
      /** @type {Map<string, string>} */
      const reasons = new Map();
      for (const path of front) this.addDependents(path, reasons);
      if (isFirst) this.addDangling(reasons);
      for (const [path, why] of reasons) this.affected.set(path, why);
      if (this.affected.size > Math.max(MAX_FEW, MAX_SHARE * answers.size)) return false;
      front = [...reasons.keys()];
    }
    return true;
  }

  /**
   * @param {string} path
   * @param {Map<string, string>} reasons
   */
  addDependents(path, reasons) {
    const isScript = this.versionsOf(path).some((file) => file && !this.isModule(file));
    const near = this.previous.users.get(path) ?? new Set();
    if (!isScript && !near.size) return;
    const all = isScript ? this.now.keys() : closure(this.previous.users, path);
    const open = [...all].filter(
      (each) => this.now.has(each) && !this.affected.has(each) && !reasons.has(each),
    );
    if (!open.length) return;
    const changed = this.changedNames(path);
    if (!changed.size) return;
    const wide = [...changed].find((name) => name.startsWith(" ") && name !== " default");
    for (const each of open) {
      const isDefault = changed.has(" default") && near.has(each);
      const name = wide || this.mentioned(each, changed) || (isDefault ? " default" : undefined);
      if (name)
        reasons.set(each, `depends on ${path}, where${name.startsWith(" ") ? "" : " "}${name} differs`);
    }
  }

  /** @param {ts.SourceFile} file */
  isModule(file) {
    return this.ts.isExternalOrCommonJsModule(file) || this.ts.isJsonSourceFile(file);
  }

  /**
   * The first of the names that a file writes.
   * @param {string} path
   * @param {Set<string>} names
   */
  mentioned(path, names) {
    const file = /** @type {ts.SourceFile} */ (this.now.get(path));
    if (this.symbolIndex.isLibrary(file)) return undefined;
    const { byName } = this.symbolIndex.tokensOf(file);
    for (const name of names) if (byName.has(name)) return name;
    return undefined;
  }

  /** @param {string} path */
  changedNames(path) {
    const dirty = new Set([...this.affected.keys(), ...this.previous.removed]);
    const [old, now] = [this.previous.program, this.after].map((program) =>
      new Surface(this.ts, program, dirty).of(path),
    );
    if (!old || !now) return new Set([" more than can be compared"]);
    const names = [...new Set([...old.keys(), ...now.keys()])];
    return new Set(names.filter((name) => old.get(name) !== now.get(name)));
  }

  /**
   * Files that lead to a place which is gone.
   * @param {Map<string, string>} reasons
   */
  addDangling(reasons) {
    for (const [path, file] of this.now) {
      if (this.affected.has(path) || reasons.has(path)) continue;
      const known = this.previous.answers.get(file.fileName);
      if (known?.leadsTo(this.edited, (target) => this.isGone(target)))
        reasons.set(path, "leads to a place that is gone");
    }
  }

  /** @param {PlaceTarget} target */
  isGone({ file, start }) {
    if (start < 0) return false;
    const places = this.places.get(file);
    return places ? !places.get(start) : this.edited.has(file);
  }

  /**
   * Where a definition is now.
   * @param {PlaceTarget} target
   * @returns {PlaceTarget}
   */
  movedTarget(target) {
    const places = this.places.get(target.file);
    if (!places || target.start < 0) return target;
    const moved = places.get(target.start);
    if (!moved) throw new Error(`${target.file} has no declaration at ${target.start} now`);
    const { start, oldEnd, end } = moved;
    return { ...target, start, end: oldEnd === target.end ? end : start + target.end - target.start };
  }

  /** @param {string} fileName */
  affects(fileName) {
    return this.names.has(fileName);
  }

  /** What is known of queries and tokens passes to the program after the edit. */
  takeOver() {
    const { symbolIndex, queries, after, names } = this;
    const old = this.previous;
    this.renumberImports();
    const before = [...names].map((name) => old.program.getSourceFile(name)).filter((file) => !!file);
    const affected = [...this.files, ...before].filter((file) => !symbolIndex.isLibrary(file));
    symbolIndex.inherit(old.checker, old.successor, affected);
    const unchanged = new Set(this.now.values());
    symbolIndex.predecessor = {
      checker: old.checker,
      successor: old.successor,
      covers: (file) => unchanged.has(file) && !names.has(file.fileName),
    };
    const memory = this.inheritQueries(queries.memory(old.program), queries.memory(after));
    queries.memories.delete(old.program);
    queries.updates.set(after, this);
    for (const [name, { tokens }] of old.answers) {
      if (names.has(name)) continue;
      for (const { query, node } of tokens)
        if (query !== null && !old.askers.has(query)) old.askers.set(query, node);
    }
    this.invalidateGains(memory);
  }

  /**
   * @param {ProgramMemory} from
   * @param {ProgramMemory} to
   */
  inheritQueries(from, to) {
    const { origins, firsts, searchedFor, covered, named } = from;
    Object.assign(to, { origins, firsts, searchedFor, covered, named });
    for (const [query, groups] of from.groups) {
      const isHit =
        query.startsWith("node ") ||
        groups.some(({ references }) => references.some((each) => this.names.has(each.fileName)));
      (isHit ? this.stale : to.groups).set(query, groups);
    }
    return to;
  }

  /** The affected files of the program after the edit that are not the engine's own. */
  ownFiles() {
    return this.files.filter((file) => !this.symbolIndex.isLibrary(file));
  }

  /** An import of an affected file may lead to another thing: what is known under its number is not of it. */
  renumberImports() {
    for (const file of this.ownFiles())
      for (const { parent } of this.symbolIndex.tokensOf(file).asked)
        if (parent.symbol && parent.symbol.flags & this.ts.SymbolFlags.Alias) parent.symbol.id = 0;
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
    const checker = this.previous.successor;
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
    const checker = this.previous.successor;
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
    const node = this.previous.askers.get(query);
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
    this.old = null;
  }
}

/** What is needed of the program before the edit. */
class State {
  /**
   * @param {ts.Program} program
   * @param {ts.Program} after
   * @param {Map<string, FileAnswers>} answers
   */
  constructor(program, after, answers) {
    this.program = program;
    this.answers = answers;
    this.files = byPath(program);
    this.edges = [importEdges(program), importEdges(after)];
    this.users = reversed(this.edges);
    this.after = after;
    /** @type {string[]} the paths of files that are gone */
    this.removed = [];
    /** @type {Map<string, ts.Node>} a token of a file that is not affected, for each query */
    this.askers = new Map();
  }

  get checker() {
    return this.program.getTypeChecker();
  }

  /** The checker after the edit. */
  get successor() {
    return this.after.getTypeChecker();
  }
}

/**
 * @param {ts.Program} program
 * @returns {Map<string, ts.SourceFile>}
 */
function byPath(program) {
  return new Map(program.getSourceFiles().map((file) => [file.path, file]));
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
