"use strict";
// A file in, what other files can see of it out: for each name the digest of its type as the engine knows it. Two
// versions of a file with equal surfaces leave the facts of every other file as they are.

const crypto = require("crypto");
const { DECL } = require("./names");

// Bodies that the engine reads again for the arguments of a call, because a parameter has no type, show through.
const OPEN = "open";

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
    }

    // `touched`: names that mean something else than before; an open body that has one counts as changed.
    // `chains`: the entries wanted; all when it is not given.
    of(file, touched, chains) {
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
            this.symbols(this.info.getScope(node, this.resolver.reader)?.symbolTable, inside);
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
        this.add(name, shared.flags, this.print(shared.declaredMetaclass), shared.baseClasses.map((b) => this.print(b)));
        this.add(name, shared.mro.map((b) => this.print(b)), shared.typeParams.map((p) => this.print(p)));
        this.add(name, shared.dataClassEntries?.map((e) => [e.name, e.hasDefault, e.includeInInit, e.isKeywordOnly]));
        this.add(name, JSON.stringify(shared.dataClassBehaviors ?? null, plain));
    }

    symbols(table, chain) {
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
            this.add(chain + name, symbol._flags, this.print(type));
            for (const d of declarations) {
                this.add(chain + name, d.type, d.isConstant, d.isFinal, d.isMethod, d.isInExceptSuite, d.node.nodeType);
                if (d.type === DECL.alias) {
                    this.alias(chain + name, d);
                } else if (d.type === DECL.function) {
                    this.body(chain + name, d.node);
                    name === "__init__" && this.made(chain + name, type, d.node);
                }
            }
        }
    }

    // What a module imports, others can only see by naming the module.
    imported(name, symbol, type, declarations) {
        const entry = `${name} (import)`;
        this.add(entry, symbol._flags, this.print(type));
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
            this.add(`${name}.${parameter.name ?? "*"}`, at, parameter.category, parameter.flags, typed);
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
        if (this.touched.size > 0 && (text.match(/[\p{L}_][\p{L}\p{N}_]*/gu) ?? []).some((w) => this.touched.has(w))) {
            this.add(name, "touched");
        }
    }

    print(type) {
        return type ? this.resolver.evaluator.printType(type, { useFullyQualifiedNames: true }) : "";
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
    return value instanceof Map || value instanceof Set ? [...value] : typeof value === "bigint" ? `${value}` : value;
}

module.exports = { Surface };
