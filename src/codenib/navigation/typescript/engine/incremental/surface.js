"use strict";
/**
 * A file of a program in, what other files can see of it out: a text for each name, and what is used unwritten.
 *
 * A class or interface of another file counts by number and arguments (type-text.js); one of the looked at files
 * has entries of its own. What no name leads to (bases, type parameters, call and index signatures, constructors)
 * is under names that begin with a blank: it counts for every dependent.
 */

/** @import ts from "typescript" */
/** @import { AnyNode, TypeScript } from "../typescript-internals" */

const { TypeText } = require("./type-text");

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
  /**
   * @param {TypeScript} ts
   * @param {ts.Program} program
   * @param {Set<string>} dirty the files (by path) whose types are written out
   */
  constructor(ts, program, dirty) {
    this.ts = ts;
    this.program = program;
    this.checker = program.getTypeChecker();
    this.dirty = dirty;
    this.types = this.newTypes();
    /** @type {Map<string, string>} */
    this.entries = new Map();
    /** @type {ts.Symbol[]} symbols that are still to be described */
    this.queue = [];
    /** @type {Set<ts.Symbol>} */
    this.queued = new Set();
  }

  newTypes() {
    const isDirty = (/** @type {ts.Symbol} */ symbol) => this.isDirty(symbol);
    return new TypeText(this.ts, this.checker, isDirty, (symbol) => this.enqueueDirty(symbol));
  }

  /**
   * Name to text; null where it is too large to tell.
   * @param {string} path
   */
  of(path) {
    const { checker } = this;
    this.entries = new Map();
    const file = this.program.getSourceFileByPath(path);
    if (!file) return this.entries;
    this.types = this.newTypes();
    this.queue = [];
    this.queued = new Set();
    const module = file.symbol && checker.getSymbolAtLocation(file);
    this.add(" kind", `${!!module} ${!!file.commonJsModuleIndicator} ${!!file.externalModuleIndicator}`);
    if (module) this.addModule(module);
    else for (const each of file.locals?.values() ?? []) this.enqueue(checker.getMergedSymbol(each));
    for (let symbol = this.queue.shift(); symbol; symbol = this.queue.shift()) this.describe(symbol);
    return this.types.isTooLarge ? null : this.entries;
  }

  /**
   * The type of a function, with the classes that are declared in it; where it is too large, a text that no other equals.
   * @param {ts.Node} node
   */
  ofFunction(node) {
    const { ts } = this;
    this.entries = new Map();
    this.queue = [];
    this.queued = new Set();
    this.types = new TypeText(
      ts,
      this.checker,
      (symbol) => this.isDirty(symbol),
      (symbol) => {
        if (symbol.declarations?.some((each) => ts.findAncestor(each, (it) => it === node)))
          this.enqueue(symbol);
      },
    );
    const signature = this.checker.getSignatureFromDeclaration(/** @type {ts.SignatureDeclaration} */ (node));
    this.add("", signature ? this.types.signature(signature) : "");
    for (let symbol = this.queue.shift(); symbol; symbol = this.queue.shift()) this.describe(symbol);
    if (this.types.isTooLarge) return Symbol("too large");
    return JSON.stringify([...this.entries].sort());
  }

  /** @param {ts.Symbol} module */
  addModule(module) {
    const { checker } = this;
    this.addPassedOn(module, "", new Set());
    for (const each of checker.getExportsOfModule(module)) this.enqueue(each);
    const assigned = module.exports?.get(this.ts.InternalSymbolName.ExportEquals);
    if (assigned) this.enqueue(assigned);
    const whole = checker.resolveExternalModuleSymbol(module);
    if (whole === module) return;
    this.add(" default", this.types.type(checker.getTypeOfSymbol(whole)));
    this.enqueue(whole);
  }

  /**
   * Names by which a search comes past this module: those of all that it exports from others, hidden ones
   * too, and what default exports are called at home.
   * @param {ts.Symbol | undefined} module
   * @param {string} from
   * @param {Set<ts.Symbol>} visited
   */
  addPassedOn(module, from, visited) {
    if (!module?.exports || visited.has(module)) return;
    visited.add(module);
    const { Default, ExportEquals, ExportStar } = this.ts.InternalSymbolName;
    for (const [name, symbol] of module.exports) {
      if (name === ExportStar) continue;
      if (from) this.add(this.nameOf(symbol), `from ${from}`);
      if (name === Default || name === ExportEquals) this.addHomeName(symbol, from);
    }
    for (const each of module.exports.get(ExportStar)?.declarations ?? []) {
      const { moduleSpecifier } = /** @type {AnyNode} */ (each);
      if (!moduleSpecifier) continue;
      const source = this.checker.getSymbolAtLocation(moduleSpecifier);
      this.addPassedOn(source, `${from} ${moduleSpecifier.text}`, visited);
    }
  }

  /**
   * What a default export is called where it is declared.
   * @param {ts.Symbol} symbol
   * @param {string} from
   */
  addHomeName(symbol, from) {
    const isAlias = symbol.flags & this.ts.SymbolFlags.Alias;
    const target = isAlias ? this.checker.getImmediateAliasedSymbol(symbol) : undefined;
    const home = target || symbol.valueDeclaration?.localSymbol;
    if (home) this.add(String(home.escapedName), `at home in ${from} ${this.types.key(home)}`);
  }

  /**
   * @param {string} name
   * @param {string} text
   */
  add(name, text) {
    const known = this.entries.get(name);
    this.entries.set(name, known === undefined ? text : `${known}\n${text}`);
  }

  /** @param {ts.Symbol} symbol */
  enqueue(symbol) {
    if (this.queued.has(symbol)) return;
    this.queued.add(symbol);
    this.queue.push(symbol);
  }

  /** @param {ts.Symbol} symbol */
  enqueueDirty(symbol) {
    if (this.isDirty(symbol)) this.enqueue(symbol);
  }

  /** @param {ts.Symbol} symbol */
  isDirty(symbol) {
    return (symbol.declarations ?? []).some((each) => this.dirty.has(each.getSourceFile().path));
  }

  /** @param {ts.Symbol} symbol */
  nameOf(symbol) {
    const { Default, ExportEquals } = this.ts.InternalSymbolName;
    const name = this.ts.symbolName(symbol);
    if (symbol.escapedName === Default || symbol.escapedName === ExportEquals) return " default";
    return String(symbol.escapedName).startsWith("__@") || UNWRITTEN.has(name) ? ` ${name}` : name;
  }

  /** @param {ts.Symbol} symbol */
  describe(symbol) {
    const { checker, types } = this;
    const F = this.ts.SymbolFlags;
    const { flags } = symbol;
    const name = this.nameOf(symbol);
    if (flags & F.Alias) {
      const target = checker.getAliasedSymbol(symbol);
      this.add(name, `alias ${types.key(target)}`);
      if (target !== symbol) this.enqueueDirty(target);
      return;
    }
    const parts = [`${types.key(symbol)} ${flags & ~F.Transient}`];
    if (flags & F.TypeAlias) {
      parts.push(types.parameters(this.typeParametersOf(symbol)));
      parts.push(types.type(checker.getDeclaredTypeOfSymbol(symbol)));
    }
    if (flags & F.Function && symbol.members) this.addAssigned(symbol);
    if (flags & F.Enum) for (const each of symbol.declarations ?? []) parts.push(each.getText());
    else if (flags & (F.Class | F.Interface)) this.addMembers(symbol, name);
    if (flags & F.Module) for (const each of checker.getExportsOfModule(symbol)) this.enqueue(each);
    if (flags & F.Class) this.addStatics(symbol, name);
    else if (flags & F.Value && !(flags & F.Enum && !(flags & F.Variable)))
      parts.push(types.type(checker.getTypeOfSymbol(symbol)));
    this.add(name, parts.join(" "));
  }

  /** @param {ts.Symbol} symbol */
  typeParametersOf(symbol) {
    const { ts, checker } = this;
    const declared = (symbol.declarations ?? []).flatMap(
      (each) => ts.getEffectiveTypeParameterDeclarations(/** @type {any} */ (each)) ?? [],
    );
    return declared.map((each) => checker.getTypeAtLocation(each));
  }

  /**
   * @param {ts.Symbol} symbol
   * @param {string} name
   */
  addMembers(symbol, name) {
    const { checker, types, ts } = this;
    /** @type {any} */
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    const hasBases = type.objectFlags & ts.ObjectFlags.ClassOrInterface;
    const bases = (hasBases ? checker.getBaseTypes(type) : []) ?? [];
    const shape = [
      types.parameters(type.typeParameters ?? []),
      bases.map((each) => types.type(each)).join(" & "),
      types.callable(type),
      types.indexes(type),
    ];
    this.add(` shape of ${name}`, shape.join(" | "));
    for (const each of symbol.members?.values() ?? []) {
      if (!(each.flags & ts.SymbolFlags.ClassMember)) continue;
      const merged = checker.getMergedSymbol(each);
      const text = types.property(merged);
      this.add(this.nameOf(merged), `${types.key(symbol)}.${text}`);
      // Who writes the type's name may use its members together: keys, values, what it can be assigned to.
      if (!this.isPrivate(merged)) this.add(name, text);
    }
    if (symbol.members && !symbol.declarations?.some((each) => ts.isInJSFile(each))) return;
    for (const each of checker.getPropertiesOfType(type))
      this.add(this.nameOf(each), `${types.key(symbol)}:${types.property(each)}`);
  }

  /**
   * The members that a function of JavaScript gives to what it constructs.
   * @param {ts.Symbol} symbol
   */
  addAssigned(symbol) {
    for (const each of symbol.members?.values() ?? [])
      if (each.flags & this.ts.SymbolFlags.ClassMember)
        this.add(this.nameOf(each), `${this.types.key(symbol)}.${this.types.property(each)}`);
  }

  /** @param {ts.Symbol} symbol */
  isPrivate(symbol) {
    const { ts } = this;
    const declaration = symbol.valueDeclaration;
    if (!declaration) return false;
    if (ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Private) return true;
    const { name } = /** @type {AnyNode} */ (declaration);
    return !!name && ts.isPrivateIdentifier(name);
  }

  /**
   * @param {ts.Symbol} symbol
   * @param {string} name
   */
  addStatics(symbol, name) {
    const { checker, types } = this;
    const { Call, Construct } = this.ts.SignatureKind;
    const type = checker.getTypeOfSymbol(symbol);
    this.add(` made ${name}`, types.signatures(type, [Construct, Call]));
    for (const each of checker.getPropertiesOfType(type))
      if (each.escapedName !== "prototype")
        this.add(this.nameOf(each), `${types.key(symbol)} static ${types.property(each)}`);
  }
}

module.exports = { Surface };
