"use strict";
/**
 * What one server leaves to the next in a process that stays: parsed files, and what was looked up on disk.
 *
 * Each state of the checkout gets a server of its own, so that files find their projects as they do at a
 * build. A file that did not change is the same parsed object for both, and so are its nodes and symbols: what
 * was found out about them still holds.
 */

/** Characters of closed projects' files that stay parsed, at about 20 bytes of memory each. */
const MOST_PARSED = 30e6;
const SOURCE = /\.[cm]?[jt]sx?$/;

class Kept {
  constructor(ts, root) {
    this.ts = ts;
    this.root = root;
    this.looks = { files: new Map(), folders: new Map(), real: new Map() };
    this.versions = new Map();
    this.texts = new Map();
    this.registry = ts.createDocumentRegistryInternal(ts.sys.useCaseSensitiveFileNames, root);
    keepParsed(this.registry);
    const kept = this;
    const info = ts.server.ScriptInfo.prototype;
    const latest = info.getLatestVersion;
    // A server counts versions from its start: ours go on.
    info.getLatestVersion = function () {
      latest.call(this);
      return String(kept.versions.get(this.fileName) || 0);
    };
  }

  /** The text of a source; configurations are read each time, for nobody says when they change. */
  read(name, read) {
    if (!SOURCE.test(name)) return read();
    let text = this.texts.get(name);
    if (text === undefined) this.texts.set(name, (text = read()));
    return text;
  }

  /** Files that changed, came or went; `moved` when some came or went. */
  change(files, moved) {
    for (const file of files) {
      this.versions.set(file, (this.versions.get(file) || 0) + 1);
      this.texts.delete(file);
    }
    if (moved) for (const known of Object.values(this.looks)) known.clear();
  }
}

/**
 * Keeps parsed files when their project is closed, up to a limit: in a repository of fifty projects most have
 * the standard library and the same few packages in common.
 */
function keepParsed(registry) {
  const { acquireDocumentWithKey: acquire, releaseDocumentWithKey: release } = registry;
  const sizes = new Map();
  const kept = new Set();
  let room = MOST_PARSED;
  registry.acquireDocumentWithKey = (name, file, options, key, ...rest) => {
    const source = acquire(name, file, options, key, ...rest);
    sizes.set(`${file} ${key}`, source.text.length);
    return source;
  };
  registry.releaseDocumentWithKey = (file, key, ...rest) => {
    const id = `${file} ${key}`;
    if (kept.has(id)) return;
    const size = sizes.get(id);
    if (size > room) release(file, key, ...rest);
    else {
      kept.add(id);
      room -= size;
    }
  };
}

module.exports = { Kept, keepParsed };
