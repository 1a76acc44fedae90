"use strict";
/** A question to the engine in, its answer out; undefined where the engine itself fails. */

/**
 * Where the engine fails the live server answers with an error: nothing is known there.
 * @template T
 * @param {() => T} ask
 * @returns {T | undefined}
 */
function attempt(ask) {
  try {
    return ask();
  } catch (error) {
    if (isEngineFailure(error)) return undefined;
    throw error;
  }
}

/** @param {unknown} error */
function isEngineFailure(error) {
  if (!(error instanceof Error)) return false;
  if (/^Debug Failure|Maximum call stack/.test(error.message)) return true;
  const [, innermost = ""] = (error.stack ?? "").split("\n");
  return /\(.*[\\/]typescript\.js:/.test(innermost);
}

module.exports = { attempt };
