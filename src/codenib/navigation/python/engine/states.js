"use strict";
// An opened project in, two states of its files out: the one at hand and the one before it, each with the types that
// were worked out for it. The trees of files that are the same in both are shared, so going back costs nothing.

const fs = require("fs");

class States {
  constructor(project) {
    this.program = project.program;
    this.other = undefined;
  }

  // Whether what is on disk is the other state, which differs in `uris`; then that is the one at hand now.
  back(uris) {
    const { program, other } = this;
    const keys = new Set(uris.map((uri) => uri.key));
    if (!other || keys.size !== other.keys.size || !uris.every((uri) => this.isOld(uri))) {
      return false;
    }
    // What was bound since, with names of the state at hand, is to be bound anew.
    const late = this.boundAnew([...other.held.keys()]).filter((info) => !other.held.has(info));
    const held = new Map([...other.held.keys(), ...late].map((info) => [info, keep(info)]));
    other.held.forEach(restore);
    late.forEach(detach);
    late.forEach((info) => info.sourceFile.markDirty());
    const evaluator = program._evaluator;
    program._evaluator = other.evaluator;
    program._evaluator ?? program._createNewEvaluator();
    this.other = { keys, held, evaluator };
    return true;
  }

  // Begins a state in which `uris` are read again; the one at hand becomes the other.
  ahead(uris) {
    const { program } = this;
    this.forget();
    const changed = uris.map((uri) => program.getSourceFileInfo(uri)).filter(Boolean);
    const bound = this.boundAnew(changed);
    const held = new Map([...changed, ...bound].map((info) => [info, keep(info)]));
    [...held.keys()].forEach(detach);
    this.other = { keys: new Set(uris.map((uri) => uri.key)), held, evaluator: program._evaluator };
    program._evaluator = undefined; // else the next one clears its types
    // Binding a tree again would take from the other state what it knows of it: these get trees of their own.
    bound.forEach((info) => info.sourceFile.markDirty());
    program.markFilesDirty(uris, true);
    program._evaluator ?? program._createNewEvaluator();
  }

  // Lets go of the other state's types; its files stay.
  forget() {
    this.other?.evaluator?.disposeEvaluator();
    if (this.other) {
      this.other.evaluator = undefined;
    }
  }

  // How many types both hold.
  get types() {
    return (
      this.program.evaluator.getTypeCacheEntryCount() + (this.other?.evaluator?.getTypeCacheEntryCount() ?? 0)
    );
  }

  isOld(uri) {
    const info = this.program.getSourceFileInfo(uri);
    const data = this.other.held.get(info)?.data;
    const text = data && textOf(data);
    return !info || (!!data && (text === undefined || text === read(uri)));
  }

  // Whether a file is on disk as the state at hand has read it, if it has.
  isAtHand(uri) {
    const info = this.program.getSourceFileInfo(uri);
    const text = info && textOf(info.sourceFile._writableData);
    return text === undefined || text === read(uri);
  }

  // The files that take names of `changed` while they are bound (`import *`, `__all__`), directly or not.
  boundAnew(changed) {
    const seen = new Set(changed);
    const left = [...changed];
    const found = [];
    while (left.length > 0) {
      for (const user of left.pop().importedBy) {
        if (!seen.has(user)) {
          seen.add(user);
          left.push(user);
          this.takesNames(user) && found.push(user);
        }
      }
    }
    return found;
  }

  takesNames({ sourceFile }) {
    const { parserOutput, isBindingNeeded } = sourceFile._writableData;
    return (
      !!parserOutput &&
      (isBindingNeeded || parserOutput.containsWildcardImport || !!this.allOf(parserOutput.parseTree))
    );
  }

  allOf(tree) {
    return this.program._analyzerNodeInfoContext.get(tree)?.dunderAllInfo;
  }
}

function keep(info) {
  const { sourceFile, imports, builtinsImport, effectiveFutureImports } = info;
  const rules = sourceFile._diagnosticRuleSet;
  return { data: sourceFile._writableData, rules, imports, builtinsImport, effectiveFutureImports };
}

// Gives a file data of its own, for changes that the kept ones do not see.
function detach({ sourceFile }) {
  const data = sourceFile._writableData;
  sourceFile._writableData = Object.assign(Object.create(Object.getPrototypeOf(data)), data);
}

function restore({ data, rules, imports, builtinsImport, effectiveFutureImports }, info) {
  info.sourceFile._writableData = data;
  info.sourceFile._diagnosticRuleSet = rules;
  info.mutate((s) => Object.assign(s, { imports, builtinsImport, effectiveFutureImports }));
  for (const one of imports) {
    one.importedBy.includes(info) || one.mutate((s) => s.importedBy.push(info));
  }
}

function textOf({ clientDocumentContents, parsedFileContents }) {
  return clientDocumentContents ?? parsedFileContents;
}

function read(uri) {
  try {
    return fs.readFileSync(uri.getFilePath(), "utf8");
  } catch {
    return undefined;
  }
}

module.exports = { States };
