"use strict";
/** A parsed file in, its tokens out: those that a person may ask about, by position and by name. */

/** Makes the token reader of one engine; its results are kept as long as the file they belong to. */
function tokenReader(ts) {
  const K = ts.SyntaxKind;
  const known = new WeakMap();
  const NAMED = new Set([
    K.Identifier,
    K.PrivateIdentifier,
    K.StringLiteral,
    K.NoSubstitutionTemplateLiteral,
    K.NumericLiteral,
  ]);
  const KEYWORDS = new Set([K.ThisKeyword, K.SuperKeyword]);

  function read(file) {
    const found = { byPosition: new Map(), byName: new Map(), asked: [] };
    const name = (node, text, start) => {
      const list = found.byName.get(text);
      if (list) list.push(node);
      else found.byName.set(text, [node]);
      found.byPosition.set(start, node);
    };
    const keyword = (node, start) => {
      found.byPosition.set(start, node);
      found.asked.push(node);
    };
    const seen = new Set();
    const visit = (node) => {
      if (NAMED.has(node.kind)) {
        if (node.end === node.pos || ts.nodeIsMissing(node)) return;
        const start = node.getStart(file);
        if (found.byPosition.has(start)) return;
        if (node.kind === K.Identifier || node.kind === K.PrivateIdentifier) {
          name(node, node.text, start);
          found.asked.push(node);
        } else {
          name(node, node.text, start);
          if (node.kind !== K.NumericLiteral) found.byPosition.set(start + 1, node);
          if (stringMayAnswer(node)) found.asked.push(node);
        }
        return;
      }
      if (KEYWORDS.has(node.kind) || node.kind === K.ThisType) {
        keyword(node, node.getStart(file));
        return;
      }
      if (node.jsDoc)
        for (const doc of node.jsDoc)
          if (!seen.has(doc)) {
            seen.add(doc);
            visit(doc);
          }
      if (node.kind === K.Constructor) child(node, K.ConstructorKeyword);
      if (node.kind === K.ExportAssignment && !node.isExportEquals) child(node, K.DefaultKeyword);
      ts.forEachChild(node, visit);
      if (node.modifiers) for (const each of node.modifiers) if (each.kind === K.DefaultKeyword) named(each);
    };
    const child = (node, kind) => {
      const token = ts.findChildOfKind(node, kind, file);
      if (token) named(token);
    };
    const named = (token) => {
      const start = token.getStart(file);
      if (found.byPosition.has(start)) return;
      if (token.kind === K.DefaultKeyword) name(token, "default", start);
      keyword(token, start);
    };
    visit(file);
    found.asked.sort((a, b) => a.end - b.end);
    return found;
  }

  /** Strings that stand for a module or a member; other strings are text. */
  function stringMayAnswer(node) {
    const parent = node.parent;
    if (ts.isModuleSpecifierLike(node) || (parent && parent.moduleSpecifier === node)) return true;
    if (node.kind === K.NumericLiteral) return false;
    return (
      ts.isLiteralNameOfPropertyDeclarationOrIndexAccess(node) ||
      ts.isNameOfModuleDeclaration(node) ||
      (parent && ts.isImportOrExportSpecifier(parent)) ||
      (parent && parent.kind === K.LiteralType && parent.parent && parent.parent.kind === K.IndexedAccessType)
    );
  }

  return (file) => {
    let found = known.get(file);
    if (!found) known.set(file, (found = read(file)));
    return found;
  };
}

module.exports = { tokenReader };
