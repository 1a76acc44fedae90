"use strict";
/**
 * A project and a token in, what the engine answers there out: its definitions, and its references.
 *
 * Two tokens get one search when the engine would start it from the same state: the same symbols to look
 * for, the same meaning (value, type, namespace), the same scope. `question` is that state as a string; null
 * means no answer.
 */

/** A member with more tokens than this is searched for anyway: proving that it adds nothing costs as much. */
const MOST_TOKENS = 50;

class Answers {
  constructor(ts, search) {
    this.ts = ts;
    this.search = search;
    this.core = ts.FindAllReferences.Core;
    this.found = new WeakMap();
    this.following = new WeakMap(); // a program to what of it is known from the one before
    this.token = { isCancellationRequested: () => false, throwIfCancellationRequested: () => {} };
  }

  question(program, asked, position) {
    const { ts, core } = this;
    if (ts.isSourceFile(asked)) return `${alone(ts, asked)} ${position}`;
    const K = ts.SyntaxKind;
    const checker = program.getTypeChecker();
    const node = core.getAdjustedNode(asked, { use: ts.FindAllReferences.FindReferencesUse.References });
    const special = this.specialQuestion(node);
    if (special !== undefined) return special;
    const symbol = checker.getSymbolAtLocation(
      (ts.isConstructorDeclaration(node) && node.parent.name) || node,
    );
    if (!symbol) return this.isResolvedModule(program, node) ? alone(ts, node) : null;
    if (symbol.escapedName === "export=")
      return this.moduleQuestion(program, symbol.parent, `module ${ts.getSymbolId(symbol.parent)}`);
    const module = this.isFileModule(symbol) ? ts.getSymbolId(symbol) : 0;
    if (module && !(symbol.flags & ts.SymbolFlags.Transient))
      return this.moduleQuestion(program, symbol, `module of ${module}`);
    if (node.kind === K.DefaultKeyword) return alone(ts, node);
    return this.symbolQuestion(program, checker, symbol, node, module);
  }

  /** Labels, `this`, `super` and `import.meta` are searched by where they stand, not by symbol. */
  specialQuestion(node) {
    const { ts } = this;
    const K = ts.SyntaxKind;
    const parent = node.parent;
    if (ts.isThis(node)) {
      const container = ts.getThisContainer(node, false, false);
      return `this ${ts.getNodeId(container)} ${ts.isParameter(parent)}`;
    }
    if (node.kind === K.SuperKeyword) {
      const container = ts.getSuperContainer(node, false);
      return container ? `super ${ts.getNodeId(container)}` : null;
    }
    if (ts.isImportMeta(parent) && parent.name === node) return "import.meta";
    if (ts.isJumpStatementTarget(node)) {
      const label = ts.getTargetLabel(parent, node.text);
      return label ? alone(ts, label) : null;
    }
    return ts.isLabelOfLabeledStatement(node) || ts.isTypeKeyword(node.kind) ? alone(ts, node) : undefined;
  }

  /** A module specifier of a file that is no module; one that leads nowhere is mere text. */
  isResolvedModule(program, node) {
    const { ts } = this;
    if (!ts.isStringLiteralLike(node) || !ts.isModuleSpecifierLike(node)) return false;
    const found = program.getResolvedModuleFromModuleSpecifier(node);
    return (!!found && !!found.resolvedModule) || ts.isExternalModuleNameRelative(node.text);
  }

  isFileModule(symbol) {
    return (
      symbol.flags & this.ts.SymbolFlags.Module &&
      symbol.declarations &&
      symbol.declarations.some(this.ts.isSourceFile)
    );
  }

  /** Notes which file a question is about: any file that imports it gives it a member. */
  moduleQuestion(program, symbol, question) {
    for (const each of symbol.declarations || [])
      if (this.ts.isSourceFile(each)) add(this.memory(program).named, ` ${each.fileName}`, question);
    return question;
  }

  symbolQuestion(program, checker, original, node, module) {
    const { ts, core } = this;
    const aliased = core.nib.getMergedAliasedSymbolOfNamespaceExportDeclaration(node, original, checker);
    const symbol = core.nib.skipPastExportOrImportSpecifierOrUnion(original, node, checker, true) || original;
    const meaning = core.getIntersectingMeaningFromDeclarations(node, symbol);
    const kind = core.nib.getSpecialSearchKind(node);
    const wanted = core.nib.populateSearchSymbolSet(symbol, node, checker, false, false, false);
    const scope = core.nib.getSymbolScope(symbol);
    const symbols = kind ? wanted : this.withoutCovered(program, checker, symbol, wanted);
    const left = symbols === wanted ? [] : wanted.filter((each) => !symbols.includes(each));
    const ids = [...new Set(symbols.map((each) => String(this.search.idOf(each))))].sort().join(" ");
    const question = [
      module,
      aliased ? this.search.idOf(aliased) : 0,
      kind,
      kind ? this.search.idOf(symbol) : symbol.escapedName,
      scope ? ts.getNodeId(scope) : 0,
      meaning,
      ids,
    ].join("|");
    for (const each of left) add(this.memory(program).covered, this.search.keyOf(each), question);
    if (module) this.moduleQuestion(program, original, question);
    if (!scope || ts.isSourceFile(scope)) add(this.memory(program).named, symbol.escapedName, question);
    const isPlain = !kind && !module && !aliased && symbols.length === 1 && symbols[0] === symbol;
    return isPlain ? this.importQuestion(program, checker, symbol, meaning, question) : question;
  }

  /**
   * A name that many files import leads, from each of them, to the same references: up to what is imported,
   * and down to everyone who imports it. Asked once, if the first answer shows that it came past this import.
   */
  importQuestion(program, checker, symbol, meaning, question) {
    const { ts } = this;
    if (!(symbol.flags & ts.SymbolFlags.Alias) || !symbol.declarations || symbol.declarations.length !== 1)
      return question;
    const [declaration] = symbol.declarations;
    const isNamed =
      (ts.isImportSpecifier(declaration) || ts.isBindingElement(declaration)) && !declaration.propertyName;
    if (!isNamed && !(ts.isImportClause(declaration) && declaration.name)) return question;
    const target = checker.getImmediateAliasedSymbol(symbol);
    if (!target || (isNamed && target.escapedName !== symbol.escapedName)) return question;
    const memory = this.memory(program);
    const origin = `${this.search.idOf(target)} ${isNamed} ${meaning}`;
    const first = this.firstOf(program, memory, origin);
    if (first === undefined) memory.origins.set(question, origin);
    else if (first.names.has(declaration.name)) return first.question;
    return question;
  }

  /** The first question that came past an import; after an edit, as it is then. */
  firstOf(program, memory, origin) {
    const first = memory.firsts.get(origin);
    const following = this.following.get(program);
    if (!first || !following || following.freshen(first.question)) return first;
    memory.firsts.delete(origin);
    return undefined;
  }

  memory(program) {
    let memory = this.found.get(program);
    if (!memory)
      this.found.set(
        program,
        (memory = {
          groups: new Map(),
          origins: new Map(),
          firsts: new Map(),
          sought: new Map(), // a symbol to the questions whose search looks for it
          covered: new Map(), // a symbol to the questions that leave it out
          named: new Map(), // a name, or a blank and a file, to the questions about it that cross files
        }),
      );
    return memory;
  }

  /**
   * Leaves out members that add nothing: every token of theirs is found for another symbol of the search.
   * Without this each of a thousand object literals of one type would be searched for on its own.
   */
  withoutCovered(program, checker, symbol, symbols) {
    if (symbols.length < 2) return symbols;
    const { ts } = this;
    const text = ts.symbolName(symbol);
    const files = program.getSourceFiles();
    let kept = symbols;
    for (const candidate of symbols) {
      if (!(candidate.flags & (ts.SymbolFlags.Property | ts.SymbolFlags.Method | ts.SymbolFlags.Accessor)))
        continue;
      const key = this.search.keyOf(candidate);
      const entry = this.search.spread(checker, files, text).get(key);
      if (!entry || entry.count > MOST_TOKENS) continue;
      const rest = kept.filter((other) => other !== candidate);
      const keys = rest.map((each) => this.search.keyOf(each));
      if (rest.length && entry.files.every((file) => this.covered(checker, file, text, key, keys)))
        kept = rest;
    }
    return kept;
  }

  covered(checker, file, text, candidate, rest) {
    for (const token of this.search.tokensOf(file).byName.get(text)) {
      const { certain, possible } = this.search.related(checker, token);
      if (possible === candidate) return false;
      if (certain.includes(candidate) && !certain.some((each) => rest.includes(each))) return false;
    }
    return true;
  }

  /**
   * What find-references of this program gives: groups of a definition and its references, as file and span.
   */
  references(program, asked, question, position = asked.getStart()) {
    const memory = this.memory(program);
    let groups = memory.groups.get(question);
    if (groups) return groups;
    const following = this.following.get(program);
    const stale = following && following.stale.get(question);
    this.search.noted = new Set();
    groups =
      stale && !isSpecial(question)
        ? this.renew(program, asked, position, following, stale)
        : this.searchFor(program, asked, position);
    for (const key of this.search.noted) add(memory.sought, key, question);
    this.search.noted = null;
    memory.groups.set(question, groups);
    if (following) {
      following.stale.delete(question);
      following.fresh.add(question);
    }
    const origin = memory.origins.get(question);
    const first = origin === undefined ? undefined : memory.firsts.get(origin);
    if (origin !== undefined && (!first || first.question === question))
      memory.firsts.set(origin, { question, names: importNames(this.ts, groups) });
    return groups;
  }

  /**
   * What is known of files that the edit does not reach, and what a search of the others finds. A search that
   * does not come past the token that asks went astray: then all files are searched.
   */
  renew(program, asked, position, following, stale) {
    this.search.only = new Set(following.files);
    this.search.relays.add(asked);
    let found;
    try {
      found = this.searchOnce(program, asked, position);
    } finally {
      this.search.only = null;
    }
    if (!holdsNode(found, asked)) return this.searchFor(program, asked, position);
    const part = (groups, isReached) =>
      groups
        .map(({ definition, references }) => ({
          definition,
          references: references.filter((each) => following.reaches(each.fileName) === isReached),
        }))
        .filter(({ references }) => references.length);
    return [...part(stale, false), ...part(found, true)];
  }

  /**
   * Symbols of JavaScript may merge while types are worked out: a name that does not find itself is searched
   * anew.
   */
  searchFor(program, node, position) {
    const groups = this.searchOnce(program, node, position);
    if (!this.ts.isIdentifier(node) || holdsNode(groups, node)) return groups;
    return this.search.forget(program.getTypeChecker(), node.text)
      ? this.searchOnce(program, node, position)
      : groups;
  }

  searchOnce(program, node, position) {
    const { ts, core } = this;
    const options = { use: ts.FindAllReferences.FindReferencesUse.References };
    const files = program.getSourceFiles();
    const memory = this.memory(program);
    const names = memory.names || (memory.names = new Set(files.map((file) => file.fileName)));
    const found = core.getReferencedSymbolsForNode(
      position,
      node,
      program,
      files,
      this.token,
      options,
      names,
    );
    const groups = [];
    for (const { definition, references } of found || []) {
      if (!definition) continue;
      const spans = references
        .map((entry) => this.span(entry))
        .filter((span) => !span.fileName.startsWith(this.search.libraries));
      groups.push({ definition: this.definitionSpan(definition, node), references: spans });
    }
    return groups;
  }

  span(entry) {
    if (entry.kind === 0) return { fileName: entry.fileName, textSpan: entry.textSpan };
    const file = entry.node.getSourceFile();
    return { fileName: file.fileName, textSpan: spanOf(this.ts, entry.node, file), node: entry.node };
  }

  definitionSpan(definition, asked) {
    let node = definition.node || asked;
    if (definition.symbol) {
      const declaration = definition.symbol.declarations && definition.symbol.declarations[0];
      if (declaration) node = this.ts.getNameOfDeclaration(declaration) || declaration;
    }
    const file = node.getSourceFile();
    return { fileName: file.fileName, textSpan: spanOf(this.ts, node, file) };
  }
}

/** The span that the engine reports for a node: strings without their quotes. */
function spanOf(ts, node, file) {
  let start = node.getStart(file);
  let end = node.end;
  if (ts.isStringLiteralLike(node) && end - start > 2) {
    start += 1;
    end -= 1;
  }
  return { start, length: end - start };
}

function holdsNode(groups, node) {
  return groups.some(({ references }) => references.some((each) => each.node === node));
}

function isImportName(ts, node) {
  const parent = node.parent;
  return (
    !!parent && (ts.isImportSpecifier(parent) || ts.isImportClause(parent) || ts.isBindingElement(parent))
  );
}

/** Whether a search also looks at what stands around the names: constructors, static `this`. */
function isSpecial(question) {
  const parts = question.split("|");
  return parts.length > 2 && parts[2] !== "0";
}

function importNames(ts, groups) {
  const names = new Set();
  for (const { references } of groups) {
    for (const { node } of references) if (node && isImportName(ts, node)) names.add(node);
  }
  return names;
}

function add(map, key, value) {
  const known = map.get(key);
  if (known) known.add(value);
  else map.set(key, new Set([value]));
}

function alone(ts, node) {
  return `node ${ts.getNodeId(node)}`;
}

module.exports = { Answers, spanOf };
