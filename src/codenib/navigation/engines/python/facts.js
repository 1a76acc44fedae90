"use strict";
// node facts.js ENGINE_FOLDER ROOT [PYTHON] < list of files, one per line: prints one JSON line of facts for each.
// Lines on standard error that begin with "progress " say how many files are done.

const fs = require("fs");
const path = require("path");
const { load, EngineError } = require("./engine");
const { Family } = require("./family");
const { open } = require("./project");
const { Walker, ROLE } = require("./names");
const { NodeTable } = require("./nodes");
const { Reach } = require("./reach");
const { Resolver } = require("./resolve");
const { Sheet } = require("./sheet");

// The engine holds the types and trees of every file it saw. These counts, not the heap's size, say when to let
// go of them, so that every run does it at the same places. They keep Django at 2.7 GB.
const MAX_TYPES = 750000;
const MAX_USAGE = 2.5; // as the engine counts it: thousands of parsed files, where that is more than the types
// The share of names at which the engine may fail before its result counts as broken.
const MAX_FAILURES = 0.01;

// Text that may hold a string which only evaluation shows to be a type: casts, type variables, aliases.
const QUOTED = /\bcast\(\s*["']|\b(bound|default)\s*=\s*["']|\bTypeVar\(.*["'].*["']|^\w+\s*(:[^=]*)?=.*\[.*["'][A-Z]/m;
const NO_STRINGS = new Set();

class Maker {
    // `others`: files that the project's configuration leaves out.
    // `late`: those with strings that may be types, which are done last so that the others' needs are known.
    constructor(project, files, others, late) {
        this.project = project;
        this.late = new Map([...late].map((file) => [file, new Set()]));
        this.program = project.program;
        const { inner } = project;
        this.walker = new Walker(inner);
        this.resolver = new Resolver(project, new Set(files));
        this.others = others;
        this.reach = new Reach(project, this.resolver, files, others);
        this.names = 0;
        this.failures = 0;
        this.family = new Family(project, this.resolver);
        this.toPosition = inner("common/positionUtils").convertOffsetToPosition;
        this.stringRange = inner("analyzer/parseTreeUtils").getStringNodeValueRange;
        this.getScope = inner("analyzer/analyzerNodeInfo").getScope;
    }

    lineOf(file) {
        const { program, resolver } = this;
        const uri = this.project.uriOf(this.project.root, file);
        const results = program.getParseResults(uri);
        if (!results) {
            throw new EngineError(`the engine could not read ${file}`);
        }
        resolver.enter(uri);
        const tree = results.parserOutput.parseTree;
        const lines = results.tokenizerOutput.lines;
        const settled = this.late.has(file) ? this.noteStrings(file, tree) : NO_STRINGS;
        const found = this.walker.walk(tree, resolver, (work) => this.attempt(work, undefined), settled);
        this.late.delete(file);
        const table = new NodeTable(this.walker.types, lines, this.toPosition);
        const nodes = table.build(found.declarations);
        const sheet = new Sheet(file, (offset) => this.toPosition(offset, lines), this.aloneness(file));
        const seen = new Set();
        for (const [node, roles, loose] of found.names) {
            if (!seen.has(node.start) && node.length > 0) {
                seen.add(node.start);
                const answer = this.answerAt(node);
                const declares = table.starts.has(node.start) ? ROLE.declaration : 0;
                sheet.add(node, roles | declares | (answer.exact ? 0 : ROLE.inexact), answer, loose);
            }
        }
        this.addStrings(found, tree, sheet);
        return sheet.text(nodes, this.attempt(() => this.family.relations(found.classes), []));
    }

    // Remembers which strings the engine has read as types, across the emptying of its caches.
    noteStrings(file, tree) {
        const before = this.late.get(file);
        const after = this.walker.evaluatedIn(tree, this.resolver.reader, before);
        this.late.set(file, after);
        return after;
    }

    letGo() {
        const { program } = this;
        if (program.evaluator.getTypeCacheEntryCount() > MAX_TYPES || program.getCacheUsage() > MAX_USAGE) {
            for (const file of this.late.keys()) {
                const uri = this.project.uriOf(this.project.root, file);
                const tree = program.getSourceFileInfo(uri)?.sourceFile.getParserOutput()?.parseTree;
                tree && this.noteStrings(file, tree);
            }
            program.emptyCache();
            this.resolver.forget();
        }
    }

    // Where the engine fails the server has no answer either; it too goes on with a fresh evaluator.
    answerAt(node) {
        const nothing = { defs: new Set(), keys: new Set(), asks: new Set(), exact: true };
        this.names += 1;
        return this.attempt(() => this.resolver.resolve(node), nothing);
    }

    attempt(work, otherwise) {
        try {
            return work();
        } catch {
            this.failures += 1;
            this.program._createNewEvaluator();
            this.resolver.forget();
            return otherwise;
        }
    }

    aloneness(file) {
        if (!this.others.has(file)) {
            this.others.size > 0 && this.reach.importsOf(file);
            return undefined;
        }
        return this.reach.imported().has(file) ? "together" : "itself";
    }

    // Names in `__all__`, and members that strings declare: listed among the references, but no request starts there.
    addStrings(found, tree, sheet) {
        const scope = this.getScope(tree, this.resolver.reader);
        for (const string of found.exported) {
            const symbol = scope?.lookUpSymbolRecursive(string.d.value)?.symbol;
            if (symbol) {
                this.addString(string, symbol.getDeclarations(), sheet, 0);
            }
        }
        for (const [name, declaration] of found.declarations) {
            if (declaration.node.nodeType === this.walker.types.StringList) {
                const string = declaration.node.d.strings.find((s) => s.d.value === name);
                string && this.addString(string, [declaration], sheet, ROLE.declaration);
            }
        }
    }

    addString(string, declarations, sheet, roles) {
        const keys = new Set();
        for (const declaration of declarations) {
            this.resolver.look(declaration).compared.forEach((one) => keys.add(one.key(string.d.value)));
        }
        const range = this.stringRange(string);
        sheet.add(range, roles | ROLE.inexact, { defs: new Set(), keys, asks: new Set() });
    }
}

async function main([folder, root, python]) {
    const files = fs.readFileSync(0, "utf8").split("\n").filter(Boolean);
    const readable = files.filter((file) => isFile(path.join(root, file)));
    const project = await open(load(folder), root, python);
    const others = openOthers(project, readable);
    const own = readable.filter((file) => !others.has(file));
    const late = new Set(own.filter((file) => QUOTED.test(fs.readFileSync(path.join(root, file), "utf8"))));
    const maker = new Maker(project, readable, others, late);
    // The lines in the order of `files`; of what cannot be read there are no facts.
    const lines = new Map(files.map((file) => [file, new Sheet(file).text([], [])]));
    readable.forEach((file) => lines.set(file, undefined));
    let done = files.length - readable.length;
    // Files left out come after: which of them are searched together depends on what the others import.
    for (const file of [...own.filter((one) => !late.has(one)), ...others, ...late]) {
        lines.set(file, maker.lineOf(file));
        process.stderr.write(`progress ${++done}\n`);
        flush(lines);
        maker.letGo();
    }
    flush(lines);
    project.temp.dispose();
    if (maker.failures > MAX_FAILURES * maker.names) {
        throw new EngineError(`the engine failed at ${maker.failures} of ${maker.names} names`);
    }
}

// Prints the lines that are ready, as far as none before them is missing.
function flush(lines) {
    for (const [file, line] of lines) {
        if (line === undefined) {
            return;
        }
        writeAll(line);
        lines.delete(file);
    }
}

// A pipe takes what it has room for.
function writeAll(text) {
    const bytes = Buffer.from(text, "utf8");
    for (let at = 0; at < bytes.length; ) {
        try {
            at += fs.writeSync(1, bytes, at);
        } catch (error) {
            if (error.code !== "EAGAIN") {
                throw error;
            }
            Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
        }
    }
}

// Links that lead nowhere are listed by git, but there is nothing to read.
function isFile(place) {
    return fs.statSync(place, { throwIfNoEntry: false })?.isFile() ?? false;
}

// Files that the configuration leaves out: the server reads them only when they are open or imported.
function openOthers(project, files) {
    const { program, root, uriOf } = project;
    const others = files.filter((file) => !program.getSourceFileInfo(uriOf(root, file))?.isTracked);
    for (const file of others) {
        const uri = uriOf(root, file);
        program.setFileOpened(uri, 1, fs.readFileSync(uri.getFilePath(), "utf8"));
    }
    return new Set(others);
}

main(process.argv.slice(2)).then(
    () => process.exit(0),
    (error) => {
        process.stderr.write(error instanceof EngineError ? `error ${error.message}\n` : `${error.stack}\n`);
        process.exit(1);
    }
);
