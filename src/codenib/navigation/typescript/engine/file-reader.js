"use strict";
/** A file of a program in, what the engine says about it out: declarations, relations and an answer for each token. */

/** @import ts from "typescript" */
/** @import { AnyNode, FileSpan } from "./typescript-internals" */
/** @import { Engine } from "./engine" */
/** @import { ProjectServer } from "./host/project-server" */
/** @import { TokenAnswer } from "./incremental/file-answers" */
/** @import { ImportClosure } from "./references/import-closure" */
/** @import { Target } from "./syntax/relations" */

const path = require("node:path");
const { getOrCreate } = require("../../engines/js/maps");
const { attempt } = require("./host/attempt");
const { FileAnswers } = require("./incremental/file-answers");
const { spanOf } = require("./references/queries");
const { qualifiedName } = require("./syntax/declarations");
const { RelationReader } = require("./syntax/relations");

class FileReader {
  /**
   * @param {Engine} engine
   * @param {ProjectServer} server
   * @param {Map<string, number>} fileNumbers the listed files
   */
  constructor(engine, server, fileNumbers) {
    this.engine = engine;
    this.server = server;
    this.fileNumbers = fileNumbers;
    /** @type {ImportClosure | null} of the asked file, where many files share one inferred program */
    this.closure = null;
    this.relations = new RelationReader(engine.ts, (span, program) => this.target(span, program));
    /** @type {Map<string, string>} */
    this.outsideNames = new Map();
  }

  /**
   * Asks the engine everything about a file.
   * @param {ts.server.Project} project
   * @param {ts.Program} program
   * @param {string} file
   */
  read(project, program, file) {
    const { ts, declarations, tokensOf } = this.engine;
    const source = /** @type {ts.SourceFile} */ (program.getSourceFile(file));
    const answers = new FileAnswers(file, source.text, Int32Array.from(ts.getLineStarts(source)));
    answers.nodes = declarations.of(source);
    answers.relations = this.relations.of(program, source);
    for (const node of tokensOf(source).asked)
      answers.tokens.push(this.readToken(project, program, source, node));
    return answers;
  }

  /**
   * @param {ts.server.Project} project
   * @param {ts.Program} program
   * @param {ts.SourceFile} source
   * @param {ts.Node} node
   * @returns {TokenAnswer}
   */
  readToken(project, program, source, node) {
    const { ts, queries, roles } = this.engine;
    const { start, length } = spanOf(ts, node, source);
    const position = node.getStart(source);
    const infos = attempt(() => ts.GoToDefinition.getDefinitionAtPosition(program, source, position)) ?? [];
    const definitions = this.targets(project, program, infos);
    const isUnreached = this.closure && infos.length > 0 && definitions.length === 0;
    const query = isUnreached ? null : (attempt(() => queries.queryOf(program, node)) ?? null);
    const [first] = infos;
    return {
      start,
      end: start + length,
      name: /** @type {AnyNode} */ (node).text ?? source.text.slice(start, start + length),
      roles: roles.of(node),
      definitions,
      node,
      query,
      visible: first && !first.isLocal ? `${first.fileName} ${first.textSpan.start}` : "",
      isNeeded: ts.isIdentifier(node) && !(node.flags & ts.NodeFlags.JSDoc),
      references: null,
    };
  }

  /**
   * @param {ts.server.Project} project
   * @param {ts.Program} program
   * @param {readonly FileSpan[]} spans
   */
  targets(project, program, spans) {
    const { session } = this.server;
    /** @type {readonly FileSpan[]} */
    const mapped = spans.length ? session.mapDefinitionInfoLocations(spans, project) : spans;
    /** @type {Map<string, Target>} */
    const targets = new Map();
    for (const span of mapped) {
      if (this.closure && this.fileNumbers.has(span.fileName) && !this.closure.has(span.fileName)) continue;
      const target = this.target(span, program);
      targets.set(typeof target === "string" ? target : `${target.file} ${target.start}`, target);
    }
    return [...targets.values()];
  }

  /**
   * @param {FileSpan} span
   * @param {ts.Program} program
   * @returns {Target}
   */
  target(span, program) {
    const { start, length } = span.textSpan;
    const file = span.fileName;
    if (this.fileNumbers.has(file))
      return { file, start: length === 0 && start === 0 ? -1 : start, end: start + length };
    return getOrCreate(this.outsideNames, `${file} ${start}`, () => this.outsideName(span, program));
  }

  /**
   * The name of a definition that is not in the listed files.
   * @param {FileSpan} span
   * @param {ts.Program} program
   */
  outsideName({ fileName, textSpan }, program) {
    const { ts, libraries, root } = this.engine;
    const base = path.posix.basename(fileName);
    const isInside = fileName.startsWith(`${root}/`);
    const below = isInside ? fileName.slice(root.length + 1) : base;
    const where = fileName.startsWith(libraries) ? `typescript/${base}` : below;
    const source = program.getSourceFile(fileName);
    return `${where}#${source && textSpan.length ? qualifiedName(ts, source, textSpan.start) : ""}`;
  }
}

module.exports = { FileReader };
