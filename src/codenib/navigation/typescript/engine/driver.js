"use strict";
/**
 * A checkout and the list of its files in, the facts of each file out.
 *
 * Files are asked in the state a client leaves the server in: only the asked file is open, and the projects
 * of its folder that an earlier file needed are loaded. A file that no project includes is answered from its
 * own imports, as the server does for a file that is open alone: such files share one inferred program here,
 * and every answer is cut down to the files that the asked one reaches.
 */

/** @import ts from "typescript" */
/** @import { Engine } from "./engine" */
/** @import { TableTarget } from "./facts/fact-table" */
/** @import { Folder } from "./host/visit-order" */
/** @import { AnswerCache } from "./incremental/answer-cache" */
/** @import { TokenAnswer } from "./incremental/file-answers" */
/** @import { Target } from "./syntax/relations" */

const { getOrCreate } = require("../../engines/js/maps");
const { FactTable } = require("./facts/fact-table");
const { ProjectServer } = require("./host/project-server");
const { VisitOrder } = require("./host/visit-order");
const { FileReader } = require("./file-reader");
const { ReferenceCheck } = require("./incremental/reference-check");
const { ReferenceSets } = require("./references/reference-sets");
const { splitByGlobals } = require("./references/global-groups");
const { ImportClosure } = require("./references/import-closure");

class Driver {
  /**
   * @param {Engine} engine
   * @param {string[]} paths
   * @param {(done: number, total: number) => void} report
   * @param {AnswerCache | null} cache what the run before knows and the next one may use; null when there is neither
   */
  constructor(engine, paths, report, cache) {
    this.engine = engine;
    this.paths = paths;
    this.report = report;
    this.cache = cache;
    this.server = new ProjectServer(engine.ts, engine.root, engine.libraries, cache?.fileCache ?? null);
    /** @type {Map<string, number>} */
    this.fileNumbers = new Map(paths.map((each, number) => [`${engine.root}/${each}`, number]));
    this.facts = new FactTable(paths);
    this.reader = new FileReader(engine, this.server, this.fileNumbers);
    this.sets = new ReferenceSets(engine, this.server, this.facts, this.fileNumbers, cache);
    this.check = new ReferenceCheck(engine.queries, this.facts, this.fileNumbers);
    this.done = 0;
    /** @type {Map<Target, TableTarget>} */
    this.tableTargets = new Map();
  }

  run() {
    const order = new VisitOrder(this.engine.ts, this.server.host, this.engine.root);
    for (const folder of order.folders(this.fileNumbers.keys())) this.runFolder(folder);
    this.server.closeAll();
    return this.facts;
  }

  /**
   * All files below one configuration: those of projects first, then those that none of them includes.
   * @param {Folder} folder
   */
  runFolder({ config, listed, unlisted }) {
    const loose = config ? [] : unlisted;
    for (const file of listed) this.runConfigured(file, loose);
    if (config) for (const file of unlisted) this.runConfigured(file, loose);
    this.runLoose(loose, config);
  }

  /** @param {string} file */
  isLoaded(file) {
    const info = this.server.service.getScriptInfo(file);
    return !!info && !info.isOrphan();
  }

  /**
   * @param {string} file
   * @param {string[]} loose gets the files that have no project
   */
  runConfigured(file, loose) {
    const project = this.server.openAlone(file);
    if (!project) loose.push(file);
    else this.askFile(project, project.getProjectName(), file);
  }

  /**
   * @param {string[]} files
   * @param {string} config
   */
  runLoose(files, config) {
    const alone = files.filter((file) => !this.isLoaded(file));
    for (const file of files) if (this.isLoaded(file)) this.runConfigured(file, alone);
    if (!alone.length) return;
    const all = this.server.openTogether(alone);
    const { ts, tokensOf } = this.engine;
    const groups = splitByGlobals(ts, programOf(all), alone, tokensOf);
    for (const [at, group] of groups.entries()) {
      const project = groups.length === 1 ? all : this.server.openTogether(group);
      const closure = new ImportClosure(programOf(project));
      this.reader.closure = closure;
      this.sets.closure = closure;
      for (const file of group) {
        closure.startAt(file);
        this.askFile(project, `loose files ${at} of ${config}`, file);
      }
      this.reader.closure = null;
      this.sets.closure = null;
    }
  }

  /**
   * @param {ts.server.Project} project
   * @param {string} name
   * @param {string} file
   */
  askFile(project, name, file) {
    const { cache } = this;
    const loaded = programOf(project);
    this.sets.nameProject(project, name);
    this.report(++this.done, this.paths.length);
    if (!loaded.getSourceFile(file)) return;
    const program = cache ? cache.enter(name, loaded) : loaded;
    const situation = this.sets.situation(file);
    const context = `${name} | ${situation} | ${this.reader.closure ? this.reader.closure.fingerprint : ""}`;
    const known = cache?.recall(file, name, context);
    const answers = known ?? this.reader.read(project, program, file);
    cache?.remember(file, { project: name, context, answers }, !known);
    this.record(project, program, answers, situation);
  }

  /**
   * Puts what is known of a file into the facts.
   * @param {ts.server.Project} project
   * @param {ts.Program} program
   * @param {ReturnType<FileReader["read"]>} answers
   * @param {string | null} situation
   */
  record(project, program, answers, situation) {
    const file = /** @type {number} */ (this.fileNumbers.get(answers.file));
    const { text, version, lines } = answers;
    const scope = this.server.isConfigured(project) ? "project" : "loose";
    Object.assign(this.facts.files[file], { text, version, lines, scope, nodes: answers.nodes });
    this.facts.files[file].relations = answers.relations.map(([kind, source, to]) => [
      kind,
      this.tableTarget(source),
      this.tableTarget(to),
    ]);
    const update = this.engine.queries.updates.get(program);
    for (const token of answers.tokens) {
      const set = hasQuery(token) ? this.sets.setOf(project, program, token, situation) : -1;
      if (update && set >= 0 && hasQuery(token)) this.check.verify(update, program, answers.file, token, set);
      const { start, end, name, roles } = token;
      if (set < 0 && !token.isNeeded && !token.definitions.length) continue;
      const definitions = token.definitions.map((each) => this.tableTarget(each));
      this.facts.ask({ file, start, end }, { name, roles, definitions, set });
    }
  }

  /**
   * A target as the facts have it.
   * @param {Target} target
   * @returns {TableTarget}
   */
  tableTarget(target) {
    if (typeof target === "string") return target;
    return getOrCreate(this.tableTargets, target, () => ({
      ...target,
      file: /** @type {number} */ (this.fileNumbers.get(target.file)),
    }));
  }
}

/**
 * @param {TokenAnswer} token
 * @returns {token is TokenAnswer & { query: string }}
 */
function hasQuery(token) {
  return token.query !== null;
}

/**
 * @param {ts.server.Project} project
 * @returns {ts.Program}
 */
function programOf(project) {
  return /** @type {ts.Program} */ (project.getLanguageService().getProgram());
}

module.exports = { Driver };
