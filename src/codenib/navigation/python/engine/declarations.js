"use strict";
// A file's declarations in, the rows of the facts' `nodes` out: in source order, parents before children.

/** @import { Declaration, NodeTypes, ParseNode, Position, Span } from "./basedpyright" */
/** @typedef {[name: string, declaration: Declaration, scope: ParseNode]} ScopedDeclaration */
/**
 * @typedef {object} Entry
 * @property {string} name
 * @property {string} kind
 * @property {ParseNode | undefined} owner the class or function, where it is one
 * @property {ParseNode} scope
 * @property {0 | 1} local
 * @property {number} start
 * @property {number} end
 * @property {number} nameStart
 * @property {number} nameEnd
 */

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
const PROPERTIES = new Set(["property", "setter", "getter", "deleter", "cached_property"]);
/** @type {Readonly<Record<number, string>>} */
const KINDS = {
  [DECL.class]: "class",
  [DECL.special]: "class",
  [DECL.param]: "parameter",
  [DECL.typeParam]: "type_parameter",
  [DECL.typeAlias]: "type_alias",
  [DECL.alias]: "import",
};

class DeclarationTable {
  /**
   * @param {NodeTypes} types
   * @param {(offset: number) => Position} positionAt
   */
  constructor(types, positionAt) {
    this.types = types;
    this.positionAt = positionAt;
    /** @type {Set<number>} */
    this.nameStarts = new Set();
  }

  /**
   * Rows of all declarations; one row for each start of a name.
   * @param {ScopedDeclaration[]} declarations
   */
  build(declarations) {
    /** @type {Map<number, Entry>} */
    const entries = new Map();
    for (const [name, declaration, scope] of declarations) {
      const entry = this.entry(name, declaration, scope);
      if (entry && !entries.has(entry.nameStart)) entries.set(entry.nameStart, entry);
    }
    const sorted = [...entries.values()].sort(
      (a, b) => a.start - b.start || b.end - a.end || a.nameStart - b.nameStart,
    );
    /** @type {Map<ParseNode, number>} */
    const index = new Map();
    for (const [row, { owner }] of sorted.entries()) if (owner) index.set(owner, row);
    this.nameStarts = new Set(entries.keys());
    return sorted.map((entry) => this.row(entry, index));
  }

  /**
   * @param {string} name
   * @param {Declaration} declaration
   * @param {ParseNode} scope
   * @returns {Entry | undefined}
   */
  entry(name, declaration, scope) {
    const t = this.types;
    const word = this.nameOf(declaration);
    if (!word) return undefined;
    const whole = this.wholeOf(declaration);
    const isOwner = declaration.type === DECL.class || declaration.type === DECL.function;
    const kind = kindOf(declaration, scope.nodeType, t);
    const isLocal = kind === "parameter" || (scope.nodeType !== t.Module && scope.nodeType !== t.Class);
    return {
      name,
      kind,
      owner: isOwner ? declaration.node : undefined,
      scope,
      local: isLocal ? 1 : 0,
      start: whole.start,
      end: whole.start + whole.length,
      nameStart: word.start,
      nameEnd: word.start + word.length,
    };
  }

  /**
   * The name of a declaration, as a span.
   * @param {Declaration} declaration
   * @returns {Span | undefined}
   */
  nameOf({ type, node }) {
    const t = this.types;
    switch (type) {
      case DECL.variable:
        return node;
      case DECL.special:
        return node.d.valueExpr;
      case DECL.alias:
        if (node.nodeType === t.ImportAs) return node.d.alias ?? node.d.module.d.nameParts[0];
        return node.nodeType === t.ImportFromAs ? (node.d.alias ?? node.d.name) : undefined;
      case DECL.param:
        return this.isSplit(node) ? { start: node.start, length: 1 } : node.d.name;
      default:
        return node.d.name;
    }
  }

  /**
   * "**" on one line and the parameter's name on the next.
   * @param {ParseNode} parameter
   */
  isSplit({ start, d: { name } }) {
    if (!name || name.start - start <= 2) return false;
    return this.positionAt(start).line !== this.positionAt(name.start).line;
  }

  /**
   * The whole of a declaration: of a variable, its assignment.
   * @param {Declaration} declaration
   */
  wholeOf({ type, node }) {
    if (type !== DECL.variable) return node;
    let whole = node;
    while (whole.parent && this.isPartOf(whole, whole.parent)) whole = whole.parent;
    return whole;
  }

  /**
   * @param {ParseNode} node
   * @param {ParseNode} parent
   */
  isPartOf(node, parent) {
    const t = this.types;
    switch (parent.nodeType) {
      case t.MemberAccess:
        return parent.d.member === node;
      case t.TypeAnnotation:
        return parent.d.valueExpr === node;
      case t.Assignment:
        return parent.d.leftExpr === node;
      default:
        return false;
    }
  }

  /**
   * @param {Entry} entry
   * @param {Map<ParseNode, number>} index
   */
  row(entry, index) {
    const start = this.positionAt(entry.start);
    const end = this.positionAt(entry.end);
    const name = this.positionAt(entry.nameStart);
    const nameEnd = this.positionAt(entry.nameEnd);
    const nameEndColumn = nameEnd.line === name.line ? nameEnd.character : name.character;
    let parent = -1;
    for (let up = /** @type {ParseNode | undefined} */ (entry.scope); up && parent < 0; up = up.parent) {
      parent = index.get(up) ?? -1;
    }
    const span = [start.line, start.character, end.line, end.character];
    return [entry.name, entry.kind, parent, ...span, name.line, name.character, nameEndColumn, entry.local];
  }
}

/**
 * @param {Declaration} declaration
 * @param {number} scopeType
 * @param {NodeTypes} t
 */
function kindOf(declaration, scopeType, t) {
  const kind = KINDS[declaration.type];
  if (kind) return kind;
  if (declaration.type === DECL.function) {
    if (!declaration.isMethod) return "function";
    return isProperty(declaration.node, t) ? "property" : "method";
  }
  if (scopeType === t.Class || scopeType === t.Call) return "field";
  return declaration.isConstant || declaration.isFinal ? "constant" : "variable";
}

/**
 * @param {ParseNode} node
 * @param {NodeTypes} t
 */
function isProperty(node, t) {
  return node.d.decorators.some((/** @type {ParseNode} */ decorator) => {
    const { expr } = decorator.d;
    const word = expr.nodeType === t.MemberAccess ? expr.d.member : expr;
    return word.nodeType === t.Name && PROPERTIES.has(word.d.value);
  });
}

module.exports = { DECL, DeclarationTable };
