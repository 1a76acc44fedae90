"use strict";
// A name in the tree in, out: what the engine's definition provider answers there (defs), what its reference search
// would compare there (keys), and what a reference search that starts there looks for (asks). Targets are JSON texts.

const path = require("path");
const { DECL } = require("./names");

const NONE = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose() {} }) };

const NOTHING = new Set();

class Resolver {
  constructor(project, files) {
    const { inner, program } = project;
    this.project = project;
    this.program = program;
    this.files = files;
    this.info = inner("analyzer/analyzerNodeInfo");
    this.collector = inner("languageService/documentSymbolCollector");
    this.results = inner("analyzer/typeResultUtils");
    this.nodes = inner("parser/parseNodeUtils");
    this.types = this.nodes.ParseNodeTypeMap;
    this.trees = inner("analyzer/parseTreeUtils");
    this.declared = inner("analyzer/declarationUtils");
    this.isConstructor = inner("analyzer/constructors").isConstructor;
    this.places = new Map();
    this.stubSources = new Map();
    this.roots = searchRoots(project);
    this.forget();
  }

  // To be called after the engine's caches were emptied: declarations are new objects then.
  forget() {
    this.memo = new Map();
    this.protocols = new Map();
    this.climbed = new Map();
    this.evaluator = this.program.evaluator;
    this.reader = this.info.getInfoReader(this.program);
  }

  enter(uri) {
    this.uri = uri;
    this.mapper = this.program.getSourceMapper(uri, NONE);
    this.execEnv = undefined;
    this.climbed.clear();
  }

  resolve(node) {
    const info = this.evaluator.getDeclInfoForNameNode(node, false);
    const found = info ? info.decls : [];
    const reachable = !this.info.isCodeUnreachable(node, this.reader);
    let { defs, exact } = reachable ? this.defsOf(node, found, info) : { defs: NOTHING, exact: true };
    if (defs.size === 0) {
      defs = this.around(node);
      exact = defs.size === 0;
    }
    const { keys, asks } = this.keysOf(node, this.comparable(node, found));
    return { defs, keys, asks, exact };
  }

  // `exact`: all of them are called as the name is written.
  defsOf(node, found, info) {
    const defs = new Set();
    let exact = true;
    for (const declaration of found) {
      for (const one of this.look(declaration).defs) {
        defs.add(one.target);
        exact &&= one.label === node.d.value;
      }
    }
    for (const made of info?.synthesizedTypes ?? []) {
      if (made.node) {
        const file = this.fileOf(made.node);
        defs.add(this.placed(file.fileUri, this.positionOf(made.node.start, file), nameOf(made.node)));
      }
    }
    return { defs, exact };
  }

  // Where a name has no declaration, the server answers for the operators and calls around it, inside out.
  around(node) {
    const passed = [];
    let defs;
    for (let up = node.parent; up && !defs; up = up.parent) {
      defs = this.climbed.get(up) ?? this.usedBy(up);
      passed.push(up);
      if (up.nodeType === this.types.Assignment) {
        break;
      }
    }
    defs ??= NOTHING;
    passed.forEach((up) => this.climbed.set(up, defs));
    return defs;
  }

  // The methods and functions that an operator, index or call runs; undefined where there are none.
  usedBy(node) {
    const t = this.types;
    const inner = this.nodes.getInfoNode(node);
    let result;
    switch (inner.nodeType) {
      case t.UnaryOperation:
      case t.BinaryOperation:
      case t.AugmentedAssignment:
      case t.Index:
        result = this.results.getTypeOfOperatorNode(this.evaluator, inner);
        break;
      case t.Call:
        result = this.evaluator.getTypeResult(inner);
        break;
      default:
        return undefined;
    }
    const defs = new Set();
    const collect = (declaration) => this.look(declaration).defs.forEach((one) => defs.add(one.target));
    result && this.results.forEachDeclaration(result, collect, false);
    return defs.size > 0 ? defs : undefined;
  }

  // The declarations that the reference search compares; mostly those that we have, else the engine's own function.
  comparable(node, found) {
    const parent = node.parent.nodeType;
    const special =
      found.length === 0 ||
      parent === this.types.ImportFromAs ||
      parent === this.types.ModuleName ||
      found.some((d) => (d.type === DECL.alias ? !d.loadSymbolsFromPath : this.inProtocol(d)));
    return special
      ? this.collector.getDeclarationsForNameNode(this.evaluator, node, false, this.reader)
      : found;
  }

  inProtocol(declaration) {
    if (declaration.type !== DECL.variable || declaration.isDefinedByMemberAccess) {
      return false;
    }
    const owner = this.trees.getEnclosingClass(declaration.node);
    if (!owner || owner.d.arguments.length === 0) {
      return false;
    }
    let known = this.protocols.get(owner);
    if (known === undefined) {
      const type = this.evaluator.getTypeOfClass(owner)?.classType;
      known = !!type && this.isProtocol(type);
      this.protocols.set(owner, known);
    }
    return known;
  }

  isProtocol(type) {
    return this.project.inner("analyzer/types").ClassType.isProtocolClass(type);
  }

  keysOf(node, found) {
    const name = node.d.value;
    const keys = new Set();
    const asks = new Set();
    const isCallee = node.parent.nodeType === this.types.Call;
    const asked = new Set();
    for (const declaration of found) {
      const seen = this.look(declaration);
      for (const one of seen.compared) {
        keys.add(one.key(name));
        if (isCallee && one.made && one.name === name) {
          keys.add(one.made);
        }
      }
      seen.asked.forEach((one) => asked.add(one));
    }
    const names = new Set([name]);
    asked.forEach((one) => one.name && names.add(one.name));
    for (const one of asked) {
      names.forEach((n) => asks.add(one.key(n)));
    }
    if (asked.size > 0 && this.isConstructor(name)) {
      this.askForCalls(node, asks);
    }
    return { keys, asks };
  }

  // References of a constructor include the calls of its class.
  askForCalls(node, asks) {
    const type = this.evaluator.getType(node);
    const owner = type?.shared?.methodClass?.shared.declaration;
    if (owner?.type === DECL.class) {
      asks.add(this.identify(owner).made);
    }
  }

  // Everything about one declaration, worked out once.
  look(declaration) {
    let known = this.memo.get(declaration);
    if (!known) {
      known = {
        defs: this.defTargets(declaration),
        compared: this.compared(declaration),
        asked: this.asked(declaration),
      };
      this.memo.set(declaration, known);
    }
    return known;
  }

  defTargets(declaration) {
    let end = this.evaluator.resolveAliasDeclaration(declaration, true, {
      allowExternallyHiddenAccess: true,
    });
    if (!end || end.uri.isEmpty() || end.isUnresolved || end.uri.equals(this.unresolved())) {
      return [];
    }
    const fallback = end.type === DECL.alias && end.symbolName && end.submoduleFallback;
    if (fallback && !fallback.uri.isEmpty()) {
      end = fallback;
    }
    const targets = [this.identify(end)];
    if (this.mapsIntoRepository(end.uri)) {
      if (end.type === DECL.alias) {
        for (const tree of this.mapper.findModules(end.uri)) {
          const uri = this.info.getFileInfo(tree, this.reader)?.fileUri;
          uri && targets.push({ target: this.moduleTarget(uri), label: moduleName(this.place(uri).name) });
        }
      } else {
        targets.push(...this.implementations(end));
      }
    }
    return targets;
  }

  unresolved() {
    return this.project.inner("analyzer/declaration").UnresolvedModuleMarker;
  }

  compared(declaration) {
    const options = { allowExternallyHiddenAccess: true, skipFileNeededCheck: true };
    const near = this.evaluator.resolveAliasDeclaration(declaration, false, options);
    if (!near) {
      return [];
    }
    let far;
    if (this.isRenamedModule(near)) {
      far = this.declared.getDeclarationsWithUsesLocalNameRemoved([near])[0];
    } else {
      far = this.evaluator.resolveAliasDeclaration(near, true, options);
      if (far && this.isRenamedModule(far)) {
        far = this.declared.getDeclarationsWithUsesLocalNameRemoved([far])[0];
      }
    }
    return far && far !== near ? [this.identify(near), this.identify(far)] : [this.identify(near)];
  }

  isRenamedModule(d) {
    return d.type === DECL.alias && d.node && d.usesLocalName && d.node.nodeType === this.types.ImportAs;
  }

  asked(declaration) {
    const near = this.evaluator.resolveAliasDeclaration(declaration, false);
    if (!near) {
      return [];
    }
    const asked = [this.identify(near)];
    if (this.mapsIntoRepository(near.uri)) {
      asked.push(...this.implementations(near));
    }
    return asked;
  }

  implementations(declaration) {
    const found = this.mapper.findDeclarations(declaration);
    return found.filter((d) => d && !d.uri.isEmpty()).map((d) => this.identify(d));
  }

  // Mapping a stub to its sources is dear; sources outside the repository would change no answer inside it.
  mapsIntoRepository(uri) {
    if (!uri.hasExtension(".pyi")) {
      return false;
    }
    let known = this.stubSources.get(uri.key);
    if (known === undefined) {
      const resolver = this.program.importResolver;
      this.execEnv ??= this.program.configOptions.findExecEnvironment(this.uri);
      const sources = resolver.getSourceFilesFromStub(uri, this.execEnv, false);
      known = this.place(uri).inside || sources.some((source) => this.place(source).inside);
      this.stubSources.set(uri.key, known);
    }
    return known;
  }

  // A resolved declaration as a target with its label, and as a key for each name under which it may be written.
  identify(d) {
    if (d.type === DECL.alias) {
      return this.identifyAlias(d);
    }
    const name = this.declared.getNameFromDeclaration(d);
    const where = this.place(d.uri);
    if (d.type === DECL.intrinsic) {
      const key = (n) => JSON.stringify(`${where.name}#intrinsic ${n}`);
      return { target: this.moduleTarget(d.uri), name: undefined, key };
    }
    const chain = this.chainOf(d, name);
    const plain = `${where.name}#${chain}`;
    const target = where.listed ? JSON.stringify([where.name, ...this.startOf(d)]) : JSON.stringify(plain);
    const key = (n) => (n === name || name === undefined ? target : JSON.stringify(`${plain} as ${n}`));
    const made = d.type === DECL.class ? JSON.stringify(`new ${plain}`) : undefined;
    return { target, name, label: name, key, made };
  }

  identifyAlias(d) {
    const where = d.uri.equals(this.unresolved()) || d.uri.isEmpty() ? { name: "?" } : this.place(d.uri);
    const target = where.listed ? JSON.stringify([where.name]) : JSON.stringify(where.name);
    const label = moduleName(where.name);
    const stem = !d.symbolName && !d.usesLocalName ? label : undefined;
    const text = `${where.name}#import ${d.symbolName ?? ""}${d.usesLocalName ? " renamed" : ""}`;
    const key = (n) => (n === stem ? target : JSON.stringify(`${text} as ${n}`));
    return { target, name: d.symbolName, label, key };
  }

  moduleTarget(uri) {
    const where = this.place(uri);
    return where.listed ? JSON.stringify([where.name]) : JSON.stringify(where.name);
  }

  placed(uri, start, name) {
    const where = this.place(uri);
    if (where.listed) {
      return JSON.stringify([where.name, start.line, start.character]);
    }
    return JSON.stringify(`${where.name}#${name}`);
  }

  startOf(d) {
    const { line, character } = d.range.start;
    if (d.type === DECL.param && d.node.d.name) {
      const lead = d.node.d.name.start - d.node.start;
      // "**" and its name may be on two lines; the server answers the first.
      const far = lead > 2 && this.positionOf(d.node.d.name.start, this.fileOf(d.node)).line !== line;
      return [line, character + (far ? 0 : lead)];
    }
    if (d.type === DECL.typeParam) {
      const name = this.positionOf(d.node.d.name.start, this.fileOf(d.node)); // its range is the whole list
      return [name.line, name.character];
    }
    return [line, character];
  }

  fileOf(node) {
    return this.info.getFileInfo(node, this.reader);
  }

  positionOf(offset, file) {
    return this.project.inner("common/positionUtils").convertOffsetToPosition(offset, file.lines);
  }

  chainOf(d, name) {
    const names = [name ?? ""];
    const t = this.types;
    for (let up = d.node?.parent; up; up = up.parent) {
      if ((up.nodeType === t.Class || up.nodeType === t.Function) && up.d.name !== d.node) {
        names.unshift(up.d.name.d.value);
      }
    }
    return names.join(".");
  }

  // A file's name in the facts: relative to the repository, or to the search root that holds it.
  place(uri) {
    let known = this.places.get(uri.key);
    if (!known) {
      const file = uri.getFilePath();
      const relative = path.relative(this.project.root, file).split(path.sep).join("/");
      const inside = relative !== "" && !relative.startsWith("../");
      const name = inside ? relative : outsideName(file, this.roots);
      known = { name, inside, listed: inside && this.files.has(relative) };
      this.places.set(uri.key, known);
    }
    return known;
  }
}

function searchRoots(project) {
  const { program, rootUri } = project;
  const env = program.configOptions.findExecEnvironment(rootUri);
  const roots = program.importResolver.getImportRoots(env).map((uri) => uri.getFilePath() + path.sep);
  return roots
    .filter((root) => !`${project.root}${path.sep}`.startsWith(root))
    .sort((a, b) => b.length - a.length);
}

function outsideName(file, roots) {
  const typeshed = file.indexOf("typeshed-fallback/");
  if (typeshed >= 0) {
    return file.slice(typeshed + "typeshed-fallback/".length);
  }
  const root = roots.find((one) => file.startsWith(one));
  return root ? file.slice(root.length).split(path.sep).join("/") : path.basename(file);
}

function moduleName(file) {
  const parts = file.replace(/\.pyi?$/, "").split("/");
  const last = parts.pop();
  return last === "__init__" ? parts.pop() : last;
}

function nameOf(node) {
  return node.d?.value ?? "";
}

module.exports = { Resolver };
