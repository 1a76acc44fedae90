"use strict";
// A resolved declaration in, its target out: the JSON text that the facts name it by, and the keys under which a
// reference search compares it.

/** @import { Declaration, NodeInfo, NodeTypes, ParseNode, Position, Project, Uri } from "./basedpyright" */

/**
 * @typedef {object} Target
 * @property {string} target
 * @property {string | undefined} [name] the declared name; undefined when it has none of its own
 * @property {string | undefined} [label] what a name that means it is written like
 * @property {(name: string) => string} key the key under a name by which it may be written
 * @property {string | undefined} [call] the key of calls that construct it, of a class
 */
/**
 * A file's name in the facts.
 * @typedef {object} FileName
 * @property {string} path relative to the repository, or to the search root that has it
 * @property {boolean} isInside whether it is in the repository
 * @property {boolean} isListed whether the facts have a line of it
 */

const path = require("node:path");
const { getOrCreate } = require("../../engines/js/maps");
const { DECL } = require("./declarations");

const TYPESHED = "typeshed-fallback/";

class Targets {
  /**
   * @param {Project} project
   * @param {Set<string>} files
   * @param {() => object} reader the engine's reader of bound trees
   */
  constructor(project, files, reader) {
    const { inner } = project;
    this.root = project.root;
    this.files = files;
    this.reader = reader;
    /** @type {NodeInfo} */
    this.info = inner("analyzer/analyzerNodeInfo");
    /** @type {NodeTypes} */
    this.types = inner("parser/parseNodeUtils").ParseNodeTypeMap;
    /** @type {(declaration: Declaration) => string | undefined} */
    this.declaredName = inner("analyzer/declarationUtils").getNameFromDeclaration;
    /** @type {(offset: number, lines: object) => Position} */
    this.toPosition = inner("common/positionUtils").convertOffsetToPosition;
    /** @type {Uri} */
    this.unresolved = inner("analyzer/declaration").UnresolvedModuleMarker;
    /** @type {Map<string, FileName>} */
    this.fileNames = new Map();
    this.searchRoots = searchRoots(project);
  }

  /**
   * @param {Declaration} declaration
   * @returns {Target}
   */
  identify(declaration) {
    if (declaration.type === DECL.alias) return this.identifyAlias(declaration);
    const file = this.fileAt(declaration.uri);
    if (declaration.type === DECL.intrinsic) {
      const target = this.ofModule(declaration.uri);
      return { target, key: (name) => JSON.stringify(`${file.path}#intrinsic ${name}`) };
    }
    const name = this.declaredName(declaration);
    const plain = `${file.path}#${this.qualifiedName(declaration, name)}`;
    const target = JSON.stringify(file.isListed ? [file.path, ...this.startOf(declaration)] : plain);
    return {
      target,
      name,
      label: name,
      key: (written) =>
        written === name || name === undefined ? target : JSON.stringify(`${plain} as ${written}`),
      call: declaration.type === DECL.class ? JSON.stringify(`new ${plain}`) : undefined,
    };
  }

  /**
   * @param {Declaration} declaration
   * @returns {Target}
   */
  identifyAlias({ uri, symbolName, usesLocalName }) {
    const isUnresolved = uri.equals(this.unresolved) || uri.isEmpty();
    const file = isUnresolved ? { path: "?", isListed: false } : this.fileAt(uri);
    const target = JSON.stringify(file.isListed ? [file.path] : file.path);
    const label = moduleName(file.path);
    const stem = !symbolName && !usesLocalName ? label : undefined;
    const text = `${file.path}#import ${symbolName ?? ""}${usesLocalName ? " renamed" : ""}`;
    const key = (/** @type {string} */ name) =>
      name === stem ? target : JSON.stringify(`${text} as ${name}`);
    return { target, name: symbolName, label, key };
  }

  /** @param {Uri} uri */
  ofModule(uri) {
    const file = this.fileAt(uri);
    return JSON.stringify(file.isListed ? [file.path] : file.path);
  }

  /**
   * A module as a definition.
   * @param {Uri} uri
   * @returns {Target}
   */
  identifyModule(uri) {
    const target = this.ofModule(uri);
    return { target, label: moduleName(this.fileAt(uri).path), key: () => target };
  }

  /**
   * A node that declares something without a declaration.
   * @param {ParseNode} node
   */
  ofNode(node) {
    const { fileUri } = this.info.getFileInfo(node, this.reader());
    const { line, character } = this.positionOf(node, node.start);
    const file = this.fileAt(fileUri);
    return JSON.stringify(
      file.isListed ? [file.path, line, character] : `${file.path}#${node.d?.value ?? ""}`,
    );
  }

  /** @param {Declaration} declaration */
  startOf({ type, node, range }) {
    const { line, character } = range.start;
    if (type === DECL.param && node.d.name) {
      const lead = node.d.name.start - node.start;
      // "**" and its name may be on two lines; the server answers the first.
      const isSplit = lead > 2 && this.positionOf(node, node.d.name.start).line !== line;
      return [line, character + (isSplit ? 0 : lead)];
    }
    if (type === DECL.typeParam) {
      const name = this.positionOf(node, node.d.name.start); // its range is the whole list
      return [name.line, name.character];
    }
    return [line, character];
  }

  /**
   * @param {ParseNode} node
   * @param {number} offset
   */
  positionOf(node, offset) {
    return this.toPosition(offset, this.info.getFileInfo(node, this.reader()).lines);
  }

  /**
   * @param {Declaration} declaration
   * @param {string | undefined} name
   */
  qualifiedName({ node }, name) {
    const names = [name ?? ""];
    const t = this.types;
    for (let up = node?.parent; up; up = up.parent) {
      if ((up.nodeType === t.Class || up.nodeType === t.Function) && up.d.name !== node) {
        names.unshift(up.d.name.d.value);
      }
    }
    return names.join(".");
  }

  /** @param {Uri} uri */
  fileAt(uri) {
    return getOrCreate(this.fileNames, uri.key, () => {
      const file = uri.getFilePath();
      const relative = path.relative(this.root, file).split(path.sep).join("/");
      const isInside = relative !== "" && !relative.startsWith("../");
      const name = isInside ? relative : outsideName(file, this.searchRoots);
      return { path: name, isInside, isListed: isInside && this.files.has(relative) };
    });
  }
}

/**
 * The folders outside the checkout that imports are searched in, the longest first.
 * @param {Project} project
 * @returns {string[]}
 */
function searchRoots({ program, root, rootUri }) {
  const environment = program.configOptions.findExecEnvironment(rootUri);
  /** @type {Uri[]} */
  const uris = program.importResolver.getImportRoots(environment);
  const roots = uris.map((uri) => uri.getFilePath() + path.sep);
  const outside = roots.filter((one) => !`${root}${path.sep}`.startsWith(one));
  return outside.sort((a, b) => b.length - a.length);
}

/**
 * @param {string} file
 * @param {string[]} roots
 */
function outsideName(file, roots) {
  const typeshed = file.indexOf(TYPESHED);
  if (typeshed >= 0) return file.slice(typeshed + TYPESHED.length);
  const root = roots.find((one) => file.startsWith(one));
  return root ? file.slice(root.length).split(path.sep).join("/") : path.basename(file);
}

/**
 * The last part of the module's dotted name.
 * @param {string} file
 */
function moduleName(file) {
  const parts = file.replace(/\.pyi?$/, "").split("/");
  const last = parts.pop();
  return last === "__init__" ? parts.pop() : last;
}

module.exports = { Targets, moduleName, outsideName };
