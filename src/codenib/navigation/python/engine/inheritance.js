"use strict";
// A file's class statements in, its relations out: which classes they inherit from, which methods they override.

/** @import { Declaration, NodeInfo, ParseNode, Project, Symbol, Type } from "./basedpyright" */
/** @import { Relation } from "./encoder" */
/** @import { Resolver } from "./resolver" */
/** @typedef {(kind: string, source: string, target: string) => void} AddRelation */

const { DECL } = require("./declarations");

// The engine's flags "look only in base classes" and "not in object".
const BASES_ONLY = 1 | 4;

class Inheritance {
  /**
   * @param {Project} project
   * @param {Resolver} resolver
   */
  constructor({ inner }, resolver) {
    this.resolver = resolver;
    this.types = inner("analyzer/types");
    this.lookUp = inner("analyzer/typeUtils").lookUpClassMember;
    /** @type {NodeInfo} */
    this.info = inner("analyzer/analyzerNodeInfo");
  }

  /**
   * @param {ParseNode[]} classes
   * @returns {Relation[]}
   */
  relations(classes) {
    /** @type {Map<string, Relation>} */
    const relations = new Map();
    /** @type {AddRelation} */
    const add = (kind, source, target) => {
      if (source !== target) relations.set(`${kind} ${source} ${target}`, [kind, source, target]);
    };
    for (const node of classes) {
      const type = this.resolver.evaluator.getTypeOfClass(node)?.classType;
      if (!type) continue;
      this.addBases(type, add);
      this.addOverrides(type, node, add);
    }
    return [...relations.values()];
  }

  /**
   * @param {Type} type
   * @param {AddRelation} add
   */
  addBases(type, add) {
    const own = this.targetOf(type);
    for (const base of type.shared.baseClasses) {
      const target = this.types.isClass(base) && this.targetOf(base);
      if (own && target && !this.types.ClassType.isBuiltIn(base, "object")) add("inherit", own, target);
    }
  }

  /** @param {Type} type */
  targetOf(type) {
    const { declaration } = type.shared;
    return declaration ? this.resolver.targets.identify(declaration).target : undefined;
  }

  /**
   * @param {Type} type
   * @param {ParseNode} node
   * @param {AddRelation} add
   */
  addOverrides(type, node, add) {
    const { targets, reader } = this.resolver;
    for (const [name, symbol] of this.info.getScope(node, reader)?.symbolTable ?? []) {
      const methods = symbol.getDeclarations().filter(isFunction);
      if (methods.length === 0) continue;
      /** @type {{ symbol: Symbol } | undefined} */
      const inherited = this.lookUp(type, name, BASES_ONLY);
      const base = inherited?.symbol.getDeclarations().findLast(isFunction);
      if (!base) continue;
      const { target } = targets.identify(base);
      for (const method of methods) add("override", targets.identify(method).target, target);
    }
  }
}

/** @param {Declaration} declaration */
function isFunction({ type }) {
  return type === DECL.function;
}

module.exports = { Inheritance };
