"use strict";
// A file's declarations in, the rows of the facts' `nodes` out: in source order, parents before children.

const { DECL } = require("./names");

const PROPERTIES = new Set(["property", "setter", "getter", "deleter", "cached_property"]);

class NodeTable {
  constructor(types, lines, toPosition) {
    this.types = types;
    this.at = (offset) => toPosition(offset, lines);
  }

  // Rows of all `declarations` ([name, declaration, scope node]); one row per selection start.
  build(declarations) {
    const entries = new Map();
    for (const [name, declaration, scope] of declarations) {
      const entry = this.entry(name, declaration, scope);
      if (entry && !entries.has(entry.sel)) {
        entries.set(entry.sel, entry);
      }
    }
    const sorted = [...entries.values()].sort((a, b) => a.start - b.start || b.end - a.end || a.sel - b.sel);
    const index = new Map();
    sorted.forEach((entry, i) => entry.owner && index.set(entry.owner, i));
    this.starts = new Map(sorted.map((entry) => [entry.sel, entry.name]));
    return sorted.map((entry) => this.row(entry, index));
  }

  entry(name, declaration, scope) {
    const t = this.types;
    const node = declaration.node;
    const word = this.wordOf(declaration);
    if (!word) {
      return undefined;
    }
    const whole = this.wholeOf(declaration, word);
    const owner = declaration.type === DECL.class || declaration.type === DECL.function ? node : undefined;
    const kind = kindOf(declaration, scope.nodeType, t);
    const local = kind === "parameter" || ![t.Module, t.Class].includes(this.visibleScope(scope, t));
    return {
      name,
      kind,
      owner,
      home: scope,
      local: local ? 1 : 0,
      start: whole.start,
      end: whole.start + whole.length,
      sel: word.start,
      selEnd: word.start + word.length,
    };
  }

  visibleScope(scope, t) {
    return scope.nodeType === t.TypeParameterList ? t.Function : scope.nodeType;
  }

  wordOf(declaration) {
    const t = this.types;
    const node = declaration.node;
    switch (declaration.type) {
      case DECL.variable:
        return node;
      case DECL.special:
        return node.d.valueExpr;
      case DECL.alias:
        if (node.nodeType === t.ImportAs) {
          return node.d.alias ?? node.d.module.d.nameParts[0];
        }
        return node.nodeType === t.ImportFromAs ? (node.d.alias ?? node.d.name) : undefined;
      case DECL.param:
        return this.isSplit(node) ? { start: node.start, length: 1 } : node.d.name;
      default:
        return node.d.name;
    }
  }

  // "**" on one line and the parameter's name on the next.
  isSplit({ start, d: { name } }) {
    return !!name && name.start - start > 2 && this.at(start).line !== this.at(name.start).line;
  }

  wholeOf(declaration, word) {
    const t = this.types;
    if (declaration.type !== DECL.variable) {
      return declaration.node;
    }
    let whole = word;
    while (this.continues(whole, whole.parent, t)) {
      whole = whole.parent;
    }
    return whole;
  }

  continues(node, parent, t) {
    switch (parent?.nodeType) {
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

  row(entry, index) {
    const start = this.at(entry.start);
    const end = this.at(entry.end);
    const sel = this.at(entry.sel);
    const selEnd = this.at(entry.selEnd);
    const selEndColumn = selEnd.line === sel.line ? selEnd.character : sel.character;
    let parent = -1;
    for (let up = entry.home; up && parent < 0; up = up.parent) {
      parent = index.get(up) ?? -1;
    }
    const span = [
      start.line,
      start.character,
      end.line,
      end.character,
      sel.line,
      sel.character,
      selEndColumn,
    ];
    return [entry.name, entry.kind, parent, ...span, entry.local];
  }
}

function kindOf(declaration, scopeType, t) {
  switch (declaration.type) {
    case DECL.class:
      return "class";
    case DECL.special:
      return "class";
    case DECL.function:
      return declaration.isMethod ? (isProperty(declaration.node, t) ? "property" : "method") : "function";
    case DECL.param:
      return "parameter";
    case DECL.typeParam:
      return "type_parameter";
    case DECL.typeAlias:
      return "type_alias";
    case DECL.alias:
      return "import";
    default:
      if (scopeType === t.Class || scopeType === t.Call) {
        return "field";
      }
      return declaration.isConstant || declaration.isFinal ? "constant" : "variable";
  }
}

function isProperty(node, t) {
  return node.d.decorators.some(({ d: { expr } }) => {
    const word = expr.nodeType === t.MemberAccess ? expr.d.member : expr;
    return word.nodeType === t.Name && PROPERTIES.has(word.d.value);
  });
}

module.exports = { NodeTable };
