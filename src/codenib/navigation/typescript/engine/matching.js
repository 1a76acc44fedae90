"use strict";
/**
 * A file before and after an edit in, which declarations are the same one out.
 *
 * The same are those with the same names around them, of the same kind, in the same place among equals. They
 * get one number (the engine numbers nodes and symbols), so that whatever is known by number, the name of a
 * question above all, is known of both. An import gets a new number: what it leads to may be another thing.
 */

/** Numbers the declarations of `after` like those of `before`; gives where each of them went. */
function matchDeclarations(ts, before, after) {
  const [old, now] = [before, after].map((file) => declarations(ts, file));
  const places = new Map();
  const symbols = new Map();
  const taken = new Set();
  const share = (from, to) => {
    if (!from || !to || (from.flags | to.flags) & ts.SymbolFlags.Alias) return;
    if (symbols.has(from) || taken.has(to) || to.id) return;
    symbols.set(from, to);
    taken.add(to);
    to.id = ts.getSymbolId(from);
  };
  for (const [key, node] of now) {
    const same = old.get(key);
    if (!same) continue;
    if (!node.id) node.id = ts.getNodeId(same);
    share(same.symbol, node.symbol);
    share(same.localSymbol, node.localSymbol);
    place(places, same, node, before, after);
    const names = [same, node].map((each) => ts.getNameOfDeclaration(each) || each.name);
    if (names[0] && names[1]) place(places, names[0], names[1], before, after);
  }
  return places;
}

function place(places, from, to, before, after) {
  const start = from.getStart(before);
  const known = places.get(start);
  const found = { start: to.getStart(after), from: from.end, end: to.end };
  if (known === undefined) places.set(start, found);
  else if (known && known.start !== found.start) places.set(start, null);
}

/** The declarations of a file by the names around them. */
function declarations(ts, file) {
  const found = new Map();
  const visit = (node, around) => {
    let here = around;
    if (node.symbol && node !== file) {
      const name = `${around}/${node.kind} ${node.symbol.escapedName}`;
      let key = name;
      for (let count = 2; found.has(key); count++) key = `${name}~${count}`;
      found.set(key, node);
      here = key;
    }
    if (node.jsDoc) for (const doc of node.jsDoc) ts.forEachChild(doc, (child) => visit(child, here));
    ts.forEachChild(node, (child) => visit(child, here));
  };
  found.set("", file);
  visit(file, "");
  return found;
}

module.exports = { matchDeclarations };
