"use strict";
/**
 * node serve.js TYPESCRIPT_FOLDER ROOT: stays, and answers requests, a line of JSON each, on standard output.
 *
 *   {"sync": FILES, "changed": PATHS}   the files there are now, and which of them changed, came or went
 *   {"lines": PATHS, "anew": BOOLEAN}   the lines that differ from those given last, or all; then a report
 *
 * After each answer comes {"end": COUNT}; {"error": REASON} when it failed.
 */

const crypto = require("crypto");
const fs = require("fs");
const path = require("path");
const readline = require("readline");
const { Disagreement } = require("./check.js");
const { Driver, Engine } = require("./driver.js");
const { Kept } = require("./kept.js");
const { Ledger } = require("./ledger.js");
const { writeAll } = require("./main.js");

class Service {
  constructor(folder, root) {
    this.engine = new Engine(folder, root);
    this.root = root;
    this.ledger = new Ledger(this.engine, new Kept(this.engine.ts, root));
    this.files = new Set();
    this.edited = new Set();
    this.sums = new Map();
  }

  handle(request) {
    return request.sync ? this.sync(request.sync, request.changed) : this.lines(request.lines, request.anew);
  }

  sync(files, changed) {
    const before = this.files;
    this.files = new Set(files);
    const names = changed.map((file) => path.posix.join(this.root, file));
    this.ledger.kept.change(
      names,
      changed.some((file) => before.has(file) !== this.files.has(file)),
    );
    for (const name of names) this.edited.add(name);
    return 0;
  }

  lines(paths, anew) {
    const { lines, same, report } = this.collect(paths, anew);
    for (const line of lines.values()) writeAll(Buffer.from(line + "\n"));
    writeAll(Buffer.from(JSON.stringify({ report, same }) + "\n"));
    return paths.length;
  }

  /** The lines that differ from those given last, or all; and the files whose lines do not. */
  collect(paths, anew) {
    const facts = this.facts(paths);
    const [lines, sums, same] = [new Map(), new Map(), []];
    let at = 0;
    for (const { make, print } of facts.sheets(true)) {
      const file = paths[at++];
      const known = anew ? undefined : this.sums.get(file);
      if (known && known.print === print) sums.set(file, known);
      else {
        const line = make();
        sums.set(file, { print, sum: crypto.createHash("sha1").update(line).digest("base64") });
        if (!known || known.sum !== sums.get(file).sum) lines.set(file, line);
      }
      if (!lines.has(file)) same.push(file);
    }
    this.ledger.end();
    this.edited = new Set();
    this.sums = sums;
    return { lines, same, report: { asked: this.ledger.asked, reasons: this.ledger.reasons } };
  }

  facts(paths) {
    const run = () => new Driver(this.engine, paths, () => {}, this.ledger).run();
    this.ledger.begin(this.edited);
    try {
      return run();
    } catch (error) {
      if (!(error instanceof Disagreement)) throw error;
      this.ledger.forget(error.message);
      return run();
    }
  }
}

async function main([folder, root]) {
  const service = new Service(fs.realpathSync(folder), fs.realpathSync(root));
  for await (const line of readline.createInterface({ input: process.stdin })) {
    try {
      const count = service.handle(JSON.parse(line));
      writeAll(Buffer.from(JSON.stringify({ end: count }) + "\n"));
    } catch (error) {
      writeAll(Buffer.from(JSON.stringify({ error: error.stack || String(error) }) + "\n"));
    }
  }
}

module.exports = { Service };
if (require.main === module)
  main(process.argv.slice(2)).catch((error) => {
    process.stderr.write(`error ${error.message}\n`);
    process.exitCode = 1;
  });
