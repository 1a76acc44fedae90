"use strict";
// Files of an opened project in, the line of facts of each out.

const fs = require("fs");
const path = require("path");
const { EngineError } = require("./engine");
const { Family } = require("./family");
const { Walker, ROLE } = require("./names");
const { NodeTable } = require("./nodes");
const { Reach } = require("./reach");
const { Resolver } = require("./resolve");
const { Sheet } = require("./sheet");

// The engine holds the types and trees of every file it saw. These counts, not the heap's size, say when to let
// go of them, so that every run does it at the same places. They keep Django at 2.7 GB.
const MAX_TYPES = 750000;
const MAX_USAGE = 2.5; // as the engine counts it: thousands of parsed files, where that is more than the types
// The share of names at which the engine may fail before its result counts as broken.
const MAX_FAILURES = 0.01;

class Maker {
  // `others`: files that the project's configuration leaves out; `states`: of an engine that stays.
  constructor(project, files, others, states) {
    this.project = project;
    this.states = states;
    this.program = project.program;
    const { inner } = project;
    this.walker = new Walker(inner);
    this.resolver = new Resolver(project, new Set(files));
    this.others = others;
    this.reach = new Reach(project, this.resolver, files, others);
    this.names = 0;
    this.failures = 0;
    this.family = new Family(project, this.resolver);
    this.toPosition = inner("common/positionUtils").convertOffsetToPosition;
    this.stringRange = inner("analyzer/parseTreeUtils").getStringNodeValueRange;
    this.getScope = inner("analyzer/analyzerNodeInfo").getScope;
  }

  // `within`: pairs of lines; names elsewhere are left out, but for those that other rows depend on. Nodes are all there.
  lineOf(file, within) {
    const { program, resolver } = this;
    const uri = this.project.uriOf(this.project.root, file);
    const results = program.getParseResults(uri);
    if (!results) {
      throw new EngineError(`the engine could not read ${file}`);
    }
    resolver.enter(uri);
    const tree = results.parserOutput.parseTree;
    const lines = results.tokenizerOutput.lines;
    const found = this.walker.walk(tree, resolver, (work) => this.attempt(work, undefined));
    const table = new NodeTable(this.walker.types, lines, this.toPosition);
    const nodes = table.build(found.declarations);
    const sheet = new Sheet(file, (offset) => this.toPosition(offset, lines), this.aloneness(file));
    const seen = new Set();
    const wanted = (offset) => !within || isWithin(within, this.toPosition(offset, lines).line);
    for (const [node, roles, loose] of found.names) {
      if (!seen.has(node.start) && node.length > 0 && (loose || wanted(node.start))) {
        seen.add(node.start);
        const answer = this.answerAt(node);
        const declares = table.starts.has(node.start) ? ROLE.declaration : 0;
        sheet.add(node, roles | declares | (answer.exact ? 0 : ROLE.inexact), answer, loose);
      }
    }
    this.addStrings(found, tree, sheet, wanted);
    return sheet.text(
      nodes,
      this.attempt(() => this.family.relations(found.classes), []),
    );
  }

  // The declarations alone, without resolving a name.
  nodesOf(file) {
    const uri = this.project.uriOf(this.project.root, file);
    const results = this.program.getParseResults(uri);
    this.resolver.enter(uri);
    const found = this.walker.walk(results.parserOutput.parseTree, this.resolver, (work) =>
      this.attempt(work, undefined),
    );
    const table = new NodeTable(this.walker.types, results.tokenizerOutput.lines, this.toPosition);
    return table.build(found.declarations);
  }

  letGo() {
    const { program, states } = this;
    if (states && states.types > MAX_TYPES) {
      states.forget();
    }
    if (program.evaluator.getTypeCacheEntryCount() > MAX_TYPES || program.getCacheUsage() > MAX_USAGE) {
      states?.forget(); // its trees go too
      program.emptyCache();
      this.resolver.forget();
    }
  }

  // Where the engine fails the server has no answer either; it too goes on with a fresh evaluator.
  answerAt(node) {
    const nothing = { defs: new Set(), keys: new Set(), asks: new Set(), exact: true };
    this.names += 1;
    return this.attempt(() => this.resolver.resolve(node), nothing);
  }

  attempt(work, otherwise) {
    try {
      return work();
    } catch {
      this.failures += 1;
      this.program._createNewEvaluator();
      this.resolver.forget();
      return otherwise;
    }
  }

  // Raises when the engine failed too often for its result to count.
  judge() {
    if (this.failures > MAX_FAILURES * this.names) {
      throw new EngineError(`the engine failed at ${this.failures} of ${this.names} names`);
    }
  }

  aloneness(file) {
    if (!this.others.has(file)) {
      this.others.size > 0 && this.reach.importsOf(file);
      return undefined;
    }
    return this.reach.imported().has(file) ? "together" : "itself";
  }

  // Names in `__all__`, and members that strings declare: listed among the references, but no request starts there.
  addStrings(found, tree, sheet, wanted) {
    const scope = this.getScope(tree, this.resolver.reader);
    for (const string of found.exported) {
      const symbol = scope?.lookUpSymbolRecursive(string.d.value)?.symbol;
      if (symbol && wanted(string.start)) {
        this.addString(string, symbol.getDeclarations(), sheet, 0);
      }
    }
    for (const [name, declaration] of found.declarations) {
      if (declaration.node.nodeType === this.walker.types.StringList) {
        const string = declaration.node.d.strings.find((s) => s.d.value === name);
        string && wanted(string.start) && this.addString(string, [declaration], sheet, ROLE.declaration);
      }
    }
  }

  addString(string, declarations, sheet, roles) {
    const keys = new Set();
    for (const declaration of declarations) {
      this.resolver.look(declaration).compared.forEach((one) => keys.add(one.key(string.d.value)));
    }
    const range = this.stringRange(string);
    sheet.add(range, roles | ROLE.inexact, { defs: new Set(), keys, asks: new Set() });
  }
}

// A pipe takes what it has room for.
function writeAll(text) {
  const bytes = Buffer.from(text, "utf8");
  for (let at = 0; at < bytes.length; ) {
    try {
      at += fs.writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== "EAGAIN") {
        throw error;
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

function isWithin(ranges, line) {
  return ranges.some(([first, last]) => first <= line && line <= last);
}

// Links that lead nowhere are listed by git, but there is nothing to read.
function isFile(place) {
  return fs.statSync(place, { throwIfNoEntry: false })?.isFile() ?? false;
}

// Files that the configuration leaves out: the server reads them only when they are open or imported.
// Of these, `changed` are opened, or all.
function openOthers(project, files, changed) {
  const { program, root, uriOf } = project;
  const others = files.filter((file) => !program.getSourceFileInfo(uriOf(root, file))?.isTracked);
  for (const file of others.filter((one) => !changed || changed.has(one))) {
    const uri = uriOf(root, file);
    program.setFileOpened(uri, 1, fs.readFileSync(uri.getFilePath(), "utf8"));
  }
  return new Set(others);
}

module.exports = { Maker, isFile, openOthers, writeAll };
