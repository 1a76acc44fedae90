"use strict";
/**
 * A token and the set of its references after an edit in, an error out when the two cannot belong together.
 *
 * A set must have the token that asks for it, and each declaration of that name, in a file that the edit
 * reaches, to which the token leads. Where one is missing all files are searched; an answer that differs then
 * from the kept one shows that what was kept is wrong, and nothing of it is used.
 */

/** What was kept contradicts what the engine says. */
class Disagreement extends Error {}

class Check {
  constructor(answers, facts, index) {
    Object.assign(this, { answers, facts, index });
    this.verified = new Map();
  }

  /** `following`: how the program came about by an edit. */
  token(following, program, file, token, set) {
    if (!this.isDoubtful(following, program, file, token, set)) return;
    let seen = this.verified.get(program);
    if (!seen) this.verified.set(program, (seen = new Set()));
    if (seen.has(token.question)) return;
    seen.add(token.question);
    const kept = this.answers.references(program, token.node, token.question);
    const found = this.answers.searchFor(program, token.node, token.node.getStart());
    if (!sameSpans(kept, found))
      throw new Disagreement(`what was kept of ${token.name} in ${file} did not hold: all files were asked`);
  }

  isDoubtful(following, program, file, token, set) {
    const { facts, index } = this;
    const isMissing = (name, { start, end }) => !facts.holds(set, index.get(name), start, end);
    if ((following.fresh.has(token.question) || following.reaches(file)) && isMissing(file, token))
      return true;
    return token.definitions.some(
      (each) =>
        typeof each !== "string" &&
        following.reaches(each.file) &&
        program.getSourceFile(each.file)?.text.slice(each.start, each.end) === token.name &&
        isMissing(each.file, each),
    );
  }
}

function sameSpans(some, others) {
  const [one, two] = [some, others].map(
    (groups) =>
      new Set(
        groups.flatMap(({ references }) =>
          references.map(({ fileName, textSpan }) => `${fileName} ${textSpan.start} ${textSpan.length}`),
        ),
      ),
  );
  return one.size === two.size && [...one].every((each) => two.has(each));
}

module.exports = { Check, Disagreement };
