"use strict";
// A file in, what other files can see of it out: for each name the digest of its type as the engine knows it. Two
// versions of a file with equal surfaces leave the facts of every other file as they are.

/** @import { Declaration, NodeInfo, NodeTypes, ParseNode, Project, SourceFileInfo, Symbol, SymbolTable, Type } from "./basedpyright" */
/** @import { Resolver } from "./resolver" */
/**
 * @typedef {object} SurfaceOptions
 * @property {string[]} touched names that mean something else than before; an open body that has one counts as changed
 * @property {string[]} [chains] the entries wanted; all when it is not given
 * @property {string[]} used names of classes whose values are used otherwise than before; an entry whose type has one
 *   counts as changed
 */

const crypto = require("node:crypto");
const { append } = require("../../engines/js/maps");
const { DECL } = require("./declarations");

// Bodies that the engine reads again for the arguments of a call, because a parameter has no type, are part of a surface.
const OPEN = "open";
// An entry whose type has a class of `used`.
const USED = "held";
// How a method's own object is printed among its parameters.
const OWN = /\((?:self|cls): (?:type\[)?(?:Self@)?[\w.]+(?=[,)\][])/g;
const WORDS = /[\p{L}_][\p{L}\p{N}_]*/gu;

class Surface {
  /**
   * @param {Project} project
   * @param {Resolver} resolver
   */
  constructor(project, resolver) {
    const { inner } = project;
    this.project = project;
    this.resolver = resolver;
    /** @type {NodeInfo} */
    this.info = inner("analyzer/analyzerNodeInfo");
    /** @type {NodeTypes} */
    this.types = inner("parser/parseNodeUtils").ParseNodeTypeMap;
    /** @type {(node: ParseNode, annotationOf: () => undefined) => (ParseNode | undefined)[]} */
    this.childrenOf = inner("analyzer/parseTreeWalker").getChildNodes;
    this.kinds = inner("analyzer/types");
    /** @type {(type: Type) => boolean} */
    this.isPartlyUnknown = inner("analyzer/typeUtils").isPartlyUnknown;
    /** @type {(type: Type) => Type[]} */
    this.typeVariablesOf = inner("analyzer/typeUtils").getTypeVarArgsRecursive;
    /** @type {Set<string> | undefined} */
    this.members = undefined;
    this.text = "";
    /** @type {Map<string, unknown[]>} */
    this.entries = new Map();
    /** @type {Set<string>} */
    this.touched = new Set();
    /** @type {RegExp | undefined} */
    this.used = undefined;
    /** @type {(chain: string) => boolean} */
    this.isWanted = () => true;
  }

  /**
   * @param {string} file
   * @param {SurfaceOptions} options
   */
  of(file, { touched, chains, used }) {
    this.used = used.length > 0 ? new RegExp(`\\b(?:${used.join("|")})\\b`) : undefined;
    const wanted = chains && new Set(chains);
    this.isWanted = (chain) => !wanted || wanted.has(chain);
    const { program } = this.project;
    const uri = this.project.uriOf(file);
    const results = program.getParseResults(uri);
    if (!results) return {};
    this.text = results.text ?? program.getSourceFileInfo(uri)?.sourceFile.getFileContent() ?? "";
    this.touched = new Set(touched);
    this.entries = new Map();
    const tree = results.parserOutput.parseTree;
    this.resolver.enter(uri);
    this.addExported(tree);
    this.addScopes(tree, "");
    return Object.fromEntries([...this.entries].map(([name, parts]) => [name, digest(parts.join("\n"))]));
  }

  /** @param {ParseNode} tree */
  addExported(tree) {
    const all = this.info.getDunderAllInfo(tree, this.resolver.reader);
    if (!all) return;
    for (const name of all.names) this.add(name, "in __all__");
    this.add("__all__", all.usesUnsupportedDunderAllForm ? "dynamic" : "plain");
  }

  /**
   * The scopes of the module and of every class in it, wherever that is.
   * @param {ParseNode} node
   * @param {string} chain
   */
  addScopes(node, chain) {
    const t = this.types;
    const isClass = node.nodeType === t.Class;
    const inside = isClass || node.nodeType === t.Function ? `${chain}${node.d.name.d.value}.` : chain;
    if (isClass && this.isWanted(inside.slice(0, -1))) this.addHeader(node, inside);
    if (isClass || node.nodeType === t.Module) this.addSymbols(this.tableOf(node), inside, node);
    for (const child of this.childrenOf(node, () => undefined)) if (child) this.addScopes(child, inside);
  }

  /**
   * @param {ParseNode} node
   * @returns {SymbolTable}
   */
  tableOf(node) {
    return this.info.getScope(node, this.resolver.reader)?.symbolTable ?? new Map();
  }

  /** @param {ParseNode | undefined} node */
  classTypeOf(node) {
    return this.resolver.evaluator.getTypeOfClass(node)?.classType;
  }

  /**
   * @param {ParseNode} node
   * @param {string} chain
   */
  addHeader(node, chain) {
    const type = this.classTypeOf(node);
    const name = `${chain.slice(0, -1)} (class)`;
    if (!type) {
      this.add(name, "no type");
      return;
    }
    const { shared } = type;
    const above = [
      shared.declaredMetaclass,
      ...shared.baseClasses,
      ...shared.mro.slice(1),
      ...shared.typeParams,
    ];
    const text = above.map((one) => this.describe(one)).join();
    this.add(name, shared.flags, shared.baseClasses.length, shared.mro.length, text);
    this.addUse(name, text);
    this.add(
      name,
      shared.dataClassEntries?.map((/** @type {any} */ entry) => [
        entry.name,
        entry.hasDefault,
        entry.includeInInit,
        entry.isKeywordOnly,
      ]),
    );
    this.add(name, JSON.stringify(shared.dataClassBehaviors ?? null, plain));
    if (shared.dataClassEntries || shared.namedTupleEntries || this.kinds.ClassType.isTypedDictClass(type)) {
      this.addFields(node, `${chain}__init__`);
    }
  }

  /**
   * Such a class is constructed with its fields, in order and often unnamed.
   * @param {ParseNode} node
   * @param {string} name
   */
  addFields(node, name) {
    for (const [field, symbol] of this.tableOf(node)) {
      if (!symbol.getDeclarations().some((declaration) => declaration.type === DECL.variable)) continue;
      this.add(name, field, this.print(this.resolver.evaluator.getEffectiveTypeOfSymbol(symbol)));
    }
  }

  /**
   * @param {SymbolTable} table
   * @param {string} chain
   * @param {ParseNode} node
   */
  addSymbols(table, chain, node) {
    const isClass = node.nodeType === this.types.Class;
    // What is left after some members of an enumeration were looked at depends on all of them.
    const enumerators = isClass && this.isEnum(node) ? [...table.keys()].join() : "";
    for (const [name, symbol] of table) {
      const declarations = symbol.getDeclarations().filter((one) => one.node && one.type !== DECL.intrinsic);
      if (declarations.length === 0 || !this.isWanted(chain + name)) continue;
      const type = this.resolver.evaluator.getEffectiveTypeOfSymbol(symbol);
      const text = this.describe(type);
      if (chain === "" && declarations.every((one) => one.type === DECL.alias)) {
        this.addImport(name, symbol, text, declarations);
        continue;
      }
      this.add(chain + name, symbol._flags, text, enumerators);
      this.addUse(chain + name, text);
      if (isClass && this.protocolMembers.has(name)) this.add(`${chain}${name} (shape)`, symbol._flags, text);
      for (const declaration of declarations) this.addDeclaration(chain, name, declaration, type);
    }
  }

  /**
   * @param {string} chain
   * @param {string} name
   * @param {Declaration} declaration
   * @param {Type} type
   */
  addDeclaration(chain, name, declaration, type) {
    const { type: kind, isConstant, isFinal, isMethod, isInExceptSuite, node } = declaration;
    this.add(chain + name, kind, isConstant, isFinal, isMethod, isInExceptSuite, node.nodeType);
    if (kind === DECL.alias) this.addAlias(chain + name, declaration);
    if (kind !== DECL.function) return;
    this.addBody(chain + name, node);
    if (name === "__init__") this.addConstructor(chain + name, type, node);
  }

  /**
   * Marks an entry whose type has one of the used classes; who calls a method has its own object already.
   * @param {string} name
   * @param {string} text
   */
  addUse(name, text) {
    if (this.used?.test(text.replace(OWN, ""))) this.add(name, USED);
  }

  /** @param {ParseNode} node */
  isEnum(node) {
    const type = this.classTypeOf(node);
    return !!type && this.kinds.ClassType.isEnumClass(type);
  }

  /** The names of what protocols ask for, special methods aside: they are compared without being written. */
  get protocolMembers() {
    this.members ??= new Set(
      this.project.program._sourceFileList.flatMap((info) => this.protocolMembersIn(info)),
    );
    return this.members;
  }

  /** @param {SourceFileInfo} info */
  protocolMembersIn({ sourceFile }) {
    /** @type {ParseNode[]} */
    const statements = sourceFile.getParserOutput()?.parseTree.d.statements ?? [];
    const protocols = statements.filter((one) => one.nodeType === this.types.Class && this.isProtocol(one));
    const names = protocols.flatMap((one) => [...this.tableOf(one).keys()]);
    return names.filter((name) => !name.startsWith("__"));
  }

  /** @param {ParseNode} node */
  isProtocol({ d }) {
    const t = this.types;
    return d.arguments.some((/** @type {ParseNode} */ argument) => {
      const { valueExpr } = argument.d;
      const base = valueExpr.nodeType === t.Index ? valueExpr.d.leftExpr : valueExpr;
      const word = base.nodeType === t.MemberAccess ? base.d.member : base;
      return word.nodeType === t.Name && word.d.value === "Protocol";
    });
  }

  /**
   * What a module imports, others can only see by naming the module.
   * @param {string} name
   * @param {Symbol} symbol
   * @param {string} text
   * @param {Declaration[]} declarations
   */
  addImport(name, symbol, text, declarations) {
    const entry = `${name} (import)`;
    this.add(entry, symbol._flags, text);
    this.addUse(entry, text);
    for (const declaration of declarations) this.addAlias(entry, declaration);
  }

  /**
   * An imported name is what it leads to.
   * @param {string} name
   * @param {Declaration} declaration
   */
  addAlias(name, declaration) {
    for (const { label, target } of this.resolver.lookUp(declaration).definitions) {
      this.add(name, label ?? "", withoutPlace(target));
    }
  }

  /**
   * A constructor is used without being written. Where no type follows from the arguments, who calls it writes the
   * class, a subclass or the name of a parameter.
   * @param {string} name
   * @param {Type} type
   * @param {ParseNode} node
   */
  addConstructor(name, type, node) {
    const isGeneric = this.classTypeOf(node.parent?.parent)?.shared.typeParams.length !== 0;
    if (isGeneric || node.d.decorators.length > 0 || !this.kinds.isFunction(type)) {
      this.add(`${name} (made)`, "generic", this.print(type));
      return;
    }
    for (const [at, parameter] of type.shared.parameters.entries()) {
      if (at === 0 || parameter.category !== 0 || !parameter.name) continue;
      const typed = this.print(this.kinds.FunctionType.getParamType(type, at));
      this.add(`${name}.${parameter.name}`, at, parameter.flags, typed);
    }
  }

  /**
   * A function whose result depends on what it is called with shows its body.
   * @param {string} name
   * @param {ParseNode} node
   */
  addBody(name, node) {
    const type = this.resolver.evaluator.getTypeOfFunction(node)?.functionType;
    const returned = type && this.resolver.evaluator.getInferredReturnType(type);
    if (node.d.returnAnnotation || !returned || !this.isPartlyUnknown(returned)) return;
    const text = this.text.slice(node.start, node.start + node.length);
    this.add(name, OPEN, text);
    if (this.touched.size > 0 && (text.match(WORDS) ?? []).some((word) => this.touched.has(word))) {
      this.add(name, "touched");
    }
  }

  /**
   * A type as text; aliases by what they stand for: who uses a value of such a type need not write the alias.
   * @param {Type | undefined} type
   */
  print(type) {
    if (!type) return "";
    const options = { useFullyQualifiedNames: true, expandTypeAlias: true };
    return this.resolver.evaluator.printType(type, options);
  }

  /**
   * A type as text, with the bounds of its type variables, which are not printed where they are used.
   * @param {Type | undefined} type
   */
  describe(type) {
    const bounds = (type ? this.typeVariablesOf(type) : []).flatMap(({ shared }) => [
      shared.boundType,
      ...(shared.constraints ?? []),
      shared.isDefaultExplicit ? shared.defaultType : undefined,
    ]);
    return [type, ...bounds].map((one) => this.print(one)).join(" ");
  }

  /**
   * @param {string} name
   * @param {unknown[]} parts
   */
  add(name, ...parts) {
    for (const part of parts) append(this.entries, name, part);
  }
}

/** @param {string} text */
function digest(text) {
  return crypto.createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/**
 * A target without its place: a shift alone changes nobody's facts.
 * @param {string} target
 */
function withoutPlace(target) {
  const parsed = JSON.parse(target);
  return typeof parsed === "string" ? parsed : parsed[0];
}

/**
 * @param {string} _key
 * @param {unknown} value
 */
function plain(_key, value) {
  if (value instanceof Map || value instanceof Set) return [...value];
  return typeof value === "bigint" ? `${value}` : value;
}

module.exports = { Surface, withoutPlace };
