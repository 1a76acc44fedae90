"use strict";
/**
 * The answers of one run over a checkout in, those of them that hold in the next run out.
 *
 * Answers are kept by file, as a sheet: its declarations, its relations, and for each token what it leads to and
 * the question that its references answer. Programs are kept by the name of their project.
 */

const v8 = require("v8");
const { Following } = require("./follow.js");

/** The part of the heap that may be in use before projects are forgotten. */
const MOST_HEAP = 0.6;

let sheets = 0;

/** What the engine said about one file. Targets name files, so that a sheet outlives a list of paths. */
class Sheet {
  constructor(file, text, lines) {
    Object.assign(this, { file, text, lines, nodes: [], relations: [], tokens: [], files: null });
    this.mark = ++sheets;
  }

  *targets() {
    for (const { definitions } of this.tokens) yield* definitions;
    for (const [, source, destination] of this.relations) yield* [source, destination];
  }

  /** The files that it leads to. */
  others() {
    if (!this.files) {
      this.files = new Set();
      for (const target of this.targets()) if (typeof target !== "string") this.files.add(target.file);
    }
    return this.files;
  }

  /** Whether a target in one of these files is such. */
  leadsTo(files, test) {
    if (![...this.others()].some((file) => files.has(file))) return false;
    for (const target of this.targets()) if (typeof target !== "string" && test(target)) return true;
    return false;
  }

  /** The sheet with targets where they are now, and with questions named anew where `ask` gives other names. */
  after(files, moved, ask) {
    const isMoved = [...this.others()].some((file) => files.has(file));
    const move = (target) => (typeof target !== "string" && files.has(target.file) ? moved(target) : target);
    const sheet = new Sheet(this.file, this.text, this.lines);
    sheet.nodes = this.nodes;
    sheet.mark = this.mark;
    sheet.relations = isMoved
      ? this.relations.map(([kind, source, to]) => [kind, move(source), move(to)])
      : this.relations;
    sheet.tokens = this.tokens.map((token) => {
      const question = ask(token);
      const isHit = isMoved && token.definitions.some((each) => files.has(each.file));
      if (question === token.question && !isHit) return token;
      return { ...token, question, definitions: isHit ? token.definitions.map(move) : token.definitions };
    });
    return sheet;
  }
}

class Ledger {
  constructor(engine, kept) {
    this.engine = engine;
    this.kept = kept;
    this.programs = new Map();
    this.files = new Map();
    this.edited = new Set();
    this.begin(new Set());
  }

  /** A new run; `edited` are the files that changed, came or went since the last one. */
  begin(edited) {
    this.edited = edited;
    this.entered = new Map();
    this.next = new Map();
    this.asked = 0;
    this.reasons = [];
  }

  /** Starts the run again with nothing known. */
  forget(reason) {
    this.programs = new Map();
    this.files = new Map();
    this.engine.search.elder = null;
    this.begin(this.edited);
    this.reasons.push(reason);
  }

  /** The program that stands for the one just loaded: the same one, if it is known already. */
  enter(name, loaded) {
    const known = this.entered.get(name);
    if (known && (known.loaded === loaded || Following.isSame(known.program, loaded))) {
      known.loaded = loaded;
      return known.program;
    }
    this.shed(name);
    const before = known ? undefined : this.programs.get(name);
    const state = { program: loaded, loaded, isSame: false, following: null };
    if (before && Following.isSame(before, loaded)) Object.assign(state, { program: before, isSame: true });
    else if (before) state.following = this.follow(name, before, loaded);
    this.entered.set(name, state);
    return state.program;
  }

  /** Forgets what other projects answered when memory runs out; the next run asks their files again. */
  shed(name) {
    const { used_heap_size: used, heap_size_limit: limit } = v8.getHeapStatistics();
    if (used < MOST_HEAP * limit) return;
    for (const each of [...this.entered.keys()]) if (each !== name) this.entered.delete(each);
    for (const each of [...this.programs.keys()]) if (each !== name) this.programs.delete(each);
    for (const files of [this.files, this.next])
      for (const [file, entry] of [...files]) if (entry.name !== name) files.delete(file);
  }

  follow(name, before, loaded) {
    const { ts, search, answers } = this.engine;
    const asked = new Map();
    for (const [file, entry] of this.files) if (entry.name === name) asked.set(file, entry.sheet);
    const following = new Following(ts, search, answers, before, loaded, asked, this.edited);
    try {
      if (following.settle()) return following;
    } catch (error) {
      following.reason = `the engine failed: ${error.message}`;
    }
    following.abandon();
    this.reasons.push(`${name}: ${following.reason}`);
    return null;
  }

  /** Whether the questions that an answer came from, in several projects, have the same answers now. */
  holds(questions) {
    return questions.every(([name, file, question]) => {
      const state = this.entered.get(name);
      if (!state) return false;
      return state.isSame || (state.following !== null && state.following.keeps(file, question));
    });
  }

  /** What is known of a file and holds; null when it must be asked. */
  recall(file, name, place) {
    const entry = this.files.get(file);
    const state = this.entered.get(name);
    if (!entry || entry.place !== place || entry.name !== name) return null;
    const { following } = state;
    if (state.isSame) return entry.sheet.leadsTo(this.edited, () => true) ? null : entry.sheet;
    if (!following || following.reaches(file)) return null;
    return entry.sheet.after(
      this.edited,
      (target) => following.moved(target),
      ({ node, question }) =>
        following.again.has(question) ? this.engine.answers.question(state.program, node) : question,
    );
  }

  remember(file, name, place, sheet, isNew) {
    if (isNew) this.asked += 1;
    this.next.set(file, { name, place, sheet });
  }

  /** The run is over: what it found is what the next one starts from. */
  end() {
    this.files = this.next;
    this.programs = new Map();
    for (const [name, { program, following }] of this.entered) {
      this.programs.set(name, program);
      if (following) following.end();
    }
    this.engine.search.elder = null;
  }
}

module.exports = { Sheet, Ledger };
