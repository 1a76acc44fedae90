"use strict";
/**
 * The files of a checkout in, the order to ask them in out, so that each project is loaded about once.
 *
 * Which project a file has is the server's decision when it is opened. What it finds in others depends on what
 * was opened before, so the order is that of a client which goes through the files by path.
 */

const path = require("path");

const NAMES = ["tsconfig.json", "jsconfig.json"];

class Layout {
  constructor(ts, host, root) {
    Object.assign(this, { ts, host, root });
    this.nearest = new Map();
    this.parsed = new Map();
  }

  /**
   * Folders of one configuration each, by path: `own` are the files that it lists, `others` those that no
   * configuration lists. Files that only a configuration further up lists come last, folder by folder: else
   * that one would be loaded again for each of them.
   */
  folders(files) {
    const folders = new Map();
    const visits = new Map();
    for (const file of files) {
      const near = this.configAbove(path.posix.dirname(file));
      const home = this.homeOf(near, file);
      if (home !== near) at(visits, home).own.push(file);
      else if (this.lists(near, file)) at(folders, near).own.push(file);
      else at(folders, near).others.push(file);
    }
    return [...inOrder(folders), ...inOrder(visits)];
  }

  homeOf(near, file) {
    for (
      let config = near;
      config;
      config = this.configAbove(path.posix.dirname(path.posix.dirname(config)))
    ) {
      const { references, names } = this.parse(config);
      if (references) return near;
      if (names.has(file)) return config;
      if (path.posix.dirname(config) === this.root) break;
    }
    return near;
  }

  /** The nearest configuration at or above `folder`, inside the checkout; '' when there is none. */
  configAbove(folder) {
    if (folder !== this.root && !folder.startsWith(this.root + "/")) return "";
    let found = this.nearest.get(folder);
    if (found !== undefined) return found;
    const here = NAMES.map((name) => `${folder}/${name}`).find((file) => this.host.fileExists(file));
    found = here || (folder === this.root ? "" : this.configAbove(path.posix.dirname(folder)));
    this.nearest.set(folder, found);
    return found;
  }

  lists(config, file) {
    return config !== "" && this.parse(config).names.has(file);
  }

  parse(config) {
    let parsed = this.parsed.get(config);
    if (parsed) return parsed;
    const host = { ...this.host, onUnRecoverableConfigFileDiagnostic() {} };
    const line = this.ts.getParsedCommandLineOfConfigFile(config, {}, host);
    parsed = {
      names: new Set(line ? line.fileNames : []),
      references: !!line && !!line.projectReferences && line.projectReferences.length > 0,
    };
    this.parsed.set(config, parsed);
    return parsed;
  }
}

function inOrder(folders) {
  return [...folders].sort(([a], [b]) => (a < b ? -1 : 1)).map(([config, found]) => ({ config, ...found }));
}

function at(folders, config) {
  if (!folders.has(config)) folders.set(config, { own: [], others: [] });
  return folders.get(config);
}

module.exports = { Layout };
