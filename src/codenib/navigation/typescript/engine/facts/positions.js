"use strict";
/** Offsets in a text in, lines and columns out; and nodes for places that have no name. */

/** @import { DeclaredNode } from "../syntax/declarations" */

/** Blanks and comments that a file begins with. */
const LEADING = /^(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/|#![^\n]*)*/;
/** How much of a text is read to tell what it is. */
const MAX_READ = 200;

/**
 * The line and column of an offset, both from 0.
 * @param {Int32Array} lines the offset of each line's start
 * @param {number} offset
 * @returns {[line: number, column: number]}
 */
function positionIn(lines, offset) {
  let [low, high] = [0, lines.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (lines[middle] <= offset) low = middle;
    else high = middle - 1;
  }
  return [low, offset - lines[low]];
}

/**
 * The node of a place that a definition leads to and that has no name.
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @returns {DeclaredNode}
 */
function unnamedNode(text, start, end) {
  const [leading] = /** @type {RegExpExecArray} */ (LEADING.exec(text));
  const isModule = end >= text.trimEnd().length && start <= leading.length;
  const last = isModule ? start + 1 : end;
  const span = { parent: -1, start, end: last, nameStart: start, nameEnd: last };
  if (isModule) return { name: "<module>", kind: "module", ...span, local: 0, isAdded: true };
  const source = text.slice(start, Math.min(end, start + MAX_READ));
  const name = /^[\w$]+$/.test(source) ? source : "<anonymous>";
  return { name, kind: kindOfText(source), ...span, local: 0, isAdded: true };
}

/** @param {string} source */
function kindOfText(source) {
  if (/^(async\b|function\b|\()/.test(source)) return "function";
  return /^class\b/.test(source) ? "class" : "variable";
}

/**
 * The nodes with others among them, in the order of the text; the parent of an added one is the node around it.
 * @param {DeclaredNode[]} nodes
 * @param {DeclaredNode[]} added
 * @returns {DeclaredNode[]}
 */
function withUnnamed(nodes, added) {
  const all = [...nodes, ...added];
  const order = all
    .map((_, at) => at)
    .sort((a, b) => all[a].start - all[b].start || all[b].end - all[a].end || a - b);
  const places = new Map(order.map((old, at) => [old, at]));
  /** @type {number[]} */
  const around = [];
  const sorted = order.map((old) => ({ ...all[old] }));
  for (const [at, node] of sorted.entries()) {
    while (around.length && sorted[around[around.length - 1]].end < node.end) around.pop();
    node.parent = (node.isAdded ? around.at(-1) : places.get(node.parent)) ?? -1;
    around.push(at);
  }
  return sorted;
}

module.exports = { positionIn, unnamedNode, withUnnamed };
