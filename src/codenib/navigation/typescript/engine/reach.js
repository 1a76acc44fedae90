"use strict";
/** The inferred program of many loose files in, what each of them alone would see out. */

const crypto = require("crypto");

/**
 * At most so many programs for files whose globals collide; the rest share the last one. Each costs about a
 * second.
 */
const MOST_PROGRAMS = 8;

/** Which files one file reaches through imports and references. */
class Reach {
  constructor(program) {
    this.program = program;
    this.edges = importEdges(program);
    this.known = new Map();
    this.sums = new Map();
    this.paths = new Map();
    this.seen = null;
    this.picked = null;
  }

  from(file) {
    this.seen = closure(this.edges, this.program.getSourceFile(file).path);
    this.picked = new Map();
  }

  /** Equal for equal sets of reached files. */
  get mark() {
    let [one, two] = [0, 0];
    for (const path of this.seen) {
      let sum = this.sums.get(path);
      if (!sum) this.sums.set(path, (sum = crypto.createHash("sha1").update(path).digest()));
      one = (one + sum.readInt32LE(0)) | 0;
      two ^= sum.readInt32LE(4);
    }
    return `${this.seen.size} ${one} ${two}`;
  }

  has(file) {
    return this.seen.has(this.pathOf(file));
  }

  /** The engine's own form of a file's name; empty when the program has no such file. */
  pathOf(file) {
    let path = this.paths.get(file);
    if (path === undefined) {
      const source = this.program.getSourceFile(file);
      this.paths.set(file, (path = source ? source.path : ""));
    }
    return path;
  }

  /**
   * The reached part of a question, and its name: equal names have equal parts. Goes over the fewer of the
   * files that the question found and the files that are reached.
   */
  pick(question, groups) {
    let picked = this.picked.get(question);
    if (picked) return picked;
    const files = this.byFile(question, groups);
    if (files.size === 1) {
      const [path] = files.keys();
      picked = this.seen.has(path) ? { name: "", groups } : { name: "none", groups: [] };
    } else {
      const [few, many] = files.size < this.seen.size ? [files, this.seen] : [this.seen, files];
      const reached = [];
      for (const path of few.keys()) if (many.has(path)) reached.push(path);
      reached.sort();
      const references = () => reached.flatMap((path) => files.get(path));
      const definition = groups.length ? groups[0].definition : undefined;
      picked = {
        name: reached.join(" "),
        get groups() {
          return reached.length ? [{ definition, references: references() }] : [];
        },
      };
    }
    this.picked.set(question, picked);
    return picked;
  }

  byFile(question, groups) {
    let files = this.known.get(question);
    if (files) return files;
    this.known.set(question, (files = new Map()));
    for (const { references } of groups) {
      for (const each of references) {
        const path = this.pathOf(each.fileName);
        if (path === "") continue;
        if (files.has(path)) files.get(path).push(each);
        else files.set(path, [each]);
      }
    }
    return files;
  }
}

function importEdges(program) {
  const edges = new Map();
  program.getFileIncludeReasons().forEach((reasons, to) => {
    for (const reason of reasons) {
      if (!("file" in reason)) continue;
      if (edges.has(reason.file)) edges.get(reason.file).add(to);
      else edges.set(reason.file, new Set([to]));
    }
  });
  return edges;
}

function closure(edges, start) {
  const seen = new Set([start]);
  const queue = [start];
  while (queue.length) {
    for (const next of edges.get(queue.pop()) || []) {
      if (seen.has(next)) continue;
      seen.add(next);
      queue.push(next);
    }
  }
  return seen;
}

/**
 * Puts files into groups that can share a program: where one file declares a global, no other file of its
 * group that does not import it uses that name.
 */
function splitByGlobals(ts, program, files, tokensOf) {
  const edges = importEdges(program);
  const globals = new Map();
  for (const source of program.getSourceFiles()) {
    const names = globalNames(ts, source);
    if (names && !program.isSourceFileDefaultLibrary(source)) globals.set(source.path, names);
  }
  if (!globals.size) return [files];
  const all = new Set([...globals.values()].flat());
  const usedIn = new Map();
  for (const source of program.getSourceFiles()) {
    if (program.isSourceFileDefaultLibrary(source)) continue;
    usedIn.set(
      source.path,
      [...tokensOf(source).byName.keys()].filter((name) => all.has(name)),
    );
  }
  const groups = [];
  for (const file of files) {
    const reached = closure(edges, program.getSourceFile(file).path);
    const declared = new Set();
    for (const each of reached) for (const name of globals.get(each) || []) declared.add(name);
    const used = new Set();
    for (const each of reached) for (const name of usedIn.get(each) || []) used.add(name);
    const home = groups.find((group) => !collide(group.declared, used) && !collide(declared, group.used));
    if (home) join(home, file, declared, used);
    else if (groups.length < MOST_PROGRAMS) groups.push({ files: [file], declared, used });
    else join(groups[groups.length - 1], file, declared, used);
  }
  return groups.map((group) => group.files);
}

function join(group, file, declared, used) {
  group.files.push(file);
  for (const name of declared) group.declared.add(name);
  for (const name of used) group.used.add(name);
}

function collide(some, others) {
  const [small, large] = some.size < others.size ? [some, others] : [others, some];
  for (const name of small) if (large.has(name)) return true;
  return false;
}

/** The names that a file adds to every other file's scope; null when it adds none. */
function globalNames(ts, source) {
  if (!ts.isExternalOrCommonJsModule(source)) {
    const names = [...(source.locals ? source.locals.keys() : topLevelNames(ts, source))];
    return names.length ? names : null;
  }
  if (!source.moduleAugmentations || !source.moduleAugmentations.length) return null;
  const names = [];
  for (const statement of source.statements)
    if (ts.isModuleDeclaration(statement)) collectNames(ts, statement, names);
  return names;
}

function topLevelNames(ts, source) {
  const names = [];
  const visit = (node) => {
    if (ts.isFunctionLike(node)) {
      if (ts.isFunctionDeclaration(node) && node.name) names.push(node.name.text);
      return;
    }
    if ((ts.isVariableDeclaration(node) || ts.isBindingElement(node)) && ts.isIdentifier(node.name))
      names.push(node.name.text);
    if (
      (ts.isClassDeclaration(node) ||
        ts.isInterfaceDeclaration(node) ||
        ts.isEnumDeclaration(node) ||
        ts.isModuleDeclaration(node) ||
        ts.isTypeAliasDeclaration(node)) &&
      node.name
    ) {
      names.push(node.name.text);
      return;
    }
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(source, visit);
  return names;
}

function collectNames(ts, node, names) {
  if (node.name && node.name.text) names.push(node.name.text);
  ts.forEachChild(node, (child) => collectNames(ts, child, names));
}

module.exports = { Reach, splitByGlobals, importEdges, closure };
