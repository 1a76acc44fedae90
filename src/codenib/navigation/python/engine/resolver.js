"use strict";
// A name in the tree in, out: what the engine's definition provider answers there (definitions), what its reference
// search would compare there (keys), and what a reference search that starts there looks for (asks).

/** @import { Declaration, DeclarationInfo, NodeInfo, NodeTypes, ParseNode, Project, Type, Uri } from "./basedpyright" */
/** @import { Answer } from "./encoder" */
/** @import { Target } from "./targets" */
/** @typedef {Answer & { isExact: boolean }} Resolution `isExact`: all definitions are called as the name is written */
/** @typedef {{ definitions: Target[], compared: Target[], asked: Target[] }} Resolved */

const { getOrCreate } = require("../../engines/js/maps");
const { DECL } = require("./declarations");
const { Targets } = require("./targets");

const NOT_CANCELLED = {
  isCancellationRequested: false,
  onCancellationRequested: () => ({ dispose() {} }),
};
/** @type {Set<string>} */
const NOTHING = new Set();

class Resolver {
  /**
   * @param {Project} project
   * @param {Set<string>} files
   */
  constructor(project, files) {
    const { inner, program } = project;
    this.program = program;
    /** @type {NodeInfo} */
    this.info = inner("analyzer/analyzerNodeInfo");
    this.collector = inner("languageService/documentSymbolCollector");
    this.results = inner("analyzer/typeResultUtils");
    this.nodes = inner("parser/parseNodeUtils");
    /** @type {NodeTypes} */
    this.types = this.nodes.ParseNodeTypeMap;
    this.trees = inner("analyzer/parseTreeUtils");
    this.declarations = inner("analyzer/declarationUtils");
    /** @type {(name: string) => boolean} */
    this.isConstructor = inner("analyzer/constructors").isConstructor;
    /** @type {(type: Type) => boolean} */
    this.isProtocol = inner("analyzer/types").ClassType.isProtocolClass;
    this.targets = new Targets(project, files, () => this.reader);
    /** @type {Map<string, boolean>} */
    this.stubsOfRepository = new Map();
    this.uri = project.rootUri;
    this.mapper = /** @type {any} */ (undefined);
    /** @type {object | undefined} */
    this.environment = undefined;
    /** @type {Map<Declaration, Resolved>} */
    this.resolved = new Map();
    /** @type {Map<ParseNode, boolean>} */
    this.protocols = new Map();
    /** @type {Map<ParseNode, Set<string>>} */
    this.enclosing = new Map();
    this.evaluator = program.evaluator;
    this.reader = this.info.getInfoReader(program);
  }

  /** To be called after the engine's caches were emptied: declarations are new objects then. */
  forget() {
    this.resolved.clear();
    this.protocols.clear();
    this.enclosing.clear();
    this.evaluator = this.program.evaluator;
    this.reader = this.info.getInfoReader(this.program);
  }

  /**
   * Names of this file are resolved from now on.
   * @param {Uri} uri
   */
  enter(uri) {
    this.uri = uri;
    this.mapper = this.program.getSourceMapper(uri, NOT_CANCELLED);
    this.environment = undefined;
    this.enclosing.clear();
  }

  /**
   * @param {ParseNode} node
   * @returns {Resolution}
   */
  resolve(node) {
    const info = this.evaluator.getDeclInfoForNameNode(node, false);
    const declared = info ? info.decls : [];
    const isReachable = !this.info.isCodeUnreachable(node, this.reader);
    let { definitions, isExact } = isReachable
      ? this.definitionsOf(node, declared, info)
      : { definitions: NOTHING, isExact: true };
    if (definitions.size === 0) {
      definitions = this.definitionsAround(node);
      isExact = definitions.size === 0;
    }
    const { keys, asks } = this.keysOf(node, this.comparable(node, declared));
    return { definitions, keys, asks, isExact };
  }

  /**
   * @param {ParseNode} node
   * @param {Declaration[]} declared
   * @param {DeclarationInfo | undefined} info
   */
  definitionsOf(node, declared, info) {
    /** @type {Set<string>} */
    const definitions = new Set();
    let isExact = true;
    for (const declaration of declared) {
      for (const { target, label } of this.lookUp(declaration).definitions) {
        definitions.add(target);
        isExact &&= label === node.d.value;
      }
    }
    for (const synthesized of info?.synthesizedTypes ?? []) {
      if (synthesized.node) definitions.add(this.targets.ofNode(synthesized.node));
    }
    return { definitions, isExact };
  }

  /**
   * Where a name has no declaration, the server answers for the operators and calls around it, inside out.
   * @param {ParseNode} node
   */
  definitionsAround(node) {
    /** @type {ParseNode[]} */
    const passed = [];
    /** @type {Set<string> | undefined} */
    let definitions;
    for (let up = node.parent; up && !definitions; up = up.parent) {
      definitions = this.enclosing.get(up) ?? this.usedBy(up);
      passed.push(up);
      if (up.nodeType === this.types.Assignment) break;
    }
    definitions ??= NOTHING;
    for (const up of passed) this.enclosing.set(up, definitions);
    return definitions;
  }

  /**
   * The methods and functions that an operator, index or call runs; undefined where there are none.
   * @param {ParseNode} node
   */
  usedBy(node) {
    const result = this.typeResultOf(this.nodes.getInfoNode(node));
    if (!result) return undefined;
    /** @type {Set<string>} */
    const definitions = new Set();
    const collect = (/** @type {Declaration} */ declaration) => {
      for (const { target } of this.lookUp(declaration).definitions) definitions.add(target);
    };
    this.results.forEachDeclaration(result, collect, false);
    return definitions.size > 0 ? definitions : undefined;
  }

  /** @param {ParseNode} node */
  typeResultOf(node) {
    const t = this.types;
    switch (node.nodeType) {
      case t.UnaryOperation:
      case t.BinaryOperation:
      case t.AugmentedAssignment:
      case t.Index:
        return this.results.getTypeOfOperatorNode(this.evaluator, node);
      case t.Call:
        return this.evaluator.getTypeResult(node);
      default:
        return undefined;
    }
  }

  /**
   * The declarations that the reference search compares; mostly those that we have, else the engine's own function.
   * @param {ParseNode} node
   * @param {Declaration[]} declared
   * @returns {Declaration[]}
   */
  comparable(node, declared) {
    const parent = node.parent?.nodeType;
    const isSpecial =
      declared.length === 0 ||
      parent === this.types.ImportFromAs ||
      parent === this.types.ModuleName ||
      declared.some((one) => (one.type === DECL.alias ? !one.loadSymbolsFromPath : this.isInProtocol(one)));
    if (!isSpecial) return declared;
    return this.collector.getDeclarationsForNameNode(this.evaluator, node, false, this.reader);
  }

  /** @param {Declaration} declaration */
  isInProtocol(declaration) {
    if (declaration.type !== DECL.variable || declaration.isDefinedByMemberAccess) return false;
    /** @type {ParseNode | undefined} */
    const owner = this.trees.getEnclosingClass(declaration.node);
    if (!owner || owner.d.arguments.length === 0) return false;
    return getOrCreate(this.protocols, owner, () => {
      const type = this.evaluator.getTypeOfClass(owner)?.classType;
      return !!type && this.isProtocol(type);
    });
  }

  /**
   * @param {ParseNode} node
   * @param {Declaration[]} declared
   */
  keysOf(node, declared) {
    const name = node.d.value;
    /** @type {Set<string>} */
    const keys = new Set();
    /** @type {Set<string>} */
    const asks = new Set();
    const isCallee = node.parent?.nodeType === this.types.Call;
    /** @type {Set<Target>} */
    const asked = new Set();
    for (const declaration of declared) {
      const resolved = this.lookUp(declaration);
      for (const one of resolved.compared) {
        keys.add(one.key(name));
        if (isCallee && one.call && one.name === name) keys.add(one.call);
      }
      for (const one of resolved.asked) asked.add(one);
    }
    const names = new Set([name]);
    for (const one of asked) if (one.name) names.add(one.name);
    for (const one of asked) for (const written of names) asks.add(one.key(written));
    if (asked.size > 0 && this.isConstructor(name)) this.askForCalls(node, asks);
    return { keys, asks };
  }

  /**
   * References of a constructor include the calls of its class.
   * @param {ParseNode} node
   * @param {Set<string>} asks
   */
  askForCalls(node, asks) {
    const type = this.evaluator.getType(node);
    /** @type {Declaration | undefined} */
    const owner = type?.shared?.methodClass?.shared.declaration;
    if (owner?.type === DECL.class) asks.add(/** @type {string} */ (this.targets.identify(owner).call));
  }

  /**
   * Everything about one declaration, worked out once.
   * @param {Declaration} declaration
   */
  lookUp(declaration) {
    return getOrCreate(this.resolved, declaration, () => ({
      definitions: this.definitionTargets(declaration),
      compared: this.comparedTargets(declaration),
      asked: this.askedTargets(declaration),
    }));
  }

  /**
   * @param {Declaration} declaration
   * @returns {Target[]}
   */
  definitionTargets(declaration) {
    const options = { allowExternallyHiddenAccess: true };
    let end = this.evaluator.resolveAliasDeclaration(declaration, true, options);
    if (!end || end.uri.isEmpty() || end.isUnresolved || end.uri.equals(this.targets.unresolved)) return [];
    const fallback = end.type === DECL.alias && end.symbolName && end.submoduleFallback;
    if (fallback && !fallback.uri.isEmpty()) end = fallback;
    const own = this.targets.identify(end);
    if (!this.mapsIntoRepository(end.uri)) return [own];
    return [own, ...(end.type === DECL.alias ? this.modulesBehind(end.uri) : this.implementations(end))];
  }

  /**
   * The sources of a stub.
   * @param {Uri} stub
   * @returns {Target[]}
   */
  modulesBehind(stub) {
    /** @type {ParseNode[]} */
    const trees = this.mapper.findModules(stub);
    const uris = trees.map((tree) => this.info.getFileInfo(tree, this.reader)?.fileUri);
    return uris.filter(Boolean).map((uri) => this.targets.identifyModule(uri));
  }

  /**
   * @param {Declaration} declaration
   * @returns {Target[]}
   */
  comparedTargets(declaration) {
    const options = { allowExternallyHiddenAccess: true, skipFileNeededCheck: true };
    const near = this.evaluator.resolveAliasDeclaration(declaration, false, options);
    if (!near) return [];
    const far = this.isRenamedModule(near)
      ? near
      : this.evaluator.resolveAliasDeclaration(near, true, options);
    const plain =
      far && this.isRenamedModule(far)
        ? this.declarations.getDeclarationsWithUsesLocalNameRemoved([far])[0]
        : far;
    const both = plain && plain !== near ? [near, plain] : [near];
    return both.map((one) => this.targets.identify(one));
  }

  /** @param {Declaration} declaration */
  isRenamedModule({ type, node, usesLocalName }) {
    return type === DECL.alias && node && usesLocalName && node.nodeType === this.types.ImportAs;
  }

  /**
   * @param {Declaration} declaration
   * @returns {Target[]}
   */
  askedTargets(declaration) {
    const near = this.evaluator.resolveAliasDeclaration(declaration, false);
    if (!near) return [];
    const own = this.targets.identify(near);
    return this.mapsIntoRepository(near.uri) ? [own, ...this.implementations(near)] : [own];
  }

  /**
   * What a declaration of a stub stands for.
   * @param {Declaration} declaration
   * @returns {Target[]}
   */
  implementations(declaration) {
    /** @type {(Declaration | undefined)[]} */
    const sources = this.mapper.findDeclarations(declaration);
    return sources.flatMap((one) => (one && !one.uri.isEmpty() ? [this.targets.identify(one)] : []));
  }

  /**
   * Mapping a stub to its sources is dear; sources outside the repository would change no answer inside it.
   * @param {Uri} uri
   */
  mapsIntoRepository(uri) {
    if (!uri.hasExtension(".pyi")) return false;
    return getOrCreate(this.stubsOfRepository, uri.key, () => {
      this.environment ??= this.program.configOptions.findExecEnvironment(this.uri);
      /** @type {Uri[]} */
      const sources = this.program.importResolver.getSourceFilesFromStub(uri, this.environment, false);
      const { targets } = this;
      return targets.fileAt(uri).isInside || sources.some((source) => targets.fileAt(source).isInside);
    });
  }
}

module.exports = { Resolver };
