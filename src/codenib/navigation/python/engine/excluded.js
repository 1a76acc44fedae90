"use strict";
// The project's files in, out: which of those that its configuration excludes are imported by the project all the same.
// The server has these loaded, and a reference search that starts in one of them visits them all.

/** @import { Project } from "./basedpyright" */
/** @import { Targets } from "./targets" */

const fs = require("node:fs");
const { getOrCreate, reachable } = require("../../engines/js/maps");

class ExcludedFiles {
  /**
   * @param {Project} project
   * @param {Targets} targets
   * @param {string[]} files all files to analyse
   * @param {Set<string>} excluded those of them that the configuration leaves out
   * @param {Map<string, string[]>} imports what is known of the imports of files that did not change
   */
  constructor(project, targets, files, excluded, imports) {
    this.project = project;
    this.targets = targets;
    this.files = files;
    this.excluded = excluded;
    this.imports = imports;
    /** @type {Set<string> | undefined} */
    this.reached = undefined;
  }

  /**
   * The listed files that `file` imports.
   * @param {string} file
   */
  importsOf(file) {
    return getOrCreate(this.imports, file, () => {
      const { program } = this.project;
      const uri = this.project.uriOf(file);
      program.getParseResults(uri); // parsing resolves the imports
      const imports = program.getSourceFileInfo(uri)?.imports ?? [];
      const names = imports.map((info) => this.targets.fileAt(info.uri));
      return names.filter((name) => name.isListed).map((name) => name.path);
    });
  }

  /** The excluded files that the project imports, directly or not. */
  imported() {
    if (!this.reached) {
      const included = this.files.filter((file) => !this.excluded.has(file));
      const reached = reachable(included, (file) => this.importsOf(file));
      this.reached = new Set([...reached].filter((file) => this.excluded.has(file)));
    }
    return this.reached;
  }
}

/**
 * The files that the configuration excludes: the server reads them only when they are open or imported. Those of them
 * that changed are opened, or all.
 * @param {Project} project
 * @param {string[]} files
 * @param {Set<string>} [changed]
 */
function openExcluded({ program, uriOf }, files, changed) {
  const excluded = files.filter((file) => !program.getSourceFileInfo(uriOf(file))?.isTracked);
  for (const file of excluded) {
    if (changed && !changed.has(file)) continue;
    const uri = uriOf(file);
    program.setFileOpened(uri, 1, fs.readFileSync(uri.getFilePath(), "utf8"));
  }
  return new Set(excluded);
}

module.exports = { ExcludedFiles, openExcluded };
