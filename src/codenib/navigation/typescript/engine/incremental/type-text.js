"use strict";
/**
 * A type of a program in, a text out: equal texts mean equal types with the same declarations.
 *
 * A type is written down with the number of each declaration that it has (matching.js). A class or interface
 * counts by number and arguments; `onSymbol` is told of each, so that its members can have entries of their own.
 */

/** @import ts from "typescript" */
/** @import { TypeScript } from "../typescript-internals" */
/** @typedef {any} AnyType a type of which the flags tell what it has */

/** The most types that are written down for one file. */
const MAX_TYPES = 4000;

class TypeText {
  /**
   * @param {TypeScript} ts
   * @param {ts.TypeChecker} checker
   * @param {(symbol: ts.Symbol) => boolean} isDirty whether it is declared in a file whose types are written out
   * @param {(symbol: ts.Symbol) => void} onSymbol
   */
  constructor(ts, checker, isDirty, onSymbol) {
    this.ts = ts;
    this.checker = checker;
    this.isDirty = isDirty;
    this.onSymbol = onSymbol;
    this.left = MAX_TYPES;
    /** @type {AnyType[]} the types around the one that is written */
    this.around = [];
  }

  get isTooLarge() {
    return this.left < 0;
  }

  /**
   * The numbers of a symbol's declarations.
   * @param {ts.Symbol} symbol
   */
  key(symbol) {
    if (!symbol.declarations) return `?${symbol.escapedName}`;
    return symbol.declarations.map((each) => this.ts.getNodeId(each)).join(",");
  }

  /** @param {readonly AnyType[]} types */
  parameters(types) {
    const { checker } = this;
    const text = (/** @type {AnyType | undefined} */ type) => (type ? this.type(type) : "");
    return types
      .map((each) => {
        const [bound, value] = [
          checker.getBaseConstraintOfType(each),
          checker.getDefaultFromTypeParameter(each),
        ];
        return `${this.key(each.symbol)}:${text(bound)}=${text(value)}`;
      })
      .join(",");
  }

  /**
   * @param {AnyType} type
   * @param {readonly ts.SignatureKind[]} kinds
   */
  signatures(type, kinds) {
    const texts = kinds.map((kind) =>
      this.checker.getSignaturesOfType(type, kind).map((each) => this.signature(each)),
    );
    return texts.map((each) => each.join(";")).join("#");
  }

  /** @param {AnyType} type */
  callable(type) {
    const { Call, Construct } = this.ts.SignatureKind;
    return this.signatures(type, [Call, Construct]);
  }

  /** @param {ts.Signature} signature */
  signature(signature) {
    const { checker, ts } = this;
    /** @type {(string | number)[]} */
    const parts = [
      signature.declaration ? ts.getNodeId(signature.declaration) : 0,
      signature.minArgumentCount,
      signature.flags,
    ];
    if (signature.typeParameters) parts.push(this.parameters(signature.typeParameters));
    for (const each of [signature.thisParameter, ...signature.parameters])
      parts.push(each ? this.type(checker.getTypeOfSymbol(each)) : "-");
    const predicate = checker.getTypePredicateOfSignature(signature);
    if (predicate) {
      const type = predicate.type ? this.type(predicate.type) : "";
      parts.push(`${predicate.kind} ${predicate.parameterIndex} ${type}`);
    }
    parts.push(this.type(checker.getReturnTypeOfSignature(signature)));
    return parts.join(" ");
  }

  /** @param {AnyType} type */
  indexes(type) {
    const infos = this.checker.getIndexInfosOfType(type);
    return infos.map((each) => `[${this.type(each.keyType)}]${this.type(each.type)}`).join();
  }

  /** @param {ts.Symbol} symbol */
  property(symbol) {
    const { checker, ts } = this;
    const flags = symbol.flags & (ts.SymbolFlags.Optional | ts.SymbolFlags.Accessor | ts.SymbolFlags.Method);
    return `${symbol.escapedName} ${this.key(symbol)} ${flags} ${this.type(checker.getTypeOfSymbol(symbol))}`;
  }

  /**
   * @param {AnyType} type
   * @returns {string}
   */
  type(type) {
    const T = this.ts.TypeFlags;
    if (--this.left < 0) return "";
    if (type.flags & (T.Intrinsic | T.Literal | T.UniqueESSymbol) && !(type.flags & T.EnumLiteral))
      return this.plain(type) + (type.symbol ? this.key(type.symbol) : "");
    const at = this.around.indexOf(type);
    if (at >= 0) return `^${at}`;
    this.around.push(type);
    try {
      return this.compound(type);
    } finally {
      this.around.pop();
    }
  }

  /** @param {AnyType} type */
  plain(type) {
    return this.checker.typeToString(type, undefined, this.ts.TypeFormatFlags.NoTruncation);
  }

  /** @param {AnyType[]} types */
  list(types) {
    return types.map((each) => this.type(each));
  }

  /** @param {AnyType} type */
  compound(type) {
    const T = this.ts.TypeFlags;
    if (type.flags & T.EnumLike && type.symbol) return this.enumeration(type.symbol);
    if (type.flags & T.Union) return `(${this.list(type.types).sort().join("|")})`;
    if (type.flags & T.Intersection) return `(${this.list(type.types).join("&")})`;
    if (type.flags & T.TypeParameter)
      return `P${type.symbol ? this.key(type.symbol) : ""}${type.isThisType ? "this" : ""}`;
    if (type.flags & T.Index) return `keyof ${this.type(type.type)}`;
    if (type.flags & T.IndexedAccess) return `${this.type(type.objectType)}[${this.type(type.indexType)}]`;
    if (type.flags & T.Substitution) return `${this.type(type.baseType)}~${this.type(type.constraint)}`;
    if (type.flags & T.TemplateLiteral) return `\`${type.texts.join("$")}${this.list(type.types)}`;
    if (type.flags & T.StringMapping) return `${type.symbol.escapedName}<${this.type(type.type)}>`;
    if (type.flags & T.Conditional) return this.conditional(type);
    return this.object(type);
  }

  /** @param {ts.Symbol} symbol */
  enumeration(symbol) {
    const isMember = symbol.flags & this.ts.SymbolFlags.EnumMember;
    this.onSymbol((isMember && symbol.parent) || symbol);
    return `E${this.key(symbol)}`;
  }

  /** @param {AnyType} type */
  conditional(type) {
    const root = `?${this.ts.getNodeId(type.root.node)}`;
    const parts = [root, this.type(type.checkType), this.type(type.extendsType)];
    return `${parts.join(" ")} ${this.plain(type)}`;
  }

  /** @param {AnyType} type */
  object(type) {
    const { ts } = this;
    const O = ts.ObjectFlags;
    if (type.objectFlags & (O.Reference | O.ClassOrInterface)) return this.reference(type);
    /** @type {{ symbol: ts.Symbol | undefined }} */
    const { symbol } = type;
    const key = symbol ? this.key(symbol) : "";
    if (symbol && symbol.flags & (ts.SymbolFlags.ValueModule | ts.SymbolFlags.Class | ts.SymbolFlags.Enum)) {
      this.onSymbol(symbol);
      return `typeof ${key}`;
    }
    if (symbol?.members && symbol.flags & ts.SymbolFlags.Function) this.onSymbol(symbol);
    const isWritten = !symbol || this.isDirty(symbol);
    if (!isWritten && !(type.objectFlags & (O.Instantiated | O.Mapped | O.ReverseMapped))) return `O${key}`;
    const members = this.checker.getPropertiesOfType(type).map((each) => this.property(each));
    return `{${key} ${members.sort().join(";")} ${this.callable(type)} ${this.indexes(type)}}`;
  }

  /**
   * A class, interface or tuple with its arguments.
   * @param {AnyType} type
   */
  reference(type) {
    const O = this.ts.ObjectFlags;
    const target = type.target || type;
    const args = type.objectFlags & O.Reference ? this.checker.getTypeArguments(type) : [];
    if (target.objectFlags & O.Tuple)
      return `tuple ${target.elementFlags.join()} [${args.map((each) => this.type(each))}]`;
    if (target.symbol) this.onSymbol(target.symbol);
    const texts = args.map((each) => (each === target.thisType ? "this" : this.type(each)));
    return `R${target.symbol ? this.key(target.symbol) : ""}<${texts}>`;
  }
}

module.exports = { TypeText };
