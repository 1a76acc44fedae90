"use strict";
/**
 * Loose files of one program in, groups that can share a program out: where one file declares a global, no other
 * file of its group that does not import it uses that name.
 */

/** @import ts from "typescript" */
/** @import { AnyNode, TypeScript } from "../typescript-internals" */
/** @import { TokenReader } from "../syntax/tokens" */
/** @typedef {{ files: string[], declared: Set<string>, used: Set<string> }} Group */

const { closure, importEdges } = require("./import-closure");

/** At most so many programs for files whose globals collide; the rest share the last one. Each costs about a second. */
const MAX_PROGRAMS = 8;

/**
 * @param {TypeScript} ts
 * @param {ts.Program} program
 * @param {string[]} files
 * @param {TokenReader} tokensOf
 * @returns {string[][]}
 */
function splitByGlobals(ts, program, files, tokensOf) {
  const edges = importEdges(program);
  const sources = program.getSourceFiles().filter((source) => !program.isSourceFileDefaultLibrary(source));
  /** @type {Map<string, string[]>} */
  const globals = new Map();
  for (const source of sources) {
    const names = globalNames(ts, source);
    if (names) globals.set(source.path, names);
  }
  if (!globals.size) return [files];
  const all = new Set([...globals.values()].flat());
  /** @type {Map<string, string[]>} */
  const usedIn = new Map();
  for (const source of sources)
    usedIn.set(
      source.path,
      [...tokensOf(source).byName.keys()].filter((name) => all.has(name)),
    );
  /** @type {Group[]} */
  const groups = [];
  for (const file of files) {
    const reached = [...closure(edges, program.getSourceFile(file)?.path ?? "")];
    const declared = new Set(reached.flatMap((each) => globals.get(each) ?? []));
    const used = new Set(reached.flatMap((each) => usedIn.get(each) ?? []));
    place(groups, file, declared, used);
  }
  return groups.map((group) => group.files);
}

/**
 * Puts a file into the first group that it fits.
 * @param {Group[]} groups
 * @param {string} file
 * @param {Set<string>} declared
 * @param {Set<string>} used
 */
function place(groups, file, declared, used) {
  let group = groups.find((each) => !collide(each.declared, used) && !collide(declared, each.used));
  if (!group && groups.length < MAX_PROGRAMS) {
    groups.push({ files: [file], declared, used });
    return;
  }
  group ??= groups[groups.length - 1];
  group.files.push(file);
  for (const name of declared) group.declared.add(name);
  for (const name of used) group.used.add(name);
}

/**
 * @param {Set<string>} some
 * @param {Set<string>} others
 */
function collide(some, others) {
  const [small, large] = some.size < others.size ? [some, others] : [others, some];
  for (const name of small) if (large.has(name)) return true;
  return false;
}

/**
 * The names that a file adds to every other file's scope; null when it adds none.
 * @param {TypeScript} ts
 * @param {ts.SourceFile} source
 * @returns {string[] | null}
 */
function globalNames(ts, source) {
  if (!ts.isExternalOrCommonJsModule(source)) {
    const names = [...(source.locals ? source.locals.keys() : topLevelNames(ts, source))];
    return names.length ? names : null;
  }
  if (!source.moduleAugmentations?.length) return null;
  /** @type {string[]} */
  const names = [];
  for (const statement of source.statements)
    if (ts.isModuleDeclaration(statement)) collectNames(ts, statement, names);
  return names;
}

/**
 * @param {TypeScript} ts
 * @param {ts.SourceFile} source
 */
function topLevelNames(ts, source) {
  /** @type {string[]} */
  const names = [];
  const isNamed = [
    ts.isClassDeclaration,
    ts.isInterfaceDeclaration,
    ts.isEnumDeclaration,
    ts.isModuleDeclaration,
    ts.isTypeAliasDeclaration,
  ];
  /** @type {(node: ts.Node) => void} */
  const visit = (node) => {
    const { name } = /** @type {AnyNode} */ (node);
    if (ts.isFunctionLike(node)) {
      if (ts.isFunctionDeclaration(node) && name) names.push(name.text);
      return;
    }
    if ((ts.isVariableDeclaration(node) || ts.isBindingElement(node)) && ts.isIdentifier(node.name))
      names.push(node.name.text);
    if (name && isNamed.some((test) => test(node))) names.push(name.text);
    else ts.forEachChild(node, visit);
  };
  ts.forEachChild(source, visit);
  return names;
}

/**
 * @param {TypeScript} ts
 * @param {AnyNode} node
 * @param {string[]} names
 */
function collectNames(ts, node, names) {
  if (node.name?.text) names.push(node.name.text);
  ts.forEachChild(node, (child) => collectNames(ts, child, names));
}

module.exports = { splitByGlobals };
