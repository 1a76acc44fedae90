"use strict";
// A map and a key in, its value out; where there is none yet, a new one is put there first.

/**
 * @template K, V
 * @param {{ get(key: K): V | undefined, set(key: K, value: V): unknown }} map
 * @param {K} key
 * @param {() => V} create
 * @returns {V}
 */
function getOrCreate(map, key, create) {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}

/**
 * Adds `value` to the list of `key`.
 * @template K, V
 * @param {Map<K, V[]>} lists
 * @param {K} key
 * @param {V} value
 */
function append(lists, key, value) {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/**
 * Adds `value` to the set of `key`.
 * @template K, V
 * @param {Map<K, Set<V>>} sets
 * @param {K} key
 * @param {V} value
 */
function addTo(sets, key, value) {
  const set = sets.get(key);
  if (set) set.add(value);
  else sets.set(key, new Set([value]));
}

/**
 * Everything that `start` leads to by `edges`, the start included.
 * @template T
 * @param {Iterable<T>} start
 * @param {(node: T) => Iterable<T>} edges
 * @returns {Set<T>}
 */
function reachable(start, edges) {
  const reached = new Set(start);
  const queue = [...reached];
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    for (const next of edges(node)) {
      if (reached.has(next)) continue;
      reached.add(next);
      queue.push(next);
    }
  }
  return reached;
}

module.exports = { addTo, append, getOrCreate, reachable };
