"use strict";
/** A parsed file in, its type relations out: which types inherit from, implement or override which. */

/** @import ts from "typescript" */
/** @import { AnyNode, FileSpan, TypeScript } from "../typescript-internals" */
/**
 * A definition: a place in a listed file (`start` is -1 for the file itself), or the name of one outside.
 * @typedef {{ file: string, start: number, end: number } | string} Target
 */
/** @typedef {[kind: string, source: Target, destination: Target]} Relation */

class RelationReader {
  /**
   * @param {TypeScript} ts
   * @param {(span: FileSpan, program: ts.Program) => Target} targetOf
   */
  constructor(ts, targetOf) {
    this.ts = ts;
    this.targetOf = targetOf;
  }

  /**
   * @param {ts.Program} program
   * @param {ts.SourceFile} file
   * @returns {Relation[]}
   */
  of(program, file) {
    const { ts } = this;
    /** @type {Relation[]} */
    const relations = [];
    /** @type {(kind: string, name: ts.Node, symbol: ts.Symbol | undefined) => void} */
    const add = (kind, name, symbol) => {
      const source = this.targetOf(spanOf(name, file), program);
      for (const destination of this.declared(symbol, program)) relations.push([kind, source, destination]);
    };
    /** @type {(node: ts.Node) => void} */
    const visit = (node) => {
      if ((ts.isClassLike(node) || ts.isInterfaceDeclaration(node)) && node.name)
        this.visitType(program.getTypeChecker(), node, add);
      ts.forEachChild(node, visit);
    };
    visit(file);
    return relations;
  }

  /**
   * @param {ts.TypeChecker} checker
   * @param {AnyNode} node
   * @param {(kind: string, name: ts.Node, symbol: ts.Symbol | undefined) => void} add
   */
  visitType(checker, node, add) {
    const { ts } = this;
    for (const clause of node.heritageClauses ?? []) {
      const kind = clause.token === ts.SyntaxKind.ImplementsKeyword ? "implement" : "inherit";
      for (const base of clause.types) {
        const symbol = checker.getSymbolAtLocation(base.expression);
        const isAlias = symbol && symbol.flags & ts.SymbolFlags.Alias;
        add(kind, node.name, isAlias ? checker.getAliasedSymbol(symbol) : symbol);
        const baseType = checker.getTypeAtLocation(base);
        for (const name of this.memberNames(node))
          add("override", name, checker.getPropertyOfType(baseType, name.text));
      }
    }
  }

  /**
   * The names of members that may override others.
   * @param {AnyNode} node
   * @returns {ts.Identifier[]}
   */
  memberNames(node) {
    const { ts } = this;
    const members = (node.members ?? []).filter((member) => member.name && ts.isIdentifier(member.name));
    return members.filter((member) => !ts.hasStaticModifier(member)).map((member) => member.name);
  }

  /**
   * Where a symbol is declared.
   * @param {ts.Symbol | undefined} symbol
   * @param {ts.Program} program
   */
  declared(symbol, program) {
    const names = (symbol?.declarations ?? []).map((each) => this.ts.getNameOfDeclaration(each));
    return names.flatMap((name) =>
      name ? [this.targetOf(spanOf(name, name.getSourceFile()), program)] : [],
    );
  }
}

/**
 * @param {ts.Node} name
 * @param {ts.SourceFile} file
 */
function spanOf(name, file) {
  const start = name.getStart(file);
  return { fileName: file.fileName, textSpan: { start, length: name.end - start } };
}

module.exports = { RelationReader };
