"use strict";
// A file's parse tree in, its declarations (nodes) and its name tokens with their roles out. Starts no type evaluation
// except for calls that make classes out of strings.

const ROLE = { declaration: 1, import: 2, call: 4, type: 8, write: 16, inherit: 32, inexact: 64 };
// Names of callables whose string arguments the engine reads as types or as members.
const STRING_READERS = new Set(["cast", "TypeVar", "NewType", "TypeAliasType", "ParamSpec", "TypeVarTuple"]);
const ENUMS = ["Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"];
const CLASS_MAKERS = new Set(["namedtuple", "NamedTuple", "TypedDict", ...ENUMS]);
// The engine's kinds of declarations.
const DECL = {
  intrinsic: 0,
  variable: 1,
  param: 2,
  typeParam: 3,
  typeAlias: 4,
  function: 5,
  class: 6,
  special: 7,
  alias: 8,
};

class Walker {
  constructor(inner) {
    this.types = inner("parser/parseNodeUtils").ParseNodeTypeMap;
    this.info = inner("analyzer/analyzerNodeInfo");
    this.childrenOf = inner("analyzer/parseTreeWalker").getChildNodes;
    this.parsed = inner("parser/parseNodes").getParserStringAnnotation;
    const t = this.types;
    this.scoped = new Set([t.Module, t.Class, t.Function, t.Lambda, t.Comprehension, t.TypeParameterList]);
  }

  // All names (with roles), declarations, classes and strings that stand for names, in tree order.
  walk(tree, resolver, attempt) {
    const { reader } = resolver;
    this.reader = reader;
    this.evaluate = (ask) => attempt(() => ask(resolver.evaluator));
    this.read = new Set();
    this.annotation = (node) =>
      this.parsed(node) ?? (this.read.has(node) ? this.info.getStringAnnotation(node, reader) : undefined);
    this.found = { names: [], declarations: [], classes: [] };
    this.loose = false;
    this.visit(tree, 0);
    const all = this.info.getDunderAllInfo(tree, reader);
    this.found.exported = all ? all.stringNodes : [];
    return this.found;
  }

  visit(node, roles) {
    const t = this.types;
    if (node.nodeType === t.Name) {
      this.found.names.push([node, roles | this.roleOf(node), this.loose]);
      return;
    }
    if (node.nodeType === t.StringList && this.annotation(node) && !this.parsed(node)) {
      this.visitLoose(node, roles);
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
      this.found.classes.push(node);
    }
    for (const child of this.childrenOf(node, this.annotation)) {
      if (child) {
        this.visit(child, roles | this.added(node, child));
      }
    }
  }

  // A string that only evaluation shows to be a type. The server knows it when another file needed it, which those in
  // functions seldom are; by this rule a file's facts do not depend on which files were asked before.
  visitLoose(node, roles) {
    const before = this.loose;
    this.loose ||= this.isInFunction(node);
    this.visit(this.annotation(node), roles | ROLE.type);
    this.loose = before;
  }

  isInFunction(node) {
    const t = this.types;
    let up = node.parent;
    while (up && up.nodeType !== t.Function && up.nodeType !== t.Lambda) {
      up = up.parent;
    }
    return !!up;
  }

  calleeOf(call) {
    const t = this.types;
    const callee = call.d.leftExpr.nodeType === t.MemberAccess ? call.d.leftExpr.d.member : call.d.leftExpr;
    return callee.nodeType === t.Name ? callee.d.value : "";
  }

  // `Handler = Callable[["Request"], None]` outside functions.
  readAlias(index) {
    if (this.noteStrings(index) && !this.isInFunction(index)) {
      this.evaluate((evaluator) => evaluator.getTypeResult(index));
    }
  }

  // `class Node(Base["Node"])`
  readBases(node) {
    const t = this.types;
    const bases = node.d.arguments.filter((a) => a.d.valueExpr.nodeType === t.Index);
    if (bases.filter((a) => this.noteStrings(a.d.valueExpr)).length > 0) {
      this.evaluate((evaluator) => evaluator.getTypeOfClass(node));
    }
  }

  // Whether there is a string below; evaluation may show each to be a type. What an evaluation for another file showed
  // does not count: a file's facts would depend on which files came before.
  noteStrings(node) {
    if (node.nodeType === this.types.StringList) {
      this.read.add(node);
      return true;
    }
    const below = this.childrenOf(node, this.parsed).map((child) => child && this.noteStrings(child));
    return below.some(Boolean);
  }

  declarationsIn(table, scopeNode) {
    for (const [name, symbol] of table ?? []) {
      for (const declaration of symbol.getDeclarations()) {
        if (declaration.node && declaration.type !== DECL.intrinsic) {
          this.found.declarations.push([name, declaration, scopeNode]);
        }
      }
    }
  }

  // `cast("Name", x)` and `namedtuple("P", "x y")`: evaluation reveals the names that the strings hold.
  readStrings(call) {
    const name = this.calleeOf(call);
    const makes = CLASS_MAKERS.has(name);
    if (!makes && !STRING_READERS.has(name)) {
      return;
    }
    this.noteStrings(call);
    const type = this.evaluate((evaluator) => evaluator.getTypeResult(call))?.type;
    if (makes && type?.shared?.fields) {
      this.declarationsIn(new Map([...type.shared.fields].filter(([, s]) => this.isString(s))), call);
    }
  }

  isString(symbol) {
    return symbol.getDeclarations().some((d) => d.node?.nodeType === this.types.StringList);
  }

  // The roles that every name below `child` gets because of where `child` is in `node`.
  added(node, child) {
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
        return child === this.parsed(node) ? ROLE.type : 0;
      default:
        return 0;
    }
  }

  roleOf(node) {
    const t = this.types;
    let whole = node;
    if (node.parent.nodeType === t.MemberAccess && node.parent.d.member === node) {
      whole = node.parent;
    }
    const parent = whole.parent;
    if (parent.nodeType === t.Call && parent.d.leftExpr === whole) {
      return ROLE.call;
    }
    return this.isTarget(whole) ? ROLE.write : 0;
  }

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

module.exports = { Walker, ROLE, DECL };
