"use strict";
/** Two programs in, out whether they are the same; and who uses which file in either. */

/** @import ts from "typescript" */
/** @import { ImportEdges } from "../references/import-closure" */

const { addTo } = require("../../../engines/js/maps");
const { importEdges } = require("../references/import-closure");

/**
 * Whether two programs are the same in all that counts.
 * @param {ts.Program} before
 * @param {ts.Program} after
 */
function isSameProgram(before, after) {
  const [old, now] = [before.getSourceFiles(), after.getSourceFiles()];
  if (old.length !== now.length || !hasSameOptions(before, after)) return false;
  if (!now.every((file, at) => file === old[at])) return false;
  const [was, is] = [importEdges(before), importEdges(after)];
  return was.size === is.size && [...is].every(([path, to]) => isSameSet(was.get(path), to));
}

/**
 * @param {ts.Program} before
 * @param {ts.Program} after
 */
function hasSameOptions(before, after) {
  return optionsOf(before) === optionsOf(after);
}

/** @param {ts.Program} program */
function optionsOf(program) {
  return JSON.stringify(program.getCompilerOptions(), (key, value) =>
    key === "configFile" ? undefined : value,
  );
}

/**
 * Whether two sets are equal; none is as good as an empty one.
 * @template T
 * @param {Set<T> | undefined} some
 * @param {Set<T> | undefined} others
 */
function isSameSet(some, others) {
  if (!some || !others) return !some?.size && !others?.size;
  return some.size === others.size && [...some].every((each) => others.has(each));
}

/**
 * For each file those that use it, by any of the edges.
 * @param {ImportEdges[]} all
 * @returns {ImportEdges}
 */
function reversed(all) {
  /** @type {ImportEdges} */
  const users = new Map();
  for (const edges of all)
    for (const [from, targets] of edges) for (const to of targets) addTo(users, to, from);
  return users;
}

module.exports = { hasSameOptions, isSameProgram, isSameSet, reversed };
