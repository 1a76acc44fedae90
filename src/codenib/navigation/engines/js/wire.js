"use strict";
// The lines that engines and the product exchange: requests on standard input in, lines of JSON on standard output out.

const fs = require("node:fs");
const readline = require("node:readline");

/** What an occurrence is used for, as the facts have it; `codenib.core.facts` has the same numbers. */
const ROLE = {
  declaration: 1,
  import: 2,
  call: 4,
  type: 8,
  write: 16,
  inherit: 32,
  inexact: 64,
  keyword: 128,
};

const RETRY_MS = 5;
const PROGRESS_MS = 500;

/**
 * Writes `text` to standard output. A pipe takes only what it has room for.
 * @param {string} text
 */
function writeText(text) {
  const bytes = Buffer.from(text, "utf8");
  for (let offset = 0; offset < bytes.length; ) {
    try {
      offset += fs.writeSync(1, bytes, offset);
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}

/**
 * Writes one value as a line of JSON.
 * @param {unknown} value
 */
function writeLine(value) {
  writeText(`${JSON.stringify(value)}\n`);
}

/**
 * The paths that a batch run was given on standard input, one a line.
 * @returns {string[]}
 */
function readPaths() {
  return fs.readFileSync(0, "utf8").split("\n").filter(Boolean);
}

/**
 * Answers requests, a line of JSON each, until the input ends. `handle` writes the answer's lines and gives their
 * number; after them comes {"end": COUNT}, or {"error": REASON} when it failed.
 * @param {(request: any) => number | Promise<number>} handle
 */
async function serveRequests(handle) {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    try {
      writeLine({ end: await handle(JSON.parse(line)) });
    } catch (error) {
      writeLine({ error: stackOf(error) });
    }
  }
}

/**
 * Says on standard error how many files are done, not more often than one can read. Whoever started the
 * engine ends it when it is silent for long.
 * @returns {(done: number, total: number) => void}
 */
function progressReporter() {
  let last = 0;
  return (done, total) => {
    const now = Date.now();
    if (done !== total && now - last < PROGRESS_MS) return;
    last = now;
    process.stderr.write(`progress ${done} ${total}\n`);
  };
}

/**
 * @param {unknown} error
 * @returns {string}
 */
function stackOf(error) {
  return (error instanceof Error && error.stack) || String(error);
}

module.exports = { ROLE, progressReporter, readPaths, serveRequests, stackOf, writeLine, writeText };
