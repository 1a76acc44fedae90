"use strict";
/**
 * A program and a token in, what find-references answers there out.
 *
 * Two tokens get one search when the engine would start it from the same state: the same symbols to look
 * for, the same meaning (value, type, namespace), the same scope. A query is that state as a string; null
 * means that there is no answer.
 */

/** @import ts from "typescript" */
/** @import { AnyNode, FileSpan, ReferenceGroup, TypeScript } from "../typescript-internals" */
/** @import { ProgramUpdate } from "../incremental/program-update" */
/** @import { SymbolIndex, SymbolKey } from "./symbol-index" */
/**
 * What is known of one program.
 * @typedef {object} ProgramMemory
 * @property {Map<string, ReferenceGroup[]>} groups
 * @property {Map<string, string>} origins a query that starts at an import to what is imported
 * @property {Map<string, { query: string, names: Set<ts.Node> }>} firsts what is imported to the first query for it
 * @property {Map<SymbolKey, Set<string>>} searchedFor a symbol to the queries whose search looks for it
 * @property {Map<SymbolKey, Set<string>>} covered a symbol to the queries that leave it out
 * @property {Map<string, Set<string>>} imports a file to the queries that start at its imports and exports of others
 * @property {Map<string, Set<string>>} named a name, or a blank and a file, to the queries about it that cross files
 * @property {Set<string> | null} fileNames
 */

const { addTo, getOrCreate } = require("../../../engines/js/maps");

/** A member with more tokens than this is searched for anyway: proving that it adds nothing costs as much. */
const MAX_TOKENS = 50;
const NOT_CANCELLED = { isCancellationRequested: () => false, throwIfCancellationRequested: () => {} };

class ReferenceQueries {
  /**
   * @param {TypeScript} ts
   * @param {SymbolIndex} symbolIndex
   */
  constructor(ts, symbolIndex) {
    this.ts = ts;
    this.symbolIndex = symbolIndex;
    this.core = ts.FindAllReferences.Core;
    this.options = { use: ts.FindAllReferences.FindReferencesUse.References };
    /** @type {WeakMap<ts.Program, ProgramMemory>} */
    this.memories = new WeakMap();
    /** @type {WeakMap<ts.Program, ProgramUpdate>} a program to what of it is known from the one before */
    this.updates = new WeakMap();
  }

  /**
   * @param {ts.Program} program
   * @returns {ProgramMemory}
   */
  memory(program) {
    return getOrCreate(this.memories, program, () => ({
      groups: new Map(),
      origins: new Map(),
      firsts: new Map(),
      searchedFor: new Map(),
      covered: new Map(),
      imports: new Map(),
      named: new Map(),
      fileNames: null,
    }));
  }

  /**
   * @param {ts.Program} program
   * @param {ts.Node} asked
   * @param {number} [position]
   * @returns {string | null}
   */
  queryOf(program, asked, position) {
    const { ts } = this;
    if (ts.isSourceFile(asked)) return `${nodeQuery(ts, asked)} ${position}`;
    const checker = program.getTypeChecker();
    const node = this.core.getAdjustedNode(asked, this.options);
    const special = this.specialQuery(node);
    if (special !== undefined) return special;
    const owner = ts.isConstructorDeclaration(node) && node.parent.name;
    const symbol = checker.getSymbolAtLocation(owner || node);
    if (!symbol) return this.isResolvedModule(program, node) ? nodeQuery(ts, node) : null;
    if (symbol.escapedName === "export=") {
      const parent = /** @type {ts.Symbol} */ (symbol.parent);
      return this.moduleQuery(program, parent, `module ${ts.getSymbolId(parent)}`);
    }
    const module = this.isFileModule(symbol) ? ts.getSymbolId(symbol) : 0;
    if (module && !(symbol.flags & ts.SymbolFlags.Transient))
      return this.moduleQuery(program, symbol, `module of ${module}`);
    if (node.kind === ts.SyntaxKind.DefaultKeyword) return nodeQuery(ts, node);
    return this.symbolQuery(program, symbol, node, module);
  }

  /**
   * Labels, `this`, `super` and `import.meta` are searched by where they stand, not by symbol.
   * @param {ts.Node} node
   * @returns {string | null | undefined}
   */
  specialQuery(node) {
    const { ts } = this;
    const parent = /** @type {AnyNode} */ (node.parent);
    if (ts.isThis(node)) {
      const container = ts.getThisContainer(node, false, false);
      return `this ${ts.getNodeId(container)} ${ts.isParameter(parent)}`;
    }
    if (node.kind === ts.SyntaxKind.SuperKeyword) {
      const container = ts.getSuperContainer(node, false);
      return container ? `super ${ts.getNodeId(container)}` : null;
    }
    if (ts.isImportMeta(parent) && parent.name === node) return "import.meta";
    if (ts.isJumpStatementTarget(node)) {
      const label = ts.getTargetLabel(parent, /** @type {AnyNode} */ (node).text);
      return label ? nodeQuery(ts, label) : null;
    }
    const isAlone = ts.isLabelOfLabeledStatement(node) || ts.isTypeKeyword(node.kind);
    return isAlone ? nodeQuery(ts, node) : undefined;
  }

  /**
   * A module specifier of a file that is no module; one that leads nowhere is mere text.
   * @param {ts.Program} program
   * @param {ts.Node} node
   */
  isResolvedModule(program, node) {
    const { ts } = this;
    if (!ts.isStringLiteralLike(node) || !ts.isModuleSpecifierLike(node)) return false;
    const resolution = program.getResolvedModuleFromModuleSpecifier(node);
    return !!resolution?.resolvedModule || ts.isExternalModuleNameRelative(node.text);
  }

  /** @param {ts.Symbol} symbol */
  isFileModule(symbol) {
    const { ts } = this;
    return symbol.flags & ts.SymbolFlags.Module && symbol.declarations?.some(ts.isSourceFile);
  }

  /**
   * Notes which file a query is about: any file that imports it gives it a member.
   * @param {ts.Program} program
   * @param {ts.Symbol} symbol
   * @param {string} query
   */
  moduleQuery(program, symbol, query) {
    for (const each of symbol.declarations ?? [])
      if (this.ts.isSourceFile(each)) addTo(this.memory(program).named, ` ${each.fileName}`, query);
    return query;
  }

  /**
   * @param {ts.Program} program
   * @param {ts.Symbol} original
   * @param {ts.Node} node
   * @param {number} module
   */
  symbolQuery(program, original, node, module) {
    const { ts, core, symbolIndex } = this;
    const checker = program.getTypeChecker();
    const aliased = core.nib.getMergedAliasedSymbolOfNamespaceExportDeclaration(node, original, checker);
    const symbol = core.nib.skipPastExportOrImportSpecifierOrUnion(original, node, checker, true) || original;
    const meaning = core.getIntersectingMeaningFromDeclarations(node, symbol);
    const kind = core.nib.getSpecialSearchKind(node);
    const wanted = core.nib.populateSearchSymbolSet(symbol, node, checker, false, false, false);
    const scope = core.nib.getSymbolScope(symbol);
    const symbols = kind ? wanted : this.withoutCovered(program, symbol, wanted);
    const ids = [...new Set(symbols.map((each) => String(symbolIndex.idOf(each))))].sort().join(" ");
    const query = [
      module,
      aliased ? symbolIndex.idOf(aliased) : 0,
      kind,
      kind ? symbolIndex.idOf(symbol) : symbol.escapedName,
      scope ? ts.getNodeId(scope) : 0,
      meaning,
      ids,
    ].join("|");
    const { covered, named } = this.memory(program);
    for (const each of wanted) if (!symbols.includes(each)) addTo(covered, symbolIndex.keyOf(each), query);
    for (const each of aliased ? [aliased, symbol, ...symbols] : [symbol, ...symbols])
      this.noteImport(program, each, query);
    if (module) this.moduleQuery(program, original, query);
    if (!scope || ts.isSourceFile(scope)) addTo(named, /** @type {string} */ (symbol.escapedName), query);
    const isPlain = !kind && !module && !aliased && symbols.length === 1 && symbols[0] === symbol;
    return isPlain ? this.importQuery(program, symbol, meaning, query) : query;
  }

  /**
   * Notes where an import is that a query starts at: in an edited file the same import may lead elsewhere.
   * @param {ts.Program} program
   * @param {ts.Symbol} symbol
   * @param {string} query
   */
  noteImport(program, symbol, query) {
    if (!(symbol.flags & this.ts.SymbolFlags.Alias)) return;
    for (const each of symbol.declarations ?? [])
      addTo(this.memory(program).imports, each.getSourceFile().fileName, query);
  }

  /**
   * A name that many files import leads, from each of them, to the same references: up to what is imported,
   * and down to everyone who imports it. Asked once, if the first answer shows that it came past this import.
   * @param {ts.Program} program
   * @param {ts.Symbol} symbol
   * @param {number} meaning
   * @param {string} query
   */
  importQuery(program, symbol, meaning, query) {
    const { ts } = this;
    if (!(symbol.flags & ts.SymbolFlags.Alias) || symbol.declarations?.length !== 1) return query;
    const declaration = /** @type {AnyNode} */ (symbol.declarations[0]);
    const isSpecifier = ts.isImportSpecifier(declaration) || ts.isBindingElement(declaration);
    const isNamed = isSpecifier && !declaration.propertyName;
    if (!isNamed && !(ts.isImportClause(declaration) && declaration.name)) return query;
    const target = program.getTypeChecker().getImmediateAliasedSymbol(symbol);
    if (!target || (isNamed && target.escapedName !== symbol.escapedName)) return query;
    const origin = `${this.symbolIndex.idOf(target)} ${isNamed} ${meaning}`;
    const first = this.firstOf(program, origin);
    if (first === undefined) this.memory(program).origins.set(query, origin);
    else if (first.names.has(/** @type {ts.Node} */ (declaration.name))) return first.query;
    return query;
  }

  /**
   * The first query that came past an import; after an edit, as it is then.
   * @param {ts.Program} program
   * @param {string} origin
   */
  firstOf(program, origin) {
    const { firsts } = this.memory(program);
    const first = firsts.get(origin);
    const update = this.updates.get(program);
    if (!first || !update || update.refresh(first.query)) return first;
    firsts.delete(origin);
    return undefined;
  }

  /**
   * Leaves out members that add nothing: every token of theirs is found for another symbol of the search.
   * Without this each of a thousand object literals of one type would be searched for on its own.
   * @param {ts.Program} program
   * @param {ts.Symbol} symbol
   * @param {ts.Symbol[]} symbols
   */
  withoutCovered(program, symbol, symbols) {
    if (symbols.length < 2) return symbols;
    const { ts, symbolIndex } = this;
    const checker = program.getTypeChecker();
    const text = ts.symbolName(symbol);
    const memberFlags = ts.SymbolFlags.Property | ts.SymbolFlags.Method | ts.SymbolFlags.Accessor;
    let remaining = symbols;
    for (const candidate of symbols) {
      if (!(candidate.flags & memberFlags)) continue;
      const key = symbolIndex.keyOf(candidate);
      const entry = symbolIndex.occurrences(checker, program.getSourceFiles(), text).get(key);
      if (!entry || entry.count > MAX_TOKENS) continue;
      const rest = remaining.filter((other) => other !== candidate);
      const keys = rest.map((each) => symbolIndex.keyOf(each));
      if (rest.length && entry.files.every((file) => this.isCovered(checker, file, text, key, keys)))
        remaining = rest;
    }
    return remaining;
  }

  /**
   * Whether every token of a file that is found for `candidate` is found for one of `rest` too.
   * @param {ts.TypeChecker} checker
   * @param {ts.SourceFile} file
   * @param {string} text
   * @param {SymbolKey} candidate
   * @param {SymbolKey[]} rest
   */
  isCovered(checker, file, text, candidate, rest) {
    for (const token of this.symbolIndex.tokensOf(file).byName.get(text) ?? []) {
      const { certain, possible } = this.symbolIndex.related(checker, token);
      if (possible === candidate) return false;
      if (certain.includes(candidate) && !rest.some((each) => certain.includes(each))) return false;
    }
    return true;
  }

  /**
   * What find-references of this program gives: groups of a definition and its references, as file and span.
   * @param {ts.Program} program
   * @param {ts.Node} asked
   * @param {string} query
   */
  references(program, asked, query, position = asked.getStart()) {
    const memory = this.memory(program);
    const known = memory.groups.get(query);
    if (known) return known;
    const update = this.updates.get(program);
    const stale = update?.stale.get(query);
    this.symbolIndex.searchedFor = new Set();
    const groups =
      update && stale && !isSpecial(query)
        ? this.searchAgain(program, asked, position, update, stale)
        : this.searchFor(program, asked, position);
    for (const key of this.symbolIndex.searchedFor) addTo(memory.searchedFor, key, query);
    this.symbolIndex.searchedFor = null;
    memory.groups.set(query, groups);
    if (update) {
      update.stale.delete(query);
      update.refreshed.add(query);
    }
    const origin = memory.origins.get(query);
    const first = origin === undefined ? undefined : memory.firsts.get(origin);
    if (origin !== undefined && (!first || first.query === query))
      memory.firsts.set(origin, { query, names: importNames(this.ts, groups) });
    return groups;
  }

  /**
   * What is known of files that the edit does not affect, and what a search of the others finds. A search that
   * does not come past the token that asks went astray: then all files are searched.
   * @param {ts.Program} program
   * @param {ts.Node} asked
   * @param {number} position
   * @param {ProgramUpdate} update
   * @param {ReferenceGroup[]} stale
   */
  searchAgain(program, asked, position, update, stale) {
    this.symbolIndex.visitedFiles = new Set(update.files);
    this.symbolIndex.relays.add(asked);
    /** @type {ReferenceGroup[]} */
    let groups;
    try {
      groups = this.searchOnce(program, asked, position);
    } finally {
      this.symbolIndex.visitedFiles = null;
    }
    const kept = filterGroups(stale, (each) => !update.affects(each.fileName));
    const definitions = kept.map(({ definition }) => update.movedDefinition(definition));
    if (!hasNode(groups, asked) || definitions.includes(null))
      return this.searchFor(program, asked, position);
    return [
      ...kept.map(({ references }, at) => ({
        definition: definitions[at] ?? undefined,
        references,
      })),
      ...filterGroups(groups, (each) => update.affects(each.fileName)),
    ];
  }

  /**
   * Symbols of JavaScript may merge while types are worked out: a name that does not find itself is searched
   * anew.
   * @param {ts.Program} program
   * @param {ts.Node} node
   * @param {number} position
   */
  searchFor(program, node, position) {
    const groups = this.searchOnce(program, node, position);
    if (!this.ts.isIdentifier(node) || hasNode(groups, node)) return groups;
    const wasKnown = this.symbolIndex.forget(program.getTypeChecker(), node.text);
    return wasKnown ? this.searchOnce(program, node, position) : groups;
  }

  /**
   * @param {ts.Program} program
   * @param {ts.Node} node
   * @param {number} position
   * @returns {ReferenceGroup[]}
   */
  searchOnce(program, node, position) {
    const files = program.getSourceFiles();
    const memory = this.memory(program);
    memory.fileNames ??= new Set(files.map((file) => file.fileName));
    const groups = this.core.getReferencedSymbolsForNode(
      position,
      node,
      program,
      files,
      NOT_CANCELLED,
      this.options,
      memory.fileNames,
    );
    const defined = (groups ?? []).filter(({ definition }) => definition);
    return defined.map(({ definition, references }) => {
      const spans = references.map((entry) => this.span(entry));
      const own = spans.filter(({ fileName }) => !fileName.startsWith(this.symbolIndex.libraries));
      return { definition: this.definitionSpan(definition, node), references: own };
    });
  }

  /**
   * @param {any} entry
   * @returns {FileSpan}
   */
  span(entry) {
    if (entry.kind === 0) return { fileName: entry.fileName, textSpan: entry.textSpan };
    const file = entry.node.getSourceFile();
    return { fileName: file.fileName, textSpan: spanOf(this.ts, entry.node, file), node: entry.node };
  }

  /**
   * @param {any} definition
   * @param {ts.Node} asked
   * @returns {FileSpan}
   */
  definitionSpan(definition, asked) {
    const declaration = definition.symbol?.declarations?.[0];
    const named = declaration && (this.ts.getNameOfDeclaration(declaration) || declaration);
    /** @type {ts.Node} */
    const node = named || definition.node || asked;
    const file = node.getSourceFile();
    return { fileName: file.fileName, textSpan: spanOf(this.ts, node, file) };
  }
}

/**
 * The span that the engine reports for a node: strings without their quotes.
 * @param {TypeScript} ts
 * @param {ts.Node} node
 * @param {ts.SourceFile} file
 */
function spanOf(ts, node, file) {
  const start = node.getStart(file);
  const length = node.end - start;
  return ts.isStringLiteralLike(node) && length > 2
    ? { start: start + 1, length: length - 2 }
    : { start, length };
}

/**
 * @param {ReferenceGroup[]} groups
 * @param {(reference: FileSpan) => boolean} test
 */
function filterGroups(groups, test) {
  const parts = groups.map(({ definition, references }) => ({
    definition,
    references: references.filter(test),
  }));
  return parts.filter(({ references }) => references.length);
}

/**
 * @param {ReferenceGroup[]} groups
 * @param {ts.Node} node
 */
function hasNode(groups, node) {
  return groups.some(({ references }) => references.some((each) => each.node === node));
}

/**
 * Whether a search also looks at what stands around the names: constructors, static `this`.
 * @param {string} query
 */
function isSpecial(query) {
  const parts = query.split("|");
  return parts.length > 2 && parts[2] !== "0";
}

/**
 * The names of imports among the references.
 * @param {TypeScript} ts
 * @param {ReferenceGroup[]} groups
 */
function importNames(ts, groups) {
  /** @type {Set<ts.Node>} */
  const names = new Set();
  for (const { node } of groups.flatMap(({ references }) => references)) {
    const parent = node?.parent;
    if (
      node &&
      parent &&
      (ts.isImportSpecifier(parent) || ts.isImportClause(parent) || ts.isBindingElement(parent))
    )
      names.add(node);
  }
  return names;
}

/**
 * @param {TypeScript} ts
 * @param {ts.Node} node
 */
function nodeQuery(ts, node) {
  return `node ${ts.getNodeId(node)}`;
}

module.exports = { ReferenceQueries, spanOf };
