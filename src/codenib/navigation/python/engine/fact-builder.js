"use strict";
// Files of an opened project in, the line of facts of each out.

/** @import { Declaration, NodeInfo, ParseNode, Position, Project, Span } from "./basedpyright" */
/** @import { Answer } from "./encoder" */
/** @import { ProgramStates } from "./program-states" */
/** @import { Resolver, Resolution } from "./resolver" */
/** @import { Tree } from "./walker" */
/** @typedef {[first: number, last: number][]} LineRanges */
/** @typedef {(offset: number) => boolean} IsWanted */

const fs = require("node:fs");
const path = require("node:path");
const { ROLE } = require("../../engines/js/wire");
const { EngineError } = require("./bundle");
const { DeclarationTable } = require("./declarations");
const { FactEncoder, encodeNothing } = require("./encoder");
const { Inheritance } = require("./inheritance");
const { Walker } = require("./walker");

// The engine keeps the types and trees of every file it read. These counts, not the heap's size, say when to drop them,
// so that every run does it at the same places.
const MAX_TYPES = 750000;
const MAX_USAGE = 2.5; // as the engine counts it: thousands of parsed files, where that is more than the types
// The engine may fail at so many of a file's names, or at this share of them, before nothing that it says of the file
// counts. At this share of such files, of no fewer than so many, the engine itself counts as broken.
const MAX_FAILURES = 10;
const MAX_FAILING = 0.1;
const MAX_BROKEN = 0.5;
const MIN_FILES = 10;

class FactBuilder {
  /**
   * @param {Project} project
   * @param {Resolver} resolver
   * @param {Set<string>} loose the files that no configuration includes
   * @param {ProgramStates} [states] of a resident engine
   */
  constructor(project, resolver, loose, states) {
    const { inner } = project;
    this.project = project;
    this.program = project.program;
    this.resolver = resolver;
    this.loose = loose;
    this.states = states;
    this.walker = new Walker(inner);
    this.inheritance = new Inheritance(project, resolver);
    this.failures = 0;
    this.files = 0;
    this.broken = 0;
    /** @type {(offset: number, lines: object) => Position} */
    this.toPosition = inner("common/positionUtils").convertOffsetToPosition;
    /** @type {(node: ParseNode) => Span} */
    this.stringRange = inner("analyzer/parseTreeUtils").getStringNodeValueRange;
    /** @type {NodeInfo} */
    this.info = inner("analyzer/analyzerNodeInfo");
  }

  /**
   * A file's line of facts. Its nodes are all there; names outside `ranges` are left out, but for those that other rows
   * depend on.
   * @param {string} file
   * @param {LineRanges} [ranges]
   */
  factsOf(file, ranges) {
    const before = this.failures;
    this.files += 1;
    const line = this.unlessTooDeep(undefined, () => this.readFacts(file, ranges, before));
    if (line === undefined) this.broken += 1;
    return line ?? encodeNothing(file);
  }

  /**
   * The line, or nothing where the engine failed too often.
   * @param {string} file
   * @param {LineRanges | undefined} ranges
   * @param {number} before failures before this file
   */
  readFacts(file, ranges, before) {
    const { root, tree, positionAt } = this.read(file);
    const table = new DeclarationTable(this.walker.types, positionAt);
    const nodes = table.build(tree.declarations);
    const encoder = new FactEncoder(file, positionAt, this.loose.has(file) ? "loose" : "project");
    /** @type {IsWanted} */
    const isWanted = (offset) => !ranges || isWithin(ranges, positionAt(offset).line);
    /** @type {Set<number>} */
    const added = new Set();
    for (const [node, roles] of tree.names) {
      if (added.has(node.start) || node.length === 0 || !isWanted(node.start)) continue;
      added.add(node.start);
      const answer = this.resolve(node);
      const declares = table.nameStarts.has(node.start) ? ROLE.declaration : 0;
      encoder.add(node, roles | declares | (answer.isExact ? 0 : ROLE.inexact), answer);
    }
    this.addStrings(tree, root, encoder, isWanted);
    const relations = this.attempt(() => this.inheritance.relations(tree.classes)) ?? [];
    const isBroken = this.failures - before > Math.max(MAX_FAILURES, MAX_FAILING * tree.names.length);
    return isBroken ? undefined : encoder.encode(nodes, relations);
  }

  /**
   * The declarations alone, without resolving a name.
   * @param {string} file
   */
  nodesOf(file) {
    return this.unlessTooDeep([], () => {
      const { tree, positionAt } = this.read(file);
      return new DeclarationTable(this.walker.types, positionAt).build(tree.declarations);
    });
  }

  /**
   * What a file gives, or `nothing` where its tree is deeper than the stack: one such file does not cost the others theirs.
   * @template T
   * @param {T} nothing
   * @param {() => T} work
   * @returns {T}
   */
  unlessTooDeep(nothing, work) {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.program._createNewEvaluator();
      this.resolver.forget();
      return nothing;
    }
  }

  /** @param {string} file */
  read(file) {
    const uri = this.project.uriOf(file);
    const results = this.program.getParseResults(uri);
    if (!results) throw new EngineError(`the engine could not read ${file}`);
    this.resolver.enter(uri);
    const { lines } = results.tokenizerOutput;
    const root = results.parserOutput.parseTree;
    // Where its own parser fails the engine goes on with an empty tree.
    if (root.length === 0 && hasText(path.join(this.project.root, file)))
      throw new RangeError(`${file} is too deep to be parsed`);
    const tree = this.walker.walk(root, this.resolver, (work) => this.attempt(work));
    const positionAt = (/** @type {number} */ offset) => this.toPosition(offset, lines);
    return { root, tree, positionAt };
  }

  /** Drops types and trees where there are too many. */
  limitMemory() {
    const { program, states } = this;
    if (states && states.typeCount > MAX_TYPES) states.dropTypes();
    if (program.evaluator.getTypeCacheEntryCount() <= MAX_TYPES && program.getCacheUsage() <= MAX_USAGE)
      return;
    states?.dropTypes(); // its trees go too
    program.emptyCache();
    this.resolver.forget();
  }

  /**
   * @param {ParseNode} node
   * @returns {Resolution}
   */
  resolve(node) {
    const answer = this.attempt(() => this.resolver.resolve(node));
    return answer ?? { definitions: new Set(), keys: new Set(), asks: new Set(), isExact: true };
  }

  /**
   * Where the engine fails the server has no answer either; it too goes on with a fresh evaluator.
   * @template T
   * @param {() => T} work
   * @returns {T | undefined}
   */
  attempt(work) {
    try {
      return work();
    } catch {
      this.failures += 1;
      this.program._createNewEvaluator();
      this.resolver.forget();
      return undefined;
    }
  }

  /** Raises when the engine failed in too many files for its result to count. */
  checkFailures() {
    if (this.files >= MIN_FILES && this.broken > MAX_BROKEN * this.files) {
      throw new EngineError(`the engine failed in ${this.broken} of ${this.files} files`);
    }
  }

  /**
   * Names in `__all__`, and members that strings declare: listed among the references, but no request starts there.
   * @param {Tree} tree
   * @param {ParseNode} root
   * @param {FactEncoder} encoder
   * @param {IsWanted} isWanted
   */
  addStrings({ exported, declarations }, root, encoder, isWanted) {
    const scope = this.info.getScope(root, this.resolver.reader);
    for (const string of exported) {
      const symbol = scope?.lookUpSymbolRecursive(string.d.value)?.symbol;
      if (symbol && isWanted(string.start)) this.addString(string, symbol.getDeclarations(), encoder, 0);
    }
    for (const [name, declaration] of declarations) {
      const { node } = declaration;
      if (node.nodeType !== this.walker.types.StringList) continue;
      const string = node.d.strings.find((/** @type {ParseNode} */ one) => one.d.value === name);
      if (string && isWanted(string.start)) this.addString(string, [declaration], encoder, ROLE.declaration);
    }
  }

  /**
   * @param {ParseNode} string
   * @param {Declaration[]} declarations
   * @param {FactEncoder} encoder
   * @param {number} roles
   */
  addString(string, declarations, encoder, roles) {
    /** @type {Answer} */
    const answer = { definitions: new Set(), keys: new Set(), asks: new Set() };
    for (const declaration of declarations) {
      for (const target of this.resolver.lookUp(declaration).compared)
        answer.keys.add(target.key(string.d.value));
    }
    encoder.add(this.stringRange(string), roles | ROLE.inexact, answer);
  }
}

/** @param {string} place */
function hasText(place) {
  return fs.readFileSync(place, "utf8").trim() !== "";
}

/**
 * @param {LineRanges} ranges
 * @param {number} line
 */
function isWithin(ranges, line) {
  return ranges.some(([first, last]) => first <= line && line <= last);
}

module.exports = { FactBuilder };
