"use strict";
/** A token in, its roles out: whether it declares, imports, calls, writes, names a type or a base. */

/** @import ts from "typescript" */
/** @import { TypeScript } from "../typescript-internals" */

const { ROLE } = require("../../../engines/js/wire");

class RoleReader {
  /** @param {TypeScript} ts */
  constructor(ts) {
    const K = ts.SyntaxKind;
    this.ts = ts;
    /** What may stand between a name and the import that it belongs to. */
    this.partsOfImports = new Set([
      K.BindingElement,
      K.ObjectBindingPattern,
      K.ImportClause,
      K.ImportSpecifier,
      K.NamedImports,
      K.NamespaceImport,
      K.ExportSpecifier,
      K.NamedExports,
      K.NamespaceExport,
      K.ExternalModuleReference,
      K.QualifiedName,
      K.ImportAttribute,
      K.ImportAttributes,
    ]);
  }

  /** @param {ts.Node} node */
  of(node) {
    const { kind } = node;
    const K = this.ts.SyntaxKind;
    let roles = this.isDeclared(node) ? ROLE.declaration : 0;
    if (kind === K.Identifier || kind === K.PrivateIdentifier) roles |= this.ofIdentifier(node, roles);
    else roles |= this.ofOther(node);
    return this.isInHeritage(node) ? roles | ROLE.inherit : roles;
  }

  /** @param {ts.Node} node */
  isDeclared(node) {
    const { ts } = this;
    if (ts.getDeclarationFromName(node)) return true;
    return node.kind === ts.SyntaxKind.ConstructorKeyword || ts.isLabelOfLabeledStatement(node);
  }

  /**
   * @param {ts.Node} node
   * @param {number} known
   */
  ofIdentifier(node, known) {
    const { ts } = this;
    let roles = this.isCalled(node) ? ROLE.call : 0;
    if (ts.isInRightSideOfInternalImportEqualsDeclaration(node) || this.isInImport(node))
      roles |= ROLE.import;
    else if (ts.isPartOfTypeNode(node) || ts.isPartOfTypeQuery(node)) roles |= ROLE.type;
    if (!(known & ROLE.declaration) && ts.isWriteAccess(node)) roles |= ROLE.write;
    return roles;
  }

  /** @param {ts.Node} node */
  isCalled(node) {
    const { ts } = this;
    return (
      ts.isCallExpressionTarget(node, true, true) ||
      ts.isNewExpressionTarget(node, true, true) ||
      ts.isTaggedTemplateTag(node, true, true) ||
      ts.isDecoratorTarget(node, true, true)
    );
  }

  /** @param {ts.Node} node a string, number or keyword */
  ofOther(node) {
    const { ts } = this;
    const K = ts.SyntaxKind;
    let roles = node.kind === K.ConstructorKeyword ? 0 : ROLE.inexact;
    const isKeyword = node.kind >= K.FirstKeyword && node.kind <= K.LastKeyword;
    if (isKeyword && node.kind !== K.ConstructorKeyword) roles |= ROLE.keyword;
    if (ts.isStringLiteralLike(node) && this.isInImport(node)) roles |= ROLE.import;
    if (node.kind === K.SuperKeyword && ts.isCallExpression(node.parent)) roles |= ROLE.call;
    return roles;
  }

  /** @param {ts.Node} node */
  isInImport(node) {
    const { ts } = this;
    const K = ts.SyntaxKind;
    for (let at = node.parent; at; at = at.parent) {
      if (this.partsOfImports.has(at.kind)) continue;
      switch (at.kind) {
        case K.ImportDeclaration:
        case K.ImportEqualsDeclaration:
        case K.JSDocImportTag:
          return true;
        case K.ExportDeclaration:
          return !!(/** @type {ts.ExportDeclaration} */ (at).moduleSpecifier);
        case K.CallExpression:
          return ts.isStringLiteralLike(node) && this.isImportCall(/** @type {ts.CallExpression} */ (at));
        case K.VariableDeclaration:
          return (
            ts.isVariableDeclarationInitializedToBareOrAccessedRequire(at) &&
            node.end <= /** @type {ts.VariableDeclaration} */ (at).name.end
          );
        default:
          return false;
      }
    }
    return false;
  }

  /** @param {ts.CallExpression} call */
  isImportCall(call) {
    return call.expression.kind === this.ts.SyntaxKind.ImportKeyword || this.ts.isRequireCall(call, false);
  }

  /** @param {ts.Node} node */
  isInHeritage(node) {
    const { ts } = this;
    let at = node.parent;
    if (at && ts.isPropertyAccessExpression(at) && at.name === node) at = at.parent;
    return !!at && ts.isExpressionWithTypeArguments(at) && ts.isHeritageClause(at.parent);
  }
}

module.exports = { RoleReader };
