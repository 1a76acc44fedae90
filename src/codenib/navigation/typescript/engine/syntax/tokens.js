"use strict";
/** A parsed file in, its tokens out: those that a person may ask about, by position and by name. */

/** @import ts from "typescript" */
/** @import { AnyNode, TypeScript } from "../typescript-internals" */
/**
 * @typedef {object} Tokens
 * @property {Map<number, ts.Node>} byPosition
 * @property {Map<string, ts.Node[]>} byName
 * @property {ts.Node[]} asked those that requests start from, in the order of the text
 */
/** @typedef {(file: ts.SourceFile) => Tokens} TokenReader */

const { append, getOrCreate } = require("../../../engines/js/maps");

/**
 * Creates the token reader of one engine; its results stay as long as the file they belong to.
 * @param {TypeScript} ts
 * @returns {TokenReader}
 */
function tokenReader(ts) {
  /** @type {WeakMap<ts.SourceFile, Tokens>} */
  const known = new WeakMap();
  return (file) => getOrCreate(known, file, () => new TokenCollector(ts, file).collect());
}

class TokenCollector {
  /**
   * @param {TypeScript} ts
   * @param {ts.SourceFile} file
   */
  constructor(ts, file) {
    this.ts = ts;
    this.file = file;
    /** @type {Tokens} */
    this.tokens = { byPosition: new Map(), byName: new Map(), asked: [] };
    /** @type {Set<ts.Node>} */
    this.visitedDocs = new Set();
  }

  collect() {
    this.visit(this.file);
    this.tokens.asked.sort((a, b) => a.end - b.end);
    return this.tokens;
  }

  /** @param {ts.Node} node */
  visit(node) {
    const { ts } = this;
    const K = ts.SyntaxKind;
    switch (node.kind) {
      case K.Identifier:
      case K.PrivateIdentifier:
      case K.StringLiteral:
      case K.NoSubstitutionTemplateLiteral:
      case K.NumericLiteral:
        this.addName(/** @type {ts.Identifier | ts.StringLiteral} */ (node));
        return;
      case K.ThisKeyword:
      case K.SuperKeyword:
      case K.ThisType:
        this.addKeyword(node, node.getStart(this.file));
        return;
    }
    this.visitDocs(node);
    if (node.kind === K.Constructor) this.addChild(node, K.ConstructorKeyword);
    const { isExportEquals, modifiers } = /** @type {AnyNode} */ (node);
    if (node.kind === K.ExportAssignment && !isExportEquals) this.addChild(node, K.DefaultKeyword);
    ts.forEachChild(node, (child) => this.visit(child));
    for (const each of modifiers ?? []) if (each.kind === K.DefaultKeyword) this.addNamedKeyword(each);
  }

  /** @param {ts.Node} node */
  visitDocs(node) {
    for (const doc of node.jsDoc ?? []) {
      if (this.visitedDocs.has(doc)) continue;
      this.visitedDocs.add(doc);
      this.visit(doc);
    }
  }

  /** @param {ts.Identifier | ts.StringLiteral} node */
  addName(node) {
    const { ts, tokens } = this;
    const K = ts.SyntaxKind;
    if (node.end === node.pos || ts.nodeIsMissing(node)) return;
    const start = node.getStart(this.file);
    if (tokens.byPosition.has(start)) return;
    append(tokens.byName, node.text, node);
    tokens.byPosition.set(start, node);
    const { kind } = /** @type {ts.Node} */ (node);
    const isIdentifier = kind === K.Identifier || kind === K.PrivateIdentifier;
    if (!isIdentifier && kind !== K.NumericLiteral) tokens.byPosition.set(start + 1, node);
    if (isIdentifier || this.isNameInString(node)) tokens.asked.push(node);
  }

  /**
   * @param {ts.Node} node
   * @param {number} start
   */
  addKeyword(node, start) {
    this.tokens.byPosition.set(start, node);
    this.tokens.asked.push(node);
  }

  /**
   * @param {ts.Node} node
   * @param {ts.SyntaxKind} kind
   */
  addChild(node, kind) {
    const token = this.ts.findChildOfKind(node, kind, this.file);
    if (token) this.addNamedKeyword(token);
  }

  /** @param {ts.Node} token `constructor`, or `default`, which is a name too */
  addNamedKeyword(token) {
    const start = token.getStart(this.file);
    if (this.tokens.byPosition.has(start)) return;
    if (token.kind === this.ts.SyntaxKind.DefaultKeyword) append(this.tokens.byName, "default", token);
    this.addKeyword(token, start);
  }

  /**
   * Whether a literal stands for a module or a member; others are text.
   * @param {ts.Node} node
   */
  isNameInString(node) {
    const { ts } = this;
    const K = ts.SyntaxKind;
    const parent = /** @type {AnyNode | undefined} */ (node.parent);
    if (ts.isModuleSpecifierLike(node) || parent?.moduleSpecifier === node) return true;
    if (node.kind === K.NumericLiteral) return false;
    if (ts.isLiteralNameOfPropertyDeclarationOrIndexAccess(node) || ts.isNameOfModuleDeclaration(node))
      return true;
    if (!parent) return false;
    if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent)) return true;
    return parent.kind === K.LiteralType && parent.parent?.kind === K.IndexedAccessType;
  }
}

module.exports = { tokenReader };
