"use strict";
/**
 * A file before and after an edit in, which declarations are the same one out.
 *
 * The same are those with the same names around them, of the same kind, in the same place among equals. They
 * get one number (the engine numbers nodes and symbols), so that whatever is known by number, the name of a
 * query above all, is known of both. So are imports: what one leads to may be another thing now, so queries that start
 * at one are asked anew (program-update.js).
 */

/** @import ts from "typescript" */
/** @import { AnyNode, TypeScript } from "../typescript-internals" */
/**
 * Where what started at an offset is now; null where that is not one place.
 * @typedef {Map<number, { start: number, oldEnd: number, end: number } | null>} MovedPlaces
 */

/**
 * Numbers the declarations of `after` like those of `before`; gives where each of them went.
 * @param {TypeScript} ts
 * @param {ts.SourceFile} before
 * @param {ts.SourceFile} after
 * @returns {MovedPlaces}
 */
function matchDeclarations(ts, before, after) {
  const [old, now] = [before, after].map((file) => declarations(ts, file));
  /** @type {MovedPlaces} */
  const places = new Map();
  const share = symbolSharer(ts);
  for (const [key, node] of now) {
    const same = old.get(key);
    if (!same) continue;
    if (!node.id) node.id = ts.getNodeId(same);
    share(same.symbol, node.symbol);
    share(same.localSymbol, node.localSymbol);
    addPlace(places, same, node, before, after);
    const [oldName, newName] = [same, node].map(
      (each) => ts.getNameOfDeclaration(/** @type {ts.Declaration} */ (each)) || each.name,
    );
    if (oldName && newName) addPlace(places, oldName, newName, before, after);
  }
  return places;
}

/**
 * Whether all declarations that both versions of a file have, have the same numbers. They do not where a checker gave out
 * numbers of its own before they were matched: then what is known by number of one is not known of the other.
 * @param {TypeScript} ts
 * @param {ts.SourceFile} before
 * @param {ts.SourceFile} after
 */
function isNumberedAlike(ts, before, after) {
  const old = declarations(ts, before);
  /** @type {(from: ts.Symbol | undefined, to: ts.Symbol | undefined) => boolean} */
  const isSame = (from, to) => (from && to ? ts.getSymbolId(from) === ts.getSymbolId(to) : from === to);
  return [...declarations(ts, after)].every(([key, node]) => {
    const same = old.get(key);
    if (!same) return true;
    const isNode = ts.getNodeId(same) === ts.getNodeId(node);
    return isNode && isSame(same.symbol, node.symbol) && isSame(same.localSymbol, node.localSymbol);
  });
}

/**
 * Creates the function that gives a symbol the number of the one before; each number is given once.
 * @param {TypeScript} ts
 */
function symbolSharer(ts) {
  /** @type {Set<ts.Symbol>} */
  const given = new Set();
  /** @type {Set<ts.Symbol>} */
  const taken = new Set();
  return (/** @type {ts.Symbol | undefined} */ from, /** @type {ts.Symbol | undefined} */ to) => {
    if (!from || !to || (from.flags ^ to.flags) & ts.SymbolFlags.Alias) return;
    if (given.has(from) || taken.has(to) || to.id) return;
    given.add(from);
    taken.add(to);
    to.id = ts.getSymbolId(from);
  };
}

/**
 * @param {MovedPlaces} places
 * @param {ts.Node} from
 * @param {ts.Node} to
 * @param {ts.SourceFile} before
 * @param {ts.SourceFile} after
 */
function addPlace(places, from, to, before, after) {
  const start = from.getStart(before);
  const known = places.get(start);
  const moved = { start: to.getStart(after), oldEnd: from.end, end: to.end };
  if (known === undefined) places.set(start, moved);
  else if (known && known.start !== moved.start) places.set(start, null);
}

/**
 * The declarations of a file by the names around them.
 * @param {TypeScript} ts
 * @param {ts.SourceFile} file
 * @returns {Map<string, AnyNode>}
 */
function declarations(ts, file) {
  /** @type {Map<string, AnyNode>} */
  const declared = new Map([["", file]]);
  /** @type {(node: ts.Node, around: string) => void} */
  const visit = (node, around) => {
    let inner = around;
    if (node.symbol && node !== file) {
      const name = `${around}/${node.kind} ${node.symbol.escapedName}`;
      inner = name;
      for (let count = 2; declared.has(inner); count++) inner = `${name}~${count}`;
      declared.set(inner, node);
    }
    for (const doc of node.jsDoc ?? []) ts.forEachChild(doc, (child) => visit(child, inner));
    ts.forEachChild(node, (child) => visit(child, inner));
  };
  visit(file, "");
  return declared;
}

module.exports = { isNumberedAlike, matchDeclarations };
