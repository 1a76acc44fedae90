"use strict";
/**
 * The hooks of the engine: a search of find-references in, the files and positions that can match out.
 *
 * A token matches a search when one of the symbols it is related to (itself, the members it stands for in a
 * union, the same member in base types, the property behind a shorthand or a destructured name) is among the
 * symbols searched for. These symbols do not depend on the search, so they are worked out once for each
 * token of each checker.
 */

class Search {
  constructor() {
    this.checkers = new WeakMap();
    this.libraries = "";
    this.ts = null;
    this.tokensOf = null;
    this.only = null; // the files that a search visits; null: all
    this.noted = null; // the symbols that a search looked for
    this.relays = new WeakSet(); // tokens from which a search went on to other files
    this.elder = null; // the checker before the edit, and the files that it still answers for
  }

  /** Tells the hooks which engine they serve: they are made before it is loaded. */
  serve(ts, tokensOf, libraries) {
    this.ts = ts;
    this.tokensOf = tokensOf;
    this.libraries = libraries;
    this.nib = ts.FindAllReferences.Core.nib;
  }

  memory(checker) {
    let memory = this.checkers.get(checker);
    if (!memory)
      this.checkers.set(
        checker,
        (memory = {
          names: null,
          postings: new Map(),
          related: new Map(),
          spread: new Map(),
          modules: new Map(),
        }),
      );
    return memory;
  }

  hooks() {
    return {
      once: (checker, make) => {
        const memory = this.memory(checker);
        return memory.imports || (memory.imports = make());
      },
      moduleOf: (checker, specifier) => this.moduleOf(checker, specifier),
      files: (state, search) =>
        this.files(state.checker, state.sourceFiles, search.text, this.keysOf(search.allSearchSymbols)),
      positions: (file, search, container, state) =>
        this.positions(state.checker, file, search.text, this.keysOf(search.allSearchSymbols), container),
      token: (file, position) => this.token(file, position),
      relay: (node) => this.relays.add(node),
    };
  }

  /** Names of symbols that hold for every checker of the same files, and are noted for the search under way. */
  keysOf(symbols) {
    const keys = symbols.map((each) => this.keyOf(each));
    if (this.noted) for (const key of keys) this.noted.add(key);
    return keys;
  }

  keyOf(symbol) {
    const { ts } = this;
    if (!(symbol.flags & ts.SymbolFlags.Transient)) return ts.getSymbolId(symbol);
    if (symbol.nibKey === undefined)
      symbol.nibKey =
        symbol.declarations && symbol.declarations.length
          ? `${symbol.escapedName} ${ts.getNodeId(symbol.declarations[0])}`
          : `? ${symbol.escapedName}`;
    return symbol.nibKey;
  }

  /** The part of a symbol in the name of a question: what the engine makes for each checker has no number. */
  idOf(symbol) {
    const { ts } = this;
    const isMade = symbol.flags & ts.SymbolFlags.Transient && !ts.getCheckFlags(symbol);
    return isMade ? this.keyOf(symbol) : ts.getSymbolId(symbol);
  }

  moduleOf(checker, specifier) {
    const { modules } = this.memory(checker);
    if (!modules.has(specifier)) modules.set(specifier, checker.getSymbolAtLocation(specifier));
    return modules.get(specifier);
  }

  token(file, position) {
    if (!this.ts || this.isLibrary(file)) return undefined;
    return this.tokensOf(file).byPosition.get(position);
  }

  isLibrary(file) {
    return file.fileName.startsWith(this.libraries);
  }

  /** The files, in the program's order, that have a token related to one of `symbols`. */
  files(checker, sourceFiles, text, symbols) {
    const spread = this.spread(checker, sourceFiles, text);
    const always = spread.get(null);
    if (symbols.length === 1 && !always) return spread.get(symbols[0])?.files || [];
    const found = new Set(always?.files);
    for (const symbol of symbols) for (const file of spread.get(symbol)?.files || []) found.add(file);
    return found.size < 2 ? [...found] : sourceFiles.filter((file) => found.has(file));
  }

  /** For one name: each symbol with the files that it occurs in and the number of its tokens. */
  spread(checker, sourceFiles, text) {
    const memory = this.memory(checker);
    let spread = memory.spread.get(text);
    if (spread) return spread;
    memory.spread.set(text, (spread = new Map()));
    for (const file of this.filesWithName(memory, sourceFiles).get(text) || []) {
      for (const [symbol, positions] of this.postings(checker, file, text)) {
        const entry = spread.get(symbol);
        if (entry) {
          entry.files.push(file);
          entry.count += positions.length;
        } else spread.set(symbol, { files: [file], count: positions.length });
      }
    }
    return spread;
  }

  filesWithName(memory, sourceFiles) {
    if (memory.names) return memory.names;
    const names = (memory.names = new Map());
    for (const file of sourceFiles) {
      if (this.isLibrary(file)) continue;
      for (const name of this.tokensOf(file).byName.keys()) {
        const list = names.get(name);
        if (list) list.push(file);
        else names.set(name, [file]);
      }
    }
    return names;
  }

  positions(checker, file, text, symbols, container) {
    if (this.isLibrary(file)) return [];
    const postings = this.postings(checker, file, text);
    let found;
    if (symbols.length === 1) found = postings.get(symbols[0]) || [];
    else {
      const all = new Set();
      for (const symbol of symbols) for (const position of postings.get(symbol) || []) all.add(position);
      found = [...all].sort((a, b) => a - b);
    }
    const always = postings.get(null);
    if (always) found = [...new Set([...found, ...always])].sort((a, b) => a - b);
    if (this.only && !this.only.has(file))
      found = found.filter((position) => this.isRelay(this.token(file, position)));
    return container === file
      ? found
      : found.filter((position) => position >= container.pos && position <= container.end);
  }

  /**
   * Whether a search may go on to other files from a token: an import, an export, or a name that is exported
   * where it is declared. Told by syntax: a search from elsewhere may have come past without going on.
   */
  isRelay(token) {
    const { ts } = this;
    if (!token || this.relays.has(token)) return true;
    const { parent } = token;
    if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent) || ts.isImportClause(parent))
      return true;
    if (ts.isNamespaceImport(parent) || ts.isNamespaceExport(parent) || ts.isImportEqualsDeclaration(parent))
      return true;
    if (ts.isBindingElement(parent) || ts.isJSDocTypedefTag(parent) || ts.isJSDocCallbackTag(parent))
      return true;
    for (const each of [parent, parent.parent || parent])
      if (ts.isExportAssignment(each) || (ts.isBinaryExpression(each) && ts.isInJSFile(token))) return true;
    return ts.canHaveModifiers(parent) || ts.isVariableDeclaration(parent)
      ? (ts.getCombinedModifierFlags(parent) & ts.ModifierFlags.Export) !== 0
      : false;
  }

  /** The positions of `text` in a file by related symbol; under null those that every search must see. */
  postings(checker, file, text) {
    const memory = this.memory(checker);
    let names = memory.postings.get(file);
    if (!names) memory.postings.set(file, (names = new Map()));
    let postings = names.get(text);
    if (postings) return postings;
    names.set(text, (postings = new Map()));
    for (const token of this.tokensOf(file).byName.get(text) || []) {
      const position = this.searchPosition(file, token, text);
      if (position < 0) continue;
      const { certain, possible } = this.related(checker, token);
      for (const symbol of possible === undefined ? certain : [...certain, possible]) {
        const list = postings.get(symbol);
        if (list) list.push(position);
        else postings.set(symbol, [position]);
      }
    }
    return postings;
  }

  /** Drops what is known of a name; false when nothing was. */
  forget(checker, text) {
    const memory = this.memory(checker);
    if (memory.names) {
      for (const file of memory.names.get(text) || [])
        for (const token of this.tokensOf(file).byName.get(text)) memory.related.delete(token);
    }
    let known = memory.spread.delete(text);
    for (const [file, names] of memory.postings) {
      if (!names.delete(text)) continue;
      known = true;
      for (const token of this.tokensOf(file).byName.get(text) || []) memory.related.delete(token);
    }
    return known;
  }

  /** Where the engine's own text search would find the token; -1 where it would not. */
  searchPosition(file, token, text) {
    const start = token.getStart(file);
    if (file.text.startsWith(text, start)) return start;
    return file.text.startsWith(text, start + 1) ? start + 1 : -1;
  }

  /**
   * The symbols whose search finds the token for certain, and perhaps one more: a search for the variable of
   * a shorthand property also comes by the tokens of that property, to find the declaration.
   */
  related(checker, token) {
    const memory = this.memory(checker);
    let found = memory.related.get(token);
    if (!found) memory.related.set(token, (found = this.findRelated(this.askable(checker, token), token)));
    return found;
  }

  /** The checker before the edit has worked out most types; where the edit reaches nothing it is as good. */
  askable(checker, token) {
    const { elder } = this;
    return elder && elder.heir === checker && elder.holds(token.getSourceFile()) ? elder.checker : checker;
  }

  /** Takes over what is known of files that an edit does not reach. */
  inherit(before, after, reached) {
    const old = this.memory(before);
    const memory = this.memory(after);
    memory.related = old.related;
    memory.postings = old.postings;
    for (const file of reached) {
      memory.postings.delete(file);
      for (const tokens of this.tokensOf(file).byName.values())
        for (const token of tokens) memory.related.delete(token);
    }
    this.checkers.delete(before);
  }

  findRelated(checker, token) {
    const { ts, nib } = this;
    const parent = token.parent;
    const symbol = checker.getSymbolAtLocation(token);
    if (!symbol || (ts.isImportSpecifier(parent) && parent.propertyName === token)) return { certain: [] };
    if (ts.isExportSpecifier(parent))
      return { certain: [this.keyOf(nib.getLocalSymbolForExportSpecifier(token, symbol, parent, checker))] };
    const found = new Set();
    if (ts.isJSDocPropertyLikeTag(parent)) found.add(null);
    nib.forEachRelatedSymbol(
      symbol,
      token,
      checker,
      false,
      true,
      (own, root, base) => {
        found.add(
          this.keyOf(base && nib.isStaticSymbol(symbol) === nib.isStaticSymbol(base) ? base : root || own),
        );
      },
      () => true,
    );
    const value = checker.getShorthandAssignmentValueSymbol(symbol.valueDeclaration);
    const shorthand = value && this.keyOf(value);
    return { certain: [...found], possible: value && !found.has(shorthand) ? shorthand : undefined };
  }
}

module.exports = { Search };
