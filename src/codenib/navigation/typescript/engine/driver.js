"use strict";
/**
 * A checkout and the list of its files in, the facts of each file out.
 *
 * Files are asked in the state a client leaves the server in: only the asked file is open, and the projects
 * of its folder that an earlier file needed are loaded. A file that no project includes is answered from its
 * own imports, as the server does for a file that is open alone: such files share one inferred program here,
 * and every answer is cut down to the files that the asked one reaches.
 */

const path = require("path");
const { tokenReader } = require("./tokens.js");
const { Search } = require("./search.js");
const { Answers, spanOf } = require("./answers.js");
const { Server } = require("./server.js");
const { Facts } = require("./facts.js");
const { Sheet } = require("./ledger.js");
const { Check } = require("./check.js");
const { Layout } = require("./layout.js");
const { Reach, splitByGlobals } = require("./reach.js");
const { nodeReader, roleReader, qualifiedName } = require("./nodes.js");
const { relationReader } = require("./relations.js");
const engine = require("./engine.js");

/** The engine and its readers: what serves every state of a checkout. */
class Engine {
  constructor(folder, root) {
    this.root = root;
    this.search = new Search();
    const ts = (this.ts = engine.load(folder, this.search.hooks()));
    this.libraries = ts.normalizePath(path.join(folder, "lib")) + "/";
    this.tokensOf = tokenReader(ts);
    this.search.serve(ts, this.tokensOf, this.libraries);
    this.answers = new Answers(ts, this.search);
    this.nodesOf = nodeReader(ts);
    this.rolesOf = roleReader(ts);
  }
}

class Driver {
  /** `ledger`: what the run before knows and the next one may use; null when there is neither. */
  constructor(engine, paths, report, ledger = null) {
    const { ts, search, answers, root, libraries, tokensOf, nodesOf, rolesOf } = engine;
    Object.assign(this, { ts, search, answers, root, libraries, tokensOf, nodesOf, rolesOf });
    this.server = new Server(ts, root, libraries, ledger && ledger.kept);
    this.relationsOf = relationReader(ts, (info, program) => this.target(info, program));
    this.ledger = ledger;
    this.paths = paths;
    this.index = new Map(paths.map((each, at) => [root + "/" + each, at]));
    this.facts = new Facts(paths);
    this.check = new Check(answers, this.facts, this.index);
    this.report = report;
    this.done = 0;
    this.outside = new Map();
    this.indexed = new Map();
    this.names = new WeakMap();
    this.given = new Map();
    this.held = new Map();
    this.asked = null;
    this.shared = new WeakMap();
    this.reach = null;
  }

  run() {
    const layout = new Layout(this.ts, this.server.host, this.root);
    for (const folder of layout.folders(this.index.keys())) this.runFolder(folder);
    this.server.closeAll();
    return this.facts;
  }

  /** All files below one configuration: those of projects first, then those that none of them includes. */
  runFolder({ config, own, others }) {
    const loose = config ? [] : others;
    for (const file of own) this.runConfigured(file, loose);
    if (config) for (const file of others) this.runConfigured(file, loose);
    this.runLoose(loose, config);
  }

  isLoaded(file) {
    const info = this.server.service.getScriptInfo(file);
    return !!info && !info.isOrphan();
  }

  runConfigured(file, loose) {
    const project = this.server.openAlone(file);
    if (!project) loose.push(file);
    else this.askFile(project, project.getProjectName(), file);
  }

  runLoose(files, config) {
    const alone = files.filter((file) => !this.isLoaded(file));
    for (const file of files) if (this.isLoaded(file)) this.runConfigured(file, alone);
    if (!alone.length) return;
    const all = this.server.openTogether(alone);
    const groups = splitByGlobals(this.ts, all.getLanguageService().getProgram(), alone, this.tokensOf);
    groups.forEach((group, at) => {
      const project = groups.length === 1 ? all : this.server.openTogether(group);
      this.reach = new Reach(project.getLanguageService().getProgram());
      for (const file of group) {
        this.reach.from(file);
        this.askFile(project, `loose files ${at} of ${config}`, file);
      }
      this.reach = null;
    });
  }

  askFile(project, name, file) {
    const loaded = project.getLanguageService().getProgram();
    this.names.set(project, name);
    this.report(++this.done, this.paths.length);
    if (!loaded.getSourceFile(file)) return;
    const program = this.ledger ? this.ledger.enter(name, loaded) : loaded;
    const situation = this.situation(project, file);
    const place = `${name} | ${situation} | ${this.reach ? this.reach.mark : ""}`;
    const known = this.ledger && this.ledger.recall(file, name, place);
    const sheet = known || this.readFile(project, program, file);
    if (this.ledger) this.ledger.remember(file, name, place, sheet, !known);
    this.record(project, program, sheet, situation);
  }

  /** The name under which the ledger has a project's program. */
  nameOf(project) {
    return this.names.get(project) || project.getProjectName();
  }

  /** Asks the engine everything about a file. */
  readFile(project, program, file) {
    const source = program.getSourceFile(file);
    const sheet = new Sheet(file, source.text, Int32Array.from(this.ts.getLineStarts(source)));
    sheet.nodes = this.nodesOf(source);
    sheet.relations = this.relationsOf(program, source);
    for (const node of this.tokensOf(source).asked)
      sheet.tokens.push(this.readToken(project, program, source, node));
    return sheet;
  }

  /** Puts what is known of a file into the facts. */
  record(project, program, sheet, situation) {
    const index = this.index.get(sheet.file);
    const own = this.facts.files[index];
    own.text = sheet.text;
    own.mark = sheet.mark;
    own.lines = sheet.lines;
    own.nodes = sheet.nodes.slice();
    own.relations = sheet.relations.map(([kind, source, to]) => [kind, this.at(source), this.at(to)]);
    const following = this.answers.following.get(program);
    for (const token of sheet.tokens) {
      const set = this.setOf(project, program, token, situation);
      if (following && set >= 0) this.check.token(following, program, sheet.file, token, set);
      if (set < 0 && !token.isNeeded && !token.definitions.length) continue;
      this.facts.ask(
        index,
        token.start,
        token.end,
        token.name,
        token.roles,
        token.definitions.map((each) => this.at(each)),
        set,
      );
    }
  }

  /** A target as the facts have it. */
  at(target) {
    if (typeof target === "string") return target;
    let found = this.indexed.get(target);
    if (!found) this.indexed.set(target, (found = { ...target, file: this.index.get(target.file) }));
    return found;
  }

  /** What decides, beside the question itself, which projects a references request searches. */
  situation(project, file) {
    if (this.server.isSingle()) return null;
    const names = (projects) =>
      projects
        .map((each) => each.getProjectName())
        .sort()
        .join(" ");
    this.adopt();
    return (
      names(this.server.service.getScriptInfo(file).containingProjects) + " | " + names(this.server.loaded())
    );
  }

  /** Lets every loaded project answer references by our memory instead of searching again. */
  adopt() {
    for (const project of this.server.loaded()) {
      const service = project.getLanguageService();
      if (this.ledger) this.programOf(project);
      if (service.adopted) continue;
      service.adopted = true;
      service.findReferences = (file, position) =>
        this.answerIn(project, this.programOf(project), file, position);
      service.updateIsDefinitionOfReferencedSymbols = () => false;
    }
  }

  programOf(project) {
    const loaded = project.getLanguageService().getProgram();
    return this.ledger ? this.ledger.enter(this.nameOf(project), loaded) : loaded;
  }

  answerIn(project, program, file, position) {
    const source = program.getSourceFile(file);
    if (!source) return undefined;
    const node = this.ts.getTouchingPropertyName(source, position);
    const question = this.answers.question(program, node, position);
    if (this.asked) this.asked.push([this.nameOf(project), file, question]);
    if (question === null) return undefined;
    return this.cut(project, question, this.answers.references(program, node, question, position));
  }

  /** Leaves out what the asked file does not reach, where many files share one inferred program. */
  cut(project, question, groups) {
    if (!this.reach || !this.ts.server.isInferredProject(project)) return groups;
    return this.reach.pick(question, groups).groups;
  }

  readToken(project, program, source, node) {
    const { ts } = this;
    const { start, length } = spanOf(ts, node, source);
    const infos =
      attempt(() => ts.GoToDefinition.getDefinitionAtPosition(program, source, node.getStart(source))) || [];
    const definitions = this.targets(project, program, infos);
    const unknown = this.reach && infos.length > 0 && definitions.length === 0;
    const question = unknown ? null : (attempt(() => this.answers.question(program, node)) ?? null);
    const [first] = infos;
    const visible = first && !first.isLocal ? `${first.fileName} ${first.textSpan.start}` : "";
    const name = node.text === undefined ? source.text.slice(start, start + length) : node.text;
    const isNeeded = ts.isIdentifier(node) && !(node.flags & ts.NodeFlags.JSDoc);
    const roles = this.rolesOf(node);
    return {
      start,
      end: start + length,
      name,
      roles,
      definitions,
      node,
      question,
      visible,
      isNeeded,
      found: null,
    };
  }

  targets(project, program, infos) {
    const mapped = infos.length ? this.server.session.mapDefinitionInfoLocations(infos, project) : infos;
    const found = new Map();
    for (const info of mapped) {
      if (this.reach && this.index.has(info.fileName) && !this.reach.has(info.fileName)) continue;
      const target = this.target(info, program);
      found.set(typeof target === "string" ? target : `${target.file} ${target.start}`, target);
    }
    return [...found.values()];
  }

  target(info, program) {
    const { start, length } = info.textSpan;
    const file = info.fileName;
    if (this.index.has(file))
      return { file, start: length === 0 && start === 0 ? -1 : start, end: start + length };
    const key = `${info.fileName} ${start}`;
    let name = this.outside.get(key);
    if (name === undefined) this.outside.set(key, (name = this.outsideName(info, program)));
    return name;
  }

  outsideName(info, program) {
    const { fileName, textSpan } = info;
    let where = path.posix.basename(fileName);
    if (fileName.startsWith(this.libraries)) where = "typescript/" + where;
    else if (fileName.startsWith(this.root + "/")) where = fileName.slice(this.root.length + 1);
    const source = program.getSourceFile(fileName);
    return `${where}#${source && textSpan.length ? qualifiedName(this.ts, source, textSpan.start) : ""}`;
  }

  /** The number of the set of occurrences that a references request here gives; -1 when it gives none. */
  setOf(project, program, token, situation) {
    if (token.question === null) return -1;
    if (situation !== null && token.found && this.holds(token.found)) return this.setFrom(token.found);
    return attempt(() => this.findOrAsk(project, program, token, situation)) ?? -1;
  }

  /** Whether what a session found in an earlier run is what it would find now. */
  holds(found) {
    let holds = this.held.get(found);
    if (holds === undefined) this.held.set(found, (holds = !!found.asked && this.ledger.holds(found.asked)));
    return holds;
  }

  findOrAsk(project, program, token, situation) {
    const { node, question, visible } = token;
    let memory = this.shared.get(program);
    if (!memory) this.shared.set(program, (memory = new Map()));
    let known = memory.get(question);
    if (known === undefined) memory.set(question, (known = new Map()));
    const groups = this.answers.references(program, node, question);
    const reached = this.reach ? this.reach.pick(question, groups).name : "";
    const part = situation === null ? reached : `${situation} ${visible} ${reached}`;
    let found = known.get(part);
    if (found === undefined)
      known.set(part, (found = this.findSet(project, node, question, groups, situation)));
    if (this.ledger && situation !== null) token.found = found;
    return this.setFrom(found);
  }

  findSet(project, node, question, groups, situation) {
    if (situation === null)
      return this.cut(project, question, groups).flatMap(({ references }) => references);
    this.asked = [[this.nameOf(project), node.getSourceFile().fileName, question]];
    const found = this.askSession(node).flatMap(({ references }) => references);
    found.asked = this.asked;
    this.held.set(found, true);
    return found;
  }

  setFrom(references) {
    let set = this.given.get(references);
    if (set !== undefined) return set;
    const ids = [];
    for (const { fileName, textSpan } of references) {
      const file = this.index.get(fileName);
      if (file !== undefined)
        ids.push(this.facts.occurrence(file, textSpan.start, textSpan.start + textSpan.length));
    }
    this.given.set(references, (set = ids.length ? this.facts.set(ids) : -1));
    return set;
  }

  askSession(node) {
    const source = node.getSourceFile();
    const groups =
      this.server.session.getReferences({ file: source.fileName, position: node.getStart(source) }, false) ||
      [];
    this.adopt();
    return groups;
  }
}

/** Where the engine itself fails the live server answers with an error: nothing is known there. */
function attempt(ask) {
  try {
    return ask();
  } catch (error) {
    if (error.message && /^Debug Failure|Maximum call stack/.test(error.message)) return undefined;
    if (error.stack && /\(.*[\\/]typescript\.js:/.test(error.stack.split("\n")[1] || "")) return undefined;
    throw error;
  }
}

module.exports = { Driver, Engine };
