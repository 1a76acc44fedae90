"use strict";
// An opened project in, two states of its files out: the current one and the previous one, each with the types that were
// worked out for it. The trees of files that are the same in both are shared, so going back costs nothing.

/** @import { Evaluator, FileData, ParseNode, Project, SourceFileInfo, Uri } from "./basedpyright" */
/** @typedef {ReturnType<typeof capture>} FileState */
/**
 * @typedef {object} State
 * @property {Set<string>} keys the files in which it differs from the other state
 * @property {Map<SourceFileInfo, FileState>} files
 * @property {Evaluator | undefined} evaluator
 */

const fs = require("node:fs");

class ProgramStates {
  /** @param {Project} project */
  constructor({ program }) {
    this.program = program;
    /** @type {State | undefined} */
    this.previous = undefined;
  }

  /**
   * Goes back to the previous state if that is what is on disk; whether it did.
   * @param {Uri[]} uris the files that differ from the current state
   */
  goBack(uris) {
    const { program, previous } = this;
    const keys = new Set(uris.map((uri) => uri.key));
    if (!previous || keys.size !== previous.keys.size) return false;
    if (!uris.every((uri) => this.isPrevious(uri, previous))) return false;
    // What was bound since, with names of the current state, is to be bound again.
    const bound = this.boundWith([...previous.files.keys()]).filter((info) => !previous.files.has(info));
    const files = new Map([...previous.files.keys(), ...bound].map((info) => [info, capture(info)]));
    previous.files.forEach(restore);
    bound.forEach(detach);
    for (const info of bound) info.sourceFile.markDirty();
    const evaluator = program._evaluator;
    program._evaluator = previous.evaluator;
    this.ensureEvaluator();
    this.previous = { keys, files, evaluator };
    return true;
  }

  /**
   * Begins a state in which `uris` are read again; the current one becomes the previous one.
   * @param {Uri[]} uris
   */
  goForward(uris) {
    const { program } = this;
    this.dropTypes();
    const changed = uris.map((uri) => program.getSourceFileInfo(uri)).filter((info) => info !== undefined);
    const bound = this.boundWith(changed);
    const files = new Map([...changed, ...bound].map((info) => [info, capture(info)]));
    [...files.keys()].forEach(detach);
    this.previous = { keys: new Set(uris.map((uri) => uri.key)), files, evaluator: program._evaluator };
    program._evaluator = undefined; // else the next one clears its types
    // Binding a tree again would take from the previous state what it knows of it: these get trees of their own.
    for (const info of bound) info.sourceFile.markDirty();
    program.markFilesDirty(uris, true);
    this.ensureEvaluator();
  }

  ensureEvaluator() {
    if (!this.program._evaluator) this.program._createNewEvaluator();
  }

  /** Drops the previous state's types; its files stay. */
  dropTypes() {
    if (!this.previous) return;
    this.previous.evaluator?.disposeEvaluator();
    this.previous.evaluator = undefined;
  }

  /** How many types both states have. */
  get typeCount() {
    const { program, previous } = this;
    return program.evaluator.getTypeCacheEntryCount() + (previous?.evaluator?.getTypeCacheEntryCount() ?? 0);
  }

  /**
   * @param {Uri} uri
   * @param {State} previous
   */
  isPrevious(uri, previous) {
    const info = this.program.getSourceFileInfo(uri);
    if (!info) return true;
    const data = previous.files.get(info)?.data;
    return !!data && isOnDisk(uri, data);
  }

  /**
   * Whether a file is on disk as the current state has read it, if it has.
   * @param {Uri} uri
   */
  isCurrent(uri) {
    const info = this.program.getSourceFileInfo(uri);
    return !info || isOnDisk(uri, info.sourceFile._writableData);
  }

  /**
   * The files that take names of `changed` while they are bound (`import *`, `__all__`), directly or not.
   * @param {SourceFileInfo[]} changed
   */
  boundWith(changed) {
    const visited = new Set(changed);
    const queue = [...changed];
    const bound = [];
    for (let info = queue.pop(); info; info = queue.pop()) {
      for (const importer of info.importedBy) {
        if (visited.has(importer)) continue;
        visited.add(importer);
        queue.push(importer);
        if (this.takesNames(importer)) bound.push(importer);
      }
    }
    return bound;
  }

  /** @param {SourceFileInfo} info */
  takesNames({ sourceFile }) {
    const { parserOutput, isBindingNeeded } = sourceFile._writableData;
    if (!parserOutput) return false;
    return (
      isBindingNeeded || parserOutput.containsWildcardImport || this.hasDunderAll(parserOutput.parseTree)
    );
  }

  /** @param {ParseNode} tree */
  hasDunderAll(tree) {
    return !!this.program._analyzerNodeInfoContext.get(tree)?.dunderAllInfo;
  }
}

/** @param {SourceFileInfo} info */
function capture({ sourceFile, imports, builtinsImport, effectiveFutureImports }) {
  const rules = sourceFile._diagnosticRuleSet;
  return { data: sourceFile._writableData, rules, imports, builtinsImport, effectiveFutureImports };
}

/**
 * Gives a file data of its own, for changes that the captured state does not see.
 * @param {SourceFileInfo} info
 */
function detach({ sourceFile }) {
  const data = sourceFile._writableData;
  sourceFile._writableData = Object.assign(Object.create(Object.getPrototypeOf(data)), data);
}

/**
 * @param {FileState} state
 * @param {SourceFileInfo} info
 */
function restore({ data, rules, imports, builtinsImport, effectiveFutureImports }, info) {
  info.sourceFile._writableData = data;
  info.sourceFile._diagnosticRuleSet = rules;
  info.mutate((links) => Object.assign(links, { imports, builtinsImport, effectiveFutureImports }));
  for (const imported of imports) {
    if (!imported.importedBy.includes(info)) imported.mutate((links) => links.importedBy.push(info));
  }
}

/**
 * Whether the text that was read, if any was, is the file's.
 * @param {Uri} uri
 * @param {FileData} data
 */
function isOnDisk(uri, { clientDocumentContents, parsedFileContents }) {
  const text = clientDocumentContents ?? parsedFileContents;
  return text === undefined || text === read(uri);
}

/** @param {Uri} uri */
function read(uri) {
  try {
    return fs.readFileSync(uri.getFilePath(), "utf8");
  } catch {
    return undefined;
  }
}

module.exports = { ProgramStates };
