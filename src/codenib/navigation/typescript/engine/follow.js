"use strict";
/**
 * A program before and after an edit in, the files whose answers may differ out, and the questions.
 *
 * Reached are the edited files; files whose imports lead elsewhere; and files that depend on a reached one,
 * directly or not, and write a name that means something else there now (surface.js). The rest answers as
 * before: definitions move with the declarations that they lead to (matching.js). Of a references question the
 * members in files that are not reached stay; it is asked again, in reached files only, when it had members
 * there, or a token there is related to a symbol that it looks for.
 */

const { matchDeclarations } = require("./matching.js");
const { Surface } = require("./surface.js");
const { importEdges, closure } = require("./reach.js");

/** Of the files of a program; with more of them to ask, asking all costs as much. */
const MOST = 0.5;
const FEW = 12;

class Following {
  /**
   * `asked`: what is known of each file, by name, from the program before. `edited`: the files, by name, that
   * changed anywhere.
   */
  constructor(ts, search, answers, before, after, asked, edited) {
    Object.assign(this, { ts, search, answers, before, after, asked, edited });
    this.why = new Map();
    this.places = new Map();
    this.stale = new Map();
    this.again = new Set();
    this.fresh = new Set();
    this.askers = new Map();
    this.files = [];
  }

  /** Whether the two are the same program in all that counts. */
  static isSame(before, after) {
    const [old, now] = [before.getSourceFiles(), after.getSourceFiles()];
    if (old.length !== now.length || !sameOptions(before, after)) return false;
    if (!now.every((file, at) => file === old[at])) return false;
    const [was, is] = [importEdges(before), importEdges(after)];
    return was.size === is.size && [...is].every(([path, to]) => sameSet(was.get(path), to));
  }

  /** Works it out; false when all files are to be asked. */
  settle() {
    const { before, after } = this;
    if (!sameOptions(before, after)) return this.decline("its options changed");
    this.edges = [importEdges(before), importEdges(after)];
    this.users = reversed(this.edges);
    const old = new Map(before.getSourceFiles().map((file) => [file.path, file]));
    const now = new Map(after.getSourceFiles().map((file) => [file.path, file]));
    this.old = old;
    this.now = now;
    for (const [path, file] of now) this.compare(path, old.get(path), file);
    this.checkers = [before.getTypeChecker(), after.getTypeChecker()];
    this.removed = [...old.keys()].filter((path) => !now.has(path));
    const edited = [...this.why.keys(), ...this.removed];
    const wide = edited.find((path) => this.isWide(path));
    if (wide) return this.decline(`${wide} declares for other modules`);
    if (!this.spread(edited))
      return this.decline(`${this.why.size} of ${this.asked.size} files may answer differently`);
    const mixed = [...this.why.keys()].find((path) => this.isMixed(path));
    if (mixed) return this.decline(`${mixed} exports a whole and its parts`);
    this.files = [...this.why.keys()].map((path) => now.get(path));
    this.names = new Set(this.files.map((file) => file.fileName));
    for (const path of this.removed) this.names.add(old.get(path).fileName);
    this.takeOver();
    return true;
  }

  decline(reason) {
    this.reason = reason;
    return false;
  }

  compare(path, old, now) {
    if (!old) this.why.set(path, "new");
    else if (old !== now) {
      this.why.set(path, "edited");
      // A checker would give out numbers of its own.
      this.ts.bindSourceFile(now, this.after.getCompilerOptions());
      this.places.set(now.fileName, matchDeclarations(this.ts, old, now));
    } else if (!sameSet(this.edges[0].get(path), this.edges[1].get(path)))
      this.why.set(path, "its imports lead elsewhere");
  }

  /** Whether a file's edit may concern files that do not import it in ways that no name shows. */
  isWide(path) {
    const [old, now] = [this.old.get(path), this.now.get(path)].map((file) =>
      file ? this.augmentations(file) : "",
    );
    return old !== now;
  }

  /** Whether what the engine makes of a file's exports depends on the order of questions. */
  isMixed(path) {
    return [this.old.get(path), this.now.get(path)].some((file) => {
      const symbols = file && file.commonJsModuleIndicator && file.symbol && file.symbol.exports;
      return !!symbols && symbols.has("export=") && symbols.size > 1;
    });
  }

  augmentations(file) {
    const { ts } = this;
    if (file.kind === ts.SyntaxKind.JsonSourceFile || ts.isJsonSourceFile(file)) return file.text;
    return file.statements
      .filter(
        (each) =>
          ts.isModuleDeclaration(each) &&
          (ts.isStringLiteral(each.name) || ts.isGlobalScopeAugmentation(each)),
      )
      .map((each) => each.getText(file))
      .join("\n");
  }

  /** Adds to the reached files until no name that one shows means something else to others. */
  spread(edited) {
    let front = edited;
    for (let first = true; front.length; first = false) {
      const found = new Map();
      for (const path of front) this.dependents(path, found);
      if (first) this.dangling(found);
      for (const [path, why] of found) this.why.set(path, why);
      if (this.why.size > Math.max(FEW, MOST * this.asked.size)) return false;
      front = [...found.keys()];
    }
    return true;
  }

  dependents(path, found) {
    const isScript = [this.old.get(path), this.now.get(path)].some((file) => file && !this.isModule(file));
    const near = this.users.get(path) || new Set();
    if (!isScript && !near.size) return;
    const all = isScript ? this.now.keys() : closure(this.users, path);
    const open = [...all].filter((each) => this.now.has(each) && !this.why.has(each) && !found.has(each));
    if (!open.length) return;
    const changed = this.changedNames(path);
    if (!changed.size) return;
    const wide = [...changed].find((name) => name.startsWith(" ") && name !== " default");
    for (const each of open) {
      const hit =
        wide || this.mention(each, changed) || (changed.has(" default") && near.has(each) && " default");
      if (hit) found.set(each, `depends on ${path}, where${hit.startsWith(" ") ? "" : " "}${hit} differs`);
    }
  }

  isModule(file) {
    return this.ts.isExternalOrCommonJsModule(file) || this.ts.isJsonSourceFile(file);
  }

  mention(path, names) {
    const file = this.now.get(path);
    if (this.search.isLibrary(file)) return undefined;
    const { byName } = this.search.tokensOf(file);
    for (const name of names) if (byName.has(name)) return name;
    return undefined;
  }

  changedNames(path) {
    const dirty = new Set([...this.why.keys(), ...this.removed]);
    const [old, now] = [this.before, this.after].map((program) =>
      new Surface(this.ts, program, dirty).of(path),
    );
    if (!old || !now) return new Set([" more than can be compared"]);
    const names = new Set();
    for (const name of new Set([...old.keys(), ...now.keys()]))
      if (old.get(name) !== now.get(name)) names.add(name);
    return names;
  }

  /** Files that lead to a place which is gone. */
  dangling(found) {
    for (const [path, file] of this.now) {
      if (this.why.has(path) || found.has(path)) continue;
      const known = this.asked.get(file.fileName);
      if (known && known.leadsTo(this.edited, (target) => this.isGone(target)))
        found.set(path, "leads to a place that is gone");
    }
  }

  isGone({ file, start }) {
    if (start < 0) return false;
    const places = this.places.get(file);
    return places ? !places.get(start) : this.edited.has(file);
  }

  /** Where a definition is now. */
  moved(target) {
    const places = this.places.get(target.file);
    if (!places || target.start < 0) return target;
    const { start, from, end } = places.get(target.start);
    return { ...target, start, end: from === target.end ? end : start + target.end - target.start };
  }

  reaches(fileName) {
    return this.names.has(fileName);
  }

  /** What is known of questions and tokens passes to the program after the edit. */
  takeOver() {
    const { search, answers, before, after } = this;
    this.renumberImports();
    const reached = [
      ...this.files,
      ...[...this.names].map((name) => before.getSourceFile(name)).filter(Boolean),
    ];
    search.inherit(
      this.checkers[0],
      this.checkers[1],
      reached.filter((file) => !search.isLibrary(file)),
    );
    const still = new Set(this.now.values());
    const names = this.names;
    search.elder = {
      checker: this.checkers[0],
      heir: this.checkers[1],
      holds: (file) => still.has(file) && !names.has(file.fileName),
    };
    const old = answers.memory(before);
    const memory = answers.memory(after);
    Object.assign(memory, {
      origins: old.origins,
      firsts: old.firsts,
      sought: old.sought,
      covered: old.covered,
      named: old.named,
    });
    for (const [question, groups] of old.groups) {
      const isHit =
        question.startsWith("node ") ||
        groups.some(({ references }) => references.some((each) => names.has(each.fileName)));
      (isHit ? this.stale : memory.groups).set(question, groups);
    }
    answers.found.delete(before);
    answers.following.set(after, this);
    for (const [name, known] of this.asked) {
      if (names.has(name)) continue;
      for (const token of known.tokens)
        if (token.question !== null && !this.askers.has(token.question))
          this.askers.set(token.question, token.node);
    }
    this.noteGains(memory);
  }

  /** An import of a reached file may lead to another thing: what is known under its number is not of it. */
  renumberImports() {
    for (const file of this.files) {
      if (this.search.isLibrary(file)) continue;
      for (const { parent } of this.search.tokensOf(file).asked)
        if (parent.symbol && parent.symbol.flags & this.ts.SymbolFlags.Alias) parent.symbol.id = 0;
    }
  }

  /** Questions that find a token of a reached file now. */
  noteGains(memory) {
    const { search, answers, after } = this;
    const checker = this.checkers[1];
    const touch = (key) => {
      for (const question of memory.sought.get(key) || []) this.unsettle(memory, question);
      for (const question of memory.covered.get(key) || []) this.again.add(question);
    };
    const files = this.files.filter((file) => !search.isLibrary(file));
    // Symbols of JavaScript may merge while types are worked out: that comes first, as at a build.
    const { GoToDefinition } = this.ts;
    for (const file of files)
      for (const node of search.tokensOf(file).asked)
        quietly(() => GoToDefinition.getDefinitionAtPosition(after, file, node.getStart(file)));
    for (const file of files) {
      for (const tokens of search.tokensOf(file).byName.values()) {
        for (const token of tokens) {
          const { certain, possible } = quietly(() => search.related(checker, token)) || { certain: [] };
          for (const key of certain) touch(key);
          if (possible !== undefined) touch(possible);
          for (const key of quietly(() => this.targetsOf(checker, token)) || []) touch(key);
        }
      }
      for (const name of quietly(() => this.crossing(checker, file, touch)) || [])
        for (const question of memory.named.get(name) || []) this.unsettle(memory, question);
      for (const node of search.tokensOf(file).asked) {
        const question = quietly(() => answers.question(after, node));
        if (question) this.unsettle(memory, question);
      }
    }
  }

  /**
   * The names that a file imports and exports, and the files it imports them from: where modules export all of
   * others a search compares names, not symbols. What such modules export by default is touched.
   */
  crossing(checker, file, touch) {
    const { ts, after } = this;
    const names = new Set();
    for (const node of this.search.tokensOf(file).asked) {
      const { parent } = node;
      if (ts.isImportOrExportSpecifier(parent) || ts.isBindingElement(parent)) names.add(node.text);
      if (!ts.isStringLiteralLike(node) || !ts.isModuleSpecifierLike(node)) continue;
      const found = after.getResolvedModuleFromModuleSpecifier(node);
      if (found && found.resolvedModule) names.add(` ${found.resolvedModule.resolvedFileName}`);
      this.touchDefaults(checker, checker.getSymbolAtLocation(node), touch);
    }
    return names;
  }

  touchDefaults(checker, start, touch) {
    const seen = new Set();
    for (const queue = [start]; queue.length; ) {
      const module = queue.pop();
      if (!module || !module.exports || seen.has(module)) continue;
      seen.add(module);
      for (const name of ["default", "export="]) {
        let symbol = module.exports.get(name);
        for (let steps = 0; symbol && steps < 20; steps++) {
          touch(this.search.keyOf(symbol));
          symbol =
            symbol.flags & this.ts.SymbolFlags.Alias ? checker.getImmediateAliasedSymbol(symbol) : undefined;
        }
      }
      const all = module.exports.get("__export");
      for (const each of (all && all.declarations) || [])
        if (each.moduleSpecifier) queue.push(checker.getSymbolAtLocation(each.moduleSpecifier));
    }
  }

  /** What an import or export leads to, step by step. */
  targetsOf(checker, token) {
    const found = [];
    let symbol = checker.getSymbolAtLocation(token);
    for (let steps = 0; symbol && symbol.flags & this.ts.SymbolFlags.Alias && steps < 20; steps++) {
      symbol = checker.getImmediateAliasedSymbol(symbol);
      if (symbol) found.push(this.search.keyOf(symbol));
    }
    return found;
  }

  unsettle(memory, question) {
    const groups = memory.groups.get(question);
    if (!groups || this.fresh.has(question)) return;
    memory.groups.delete(question);
    this.stale.set(question, groups);
  }

  /** Whether a question that a file was asked before has the same answer now. */
  keeps(file, question) {
    if (this.reaches(file)) return false;
    return (
      question === null || (this.answers.memory(this.after).groups.has(question) && !this.fresh.has(question))
    );
  }

  /** Undoes what was taken over. */
  abandon() {
    this.search.checkers.delete(this.after.getTypeChecker());
    this.answers.found.delete(this.after);
    this.end();
  }

  /** Makes a question that was asked before hold now; false when nobody is left to ask it. */
  freshen(question) {
    if (!this.stale.has(question)) return true;
    const node = this.askers.get(question);
    if (!node) return false;
    this.answers.references(this.after, node, question);
    return true;
  }

  /** Lets go of the program before. */
  end() {
    this.search.elder = null;
    this.answers.following.delete(this.after);
    for (const each of ["before", "old", "checkers", "askers", "asked", "edges", "users"]) this[each] = null;
  }
}

function quietly(ask) {
  try {
    return ask();
  } catch (error) {
    return undefined;
  }
}

function sameOptions(before, after) {
  return optionsOf(before) === optionsOf(after);
}

function optionsOf(program) {
  return JSON.stringify(program.getCompilerOptions(), (key, value) =>
    key === "configFile" ? undefined : value,
  );
}

function sameSet(some, others) {
  if (!some || !others) return !(some && some.size) && !(others && others.size);
  return some.size === others.size && [...some].every((each) => others.has(each));
}

function reversed(all) {
  const users = new Map();
  for (const edges of all) {
    for (const [from, targets] of edges) {
      for (const to of targets) {
        if (users.has(to)) users.get(to).add(from);
        else users.set(to, new Set([from]));
      }
    }
  }
  return users;
}

module.exports = { Following };
