"use strict";
/**
 * The hooks of the engine: a search of find-references in, the files and positions that can match out.
 *
 * A token matches a search when one of the symbols it is related to (itself, the members it stands for in a
 * union, the same member in base types, the property behind a shorthand or a destructured name) is among the
 * symbols searched for. These symbols do not depend on the search, so they are worked out once for each
 * token of each checker.
 */

/** @import ts from "typescript" */
/** @import { AnyNode, FindReferences, Hooks, TypeScript } from "../typescript-internals" */
/** @import { TokenReader } from "../syntax/tokens" */
/** @typedef {string | number} SymbolKey the name of a symbol for every checker of the same files */
/** @typedef {{ certain: (SymbolKey | null)[], possible?: SymbolKey }} RelatedSymbols */
/** @typedef {Map<SymbolKey | null, number[]>} Postings under null the positions that every search must visit */
/** @typedef {Map<SymbolKey | null, { files: ts.SourceFile[], count: number }>} Occurrences */
/**
 * What is known of one checker.
 * @typedef {object} CheckerMemory
 * @property {Map<string, ts.SourceFile[]> | null} filesByName
 * @property {Map<ts.SourceFile, Map<string, Postings>>} postings
 * @property {Map<ts.Node, RelatedSymbols>} related
 * @property {Map<string, Occurrences>} occurrences
 * @property {Map<ts.Node, ts.Symbol | undefined>} modules
 * @property {Map<ts.Node, ts.Type | undefined>} contextual
 * @property {unknown} imports the engine's table of imports
 */
/**
 * The checker before an edit, and the files that it still answers for.
 * @typedef {object} Predecessor
 * @property {ts.TypeChecker} checker
 * @property {ts.TypeChecker} successor
 * @property {(file: ts.SourceFile) => boolean} covers
 */

const { append, getOrCreate } = require("../../../engines/js/maps");

class SymbolIndex {
  constructor() {
    /** @type {WeakMap<ts.TypeChecker, CheckerMemory>} */
    this.memories = new WeakMap();
    this.libraries = "";
    this.isAttached = false;
    this.ts = /** @type {TypeScript} */ (/** @type {unknown} */ (null));
    this.core = /** @type {FindReferences} */ (/** @type {unknown} */ (null));
    /** @type {TokenReader} */
    this.tokensOf = () => ({ byPosition: new Map(), byName: new Map(), asked: [] });
    /** @type {Set<ts.SourceFile> | null} the files that a search visits; null: all */
    this.visitedFiles = null;
    /** @type {Set<SymbolKey> | null} collects the symbols that the search under way looks for */
    this.searchedFor = null;
    /** @type {WeakSet<ts.Node>} tokens from which a search went on to other files */
    this.relays = new WeakSet();
    /** @type {Predecessor | null} */
    this.predecessor = null;
  }

  /**
   * Tells the hooks which engine they serve: they exist before it is loaded.
   * @param {TypeScript} ts
   * @param {TokenReader} tokensOf
   * @param {string} libraries
   */
  attach(ts, tokensOf, libraries) {
    this.ts = ts;
    this.tokensOf = tokensOf;
    this.libraries = libraries;
    this.core = ts.FindAllReferences.Core.nib;
    this.isAttached = true;
  }

  /**
   * @param {ts.TypeChecker} checker
   * @returns {CheckerMemory}
   */
  memory(checker) {
    return getOrCreate(this.memories, checker, () => ({
      filesByName: null,
      postings: new Map(),
      related: new Map(),
      occurrences: new Map(),
      modules: new Map(),
      contextual: new Map(),
      imports: undefined,
    }));
  }

  /** @returns {Hooks} */
  hooks() {
    return {
      once: (checker, create) => {
        const memory = this.memory(checker);
        memory.imports ??= create();
        return /** @type {any} */ (memory.imports);
      },
      contextual: (checker, object, find) => {
        const { contextual } = this.memory(checker);
        // Each of its members asks, and each time the call around a whole table would be resolved anew.
        if (!contextual.has(object)) contextual.set(object, find());
        return contextual.get(object);
      },
      moduleOf: (checker, specifier) => this.moduleOf(checker, specifier),
      files: ({ checker, sourceFiles }, { text, allSearchSymbols }) =>
        this.filesOf(checker, sourceFiles, text, this.keysOf(allSearchSymbols)),
      positions: (file, { text, allSearchSymbols }, container, { checker }) => {
        const keys = this.keysOf(allSearchSymbols);
        return this.isLibrary(file)
          ? []
          : this.positionsIn(container, file, this.postings(checker, file, text), keys);
      },
      token: (file, position) => this.tokenAt(file, position),
      relay: (node) => this.relays.add(node),
    };
  }

  /**
   * Names of symbols that hold for every checker of the same files; noted for the search under way.
   * @param {ts.Symbol[]} symbols
   */
  keysOf(symbols) {
    const keys = symbols.map((each) => this.keyOf(each));
    if (this.searchedFor) for (const key of keys) this.searchedFor.add(key);
    return keys;
  }

  /**
   * @param {ts.Symbol} symbol
   * @returns {SymbolKey}
   */
  keyOf(symbol) {
    const { ts } = this;
    if (!(symbol.flags & ts.SymbolFlags.Transient)) return ts.getSymbolId(symbol);
    if (symbol.codenibKey === undefined) {
      // A property that a binding pattern asks for has no declaration: the patched engine names its element.
      const declaration = symbol.declarations?.[0] ?? symbol.codenibElement;
      symbol.codenibKey = declaration
        ? `${symbol.escapedName} ${ts.getNodeId(declaration)}`
        : `? ${symbol.escapedName}`;
    }
    return symbol.codenibKey;
  }

  /**
   * The part of a symbol in the name of a query: what the engine creates for each checker has no number.
   * @param {ts.Symbol} symbol
   */
  idOf(symbol) {
    const { ts } = this;
    const isCreated = symbol.flags & ts.SymbolFlags.Transient && !ts.getCheckFlags(symbol);
    return isCreated ? this.keyOf(symbol) : ts.getSymbolId(symbol);
  }

  /**
   * @param {ts.TypeChecker} checker
   * @param {ts.Node} specifier
   */
  moduleOf(checker, specifier) {
    const { modules } = this.memory(checker);
    if (!modules.has(specifier)) modules.set(specifier, checker.getSymbolAtLocation(specifier));
    return modules.get(specifier);
  }

  /**
   * @param {ts.SourceFile} file
   * @param {number} position
   */
  tokenAt(file, position) {
    if (!this.isAttached || this.isLibrary(file)) return undefined;
    return this.tokensOf(file).byPosition.get(position);
  }

  /** @param {ts.SourceFile} file */
  isLibrary(file) {
    return file.fileName.startsWith(this.libraries);
  }

  /**
   * The files, in the program's order, that have a token related to one of `symbols`.
   * @param {ts.TypeChecker} checker
   * @param {readonly ts.SourceFile[]} sourceFiles
   * @param {string} text
   * @param {SymbolKey[]} symbols
   */
  filesOf(checker, sourceFiles, text, symbols) {
    const occurrences = this.occurrences(checker, sourceFiles, text);
    const always = occurrences.get(null);
    if (symbols.length === 1 && !always) return occurrences.get(symbols[0])?.files || [];
    const matching = new Set(always?.files);
    for (const symbol of symbols) for (const file of occurrences.get(symbol)?.files || []) matching.add(file);
    return matching.size < 2 ? [...matching] : sourceFiles.filter((file) => matching.has(file));
  }

  /**
   * For one name: each symbol with the files that it occurs in and the number of its tokens.
   * @param {ts.TypeChecker} checker
   * @param {readonly ts.SourceFile[]} sourceFiles
   * @param {string} text
   * @returns {Occurrences}
   */
  occurrences(checker, sourceFiles, text) {
    const memory = this.memory(checker);
    return getOrCreate(memory.occurrences, text, () => {
      /** @type {Occurrences} */
      const occurrences = new Map();
      for (const file of this.filesByName(memory, sourceFiles).get(text) || []) {
        for (const [symbol, positions] of this.postings(checker, file, text)) {
          const entry = getOrCreate(occurrences, symbol, () => ({ files: [], count: 0 }));
          entry.files.push(file);
          entry.count += positions.length;
        }
      }
      return occurrences;
    });
  }

  /**
   * @param {CheckerMemory} memory
   * @param {readonly ts.SourceFile[]} sourceFiles
   */
  filesByName(memory, sourceFiles) {
    if (memory.filesByName) return memory.filesByName;
    /** @type {Map<string, ts.SourceFile[]>} */
    const names = new Map();
    for (const file of sourceFiles) {
      if (this.isLibrary(file)) continue;
      for (const name of this.tokensOf(file).byName.keys()) append(names, name, file);
    }
    memory.filesByName = names;
    return names;
  }

  /**
   * The positions below `container` that a search for `symbols` visits, in order.
   * @param {ts.Node} container
   * @param {ts.SourceFile} file
   * @param {Postings} postings
   * @param {SymbolKey[]} symbols
   */
  positionsIn(container, file, postings, symbols) {
    const always = postings.get(null);
    let positions = symbols.length === 1 && !always ? (postings.get(symbols[0]) ?? []) : [];
    if (symbols.length !== 1 || always) {
      const all = symbols.flatMap((symbol) => postings.get(symbol) ?? []);
      positions = [...new Set([...all, ...(always ?? [])])].sort((a, b) => a - b);
    }
    if (this.visitedFiles && !this.visitedFiles.has(file))
      positions = positions.filter((position) => this.isRelay(this.tokenAt(file, position)));
    return container === file
      ? positions
      : positions.filter((position) => position >= container.pos && position <= container.end);
  }

  /**
   * Whether a search may go on to other files from a token: an import, an export, or a name that is exported
   * where it is declared. Told by syntax: a search from elsewhere may have come past without going on.
   * @param {ts.Node | undefined} token
   */
  isRelay(token) {
    const { ts } = this;
    if (!token || this.relays.has(token)) return true;
    const { parent } = token;
    const tests = [
      ts.isImportSpecifier,
      ts.isExportSpecifier,
      ts.isImportClause,
      ts.isNamespaceImport,
      ts.isNamespaceExport,
      ts.isImportEqualsDeclaration,
      ts.isBindingElement,
      ts.isJSDocTypedefTag,
      ts.isJSDocCallbackTag,
    ];
    if (tests.some((test) => test(parent))) return true;
    for (const each of [parent, parent.parent || parent])
      if (ts.isExportAssignment(each) || (ts.isBinaryExpression(each) && ts.isInJSFile(token))) return true;
    if (!ts.canHaveModifiers(parent) && !ts.isVariableDeclaration(parent)) return false;
    const flags = ts.getCombinedModifierFlags(
      /** @type {ts.Declaration} */ (/** @type {ts.Node} */ (parent)),
    );
    return (flags & ts.ModifierFlags.Export) !== 0;
  }

  /**
   * The positions of a name in a file by related symbol.
   * @param {ts.TypeChecker} checker
   * @param {ts.SourceFile} file
   * @param {string} text
   * @returns {Postings}
   */
  postings(checker, file, text) {
    const names = getOrCreate(this.memory(checker).postings, file, () => new Map());
    return getOrCreate(names, text, () => {
      /** @type {Postings} */
      const postings = new Map();
      for (const token of this.tokensOf(file).byName.get(text) || []) {
        const position = searchPosition(file, token, text);
        if (position < 0) continue;
        const { certain, possible } = this.related(checker, token);
        for (const symbol of certain) append(postings, symbol, position);
        if (possible !== undefined) append(postings, possible, position);
      }
      return postings;
    });
  }

  /**
   * Drops what is known of a name; false when nothing was.
   * @param {ts.TypeChecker} checker
   * @param {string} text
   */
  forget(checker, text) {
    const memory = this.memory(checker);
    for (const file of memory.filesByName?.get(text) ?? []) this.forgetTokens(memory, file, text);
    let wasKnown = memory.occurrences.delete(text);
    for (const [file, names] of memory.postings) {
      if (!names.delete(text)) continue;
      wasKnown = true;
      this.forgetTokens(memory, file, text);
    }
    return wasKnown;
  }

  /**
   * @param {CheckerMemory} memory
   * @param {ts.SourceFile} file
   * @param {string} text
   */
  forgetTokens(memory, file, text) {
    for (const token of this.tokensOf(file).byName.get(text) ?? []) memory.related.delete(token);
  }

  /**
   * The symbols whose search finds the token for certain, and perhaps one more: a search for the variable of
   * a shorthand property also comes by the tokens of that property, to find the declaration.
   * @param {ts.TypeChecker} checker
   * @param {ts.Node} token
   * @returns {RelatedSymbols}
   */
  related(checker, token) {
    return getOrCreate(this.memory(checker).related, token, () =>
      this.findRelated(this.checkerFor(checker, token), token),
    );
  }

  /**
   * The checker before the edit has worked out most types; where the edit reaches nothing it is as good.
   * @param {ts.TypeChecker} checker
   * @param {ts.Node} token
   */
  checkerFor(checker, token) {
    const { predecessor } = this;
    if (predecessor?.successor !== checker || !predecessor.covers(token.getSourceFile())) return checker;
    return predecessor.checker;
  }

  /**
   * Takes over what is known of files that an edit does not affect.
   * @param {ts.TypeChecker} before
   * @param {ts.TypeChecker} after
   * @param {ts.SourceFile[]} affected
   */
  inherit(before, after, affected) {
    const old = this.memory(before);
    const memory = this.memory(after);
    memory.related = old.related;
    memory.postings = old.postings;
    for (const file of affected) {
      memory.postings.delete(file);
      for (const name of this.tokensOf(file).byName.keys()) this.forgetTokens(memory, file, name);
    }
    this.memories.delete(before);
  }

  /**
   * @param {ts.TypeChecker} checker
   * @param {ts.Node} token
   * @returns {RelatedSymbols}
   */
  findRelated(checker, token) {
    const { ts, core } = this;
    const parent = /** @type {AnyNode} */ (token.parent);
    const symbol = checker.getSymbolAtLocation(token);
    if (!symbol || (ts.isImportSpecifier(parent) && parent.propertyName === token)) return { certain: [] };
    if (ts.isExportSpecifier(parent))
      return { certain: [this.keyOf(core.getLocalSymbolForExportSpecifier(token, symbol, parent, checker))] };
    /** @type {Set<SymbolKey | null>} */
    const certain = new Set();
    if (ts.isJSDocPropertyLikeTag(parent)) certain.add(null);
    /** @type {Parameters<FindReferences["forEachRelatedSymbol"]>[5]} */
    const visit = (own, root, base) => {
      const isBase = base && core.isStaticSymbol(symbol) === core.isStaticSymbol(base);
      certain.add(this.keyOf(isBase ? base : root || own));
    };
    core.forEachRelatedSymbol(symbol, token, checker, false, true, visit, () => true);
    const value = checker.getShorthandAssignmentValueSymbol(symbol.valueDeclaration);
    const shorthand = value && this.keyOf(value);
    const isMore = shorthand !== undefined && !certain.has(shorthand);
    return { certain: [...certain], possible: isMore ? shorthand : undefined };
  }
}

/**
 * Where the engine's own text search would find the token; -1 where it would not.
 * @param {ts.SourceFile} file
 * @param {ts.Node} token
 * @param {string} text
 */
function searchPosition(file, token, text) {
  const start = token.getStart(file);
  if (file.text.startsWith(text, start)) return start;
  return file.text.startsWith(text, start + 1) ? start + 1 : -1;
}

module.exports = { SymbolIndex };
