"use strict";
// node serve.js ENGINE_FOLDER ROOT [PYTHON]: stays, and answers requests, a line of JSON each, on standard output.
//   {"sync": FILES, "changed": PATHS}       the files there are now, and which of them changed, came or went
//   {"lines": PATHS, "within": RANGES}      a line of facts for each; of a file in RANGES only the names on its lines
//   {"nodes": PATHS}                        the declarations of each
//   {"surfaces": PATHS, "touched": NAMES, "entries": CHAINS, "held": NAMES}
//                                           what others see of each; of a file in CHAINS only these
//   {"imports": PATHS}                      what each imports, where the configuration leaves files out; else nothing
//   {"apart": true}                         of the files that the configuration leaves out, those that are imported
// After each answer comes {"end": COUNT}; {"error": REASON} when it failed.

const path = require("path");
const readline = require("readline");
const { load } = require("./engine");
const { Maker, isFile, openOthers, writeAll } = require("./maker");
const { open } = require("./project");
const { Sheet } = require("./sheet");
const { States } = require("./states");
const { Surface } = require("./surface");

// A project, the state of its files that is at hand, and the one before it.
class Desk {
  constructor(project, files) {
    this.project = project;
    this.files = new Set(files);
    this.states = new States(project);
    this.was = undefined;
    this.begin(files, new Map(), files);
  }

  // Back to the state before, or on to a new one; whether it is new.
  turn(files, changed) {
    const { root, uriOf, program } = this.project;
    const uris = changed.map((file) => uriOf(root, file));
    if (this.states.back(uris)) {
      [this.now, this.was] = [this.was, this.now];
      // Its types may have been let go of.
      this.now.maker.resolver.evaluator === program.evaluator || this.now.maker.resolver.forget();
      return false;
    }
    this.states.ahead(uris);
    this.was = this.now;
    const edges = new Map(this.was.edges);
    changed.forEach((file) => edges.delete(file));
    this.begin(files, edges, changed);
    return true;
  }

  begin(files, edges, changed) {
    const others = openOthers(this.project, files, new Set(changed));
    const maker = new Maker(this.project, files, others, this.states);
    maker.reach.edges = edges;
    this.now = { maker, edges, others, surface: new Surface(this.project, maker.resolver) };
  }

  // Whether what is on disk is what this project has at hand; only `changed` may differ.
  holds(files, changed) {
    const { root, uriOf } = this.project;
    const there = changed.filter((file) => this.files.has(file));
    return (
      files.length === this.files.size &&
      files.every((file) => this.files.has(file)) &&
      there.every((file) => this.states.isAtHand(uriOf(root, file)))
    );
  }

  close() {
    this.project.service.dispose();
    this.project.temp.dispose();
  }
}

class Server {
  // `open` makes the project of what is on disk now.
  constructor(open) {
    this.open = open;
    this.desk = undefined;
    this.spare = undefined;
  }

  async handle(request) {
    if (request.sync) {
      await this.sync(request.sync, request.changed);
      return 0;
    }
    const { maker, others } = this.desk.now;
    const { files } = this.desk;
    if (request.apart) {
      writeAll(JSON.stringify({ apart: others.size > 0 ? [...maker.reach.imported()].sort() : [] }) + "\n");
      return 1;
    }
    if (request.imports) {
      for (const file of request.imports) {
        const known = others.size > 0 && files.has(file);
        writeAll(JSON.stringify({ file, imports: known ? maker.reach.importsOf(file) : [] }) + "\n");
      }
      return request.imports.length;
    }
    if (request.nodes) {
      request.nodes.forEach((file) => writeAll(JSON.stringify({ file, nodes: maker.nodesOf(file) }) + "\n"));
      return request.nodes.length;
    }
    if (request.lines) {
      return this.lines(request.lines, request.within ?? {});
    }
    return this.surfaces(request);
  }

  async sync(files, changed) {
    const root = this.desk?.project.root;
    const readable = root ? files.filter((file) => isFile(path.join(root, file))) : files;
    const there = new Set(readable);
    const moved = changed.some((file) => this.desk?.files.has(file) !== there.has(file));
    if (this.desk && !moved) {
      this.desk.turn(readable, changed) && this.letGo();
    } else if (this.spare?.holds(readable, changed)) {
      [this.desk, this.spare] = [this.spare, this.desk];
    } else {
      // Search roots, excluded folders and what every import leads to may differ.
      this.letGo();
      this.spare = this.desk;
      const project = await this.open();
      this.desk = new Desk(
        project,
        files.filter((file) => isFile(path.join(project.root, file))),
      );
    }
  }

  letGo() {
    this.spare?.close();
    this.spare = undefined;
  }

  lines(paths, within) {
    const { now, files } = this.desk;
    const first = paths.filter((file) => !now.others.has(file));
    const found = new Map();
    for (const file of [...first, ...paths.filter((one) => now.others.has(one))]) {
      found.set(file, files.has(file) ? now.maker.lineOf(file, within[file]) : new Sheet(file).text([], []));
      now.maker.letGo();
    }
    paths.forEach((file) => writeAll(found.get(file)));
    now.maker.judge();
    return paths.length;
  }

  surfaces({ surfaces: paths, touched, entries, held }) {
    const { now, files } = this.desk;
    for (const file of paths) {
      const surface = files.has(file) ? now.surface.of(file, touched, entries[file], held) : {};
      writeAll(JSON.stringify({ file, surface }) + "\n");
      now.maker.letGo();
    }
    return paths.length;
  }
}

async function main([folder, root, python]) {
  const inner = load(folder);
  const server = new Server(() => open(inner, root, python));
  for await (const line of readline.createInterface({ input: process.stdin })) {
    try {
      writeAll(JSON.stringify({ end: await server.handle(JSON.parse(line)) }) + "\n");
    } catch (error) {
      writeAll(JSON.stringify({ error: error.stack ?? `${error}` }) + "\n");
    }
  }
  [server.desk, server.spare].forEach((desk) => desk?.close());
}

main(process.argv.slice(2)).then(
  () => process.exit(0),
  (error) => {
    process.stderr.write(`error ${error.message}\n`);
    process.exit(1);
  },
);
