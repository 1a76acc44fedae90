"use strict";
/**
 * A program before and after an edit in, the files whose answers may differ out.
 *
 * Affected are the edited files; files whose imports lead elsewhere; and files that depend on an affected one,
 * directly or not, and write a name that means something else there now (surface.js). The rest answers as
 * before: definitions move with the declarations that they lead to (matching.js).
 */

/** @import ts from "typescript" */
/** @import { Engine } from "../engine" */
/** @import { FileAnswers, PlaceTarget } from "./file-answers" */
/** @import { ChangedFunction } from "./body-edits" */
/** @import { MovedPlaces } from "./matching" */

const { getOrCreate } = require("../../../engines/js/maps");
const { closure, importEdges } = require("../references/import-closure");
const { changedBodies } = require("./body-edits");
const { isNumberedAlike, matchDeclarations } = require("./matching");
const { hasSameOptions, isSameSet, reversed } = require("./program-graph");
const { Surface } = require("./surface");

/** The share of a program's files, and the number, up to which fewer files are asked; beyond, asking all costs as much. */
const MAX_SHARE = 0.5;
const MAX_FEW = 12;

class AffectedFiles {
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
    this.before = before;
    this.after = after;
    this.answers = answers;
    this.edited = edited;
    /** Files by path. */
    this.old = byPath(before);
    this.now = byPath(after);
    this.removed = [...this.old.keys()].filter((path) => !this.now.has(path));
    this.edges = [importEdges(before), importEdges(after)];
    this.users = reversed(this.edges);
    /** @type {Map<string, string>} the path of each affected file, and why it is */
    this.reasons = new Map();
    /** @type {Map<string, MovedPlaces>} where declarations of edited files went, by name */
    this.places = new Map();
    /** @type {Map<string, ChangedFunction[] | null>} by path */
    this.bodies = new Map();
    /** Why all files are to be asked. */
    this.refusal = "";
  }

  /** Works it out; false when all files are to be asked. */
  analyze() {
    if (!hasSameOptions(this.before, this.after)) return this.decline("its options changed");
    for (const [path, file] of this.now) this.compare(path, this.old.get(path), file);
    const edited = [...this.reasons.keys(), ...this.removed];
    const wide = edited.find((path) => this.changesOthers(path));
    if (wide) return this.decline(`${wide} declares for other modules`);
    if (!this.propagate(edited))
      return this.decline(`${this.reasons.size} of ${this.answers.size} files may answer differently`);
    const mixed = [...this.reasons.keys()].find((path) => this.isMixed(path));
    return mixed ? this.decline(`${mixed} exports a whole and its parts`) : true;
  }

  /** The affected files of the program after the edit. */
  files() {
    return [...this.reasons.keys()].map((path) => /** @type {ts.SourceFile} */ (this.now.get(path)));
  }

  /** The names of affected files, before and after. */
  names() {
    const gone = this.removed.map((path) => /** @type {ts.SourceFile} */ (this.old.get(path)));
    return new Set([...this.files(), ...gone].map(({ fileName }) => fileName));
  }

  /** @param {string} reason */
  decline(reason) {
    this.refusal = reason;
    return false;
  }

  /**
   * @param {string} path
   * @param {ts.SourceFile | undefined} old
   * @param {ts.SourceFile} now
   */
  compare(path, old, now) {
    const [before, after] = this.edges;
    if (!old) this.reasons.set(path, "new");
    else if (old !== now) {
      this.reasons.set(path, "edited");
      // A checker would give out numbers of its own.
      this.ts.bindSourceFile(now, this.after.getCompilerOptions());
      this.places.set(now.fileName, matchDeclarations(this.ts, old, now));
    } else if (!isSameSet(before.get(path), after.get(path)))
      this.reasons.set(path, "its imports lead elsewhere");
  }

  /**
   * The versions of a file, before and after, as far as there are.
   * @param {string} path
   */
  versionsOf(path) {
    return [this.old.get(path), this.now.get(path)];
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
    const { answers } = this;
    let front = edited;
    for (let isFirst = true; front.length; isFirst = false) {
      /** @type {Map<string, string>} */
      const added = new Map();
      for (const path of front) this.addDependents(path, added);
      if (isFirst) this.addDangling(added);
      for (const [path, why] of added) this.reasons.set(path, why);
      if (this.reasons.size > Math.max(MAX_FEW, MAX_SHARE * answers.size)) return false;
      front = [...added.keys()];
    }
    return true;
  }

  /**
   * @param {string} path
   * @param {Map<string, string>} added
   */
  addDependents(path, added) {
    const isScript = this.versionsOf(path).some((file) => file && !this.isModule(file));
    const near = this.users.get(path) ?? new Set();
    if (!isScript && !near.size) return;
    const all = isScript ? this.now.keys() : closure(this.users, path);
    const open = [...all].filter((each) => this.now.has(each) && !this.reasons.has(each) && !added.has(each));
    if (!open.length) return;
    const changed = this.changedNames(path);
    if (!changed.size) return;
    const wide = [...changed].find((name) => name.startsWith(" ") && name !== " default");
    for (const each of open) {
      const isDefault = changed.has(" default") && near.has(each);
      const name = wide || this.mentioned(each, changed) || (isDefault ? " default" : undefined);
      if (name) added.set(each, `depends on ${path}, where${name.startsWith(" ") ? "" : " "}${name} differs`);
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
    const dirty = new Set([...this.reasons.keys(), ...this.removed]);
    if (this.isQuiet(path, dirty)) return new Set();
    const [old, now] = [this.before, this.after].map((program) =>
      new Surface(this.ts, program, dirty).of(path),
    );
    if (!old || !now) return new Set([" more than can be compared"]);
    const names = [...new Set([...old.keys(), ...now.keys()])];
    return new Set(names.filter((name) => old.get(name) !== now.get(name)));
  }

  /**
   * Whether an edit changed nothing that others see of a file: comments, and bodies of functions that have the
   * type that they had. What it takes from others must be the same, too.
   * @param {string} path
   * @param {Set<string>} dirty
   */
  isQuiet(path, dirty) {
    const bodies = this.bodiesOf(path);
    if (!bodies) return false;
    const others = [...dirty].filter((each) => each !== path && this.bodiesOf(each)?.length !== 0);
    if (others.length && !this.isModule(/** @type {ts.SourceFile} */ (this.now.get(path)))) return false;
    const isReached = (/** @type {Map<string, Set<string>>} */ edges) =>
      others.length > 0 && others.some((each) => closure(edges, path).has(each));
    if (this.edges.some(isReached)) return false;
    const [old, now] = [this.before, this.after].map((program) => new Surface(this.ts, program, dirty));
    return bodies.every((each) => old.ofFunction(each.old) === now.ofFunction(each.now));
  }

  /**
   * The functions whose bodies alone an edit changed; null where it changed more.
   * @param {string} path
   */
  bodiesOf(path) {
    return getOrCreate(this.bodies, path, () => {
      const [old, now] = this.versionsOf(path);
      if (!old || !now || old === now || !isNumberedAlike(this.ts, old, now)) return null;
      return changedBodies(this.ts, old, now);
    });
  }

  /**
   * Files that lead to a place which is gone.
   * @param {Map<string, string>} added
   */
  addDangling(added) {
    for (const [path, file] of this.now) {
      if (this.reasons.has(path) || added.has(path)) continue;
      const known = this.answers.get(file.fileName);
      if (known?.leadsTo(this.edited, (target) => this.isGone(target)))
        added.set(path, "leads to a place that is gone");
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
}

/**
 * @param {ts.Program} program
 * @returns {Map<string, ts.SourceFile>}
 */
function byPath(program) {
  return new Map(program.getSourceFiles().map((file) => [file.path, file]));
}

module.exports = { AffectedFiles };
