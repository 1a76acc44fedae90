"use strict";
/**
 * A parsed file in, its type relations out: [kind, source, destination], kind being inherit, implement or
 * override.
 */

function relationReader(ts, target) {
  const K = ts.SyntaxKind;

  function declared(symbol, program) {
    const found = [];
    for (const declaration of (symbol && symbol.declarations) || []) {
      const name = ts.getNameOfDeclaration(declaration);
      if (!name) continue;
      const file = name.getSourceFile();
      const start = name.getStart(file);
      found.push(target({ fileName: file.fileName, textSpan: { start, length: name.end - start } }, program));
    }
    return found;
  }

  return function relationsOf(program, file) {
    const checker = program.getTypeChecker();
    const relations = [];
    const add = (kind, name, symbol) => {
      const start = name.getStart(file);
      const source = target(
        { fileName: file.fileName, textSpan: { start, length: name.end - start } },
        program,
      );
      for (const destination of declared(symbol, program)) relations.push([kind, source, destination]);
    };
    const type = (node) => {
      for (const clause of node.heritageClauses || []) {
        const kind = clause.token === K.ImplementsKeyword ? "implement" : "inherit";
        for (const base of clause.types) {
          const symbol = checker.getSymbolAtLocation(base.expression);
          const real =
            symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
          add(kind, node.name, real);
          const baseType = checker.getTypeAtLocation(base);
          for (const member of node.members) {
            if (!member.name || !ts.isIdentifier(member.name) || ts.hasStaticModifier(member)) continue;
            add("override", member.name, checker.getPropertyOfType(baseType, member.name.text));
          }
        }
      }
    };
    const visit = (node) => {
      if ((ts.isClassLike(node) || ts.isInterfaceDeclaration(node)) && node.name) type(node);
      ts.forEachChild(node, visit);
    };
    visit(file);
    return relations;
  };
}

module.exports = { relationReader };
