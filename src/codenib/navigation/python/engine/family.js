"use strict";
// A file's class statements in, its relations out: which classes they inherit from, which methods they override.

const { DECL } = require("./names");

// The engine's flags "look only in base classes" and "not in object".
const BASES_ONLY = 1 | 4;

class Family {
  constructor(project, resolver) {
    this.resolver = resolver;
    this.types = project.inner("analyzer/types");
    this.lookUp = project.inner("analyzer/typeUtils").lookUpClassMember;
    this.info = project.inner("analyzer/analyzerNodeInfo");
  }

  // [kind, source target, destination target] of every class in `classes` (parse nodes).
  relations(classes) {
    const found = new Map();
    const add = (kind, source, target) => {
      if (source !== target) {
        found.set(`${kind} ${source} ${target}`, [kind, source, target]);
      }
    };
    for (const node of classes) {
      const type = this.resolver.evaluator.getTypeOfClass(node)?.classType;
      if (type) {
        this.inherits(type, add);
        this.overrides(type, node, add);
      }
    }
    return [...found.values()];
  }

  inherits(type, add) {
    const own = this.targetOf(type);
    for (const base of type.shared.baseClasses) {
      const target = this.types.isClass(base) && this.targetOf(base);
      if (own && target && !this.types.ClassType.isBuiltIn(base, "object")) {
        add("inherit", own, target);
      }
    }
  }

  targetOf(type) {
    const declaration = type.shared.declaration;
    return declaration ? this.resolver.identify(declaration).target : undefined;
  }

  overrides(type, node, add) {
    for (const [name, symbol] of this.info.getScope(node, this.resolver.reader)?.symbolTable ?? []) {
      const methods = symbol.getDeclarations().filter((d) => d.type === DECL.function);
      const above = methods.length > 0 && this.lookUp(type, name, BASES_ONLY);
      const base = above && above.symbol.getDeclarations().findLast((d) => d.type === DECL.function);
      if (base) {
        const target = this.resolver.identify(base).target;
        methods.forEach((method) => add("override", this.resolver.identify(method).target, target));
      }
    }
  }
}

module.exports = { Family };
