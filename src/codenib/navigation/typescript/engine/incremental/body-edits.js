"use strict";
/**
 * A file before and after an edit in, the functions whose bodies it changed out, where it changed nothing else.
 *
 * A body says something to others only by the type that is inferred from it. So where comments and bodies changed
 * alone, nothing that others see differs, unless one of these functions without a written type has another one.
 */

/** @import ts from "typescript" */
/** @import { TypeScript } from "../typescript-internals" */
/** @typedef {{ node: ts.Node, body: string }} FunctionBody */
/** @typedef {{ old: ts.Node, now: ts.Node }} ChangedFunction */

const COMMENTS = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;

/**
 * The functions without a written type whose bodies differ; null where the edit changed more than comments and bodies.
 * @param {TypeScript} ts
 * @param {ts.SourceFile} before
 * @param {ts.SourceFile} after
 * @returns {ChangedFunction[] | null}
 */
function changedBodies(ts, before, after) {
  const [old, now] = [before, after].map((file) => new Outline(ts, file));
  if (old.text !== now.text) return null;
  /** @type {ChangedFunction[]} */
  const changed = [];
  for (const [at, { node, body }] of now.bodies.entries()) {
    if (body === old.bodies[at].body || /** @type {any} */ (node).type) continue;
    if (!isDeclared(ts, node)) return null;
    changed.push({ old: old.bodies[at].node, now: node });
  }
  return changed;
}

/**
 * Whether the type of a function is what its own declaration gives, not what becomes of it in an expression.
 * @param {TypeScript} ts
 * @param {ts.Node} node
 */
function isDeclared(ts, node) {
  if (ts.isFunctionDeclaration(node)) return true;
  const { parent } = node;
  if (ts.isVariableDeclaration(parent) || ts.isPropertyDeclaration(parent)) return true;
  return ts.isClassElement(node) && ts.isClassLike(parent);
}

/** A file without comments, and without the bodies of functions, which are listed. */
class Outline {
  /**
   * @param {TypeScript} ts
   * @param {ts.SourceFile} file
   */
  constructor(ts, file) {
    this.ts = ts;
    this.file = file;
    // Comments are types in JavaScript; everywhere they may say what JSX means.
    this.isTyped = ts.isInJSFile(file);
    /** @type {FunctionBody[]} */
    this.bodies = [];
    this.text = this.write(file, true);
  }

  /**
   * @param {ts.Node} node
   * @param {boolean} isOutside whether bodies below are left out
   * @returns {string}
   */
  write(node, isOutside) {
    const { ts, file } = this;
    const parts = [`<${node.kind} `];
    let at = node === file ? 0 : node.getStart(file);
    const isFunction = isOutside && this.hasOwnBody(node);
    ts.forEachChild(node, (child) => {
      const start = child.getStart(file);
      parts.push(this.between(at, start));
      if (isFunction && child === /** @type {any} */ (node).body)
        this.bodies.push({ node, body: this.write(child, false) });
      else parts.push(this.write(child, isOutside));
      at = child.end;
    });
    parts.push(parts.length > 1 ? this.between(at, node.end) : file.text.slice(at, node.end), ">");
    return parts.join("");
  }

  /**
   * Whether a body can be left out: that of a constructor declares, and so may any of JavaScript.
   * @param {ts.Node} node
   */
  hasOwnBody(node) {
    const { ts } = this;
    return !this.isTyped && ts.isFunctionLike(node) && !ts.isConstructorDeclaration(node);
  }

  /**
   * The tokens between two nodes.
   * @param {number} start
   * @param {number} end
   */
  between(start, end) {
    const isKept = (/** @type {string} */ comment) =>
      comment.includes("@jsx") || (this.isTyped && comment.startsWith("/**"));
    const text = this.file.text.slice(start, end);
    return text
      .replace(COMMENTS, (comment) => (isKept(comment) ? comment : " "))
      .replace(/\s+/g, " ")
      .trim();
  }
}

module.exports = { changedBodies };
