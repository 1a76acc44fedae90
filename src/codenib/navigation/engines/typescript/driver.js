'use strict';
/**
 * A checkout and the list of its files in, the facts of each file out.
 *
 * Files are asked in the state a client leaves the server in: only the asked file is open, and the projects
 * of its folder that an earlier file needed are loaded. A file that no project includes is answered from its
 * own imports, as the server does for a file that is open alone: such files share one inferred program here,
 * and every answer is cut down to the files that the asked one reaches.
 */

const path = require('path');
const { tokenReader } = require('./tokens.js');
const { Search } = require('./search.js');
const { Answers, spanOf } = require('./answers.js');
const { Server } = require('./server.js');
const { Facts } = require('./facts.js');
const { Layout } = require('./layout.js');
const { Reach, splitByGlobals } = require('./reach.js');
const { nodeReader, roleReader, qualifiedName } = require('./nodes.js');
const { relationReader } = require('./relations.js');
const engine = require('./engine.js');

class Driver {
  constructor(folder, root, paths, report) {
    this.search = new Search();
    const ts = (this.ts = engine.load(folder, this.search.hooks()));
    this.libraries = ts.normalizePath(path.join(folder, 'lib')) + '/';
    this.tokensOf = tokenReader(ts);
    this.search.serve(ts, this.tokensOf, this.libraries);
    this.answers = new Answers(ts, this.search);
    this.server = new Server(ts, root, this.libraries);
    this.nodesOf = nodeReader(ts);
    this.rolesOf = roleReader(ts);
    this.relationsOf = relationReader(ts, (info, program) => this.target(info, program));
    this.root = root;
    this.paths = paths;
    this.index = new Map(paths.map((each, at) => [root + '/' + each, at]));
    this.facts = new Facts(paths);
    this.report = report;
    this.done = 0;
    this.outside = new Map();
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
    this.runLoose(loose);
  }

  isLoaded(file) {
    const info = this.server.service.getScriptInfo(file);
    return !!info && !info.isOrphan();
  }

  runConfigured(file, loose) {
    const project = this.server.openAlone(file);
    if (!project) loose.push(file);
    else this.askFile(project, file);
  }

  runLoose(files) {
    const alone = files.filter((file) => !this.isLoaded(file));
    for (const file of files) if (this.isLoaded(file)) this.runConfigured(file, alone);
    if (!alone.length) return;
    const groups = splitByGlobals(
      this.ts,
      this.server.openTogether(alone).getLanguageService().getProgram(),
      alone,
      this.tokensOf,
    );
    for (const group of groups) {
      const project = this.server.openTogether(group);
      this.reach = new Reach(project.getLanguageService().getProgram());
      for (const file of group) {
        this.reach.from(file);
        this.askFile(project, file);
      }
      this.reach = null;
    }
  }

  askFile(project, file) {
    const index = this.index.get(file);
    const service = project.getLanguageService();
    const program = service.getProgram();
    const source = program.getSourceFile(file);
    this.report(++this.done, this.paths.length);
    if (!source) return;
    const own = this.facts.files[index];
    own.text = source.text;
    own.lines = Int32Array.from(this.ts.getLineStarts(source));
    own.nodes = this.nodesOf(source);
    own.relations = this.relationsOf(program, source);
    const situation = this.situation(project, file);
    for (const node of this.tokensOf(source).asked)
      this.askToken(project, program, index, source, node, situation);
  }

  /** What decides, beside the question itself, which projects a references request searches. */
  situation(project, file) {
    if (this.server.isSingle()) return null;
    const names = (projects) =>
      projects
        .map((each) => each.getProjectName())
        .sort()
        .join(' ');
    this.adopt();
    return (
      names(this.server.service.getScriptInfo(file).containingProjects) + ' | ' + names(this.server.loaded())
    );
  }

  /** Lets every loaded project answer references by our memory instead of searching again. */
  adopt() {
    for (const project of this.server.loaded()) {
      const service = project.getLanguageService();
      if (service.adopted) continue;
      service.adopted = true;
      service.findReferences = (file, position) =>
        this.answerIn(project, service.getProgram(), file, position);
      service.updateIsDefinitionOfReferencedSymbols = () => false;
    }
  }

  answerIn(project, program, file, position) {
    const source = program.getSourceFile(file);
    if (!source) return undefined;
    const node = this.ts.getTouchingPropertyName(source, position);
    const question = this.answers.question(program, node, position);
    if (question === null) return undefined;
    return this.cut(project, question, this.answers.references(program, node, question, position));
  }

  /** Leaves out what the asked file does not reach, where many files share one inferred program. */
  cut(project, question, groups) {
    if (!this.reach || !this.ts.server.isInferredProject(project)) return groups;
    return this.reach.pick(question, groups).groups;
  }

  askToken(project, program, index, source, node, situation) {
    const { ts } = this;
    const { start, length } = spanOf(ts, node, source);
    const infos =
      attempt(() => ts.GoToDefinition.getDefinitionAtPosition(program, source, node.getStart(source))) || [];
    const definitions = this.targets(project, program, infos);
    const unknown = this.reach && infos.length > 0 && definitions.length === 0;
    const set = unknown ? -1 : (attempt(() => this.setOf(project, program, node, infos[0], situation)) ?? -1);
    if (set < 0 && !definitions.length && (!ts.isIdentifier(node) || node.flags & ts.NodeFlags.JSDoc)) return;
    const name = node.text === undefined ? source.text.slice(start, start + length) : node.text;
    this.facts.ask(index, start, start + length, name, this.rolesOf(node), definitions, set);
  }

  targets(project, program, infos) {
    const mapped = infos.length ? this.server.session.mapDefinitionInfoLocations(infos, project) : infos;
    const found = new Map();
    for (const info of mapped) {
      if (this.reach && this.index.has(info.fileName) && !this.reach.has(info.fileName)) continue;
      const target = this.target(info, program);
      found.set(typeof target === 'string' ? target : `${target.file} ${target.start}`, target);
    }
    return [...found.values()];
  }

  target(info, program) {
    const { start, length } = info.textSpan;
    const file = this.index.get(info.fileName);
    if (file !== undefined)
      return { file, start: length === 0 && start === 0 ? -1 : start, end: start + length };
    const key = `${info.fileName} ${start}`;
    let name = this.outside.get(key);
    if (name === undefined) this.outside.set(key, (name = this.outsideName(info, program)));
    return name;
  }

  outsideName(info, program) {
    const { fileName, textSpan } = info;
    let where = path.posix.basename(fileName);
    if (fileName.startsWith(this.libraries)) where = 'typescript/' + where;
    else if (fileName.startsWith(this.root + '/')) where = fileName.slice(this.root.length + 1);
    const source = program.getSourceFile(fileName);
    return `${where}#${source && textSpan.length ? qualifiedName(this.ts, source, textSpan.start) : ''}`;
  }

  /** The number of the set of occurrences that a references request here gives; -1 when it gives none. */
  setOf(project, program, node, first, situation) {
    const question = this.answers.question(program, node);
    if (question === null) return -1;
    let memory = this.shared.get(program);
    if (!memory) this.shared.set(program, (memory = new Map()));
    const visible = first && !first.isLocal ? `${first.fileName} ${first.textSpan.start}` : '';
    const part = situation === null ? '' : ` ${situation} ${visible}`;
    const groups = this.answers.references(program, node, question);
    const reached = this.reach ? this.reach.pick(question, groups).name : '';
    const key = `${question}${part} ${reached}`;
    let set = memory.get(key);
    if (set === undefined) memory.set(key, (set = this.findSet(project, node, question, groups, situation)));
    return set;
  }

  findSet(project, node, question, groups, situation) {
    const found = situation === null ? this.cut(project, question, groups) : this.askSession(node);
    const ids = [];
    for (const { references } of found) {
      for (const { fileName, textSpan } of references) {
        const file = this.index.get(fileName);
        if (file !== undefined)
          ids.push(this.facts.occurrence(file, textSpan.start, textSpan.start + textSpan.length));
      }
    }
    return ids.length ? this.facts.set(ids) : -1;
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
    if (error.stack && /\(.*[\\/]typescript\.js:/.test(error.stack.split('\n')[1] || '')) return undefined;
    throw error;
  }
}

module.exports = { Driver };
