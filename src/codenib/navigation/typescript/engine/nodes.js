"use strict";
/**
 * A parsed file in, its declarations out: name, kind, parent, offsets of the whole and of the name, and
 * whether local.
 */

const ROLE = { declaration: 1, import: 2, call: 4, type: 8, write: 16, inherit: 32, inexact: 64 };

/**
 * Makes the function that lists a file's declarations: [name, kind, parent, start, end, nameStart, nameEnd,
 * local].
 */
function nodeReader(ts) {
  const K = ts.SyntaxKind;
  const KINDS = new Map([
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
  const MEMBERS = new Set(["method", "property", "field", "enum_member"]);

  function kindOf(node) {
    if (ts.isVariableDeclaration(node)) {
      const value = node.initializer;
      if (value && (ts.isArrowFunction(value) || ts.isFunctionExpression(value))) return "function";
      return ts.isVarConst(node) ? "constant" : "variable";
    }
    if (ts.isParameter(node) && ts.isParameterPropertyDeclaration(node, node.parent)) return "property";
    if (ts.isBinaryExpression(node) || ts.isPropertyAccessExpression(node)) {
      const value = ts.isBinaryExpression(node) ? node.right : undefined;
      return value && (ts.isFunctionExpression(value) || ts.isArrowFunction(value)) ? "method" : "property";
    }
    return KINDS.get(node.kind);
  }

  function nameOf(node, file) {
    if (node.kind === K.Constructor) return ts.findChildOfKind(node, K.ConstructorKeyword, file);
    if (node.kind === K.LabeledStatement) return node.label;
    if (ts.isBinaryExpression(node)) {
      return ts.getAssignmentDeclarationKind(node) !== ts.AssignmentDeclarationKind.None
        ? ts.getNameOfDeclaration(node)
        : undefined;
    }
    if (ts.isPropertyAccessExpression(node)) return node.symbol ? node.name : undefined;
    if (!KINDS.has(node.kind)) return undefined;
    const name = ts.getNameOfDeclaration(node) || node.name;
    return name && (ts.isBindingPattern(name) || ts.nodeIsMissing(name)) ? undefined : name;
  }

  return function nodesOf(file) {
    const nodes = [];
    const taken = new Set();
    const seen = new Set();
    const visit = (node, parent, inFunction) => {
      if (node.jsDoc)
        for (const doc of node.jsDoc)
          if (!seen.has(doc)) {
            seen.add(doc);
            visit(doc, parent, inFunction);
          }
      const name = nameOf(node, file);
      let here = parent;
      if (name && name.getSourceFile() === file) {
        const start = name.getStart(file);
        if (!taken.has(start) && name.end > start) {
          taken.add(start);
          const kind = kindOf(node);
          here = nodes.length;
          const whole = node.kind === K.ImportClause ? name : node;
          const local = inFunction && !MEMBERS.has(kind) ? 1 : 0;
          nodes.push([
            plain(ts, name, file),
            kind,
            parent,
            whole.getStart(file),
            Math.max(whole.end, name.end),
            start,
            name.end,
            kind === "parameter" ? 1 : local,
          ]);
        }
      }
      const inside = inFunction || ts.isFunctionLike(node);
      ts.forEachChild(node, (child) => visit(child, here, inside));
    };
    visit(file, -1, false);
    return nodes;
  };
}

function plain(ts, name, file) {
  if (ts.isStringLiteralLike(name) || ts.isNumericLiteral(name)) return name.text;
  if (ts.isIdentifier(name) || ts.isPrivateIdentifier(name)) return name.text;
  return file.text.slice(name.getStart(file), name.end).split("\n")[0].slice(0, 80);
}

/** Makes the function that says what part a token plays. */
function roleReader(ts) {
  const K = ts.SyntaxKind;
  return function rolesOf(node) {
    let roles = 0;
    const parent = node.parent;
    if (
      ts.getDeclarationFromName(node) ||
      node.kind === K.ConstructorKeyword ||
      ts.isLabelOfLabeledStatement(node)
    )
      roles |= ROLE.declaration;
    if (node.kind === K.Identifier || node.kind === K.PrivateIdentifier) {
      if (
        ts.isCallExpressionTarget(node, true, true) ||
        ts.isNewExpressionTarget(node, true, true) ||
        ts.isTaggedTemplateTag(node, true, true)
      )
        roles |= ROLE.call;
      if (ts.isInRightSideOfInternalImportEqualsDeclaration(node) || inImport(node)) roles |= ROLE.import;
      else if (ts.isPartOfTypeNode(node) || ts.isPartOfTypeQuery(node)) roles |= ROLE.type;
      if (!(roles & ROLE.declaration) && ts.isWriteAccess(node)) roles |= ROLE.write;
    } else {
      if (ts.isStringLiteralLike(node) && inImport(node)) roles |= ROLE.import;
      if (node.kind !== K.ConstructorKeyword) roles |= ROLE.inexact;
      if (node.kind === K.SuperKeyword && ts.isCallExpression(parent)) roles |= ROLE.call;
    }
    if (inHeritage(node)) roles |= ROLE.inherit;
    return roles;
  };

  function inImport(node) {
    for (let at = node.parent; at; at = at.parent) {
      switch (at.kind) {
        case K.ImportDeclaration:
        case K.ImportEqualsDeclaration:
        case K.JSDocImportTag:
          return true;
        case K.ExportDeclaration:
          return !!at.moduleSpecifier;
        case K.CallExpression:
          return (
            ts.isStringLiteralLike(node) &&
            (at.expression.kind === K.ImportKeyword || ts.isRequireCall(at, false))
          );
        case K.BindingElement:
        case K.ObjectBindingPattern:
        case K.ImportClause:
        case K.ImportSpecifier:
        case K.NamedImports:
        case K.NamespaceImport:
        case K.ExportSpecifier:
        case K.NamedExports:
        case K.NamespaceExport:
        case K.ExternalModuleReference:
        case K.QualifiedName:
        case K.ImportAttribute:
        case K.ImportAttributes:
          break;
        case K.VariableDeclaration:
          return ts.isVariableDeclarationInitializedToBareOrAccessedRequire(at) && node.end <= at.name.end;
        default:
          return false;
      }
    }
    return false;
  }

  function inHeritage(node) {
    let at = node.parent;
    if (at && ts.isPropertyAccessExpression(at) && at.name === node) at = at.parent;
    return !!at && ts.isExpressionWithTypeArguments(at) && ts.isHeritageClause(at.parent);
  }
}

/** The text between a name's dots from the outside in: for declarations that lie outside the repository. */
function qualifiedName(ts, file, start) {
  const parts = [];
  const token = ts.getTouchingPropertyName(file, start);
  for (let at = token && token.parent; at && !ts.isSourceFile(at); at = at.parent) {
    const name = at.name || ts.getNameOfDeclaration(at);
    if (name && name.text && ts.isDeclaration(at)) parts.unshift(name.text);
  }
  return parts.join(".");
}

module.exports = { nodeReader, roleReader, qualifiedName, ROLE };
