"use strict";
/**
 * A parsed file in, its declarations out: name, kind, parent, offsets of the whole and of the name, and whether
 * local.
 */

/** @import ts from "typescript" */
/** @import { AnyNode, TypeScript } from "../typescript-internals" */
/**
 * A declaration with the numbers of its parent (-1 for none) and of its offsets; `isAdded` marks one that has no name
 * in the file (facts/fact-table.js).
 * @typedef {object} DeclaredNode
 * @property {string} name
 * @property {string} kind
 * @property {number} parent
 * @property {number} start
 * @property {number} end
 * @property {number} nameStart
 * @property {number} nameEnd
 * @property {0 | 1} local
 * @property {boolean} [isAdded]
 */

const MEMBERS = new Set(["method", "property", "field", "enum_member"]);
/** The longest name of a declaration whose name is an expression. */
const MAX_NAME = 80;

class DeclarationReader {
  /** @param {TypeScript} ts */
  constructor(ts) {
    const K = ts.SyntaxKind;
    this.ts = ts;
    /** @type {Map<ts.SyntaxKind, string>} */
    this.kinds = new Map([
      [K.ClassDeclaration, "class"],
      [K.ClassExpression, "class"],
      [K.InterfaceDeclaration, "interface"],
      [K.EnumDeclaration, "enum"],
      [K.EnumMember, "enum_member"],
      [K.FunctionDeclaration, "function"],
      [K.FunctionExpression, "function"],
      [K.MethodDeclaration, "method"],
      [K.MethodSignature, "method"],
      [K.Constructor, "method"],
      [K.GetAccessor, "property"],
      [K.SetAccessor, "property"],
      [K.PropertyDeclaration, "field"],
      [K.PropertySignature, "property"],
      [K.PropertyAssignment, "property"],
      [K.ShorthandPropertyAssignment, "property"],
      [K.JsxAttribute, "property"],
      [K.VariableDeclaration, "variable"],
      [K.BindingElement, "variable"],
      [K.Parameter, "parameter"],
      [K.TypeParameter, "type_parameter"],
      [K.TypeAliasDeclaration, "type_alias"],
      [K.ModuleDeclaration, "namespace"],
      [K.ImportClause, "import"],
      [K.ImportSpecifier, "import"],
      [K.NamespaceImport, "import"],
      [K.ImportEqualsDeclaration, "import"],
      [K.ExportSpecifier, "import"],
      [K.NamespaceExport, "import"],
      [K.NamespaceExportDeclaration, "namespace"],
      [K.NamedTupleMember, "property"],
      [K.JSDocTypedefTag, "type_alias"],
      [K.JSDocCallbackTag, "type_alias"],
      [K.JSDocPropertyTag, "property"],
      [K.LabeledStatement, "label"],
    ]);
  }

  /**
   * All declarations of a file, parents before children.
   * @param {ts.SourceFile} file
   * @returns {DeclaredNode[]}
   */
  of(file) {
    const { ts } = this;
    /** @type {DeclaredNode[]} */
    const nodes = [];
    /** @type {Set<number>} */
    const taken = new Set();
    /** @type {Set<ts.Node>} */
    const visitedDocs = new Set();
    /** @type {(node: ts.Node, parent: number, inFunction: boolean) => void} */
    const visit = (node, parent, inFunction) => {
      for (const doc of node.jsDoc ?? []) {
        if (visitedDocs.has(doc)) continue;
        visitedDocs.add(doc);
        visit(doc, parent, inFunction);
      }
      const declared = this.read(node, file, parent, inFunction);
      let inner = parent;
      if (declared && !taken.has(declared.nameStart)) {
        taken.add(declared.nameStart);
        inner = nodes.push(declared) - 1;
      }
      ts.forEachChild(node, (child) => visit(child, inner, inFunction || ts.isFunctionLike(node)));
    };
    visit(file, -1, false);
    return nodes;
  }

  /**
   * @param {ts.Node} node
   * @param {ts.SourceFile} file
   * @param {number} parent
   * @param {boolean} inFunction
   * @returns {DeclaredNode | undefined}
   */
  read(node, file, parent, inFunction) {
    const name = this.nameOf(node, file);
    if (!name || name.getSourceFile() !== file) return undefined;
    const nameStart = name.getStart(file);
    if (name.end <= nameStart) return undefined;
    const kind = /** @type {string} */ (this.kindOf(node));
    const whole = node.kind === this.ts.SyntaxKind.ImportClause ? name : node;
    const isLocal = kind === "parameter" || (inFunction && !MEMBERS.has(kind));
    return {
      name: this.textOf(name, file),
      kind,
      parent,
      start: whole.getStart(file),
      end: Math.max(whole.end, name.end),
      nameStart,
      nameEnd: name.end,
      local: isLocal ? 1 : 0,
    };
  }

  /** @param {ts.Node} node */
  kindOf(node) {
    const { ts } = this;
    if (ts.isVariableDeclaration(node)) {
      if (this.isFunctionValue(node.initializer)) return "function";
      return ts.isVarConst(node) ? "constant" : "variable";
    }
    if (ts.isParameter(node) && ts.isParameterPropertyDeclaration(node, node.parent)) return "property";
    if (ts.isBinaryExpression(node)) return this.isFunctionValue(node.right) ? "method" : "property";
    if (ts.isPropertyAccessExpression(node)) return "property";
    return this.kinds.get(node.kind);
  }

  /** @param {ts.Node | undefined} value */
  isFunctionValue(value) {
    return !!value && (this.ts.isArrowFunction(value) || this.ts.isFunctionExpression(value));
  }

  /**
   * @param {ts.Node} node
   * @param {ts.SourceFile} file
   * @returns {ts.Node | undefined}
   */
  nameOf(node, file) {
    const { ts } = this;
    const K = ts.SyntaxKind;
    if (node.kind === K.Constructor) return ts.findChildOfKind(node, K.ConstructorKeyword, file);
    if (ts.isLabeledStatement(node)) return node.label;
    if (ts.isBinaryExpression(node)) {
      const isAssignment = ts.getAssignmentDeclarationKind(node) !== ts.AssignmentDeclarationKind.None;
      return isAssignment ? ts.getNameOfDeclaration(node) : undefined;
    }
    if (ts.isPropertyAccessExpression(node)) return node.symbol ? node.name : undefined;
    if (!this.kinds.has(node.kind)) return undefined;
    const declaration = /** @type {ts.Declaration & AnyNode} */ (node);
    /** @type {ts.Node | undefined} */
    const name = ts.getNameOfDeclaration(declaration) || declaration.name;
    return name && (ts.isBindingPattern(name) || ts.nodeIsMissing(name)) ? undefined : name;
  }

  /**
   * @param {ts.Node} name
   * @param {ts.SourceFile} file
   */
  textOf(name, file) {
    const { ts } = this;
    if (ts.isStringLiteralLike(name) || ts.isNumericLiteral(name)) return name.text;
    if (ts.isIdentifier(name) || ts.isPrivateIdentifier(name)) return name.text;
    return file.text.slice(name.getStart(file), name.end).split("\n")[0].slice(0, MAX_NAME);
  }
}

/**
 * The names around a declaration that lies outside the repository, from the outside in, with dots.
 * @param {TypeScript} ts
 * @param {ts.SourceFile} file
 * @param {number} start
 */
function qualifiedName(ts, file, start) {
  const parts = [];
  const token = ts.getTouchingPropertyName(file, start);
  for (let at = token?.parent; at && !ts.isSourceFile(at); at = at.parent) {
    const declaration = /** @type {ts.Declaration & AnyNode} */ (at);
    const name = declaration.name || ts.getNameOfDeclaration(declaration);
    if (name?.text && ts.isDeclaration(at)) parts.unshift(name.text);
  }
  return parts.join(".");
}

module.exports = { DeclarationReader, qualifiedName };
