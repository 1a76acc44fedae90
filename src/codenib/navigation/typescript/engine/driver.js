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
/** @import { FileAnswers, TokenAnswer } from "./incremental/file-answers" */
/** @import { RecordedFile, SharedSet } from "./incremental/recorded-facts" */
/** @import { Target } from "./syntax/relations" */

const { getOrCreate } = require("../../engines/js/maps");
const { unresolvedFile } = require("./facts/fact-table");
const { tooDeep } = require("./host/file-cache");
const { ProjectServer } = require("./host/project-server");
const { VisitOrder } = require("./host/visit-order");
const { FileReader } = require("./file-reader");
const { RecordedFacts } = require("./incremental/recorded-facts");
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
    this.recorded = cache?.recordedFacts(paths, this.fileNumbers) ?? new RecordedFacts(paths);
    this.facts = this.recorded.facts;
    this.reader = new FileReader(engine, this.server, this.fileNumbers);
    this.sets = new ReferenceSets(engine, this.server, this.recorded, this.fileNumbers, cache);
    this.check = new ReferenceCheck(engine.queries, this.facts, this.fileNumbers);
    this.done = 0;
    /** @type {Set<number>} the files of which something was recorded in this run */
    this.resolved = new Set();
  }

  run() {
    const order = new VisitOrder(this.engine.ts, this.server.host, this.engine.root);
    for (const folder of order.folders(this.fileNumbers.keys())) this.runFolder(folder);
    this.server.closeAll();
    for (const file of [...this.recorded.files.keys()]) {
      if (this.resolved.has(file)) continue;
      this.recorded.files.delete(file);
      this.facts.files[file] = unresolvedFile();
    }
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
    const source = loaded.getSourceFile(file);
    if (!source || tooDeep.has(source)) return;
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
   * @param {FileAnswers} answers
   * @param {string | null} situation
   */
  record(project, program, answers, situation) {
    const file = /** @type {number} */ (this.fileNumbers.get(answers.file));
    this.resolved.add(file);
    const known = this.recorded.files.get(file);
    const isRecorded = known?.answers === answers && this.refresh(project, program, known, situation);
    if (!isRecorded) this.recordAnew(file, project, program, answers, situation);
    this.facts.files[file].scope = this.server.isConfigured(project) ? "project" : "loose";
  }

  /**
   * Puts the sets of a file that was recorded in an earlier run in place; false when it must be recorded anew.
   * @param {ts.server.Project} project
   * @param {ts.Program} program
   * @param {RecordedFile} known
   * @param {string | null} situation
   */
  refresh(project, program, { answers, sets }, situation) {
    const update = this.engine.queries.updates.get(program);
    if (update && answers.leadsInto(update.names)) return false;
    for (const shared of sets) {
      const [token] = shared.tokens;
      if (this.sets.isSettled(program, token.query, shared.set, situation)) continue;
      if (!this.renew(project, program, shared, situation)) return false;
      const { set } = shared;
      if (!update || set < 0 || !update.refreshed.has(token.query)) continue;
      for (const each of shared.tokens) this.check.verify(update, program, answers.file, each, set);
    }
    return true;
  }

  /**
   * Puts what a query finds now in place; false when it began or ceased to find anything.
   * @param {ts.server.Project} project
   * @param {ts.Program} program
   * @param {SharedSet} shared
   * @param {string | null} situation
   */
  renew(project, program, shared, situation) {
    const [token] = shared.tokens;
    const set = this.sets.setOf(project, program, token, situation);
    if (set < 0 !== shared.set < 0) return false;
    // One asked for all of them: without this the others would give what held two runs ago, if recorded anew.
    for (const each of shared.tokens) each.references = token.references;
    if (set !== shared.set) for (const entry of shared.asked) entry.set = set;
    shared.set = set;
    return true;
  }

  /**
   * @param {number} file
   * @param {ts.server.Project} project
   * @param {ts.Program} program
   * @param {FileAnswers} answers
   * @param {string | null} situation
   */
  recordAnew(file, project, program, answers, situation) {
    const { text, version, lines, nodes } = answers;
    const entry = this.facts.files[file];
    Object.assign(entry, { text, version, lines, nodes, named: nodes, asked: new Map() });
    entry.relations = answers.relations.map(([kind, source, to]) => [
      kind,
      this.tableTarget(source),
      this.tableTarget(to),
    ]);
    const update = this.engine.queries.updates.get(program);
    /** @type {Map<string, SharedSet>} */
    const sets = new Map();
    for (const token of answers.tokens) {
      const set = hasQuery(token) ? this.sets.setOf(project, program, token, situation) : -1;
      if (update && set >= 0 && hasQuery(token)) this.check.verify(update, program, answers.file, token, set);
      const { start, end, name, roles } = token;
      const isAsked = set >= 0 || token.isNeeded || token.definitions.length > 0;
      const definitions = token.definitions.map((each) => this.tableTarget(each));
      const asked = { name, roles, definitions, set };
      if (isAsked) this.facts.ask({ file, start, end }, asked);
      if (!this.cache || !hasQuery(token)) continue;
      const shared = getOrCreate(sets, `${token.query} ${token.visible} ${set}`, () => ({
        set,
        tokens: [],
        asked: [],
      }));
      shared.tokens.push(token);
      shared.asked.push(asked);
    }
    this.recorded.files.set(file, { answers, sets: [...sets.values()] });
  }

  /**
   * A target as the facts have it.
   * @param {Target} target
   * @returns {TableTarget}
   */
  tableTarget(target) {
    if (typeof target === "string") return target;
    return getOrCreate(this.recorded.targets, target, () => ({
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
