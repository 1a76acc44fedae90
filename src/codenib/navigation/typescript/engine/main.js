"use strict";
/**
 * node main.js TYPESCRIPT_FOLDER ROOT < list of files (one path a line, relative to ROOT)
 *
 * Standard output: the facts, a line of JSON for each file. Standard error: "progress DONE" lines; when it
 * fails, "error REASON" and exit status 1.
 */

const fs = require("fs");
const { Driver, Engine } = require("./driver.js");

const PROGRESS_MS = 500;

function main() {
  const [folder, root] = process.argv.slice(2).map((each) => fs.realpathSync(each));
  const paths = fs.readFileSync(0, "utf8").split("\n").filter(Boolean);
  let last = 0;
  const report = (done, total) => {
    const now = Date.now();
    if (done !== total && now - last < PROGRESS_MS) return;
    last = now;
    process.stderr.write(`progress ${done}\n`);
  };
  const facts = new Driver(new Engine(folder, root), paths, report).run();
  for (const line of facts.lines()) writeAll(Buffer.from(line + "\n"));
}

function writeAll(data) {
  for (let at = 0; at < data.length; ) {
    try {
      at += fs.writeSync(1, data, at);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

module.exports = { writeAll };
if (require.main === module)
  try {
    main();
  } catch (error) {
    process.stderr.write(`error ${error.stack || error}\n`);
    process.exitCode = 1;
  }
