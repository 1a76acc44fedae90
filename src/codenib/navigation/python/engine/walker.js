"use strict";
// A file's parse tree in, its declarations and its name tokens with their roles out. Starts no type evaluation except for
// calls that construct classes out of strings.

/** @import { Evaluator, NodeInfo, NodeTypes, ParseNode, InnerModules, Symbol, SymbolTable } from "./basedpyright" */
/** @import { ScopedDeclaration } from "./declarations" */
/** @import { Resolver } from "./resolver" */
/** @typedef {[node: ParseNode, roles: number]} NameToken */
/**
 * @typedef {object} Tree
 * @property {NameToken[]} names
 * @property {ScopedDeclaration[]} declarations
 * @property {ParseNode[]} classes
 * @property {ParseNode[]} exported the strings of `__all__`
 */

const { ROLE } = require("../../engines/js/wire");
const { DECL } = require("./declarations");

// Names of callables whose string arguments the engine reads as types or as members.
const STRING_READERS = new Set(["cast", "TypeVar", "NewType", "TypeAliasType", "ParamSpec", "TypeVarTuple"]);
const ENUMS = ["Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"];
const CLASS_FACTORIES = new Set(["namedtuple", "NamedTuple", "TypedDict", ...ENUMS]);

class Walker {
  /** @param {InnerModules} inner */
  constructor(inner) {
    /** @type {NodeTypes} */
    this.types = inner("parser/parseNodeUtils").ParseNodeTypeMap;
    /** @type {NodeInfo} */
    this.info = inner("analyzer/analyzerNodeInfo");
    /** @type {(node: ParseNode, annotationOf: (node: ParseNode) => ParseNode | undefined) => (ParseNode | undefined)[]} */
    this.childrenOf = inner("analyzer/parseTreeWalker").getChildNodes;
    /** @type {(node: ParseNode) => ParseNode | undefined} */
    this.parsedAnnotation = inner("parser/parseNodes").getParserStringAnnotation;
    const t = this.types;
    this.scoped = new Set([t.Module, t.Class, t.Function, t.Lambda, t.Comprehension, t.TypeParameterList]);
    /** @type {object} */
    this.reader = {};
    /** @type {<T>(ask: (evaluator: Evaluator) => T) => T | undefined} */
    this.evaluate = () => undefined;
    /** @type {Set<ParseNode>} strings that evaluation may show to be types */
    this.strings = new Set();
    /** @type {Tree} */
    this.tree = { names: [], declarations: [], classes: [], exported: [] };
  }

  /**
   * All names (with roles), declarations, classes and strings that stand for names, in tree order.
   * @param {ParseNode} root
   * @param {Resolver} resolver
   * @param {<T>(work: () => T) => T | undefined} attempt runs what may fail inside the engine
   */
  walk(root, resolver, attempt) {
    this.reader = resolver.reader;
    this.evaluate = (ask) => attempt(() => ask(resolver.evaluator));
    this.strings = new Set();
    this.tree = { names: [], declarations: [], classes: [], exported: [] };
    this.visit(root, 0);
    this.tree.exported = this.info.getDunderAllInfo(root, this.reader)?.stringNodes ?? [];
    return this.tree;
  }

  /**
   * The tree inside a string that is a type.
   * @param {ParseNode} node
   */
  annotationOf(node) {
    const parsed = this.parsedAnnotation(node);
    if (parsed || !this.strings.has(node)) return parsed;
    return this.info.getStringAnnotation(node, this.reader);
  }

  /**
   * @param {ParseNode} node
   * @param {number} roles
   */
  visit(node, roles) {
    const t = this.types;
    if (node.nodeType === t.Name) {
      this.tree.names.push([node, roles | this.roleOf(node)]);
      return;
    }
    const annotation = node.nodeType === t.StringList ? this.annotationOf(node) : undefined;
    if (annotation && !this.parsedAnnotation(node)) {
      this.visit(annotation, roles | ROLE.type); // a string that only evaluation shows to be a type
      return;
    }
    if (this.scoped.has(node.nodeType)) {
      this.declarationsIn(this.info.getScope(node, this.reader)?.symbolTable, node);
    }
    if (node.nodeType === t.Call) {
      this.readStrings(node);
    } else if (node.nodeType === t.Assignment && node.d.rightExpr.nodeType === t.Index) {
      this.readAlias(node.d.rightExpr);
    } else if (node.nodeType === t.Class) {
      this.readBases(node);
      this.tree.classes.push(node);
    }
    for (const child of this.childrenOf(node, (string) => this.annotationOf(string))) {
      if (child) {
        this.visit(child, roles | this.inheritedRoles(node, child));
      }
    }
  }

  /**
   * @param {ParseNode} call
   * @returns {string}
   */
  calleeOf(call) {
    const t = this.types;
    const callee = call.d.leftExpr.nodeType === t.MemberAccess ? call.d.leftExpr.d.member : call.d.leftExpr;
    return callee.nodeType === t.Name ? callee.d.value : "";
  }

  /** @param {ParseNode} node */
  isInFunction(node) {
    const t = this.types;
    let up = node.parent;
    while (up && up.nodeType !== t.Function && up.nodeType !== t.Lambda) {
      up = up.parent;
    }
    return !!up;
  }

  /**
   * `Handler = Callable[["Request"], None]` outside functions.
   * @param {ParseNode} index
   */
  readAlias(index) {
    if (this.noteStrings(index) && !this.isInFunction(index)) {
      this.evaluate((evaluator) => evaluator.getTypeResult(index));
    }
  }

  /**
   * `class Node(Base["Node"])`
   * @param {ParseNode} node
   */
  readBases(node) {
    const t = this.types;
    /** @type {ParseNode[]} */
    const bases = node.d.arguments.filter(
      (/** @type {ParseNode} */ one) => one.d.valueExpr.nodeType === t.Index,
    );
    if (bases.filter((base) => this.noteStrings(base.d.valueExpr)).length > 0) {
      this.evaluate((evaluator) => evaluator.getTypeOfClass(node));
    }
  }

  /**
   * Whether there is a string below; evaluation may show each to be a type. What an evaluation for another file showed
   * does not count: a file's facts would depend on which files came before.
   * @param {ParseNode} node
   * @returns {boolean}
   */
  noteStrings(node) {
    if (node.nodeType === this.types.StringList) {
      this.strings.add(node);
      return true;
    }
    const below = this.childrenOf(node, this.parsedAnnotation);
    return below.filter((child) => child && this.noteStrings(child)).length > 0;
  }

  /**
   * @param {SymbolTable | undefined} table
   * @param {ParseNode} scope
   */
  declarationsIn(table, scope) {
    for (const [name, symbol] of table ?? []) {
      for (const declaration of symbol.getDeclarations()) {
        if (declaration.node && declaration.type !== DECL.intrinsic) {
          this.tree.declarations.push([name, declaration, scope]);
        }
      }
    }
  }

  /**
   * `cast("Name", x)` and `namedtuple("P", "x y")`: evaluation reveals the names that the strings have.
   * @param {ParseNode} call
   */
  readStrings(call) {
    const name = this.calleeOf(call);
    const isFactory = CLASS_FACTORIES.has(name);
    if (!isFactory && !STRING_READERS.has(name)) {
      return;
    }
    this.noteStrings(call);
    const type = this.evaluate((evaluator) => evaluator.getTypeResult(call))?.type;
    if (isFactory && type?.shared?.fields) {
      /** @type {[string, Symbol][]} */
      const fields = [...type.shared.fields];
      this.declarationsIn(new Map(fields.filter(([, symbol]) => this.isString(symbol))), call);
    }
  }

  /** @param {Symbol} symbol */
  isString(symbol) {
    return symbol.getDeclarations().some(({ node }) => node?.nodeType === this.types.StringList);
  }

  /**
   * The roles that every name below `child` gets because of where `child` is in `node`.
   * @param {ParseNode} node
   * @param {ParseNode} child
   */
  inheritedRoles(node, child) {
    const t = this.types;
    const d = node.d;
    switch (node.nodeType) {
      case t.Import:
      case t.ImportFrom:
        return ROLE.import;
      case t.Class:
        return d.arguments.includes(child) && !child.d.name ? ROLE.inherit : 0;
      case t.Parameter:
        return child === d.annotation || child === d.annotationComment ? ROLE.type : 0;
      case t.Function:
        return child === d.returnAnnotation || child === d.funcAnnotationComment ? ROLE.type : 0;
      case t.TypeAnnotation:
        return child === d.annotation ? ROLE.type : 0;
      case t.Assignment:
        return child === d.annotationComment ? ROLE.type : 0;
      case t.StringList:
        return child === this.parsedAnnotation(node) ? ROLE.type : 0;
      default:
        return 0;
    }
  }

  /** @param {ParseNode} node */
  roleOf(node) {
    const t = this.types;
    const { parent } = node;
    const whole = parent?.nodeType === t.MemberAccess && parent.d.member === node ? parent : node;
    const around = whole.parent;
    if (around?.nodeType === t.Call && around.d.leftExpr === whole) {
      return ROLE.call;
    }
    if (around?.nodeType === t.Decorator) {
      return ROLE.call; // with what it decorates
    }
    return this.isTarget(whole) ? ROLE.write : 0;
  }

  /**
   * Whether a value is assigned to it.
   * @param {ParseNode} node
   * @returns {boolean}
   */
  isTarget(node) {
    const t = this.types;
    const parent = node.parent;
    switch (parent?.nodeType) {
      case t.Assignment:
      case t.AugmentedAssignment:
        return parent.d.leftExpr === node;
      case t.AssignmentExpression:
        return parent.d.name === node;
      case t.For:
      case t.ComprehensionFor:
        return parent.d.targetExpr === node;
      case t.WithItem:
        return parent.d.target === node;
      case t.TypeAnnotation:
        return parent.d.valueExpr === node && this.isTarget(parent);
      case t.Tuple:
      case t.List:
      case t.Unpack:
        return this.isTarget(parent);
      default:
        return false;
    }
  }
}

module.exports = { Walker };
