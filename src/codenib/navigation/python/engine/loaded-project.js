"use strict";
// An opened project and its files in, the current and the previous state of these files out, each with what reads it.

/** @import { Project } from "./basedpyright" */

const { FactBuilder } = require("./fact-builder");
const { addLoose } = require("./project");
const { ProgramStates } = require("./program-states");
const { Resolver } = require("./resolver");
const { Surface } = require("./surface");

/** @typedef {ReturnType<LoadedProject["readersOf"]>} Readers */

class LoadedProject {
  /**
   * @param {Project} project
   * @param {string[]} files
   */
  constructor(project, files) {
    this.project = project;
    this.files = new Set(files);
    this.states = new ProgramStates(project);
    /** @type {Readers | undefined} */
    this.previous = undefined;
    this.loose = addLoose(project, files);
    this.current = this.readersOf(files);
  }

  /**
   * Back to the previous state, or on to a new one; whether it is new.
   * @param {string[]} files
   * @param {string[]} changed
   */
  update(files, changed) {
    const uris = changed.map((file) => this.project.uriOf(file));
    if (this.previous && this.states.goBack(uris)) {
      [this.current, this.previous] = [this.previous, this.current];
      const { resolver } = this.current.builder;
      // Its types may have been dropped.
      if (resolver.evaluator !== this.project.program.evaluator) resolver.forget();
      return false;
    }
    this.states.goForward(uris);
    this.previous = this.current;
    this.current = this.readersOf(files);
    return true;
  }

  /** @param {string[]} files */
  readersOf(files) {
    const { project } = this;
    const resolver = new Resolver(project, new Set(files));
    const builder = new FactBuilder(project, resolver, this.loose, this.states);
    return { builder, surface: new Surface(project, resolver) };
  }

  /**
   * Whether what is on disk is the current state; only `changed` may differ.
   * @param {string[]} files
   * @param {string[]} changed
   */
  isCurrent(files, changed) {
    const known = changed.filter((file) => this.files.has(file));
    return (
      files.length === this.files.size &&
      files.every((file) => this.files.has(file)) &&
      known.every((file) => this.states.isCurrent(this.project.uriOf(file)))
    );
  }

  close() {
    this.project.service.dispose();
    this.project.temp.dispose();
  }
}

module.exports = { LoadedProject };
