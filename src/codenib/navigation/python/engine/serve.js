"use strict";
// node serve.js ENGINE_FOLDER ROOT [PYTHON]: stays, and answers requests, a line of JSON each, on standard output.
//   {"sync": FILES, "changed": PATHS}       the files there are now, and which of them changed, came or went
//   {"lines": PATHS, "within": RANGES}      a line of facts for each; of a file in RANGES only the names on its lines
//   {"nodes": PATHS}                        the declarations of each
//   {"surfaces": PATHS, "touched": NAMES, "entries": CHAINS, "held": NAMES}
//                                           what others see of each; of a file in CHAINS only these
// After each answer comes {"end": COUNT}; {"error": REASON} when it failed.

/** @import { Project } from "./basedpyright" */
/** @import { LineRanges } from "./fact-builder" */
/**
 * @typedef {object} SurfaceRequest
 * @property {string[]} surfaces
 * @property {string[]} touched
 * @property {Record<string, string[]>} entries
 * @property {string[]} held
 */

const { serveRequests, writeLine, writeText } = require("../../engines/js/wire");
const { EngineError, loadBundle } = require("./bundle");
const { encodeNothing } = require("./encoder");
const { LoadedProject } = require("./loaded-project");
const { isReadable, openProject } = require("./project");

class Service {
  /** @param {() => Promise<Project>} open opens the project that is on disk now */
  constructor(open) {
    this.open = open;
    /** @type {LoadedProject | undefined} */
    this.loaded = undefined;
    /** @type {LoadedProject | undefined} the project before files came or went */
    this.spare = undefined;
  }

  /**
   * @param {any} request
   * @returns {number | Promise<number>}
   */
  handle(request) {
    if (request.sync) return this.sync(request.sync, request.changed);
    if (request.nodes) return this.nodes(request.nodes);
    if (request.lines) return this.lines(request.lines, request.within ?? {});
    return this.surfaces(request);
  }

  get project() {
    if (!this.loaded) throw new EngineError("no project is loaded: sync comes first");
    return this.loaded;
  }

  /**
   * @param {string[]} files
   * @param {string[]} changed
   */
  async sync(files, changed) {
    const { loaded } = this;
    const readable = loaded ? files.filter((file) => isReadable(loaded.project.root, file)) : files;
    const present = new Set(readable);
    if (loaded && changed.every((file) => loaded.files.has(file) === present.has(file))) {
      if (loaded.update(readable, changed)) this.closeSpare();
    } else if (this.spare?.isCurrent(readable, changed)) {
      [this.loaded, this.spare] = [this.spare, loaded];
    } else {
      // Search roots, excluded folders and what every import leads to may differ.
      this.closeSpare();
      this.spare = loaded;
      const project = await this.open();
      this.loaded = new LoadedProject(
        project,
        files.filter((file) => isReadable(project.root, file)),
      );
    }
    return 0;
  }

  closeSpare() {
    this.spare?.close();
    this.spare = undefined;
  }

  /** @param {string[]} paths */
  nodes(paths) {
    const { builder } = this.project.current;
    for (const file of paths) writeLine({ file, nodes: builder.nodesOf(file) });
    return paths.length;
  }

  /**
   * @param {string[]} paths
   * @param {Record<string, LineRanges>} within
   */
  lines(paths, within) {
    const { current, files } = this.project;
    const { builder } = current;
    for (const file of paths) {
      writeText(files.has(file) ? builder.factsOf(file, within[file]) : encodeNothing(file));
      builder.limitMemory();
    }
    builder.checkFailures();
    return paths.length;
  }

  /** @param {SurfaceRequest} request */
  surfaces({ surfaces: paths, touched, entries, held }) {
    const { current, files } = this.project;
    for (const file of paths) {
      const surface = files.has(file)
        ? current.builder.unlessTooDeep({}, () =>
            current.surface.of(file, { touched, chains: entries[file], used: held }),
          )
        : {};
      writeLine({ file, surface });
      current.builder.limitMemory();
    }
    return paths.length;
  }

  close() {
    this.loaded?.close();
    this.spare?.close();
  }
}

/** @param {string[]} argv */
async function main([folder, root, python]) {
  const inner = loadBundle(folder);
  const service = new Service(() => openProject(inner, root, python));
  await serveRequests((request) => service.handle(request));
  service.close();
}

main(process.argv.slice(2)).then(
  () => process.exit(0),
  (error) => {
    process.stderr.write(`error ${error.message}\n`);
    process.exit(1);
  },
);
