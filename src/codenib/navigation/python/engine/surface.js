"use strict";
// A file in, what other files can see of it out: for each name the digest of its type as the engine knows it. Two
// versions of a file with equal surfaces leave the facts of every other file as they are.

const crypto = require("crypto");
const { DECL } = require("./names");

// Bodies that the engine reads again for the arguments of a call, because a parameter has no type, show through.
const OPEN = "open";
// How a method's own object is printed among its parameters.
const OWN = /\((?:self|cls): (?:type\[)?(?:Self@)?[\w.]+(?=[,)\][])/g;

class Surface {
  constructor(project, resolver) {
    const { inner } = project;
    this.project = project;
    this.resolver = resolver;
    this.info = inner("analyzer/analyzerNodeInfo");
    this.types = inner("parser/parseNodeUtils").ParseNodeTypeMap;
    this.childrenOf = inner("analyzer/parseTreeWalker").getChildNodes;
    this.kinds = inner("analyzer/types");
    this.unknown = inner("analyzer/typeUtils").isPartlyUnknown;
    this.variablesOf = inner("analyzer/typeUtils").getTypeVarArgsRecursive;
  }

  // `touched`: names that mean something else than before; an open body that has one counts as changed.
  // `chains`: the entries wanted; all when it is not given. `held`: names of classes whose values are used otherwise
  // than before; an entry whose type has one counts as changed.
  of(file, touched, chains, held) {
    this.held = held.length > 0 ? new RegExp(`\\b(?:${held.join("|")})\\b`) : undefined;
    const wanted = chains && new Set(chains);
    this.wants = (chain) => !wanted || wanted.has(chain);
    const { program, root, uriOf } = this.project;
    const uri = uriOf(root, file);
    const results = program.getParseResults(uri);
    if (!results) {
      return {};
    }
    this.text = results.text ?? program.getSourceFileInfo(uri).sourceFile.getFileContent() ?? "";
    this.touched = new Set(touched);
    this.entries = new Map();
    const tree = results.parserOutput.parseTree;
    this.resolver.enter(uri);
    this.exported(tree);
    this.scopes(tree, "");
    const found = {};
    for (const [name, parts] of this.entries) {
      found[name] = crypto.createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 16);
    }
    return found;
  }

  exported(tree) {
    const all = this.info.getDunderAllInfo(tree, this.resolver.reader);
    for (const name of all?.names ?? []) {
      this.add(name, "in __all__");
    }
    if (all) {
      this.add("__all__", all.usesUnsupportedDunderAllForm ? "dynamic" : "plain");
    }
  }

  // The scopes of the module and of every class in it, wherever that is.
  scopes(node, chain) {
    const t = this.types;
    let inside = chain;
    if (node.nodeType === t.Class || node.nodeType === t.Function) {
      inside = `${chain}${node.d.name.d.value}.`;
    }
    if (node.nodeType === t.Module || node.nodeType === t.Class) {
      if (node.nodeType === t.Class) {
        this.wants(inside.slice(0, -1)) && this.header(node, inside);
      }
      this.symbols(this.info.getScope(node, this.resolver.reader)?.symbolTable, inside, node);
    }
    for (const child of this.childrenOf(node, () => undefined)) {
      child && this.scopes(child, inside);
    }
  }

  header(node, chain) {
    const type = this.resolver.evaluator.getTypeOfClass(node)?.classType;
    const name = `${chain.slice(0, -1)} (class)`;
    if (!type) {
      this.add(name, "no type");
      return;
    }
    const { shared } = type;
    const above = [
      shared.declaredMetaclass,
      ...shared.baseClasses,
      ...shared.mro.slice(1),
      ...shared.typeParams,
    ];
    const text = above.map((one) => this.describe(one)).join();
    this.add(name, shared.flags, shared.baseClasses.length, shared.mro.length, text);
    this.holds(text) && this.add(name, "held");
    this.add(
      name,
      shared.dataClassEntries?.map((e) => [e.name, e.hasDefault, e.includeInInit, e.isKeywordOnly]),
    );
    this.add(name, JSON.stringify(shared.dataClassBehaviors ?? null, plain));
    if (shared.dataClassEntries || shared.namedTupleEntries || this.kinds.ClassType.isTypedDictClass(type)) {
      this.fields(node, `${chain}__init__`);
    }
  }

  // The class is made with its fields, in order and often unnamed.
  fields(node, name) {
    for (const [field, symbol] of this.info.getScope(node, this.resolver.reader)?.symbolTable ?? []) {
      const isField = symbol.getDeclarations().some((d) => d.type === DECL.variable);
      isField && this.add(name, field, this.print(this.resolver.evaluator.getEffectiveTypeOfSymbol(symbol)));
    }
  }

  symbols(table, chain, node) {
    const isClass = node.nodeType === this.types.Class;
    // What is left after some members of an enumeration were looked at depends on all of them.
    const members = isClass && table && this.isEnum(node) ? [...table.keys()].join() : "";
    for (const [name, symbol] of table ?? []) {
      const declarations = symbol.getDeclarations().filter((d) => d.node && d.type !== DECL.intrinsic);
      if (declarations.length === 0 || !this.wants(chain + name)) {
        continue;
      }
      const type = this.resolver.evaluator.getEffectiveTypeOfSymbol(symbol);
      if (chain === "" && declarations.every((d) => d.type === DECL.alias)) {
        this.imported(name, symbol, type, declarations);
        continue;
      }
      const text = this.describe(type);
      this.add(chain + name, symbol._flags, text, members);
      this.holds(text) && this.add(chain + name, "held");
      if (isClass && this.shapes.has(name)) {
        this.add(`${chain}${name} (shape)`, symbol._flags, text);
      }
      for (const d of declarations) {
        this.add(
          chain + name,
          d.type,
          d.isConstant,
          d.isFinal,
          d.isMethod,
          d.isInExceptSuite,
          d.node.nodeType,
        );
        if (d.type === DECL.alias) {
          this.alias(chain + name, d);
        } else if (d.type === DECL.function) {
          this.body(chain + name, d.node);
          name === "__init__" && this.made(chain + name, type, d.node);
        }
      }
    }
  }

  // Whether a type has one of the classes; who calls a method has its own object already.
  holds(text) {
    return !!this.held && this.held.test(text.replace(OWN, ""));
  }

  isEnum(node) {
    const type = this.resolver.evaluator.getTypeOfClass(node)?.classType;
    return !!type && this.kinds.ClassType.isEnumClass(type);
  }

  // The names of what protocols ask for, special methods aside: they are compared without being written.
  get shapes() {
    this.shaped ??= new Set(this.project.program._sourceFileList.flatMap((info) => this.shapesIn(info)));
    return this.shaped;
  }

  shapesIn({ sourceFile }) {
    const t = this.types;
    const statements = sourceFile.getParserOutput()?.parseTree.d.statements ?? [];
    const protocols = statements.filter((one) => one.nodeType === t.Class && this.isProtocol(one));
    const tables = protocols.map(
      (one) => this.info.getScope(one, this.resolver.reader)?.symbolTable ?? new Map(),
    );
    return tables.flatMap((table) => [...table.keys()]).filter((name) => !name.startsWith("__"));
  }

  isProtocol({ d }) {
    const t = this.types;
    return d.arguments.some(({ d: { valueExpr } }) => {
      const base = valueExpr.nodeType === t.Index ? valueExpr.d.leftExpr : valueExpr;
      const word = base.nodeType === t.MemberAccess ? base.d.member : base;
      return word.nodeType === t.Name && word.d.value === "Protocol";
    });
  }

  // What a module imports, others can only see by naming the module.
  imported(name, symbol, type, declarations) {
    const entry = `${name} (import)`;
    const text = this.describe(type);
    this.add(entry, symbol._flags, text);
    this.holds(text) && this.add(entry, "held");
    declarations.forEach((d) => this.alias(entry, d));
  }

  // An imported name is what it leads to.
  alias(name, d) {
    for (const one of this.resolver.look(d).defs) {
      this.add(name, typeof one.label === "string" ? one.label : "", stable(one.target));
    }
  }

  // How a class is made is used without being written. Where no type follows from the arguments, who makes one writes
  // the class, a subclass or the name of a parameter.
  made(name, type, node) {
    const owner = node.parent?.parent;
    const generic = this.resolver.evaluator.getTypeOfClass(owner)?.classType.shared.typeParams.length !== 0;
    if (generic || node.d.decorators.length > 0 || !this.kinds.isFunction(type)) {
      this.add(`${name} (made)`, "generic", this.print(type));
      return;
    }
    type.shared.parameters.forEach((parameter, at) => {
      const typed = this.print(this.kinds.FunctionType.getParamType(type, at));
      if (at > 0 && parameter.category === 0 && parameter.name) {
        this.add(`${name}.${parameter.name}`, at, parameter.flags, typed);
      }
    });
  }

  // A function whose result depends on what it is called with shows its body.
  body(name, node) {
    const type = this.resolver.evaluator.getTypeOfFunction(node)?.functionType;
    const returned = type && this.resolver.evaluator.getInferredReturnType(type);
    if (node.d.returnAnnotation || !returned || !this.unknown(returned)) {
      return;
    }
    const text = this.text.slice(node.start, node.start + node.length);
    this.add(name, OPEN, text);
    if (
      this.touched.size > 0 &&
      (text.match(/[\p{L}_][\p{L}\p{N}_]*/gu) ?? []).some((w) => this.touched.has(w))
    ) {
      this.add(name, "touched");
    }
  }

  // Aliases by what they stand for: who uses a value of such a type need not write the alias.
  print(type) {
    return type
      ? this.resolver.evaluator.printType(type, { useFullyQualifiedNames: true, expandTypeAlias: true })
      : "";
  }

  // A type as text, with the bounds of its type variables, which are not printed where they are used.
  describe(type) {
    const bounds = (type ? this.variablesOf(type) : []).flatMap(({ shared }) => [
      shared.boundType,
      ...(shared.constraints ?? []),
      shared.isDefaultExplicit ? shared.defaultType : undefined,
    ]);
    return [type, ...bounds].map((one) => this.print(one)).join(" ");
  }

  add(name, ...parts) {
    const known = this.entries.get(name);
    known ? known.push(...parts) : this.entries.set(name, parts);
  }
}

// A target without its place: a shift alone changes nobody's facts.
function stable(target) {
  const parsed = JSON.parse(target);
  return typeof parsed === "string" ? parsed : parsed[0];
}

function plain(key, value) {
  return value instanceof Map || value instanceof Set
    ? [...value]
    : typeof value === "bigint"
      ? `${value}`
      : value;
}

module.exports = { Surface };
