"use strict";
/**
 * A file of a program in, what other files can see of it out: a text for each name, and what is used unwritten.
 *
 * A type is written down with the number of each declaration that it has (matching.js), so equal texts mean
 * equal types with the same declarations. A class or interface of another file counts by number and arguments;
 * one of the looked at files has entries of its own. What no name leads to (bases, type parameters, call and
 * index signatures, constructors) is under names that begin with a blank: it counts for every dependent.
 */

const MOST = 4000;
/** Members that the language itself uses. */
const UNWRITTEN = new Set([
  "then",
  "next",
  "children",
  "constructor",
  "prototype",
  "__proto__",
  "__esModule",
]);

class Surface {
  /** `dirty`: the files (by path) whose types are written out. */
  constructor(ts, program, dirty) {
    this.ts = ts;
    this.program = program;
    this.checker = program.getTypeChecker();
    this.dirty = dirty;
  }

  /** Name to text; null where it is too large to tell. */
  of(path) {
    const { ts, checker } = this;
    const file = this.program.getSourceFileByPath(path);
    this.entries = new Map();
    if (!file) return this.entries;
    this.left = MOST;
    this.queue = [];
    this.seen = new Set();
    const module = file.symbol && checker.getSymbolAtLocation(file);
    this.add(" kind", `${!!module} ${!!file.commonJsModuleIndicator} ${!!file.externalModuleIndicator}`);
    if (module) {
      this.passed(module, "", new Set());
      for (const each of checker.getExportsOfModule(module)) this.enqueue(each, true);
      for (const [name, each] of module.exports || []) if (name === "export=") this.enqueue(each, true);
      const whole = checker.resolveExternalModuleSymbol(module);
      if (whole !== module) {
        this.add(" default", this.type(checker.getTypeOfSymbol(whole)));
        this.enqueue(whole, true);
      }
    } else if (file.locals)
      for (const each of file.locals.values()) this.enqueue(checker.getMergedSymbol(each), true);
    while (this.queue.length) this.describe(this.queue.shift());
    return this.left < 0 ? null : this.entries;
  }

  /**
   * Names by which a search comes past this module: those of all that it exports from others, hidden ones
   * too, and what default exports are called at home.
   */
  passed(module, from, seen) {
    if (!module || !module.exports || seen.has(module)) return;
    seen.add(module);
    for (const [name, symbol] of module.exports) {
      if (name === "__export") continue;
      if (from) this.add(this.nameOf(symbol), `from ${from}`);
      if (name !== "default" && name !== "export=") continue;
      const target =
        symbol.flags & this.ts.SymbolFlags.Alias ? this.checker.getImmediateAliasedSymbol(symbol) : undefined;
      const home = target || (symbol.valueDeclaration && symbol.valueDeclaration.localSymbol);
      if (home) this.add(String(home.escapedName), `at home in ${from} ${this.key(home)}`);
    }
    const all = module.exports.get("__export");
    for (const { moduleSpecifier } of (all && all.declarations) || [])
      if (moduleSpecifier)
        this.passed(
          this.checker.getSymbolAtLocation(moduleSpecifier),
          `${from} ${moduleSpecifier.text}`,
          seen,
        );
  }

  add(name, text) {
    const known = this.entries.get(name);
    this.entries.set(name, known === undefined ? text : `${known}\n${text}`);
  }

  enqueue(symbol, always = false) {
    if (this.seen.has(symbol)) return;
    if (!always && !(symbol.declarations || []).some((each) => this.dirty.has(each.getSourceFile().path)))
      return;
    this.seen.add(symbol);
    this.queue.push(symbol);
  }

  nameOf(symbol) {
    const name = this.ts.symbolName(symbol);
    if (symbol.escapedName === "default" || symbol.escapedName === "export=") return " default";
    return String(symbol.escapedName).startsWith("__@") || UNWRITTEN.has(name) ? ` ${name}` : name;
  }

  describe(symbol) {
    const { ts, checker } = this;
    const F = ts.SymbolFlags;
    const name = this.nameOf(symbol);
    if (symbol.flags & F.Alias) {
      const target = checker.getAliasedSymbol(symbol);
      this.add(name, `alias ${this.key(target)}`);
      if (target !== symbol) this.enqueue(target);
      return;
    }
    const parts = [`${this.key(symbol)} ${symbol.flags & ~F.Transient}`];
    if (symbol.flags & F.TypeAlias) {
      parts.push(this.parameters(this.typeParametersOf(symbol)));
      parts.push(this.type(checker.getDeclaredTypeOfSymbol(symbol)));
    }
    if (symbol.flags & F.Function && symbol.members) this.assigned(symbol);
    if (symbol.flags & F.Enum) for (const each of symbol.declarations) parts.push(each.getText());
    else if (symbol.flags & (F.Class | F.Interface)) this.members(symbol, name);
    if (symbol.flags & F.Module)
      for (const each of checker.getExportsOfModule(symbol)) this.enqueue(each, true);
    if (symbol.flags & F.Class) this.statics(symbol, name);
    else if (symbol.flags & F.Value && !(symbol.flags & F.Enum && !(symbol.flags & F.Variable)))
      parts.push(this.type(checker.getTypeOfSymbol(symbol)));
    this.add(name, parts.join(" "));
  }

  typeParametersOf(symbol) {
    const { ts, checker } = this;
    return (symbol.declarations || []).flatMap((each) =>
      (ts.getEffectiveTypeParameterDeclarations(each) || []).map((one) => checker.getTypeAtLocation(one)),
    );
  }

  members(symbol, name) {
    const { checker } = this;
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    const bases =
      (type.objectFlags & this.ts.ObjectFlags.ClassOrInterface ? checker.getBaseTypes(type) : []) || [];
    this.add(
      ` shape of ${name}`,
      [
        this.parameters(type.typeParameters || []),
        bases.map((each) => this.type(each)).join(" & "),
        this.signatures(type, true),
        this.indexes(type),
      ].join(" | "),
    );
    for (const each of symbol.members ? symbol.members.values() : []) {
      if (!(each.flags & this.ts.SymbolFlags.ClassMember)) continue;
      const merged = checker.getMergedSymbol(each);
      const text = this.property(merged);
      this.add(this.nameOf(merged), `${this.key(symbol)}.${text}`);
      // Who writes the type's name may use its members together: keys, values, what it can be assigned to.
      if (!this.isPrivate(merged)) this.add(name, text);
    }
    if (symbol.members === undefined || this.isScript(symbol))
      for (const each of checker.getPropertiesOfType(type))
        this.add(this.nameOf(each), `${this.key(symbol)}:${this.property(each)}`);
  }

  /** The members that a function of JavaScript gives to what it constructs. */
  assigned(symbol) {
    for (const each of symbol.members.values())
      if (each.flags & this.ts.SymbolFlags.ClassMember)
        this.add(this.nameOf(each), `${this.key(symbol)}.${this.property(each)}`);
  }

  isPrivate(symbol) {
    const { ts } = this;
    const one = symbol.valueDeclaration;
    return !!one && !!(ts.getCombinedModifierFlags(one) & ts.ModifierFlags.Private || isHash(ts, one));
  }

  isScript(symbol) {
    return symbol.declarations.some((each) => this.ts.isInJSFile(each));
  }

  statics(symbol, name) {
    const { checker } = this;
    const type = checker.getTypeOfSymbol(symbol);
    this.add(` made ${name}`, this.signatures(type, false));
    for (const each of checker.getPropertiesOfType(type))
      if (each.escapedName !== "prototype")
        this.add(this.nameOf(each), `${this.key(symbol)} static ${this.property(each)}`);
  }

  property(symbol) {
    const { checker, ts } = this;
    const flags = symbol.flags & (ts.SymbolFlags.Optional | ts.SymbolFlags.Accessor | ts.SymbolFlags.Method);
    return `${symbol.escapedName} ${this.key(symbol)} ${flags} ${this.type(checker.getTypeOfSymbol(symbol))}`;
  }

  key(symbol) {
    const { ts } = this;
    if (!symbol.declarations) return `?${symbol.escapedName}`;
    return symbol.declarations.map((each) => ts.getNodeId(each)).join(",");
  }

  parameters(types) {
    const { checker } = this;
    const text = (type) => (type ? this.type(type) : "");
    return types
      .map(
        (each) =>
          `${this.key(each.symbol)}:${text(checker.getBaseConstraintOfType(each))}=${text(checker.getDefaultFromTypeParameter(each))}`,
      )
      .join(",");
  }

  signatures(type, both) {
    const { checker, ts } = this;
    const kinds = both
      ? [ts.SignatureKind.Call, ts.SignatureKind.Construct]
      : [ts.SignatureKind.Construct, ts.SignatureKind.Call];
    return kinds
      .map((kind) =>
        checker
          .getSignaturesOfType(type, kind)
          .map((each) => this.signature(each))
          .join(";"),
      )
      .join("#");
  }

  signature(signature) {
    const { checker, ts } = this;
    const parts = [
      signature.declaration ? ts.getNodeId(signature.declaration) : 0,
      signature.minArgumentCount,
      signature.flags,
    ];
    if (signature.typeParameters) parts.push(this.parameters(signature.typeParameters));
    for (const each of [signature.thisParameter, ...signature.parameters])
      parts.push(each ? this.type(checker.getTypeOfSymbol(each)) : "-");
    const predicate = checker.getTypePredicateOfSignature(signature);
    if (predicate)
      parts.push(
        `${predicate.kind} ${predicate.parameterIndex} ${predicate.type ? this.type(predicate.type) : ""}`,
      );
    parts.push(this.type(checker.getReturnTypeOfSignature(signature)));
    return parts.join(" ");
  }

  indexes(type) {
    return this.checker
      .getIndexInfosOfType(type)
      .map((each) => `[${this.type(each.keyType)}]${this.type(each.type)}`)
      .join();
  }

  type(type, stack = this.stack || (this.stack = [])) {
    const { ts } = this;
    const T = ts.TypeFlags;
    if (--this.left < 0) return "";
    if (type.flags & (T.Intrinsic | T.Literal | T.UniqueESSymbol) && !(type.flags & T.EnumLiteral))
      return (
        this.checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation) +
        (type.symbol ? this.key(type.symbol) : "")
      );
    const at = stack.indexOf(type);
    if (at >= 0) return `^${at}`;
    stack.push(type);
    try {
      return this.compound(type);
    } finally {
      stack.pop();
    }
  }

  compound(type) {
    const { ts } = this;
    const T = ts.TypeFlags;
    if (type.flags & T.EnumLike && type.symbol) {
      this.enqueue(
        type.symbol.flags & ts.SymbolFlags.EnumMember ? type.symbol.parent || type.symbol : type.symbol,
      );
      return `E${this.key(type.symbol)}`;
    }
    if (type.flags & T.UnionOrIntersection) {
      const parts = type.types.map((each) => this.type(each));
      return type.flags & T.Union ? `(${parts.sort().join("|")})` : `(${parts.join("&")})`;
    }
    if (type.flags & T.TypeParameter)
      return `P${type.symbol ? this.key(type.symbol) : ""}${type.isThisType ? "this" : ""}`;
    if (type.flags & T.Index) return `keyof ${this.type(type.type)}`;
    if (type.flags & T.IndexedAccess) return `${this.type(type.objectType)}[${this.type(type.indexType)}]`;
    if (type.flags & T.Substitution) return `${this.type(type.baseType)}~${this.type(type.constraint)}`;
    if (type.flags & T.TemplateLiteral)
      return `\`${type.texts.join("$")}${type.types.map((each) => this.type(each))}`;
    if (type.flags & T.StringMapping) return `${type.symbol.escapedName}<${this.type(type.type)}>`;
    if (type.flags & T.Conditional) return this.conditional(type);
    return this.object(type);
  }

  conditional(type) {
    const { checker, ts } = this;
    const parts = [
      `?${ts.getNodeId(type.root.node)}`,
      this.type(type.checkType),
      this.type(type.extendsType),
    ];
    return `${parts.join(" ")} ${checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation)}`;
  }

  object(type) {
    const { ts, checker } = this;
    const O = ts.ObjectFlags;
    if (type.objectFlags & O.Reference || type.objectFlags & O.ClassOrInterface) {
      const target = type.target || type;
      const args = type.objectFlags & O.Reference ? checker.getTypeArguments(type) : [];
      if (target.objectFlags & O.Tuple)
        return `tuple ${target.elementFlags.join()} [${args.map((each) => this.type(each))}]`;
      if (target.symbol) this.enqueue(target.symbol);
      return `R${target.symbol ? this.key(target.symbol) : ""}<${args.map((each) => (each === target.thisType ? "this" : this.type(each)))}>`;
    }
    const { symbol } = type;
    const key = symbol ? this.key(symbol) : "";
    if (symbol && symbol.flags & (ts.SymbolFlags.ValueModule | ts.SymbolFlags.Class | ts.SymbolFlags.Enum)) {
      this.enqueue(symbol);
      return `typeof ${key}`;
    }
    if (symbol && symbol.members && symbol.flags & ts.SymbolFlags.Function) this.enqueue(symbol);
    const isOurs =
      !symbol || (symbol.declarations || []).some((each) => this.dirty.has(each.getSourceFile().path));
    if (!isOurs && !(type.objectFlags & (O.Instantiated | O.Mapped | O.ReverseMapped))) return `O${key}`;
    const members = checker
      .getPropertiesOfType(type)
      .map((each) => this.property(each))
      .sort();
    return `{${key} ${members.join(";")} ${this.signatures(type, true)} ${this.indexes(type)}}`;
  }
}

function isHash(ts, declaration) {
  return !!declaration.name && ts.isPrivateIdentifier(declaration.name);
}

module.exports = { Surface };
