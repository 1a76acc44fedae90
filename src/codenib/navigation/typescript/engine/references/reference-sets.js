"use strict";
/** A token in, the number of the set of occurrences that a references request there gives out. */

/** @import ts from "typescript" */
/** @import { FileSpan, ReferenceGroup } from "../typescript-internals" */
/** @import { Engine } from "../engine" */
/** @import { ProjectServer } from "../host/project-server" */
/** @import { AnswerCache } from "../incremental/answer-cache" */
/** @import { AskedQuery, FoundReferences, TokenAnswer } from "../incremental/file-answers" */
/** @import { RecordedFacts } from "../incremental/recorded-facts" */
/** @import { ImportClosure } from "./import-closure" */
/** @typedef {TokenAnswer & { query: string }} QueriedToken */

const { getOrCreate } = require("../../../engines/js/maps");
const { attempt } = require("../host/attempt");

class ReferenceSets {
  /**
   * @param {Engine} engine
   * @param {ProjectServer} server
   * @param {RecordedFacts} recorded
   * @param {Map<string, number>} fileNumbers
   * @param {AnswerCache | null} cache
   */
  constructor(engine, server, recorded, fileNumbers, cache) {
    this.engine = engine;
    this.server = server;
    this.recorded = recorded;
    this.facts = recorded.facts;
    this.fileNumbers = fileNumbers;
    this.cache = cache;
    /** @type {ImportClosure | null} of the asked file, where many files share one inferred program */
    this.closure = null;
    /** @type {WeakMap<ts.server.Project, string>} */
    this.projectNames = new WeakMap();
    /** @type {Map<string, ts.server.Project>} those of this run, by name */
    this.projects = new Map();
    /** @type {WeakSet<ts.LanguageService>} services that answer from memory */
    this.adopted = new WeakSet();
    /** @type {WeakMap<ts.Program, Map<string, Map<string, FoundReferences>>>} */
    this.found = new WeakMap();
    /** @type {Map<FoundReferences, number>} */
    this.numbers = new Map();
    /** @type {Map<FoundReferences, boolean>} whether what an earlier run found is what would be found now */
    this.validity = new Map();
    /** @type {Map<number, boolean>} whether all occurrences of a set are of files as they are now */
    this.current = new Map();
    /** @type {AskedQuery[] | null} collects the queries of the request under way */
    this.asked = null;
    /** @type {Map<string, { projects: ts.server.Project[], number: number }>} the projects that have a file */
    this.holders = new Map();
  }

  /**
   * @param {ts.server.Project} project
   * @param {string} name the name under which the cache has the project's program
   */
  nameProject(project, name) {
    this.projectNames.set(project, name);
  }

  /** @param {ts.server.Project} project */
  nameOf(project) {
    return this.projectNames.get(project) || project.getProjectName();
  }

  /**
   * What decides, beside the query itself, which projects a references request searches; null for one project.
   * @param {string} file
   */
  situation(file) {
    if (this.server.isSingle()) return null;
    this.adopt();
    return `${namesOf(this.projectsWith(file))} | ${namesOf(this.server.loaded())}`;
  }

  /**
   * @param {string} file
   * @returns {ts.server.Project[]}
   */
  projectsWith(file) {
    return this.server.service.getScriptInfo(file)?.containingProjects ?? [];
  }

  /**
   * A number of the projects that have a file: the same for the same names, also in another run.
   * @param {string} file
   */
  holdersOf(file) {
    const projects = this.projectsWith(file);
    const known = this.holders.get(file);
    if (known && isSameArray(known.projects, projects)) return known.number;
    const { holders } = /** @type {AnswerCache} */ (this.cache);
    const number = getOrCreate(holders, namesOf(projects), () => holders.size);
    this.holders.set(file, { projects: [...projects], number });
    return number;
  }

  /**
   * Which projects have the files that an answer leads through.
   * @param {AskedQuery[]} asked
   */
  holdersOfAll(asked) {
    const files = new Set(asked.flatMap((each) => each.found.map(({ fileName }) => fileName)));
    return [...files].map((file) => this.holdersOf(file)).join(" ");
  }

  /** Lets every loaded project answer references by our memory instead of searching again. */
  adopt() {
    for (const project of this.server.loaded()) {
      /** @type {any} */
      const service = project.getLanguageService();
      if (this.cache) this.programOf(project);
      if (this.adopted.has(service)) continue;
      this.adopted.add(service);
      service.findReferences = (/** @type {string} */ file, /** @type {number} */ position) =>
        this.answerIn(project, file, position);
      service.updateIsDefinitionOfReferencedSymbols = () => false;
    }
  }

  /**
   * @param {ts.server.Project} project
   * @returns {ts.Program}
   */
  programOf(project) {
    const loaded = /** @type {ts.Program} */ (project.getLanguageService().getProgram());
    this.projects.set(this.nameOf(project), project);
    return this.cache ? this.cache.enter(this.nameOf(project), loaded) : loaded;
  }

  /**
   * @param {ts.server.Project} project
   * @param {string} file
   * @param {number} position
   */
  answerIn(project, file, position) {
    const { ts, queries } = this.engine;
    const program = this.programOf(project);
    const source = program.getSourceFile(file);
    if (!source) return undefined;
    const node = ts.getTouchingPropertyName(source, position);
    const query = queries.queryOf(program, node, position);
    if (query === null) {
      this.asked?.push({ name: this.nameOf(project), file, query, found: [] });
      return undefined;
    }
    const groups = this.restrict(project, query, queries.references(program, node, query, position));
    this.asked?.push({ name: this.nameOf(project), file, query, found: placesIn(groups) });
    return groups;
  }

  /**
   * Leaves out what the asked file does not reach, where many files share one inferred program.
   * @param {ts.server.Project} project
   * @param {string} query
   * @param {ReferenceGroup[]} groups
   */
  restrict(project, query, groups) {
    const isShared = this.closure && /** @type {any} */ (this.engine.ts.server).isInferredProject(project);
    return isShared && this.closure ? this.closure.restrict(query, groups).groups : groups;
  }

  /**
   * The number of the set of occurrences that a references request here gives; -1 when it gives none.
   * @param {ts.server.Project} project
   * @param {ts.Program} program
   * @param {QueriedToken} token
   * @param {string | null} situation
   */
  setOf(project, program, token, situation) {
    if (situation !== null && token.references && this.isValid(token.references))
      return this.numberOf(token.references);
    const references = attempt(() => this.referencesOf(project, program, token, situation));
    return references ? this.numberOf(references) : -1;
  }

  /**
   * Whether a set of the run before is what a query of one project gives now, to a file that reaches what it did: the
   * query was not asked again, and nothing that it found has another place.
   * @param {ts.Program} program
   * @param {string} query
   * @param {number} set
   * @param {string | null} situation null for one project
   */
  isSettled(program, query, set, situation) {
    const { queries } = this.engine;
    if (situation !== null || set < 0 || !queries.memory(program).groups.has(query)) return false;
    if (queries.updates.get(program)?.refreshed.has(query)) return false;
    return getOrCreate(this.current, set, () => this.facts.isCurrent(set));
  }

  /**
   * Whether what a session found in an earlier run is what it would find now.
   * @param {FoundReferences} references
   */
  isValid(references) {
    const { asked, holders } = references;
    return getOrCreate(
      this.validity,
      references,
      () => !!asked?.every((each) => this.isUnchanged(each)) && this.holdersOfAll(asked) === holders,
    );
  }

  /**
   * Whether a query that an answer came from finds the same now, as far as the asked file reaches.
   * @param {AskedQuery} asked
   */
  isUnchanged({ name, file, query, found }) {
    if (!this.cache) return false;
    if (this.cache.isUnchanged(name, file, query)) return true;
    const groups = query === null ? null : this.cache.refreshed(name, file, query);
    const project = groups && this.projects.get(name);
    return !!project && isSameList(placesIn(this.restrict(project, query ?? "", groups)), found);
  }

  /**
   * @param {ts.server.Project} project
   * @param {ts.Program} program
   * @param {QueriedToken} token
   * @param {string | null} situation
   */
  referencesOf(project, program, token, situation) {
    const { node, query, visible } = token;
    const groups = this.engine.queries.references(program, node, query);
    const reached = this.closure ? this.closure.restrict(query, groups).name : "";
    if (situation === null) {
      const known = getOrCreate(this.recorded.found, groups, () => new Map());
      return getOrCreate(known, `${!!this.closure} ${reached}`, () =>
        this.restrict(project, query, groups).flatMap((group) => group.references),
      );
    }
    /** @type {Map<string, Map<string, FoundReferences>>} */
    const byQuery = getOrCreate(this.found, program, () => new Map());
    /** @type {Map<string, FoundReferences>} */
    const byPart = getOrCreate(byQuery, query, () => new Map());
    const references = getOrCreate(byPart, `${situation} ${visible} ${reached}`, () =>
      this.askSession(project, node, query, placesIn(this.restrict(project, query, groups))),
    );
    if (this.cache) token.references = references;
    return references;
  }

  /**
   * What the server finds in all projects that it would search.
   * @param {ts.server.Project} project
   * @param {ts.Node} node
   * @param {string} query
   * @param {FileSpan[]} found what its own project finds
   * @returns {FoundReferences}
   */
  askSession(project, node, query, found) {
    const source = node.getSourceFile();
    this.asked = [{ name: this.nameOf(project), file: source.fileName, query, found }];
    const request = { file: source.fileName, position: node.getStart(source) };
    /** @type {ReferenceGroup[]} */
    const groups = this.server.session.getReferences(request, false) ?? [];
    this.adopt();
    /** @type {FoundReferences} */
    const references = groups.flatMap((group) => group.references);
    references.asked = this.asked;
    if (this.cache) references.holders = this.holdersOfAll(this.asked);
    this.validity.set(references, true);
    return references;
  }

  /**
   * The number of the set of these references in listed files.
   * @param {FoundReferences} references
   */
  numberOf(references) {
    return getOrCreate(this.numbers, references, () => {
      const known = this.recorded.numbers.get(references);
      if (known !== undefined && (known < 0 || this.facts.isCurrent(known))) return known;
      const ids = [];
      for (const { fileName, textSpan } of references) {
        const file = this.fileNumbers.get(fileName);
        if (file === undefined) continue;
        ids.push(this.facts.occurrence(file, textSpan.start, textSpan.start + textSpan.length));
      }
      const number = ids.length ? this.facts.set(ids) : -1;
      this.recorded.numbers.set(references, number);
      return number;
    });
  }
}

/**
 * @param {unknown[]} some
 * @param {unknown[]} others
 */
function isSameArray(some, others) {
  return some.length === others.length && some.every((each, at) => each === others[at]);
}

/** @param {ts.server.Project[]} projects */
function namesOf(projects) {
  return projects
    .map((each) => each.getProjectName())
    .sort()
    .join(" ");
}

/**
 * All places that a session goes on from to other projects: the definitions too.
 * @param {ReferenceGroup[]} groups
 * @returns {FileSpan[]}
 */
function placesIn(groups) {
  return groups.flatMap(({ definition, references }) =>
    definition ? [definition, ...references] : references,
  );
}

/**
 * Whether two lists have the same places in the same order.
 * @param {FileSpan[]} some
 * @param {FileSpan[]} others
 */
function isSameList(some, others) {
  return (
    some === others ||
    (some.length === others.length && some.every((each, at) => isSamePlace(each, others[at])))
  );
}

/**
 * @param {FileSpan} one
 * @param {FileSpan} two
 */
function isSamePlace(one, two) {
  if (one === two) return true;
  const [a, b] = [one.textSpan, two.textSpan];
  return a.start === b.start && a.length === b.length && one.fileName === two.fileName;
}

module.exports = { ReferenceSets };
