"use strict";
// Which of the files that the project's configuration leaves out are imported by the project all the same: the server
// holds these, and a reference search that starts in one of them visits them all.

class Reach {
  // `files`: all files to analyse; `others`: those of them that the configuration leaves out.
  constructor(project, resolver, files, others) {
    this.project = project;
    this.resolver = resolver;
    this.files = files;
    this.others = others;
    this.edges = new Map();
    this.held = undefined;
  }

  importsOf(file) {
    let found = this.edges.get(file);
    if (!found) {
      const { program, root, uriOf } = this.project;
      const uri = uriOf(root, file);
      program.getParseResults(uri);
      const places = (program.getSourceFileInfo(uri)?.imports ?? []).map((one) =>
        this.resolver.place(one.uri),
      );
      found = places.filter((place) => place.listed).map((place) => place.name);
      this.edges.set(file, found);
    }
    return found;
  }

  imported() {
    if (!this.held) {
      const seen = new Set(this.files.filter((file) => !this.others.has(file)));
      const left = [...seen];
      while (left.length > 0) {
        for (const next of this.importsOf(left.pop())) {
          if (!seen.has(next)) {
            seen.add(next);
            left.push(next);
          }
        }
      }
      this.held = new Set([...seen].filter((file) => this.others.has(file)));
    }
    return this.held;
  }
}

module.exports = { Reach };
