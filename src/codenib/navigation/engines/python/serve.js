"use strict";
// node serve.js ENGINE_FOLDER ROOT [PYTHON]: stays, and answers requests, a line of JSON each, on standard output.
//   {"sync": FILES, "changed": PATHS}       the files there are now, and which of them changed, came or went
//   {"lines": PATHS, "within": RANGES}      a line of facts for each; of a file in RANGES only the names on its lines
//   {"nodes": PATHS}                        the declarations of each
//   {"surfaces": PATHS, "touched": NAMES, "entries": CHAINS}
//                                           what others see of each; of a file in CHAINS only these
//   {"imports": PATHS}                      what each imports, where the configuration leaves files out; else nothing
//   {"apart": true}                         of the files that the configuration leaves out, those that are imported
// After each answer comes {"end": COUNT}; {"error": REASON} when it failed.

const fs = require("fs");
const path = require("path");
const readline = require("readline");
const { load } = require("./engine");
const { Maker, isFile, openOthers, writeAll } = require("./maker");
const { open } = require("./project");
const { Sheet } = require("./sheet");
const { Surface } = require("./surface");

class Server {
    // `reopen` makes the project of what is on disk now.
    constructor(project, reopen) {
        this.project = project;
        this.reopen = reopen;
        this.files = new Set();
        this.others = new Set();
        this.edges = new Map();
    }

    async handle(request) {
        if (request.sync) {
            return this.sync(request.sync, request.changed);
        }
        if (request.apart) {
            writeAll(JSON.stringify({ apart: this.others.size > 0 ? [...this.maker.reach.imported()].sort() : [] }) + "\n");
            return 1;
        }
        if (request.imports) {
            for (const file of request.imports) {
                const known = this.others.size > 0 && this.files.has(file);
                writeAll(JSON.stringify({ file, imports: known ? this.maker.reach.importsOf(file) : [] }) + "\n");
            }
            return request.imports.length;
        }
        if (request.nodes) {
            request.nodes.forEach((file) => writeAll(JSON.stringify({ file, ...this.maker.nodesOf(file) }) + "\n"));
            return request.nodes.length;
        }
        if (request.lines) {
            return this.lines(request.lines, request.within ?? {});
        }
        return this.surfaces(request.surfaces, request.touched, request.entries ?? {});
    }

    async sync(files, changed) {
        const readable = files.filter((file) => isFile(path.join(this.project.root, file)));
        const before = this.files;
        this.files = new Set(readable);
        const moved = changed.filter((file) => before.has(file) !== this.files.has(file));
        if (before.size > 0 && moved.length > 0) {
            // Search roots, excluded folders and what every import leads to may differ.
            this.project.service.dispose();
            this.project.temp.dispose();
            this.project = await this.reopen();
            this.edges.clear();
        } else {
            const { program, root, uriOf } = this.project;
            program.markFilesDirty(changed.map((file) => uriOf(root, file)), true);
        }
        const { program } = this.project;
        this.others = openOthers(this.project, readable);
        program._createNewEvaluator();
        changed.forEach((file) => this.edges.delete(file));
        this.maker = new Maker(this.project, readable, this.others);
        this.maker.reach.edges = this.edges;
        this.surface = new Surface(this.project, this.maker.resolver);
        return 0;
    }

    lines(paths, within) {
        const first = paths.filter((file) => !this.others.has(file));
        const found = new Map();
        for (const file of [...first, ...paths.filter((one) => this.others.has(one))]) {
            found.set(file, this.files.has(file) ? this.maker.lineOf(file, within[file]) : new Sheet(file).text([], []));
            this.maker.letGo();
        }
        paths.forEach((file) => writeAll(found.get(file)));
        this.maker.judge();
        return paths.length;
    }

    surfaces(paths, touched, entries) {
        for (const file of paths) {
            const there = this.files.has(file);
            const surface = there ? this.surface.of(file, touched, entries[file]) : {};
            writeAll(JSON.stringify({ file, surface }) + "\n");
            this.maker.letGo();
        }
        return paths.length;
    }
}

async function main([folder, root, python]) {
    const inner = load(folder);
    const reopen = () => open(inner, root, python);
    const server = new Server(await reopen(), reopen);
    for await (const line of readline.createInterface({ input: process.stdin })) {
        try {
            writeAll(JSON.stringify({ end: await server.handle(JSON.parse(line)) }) + "\n");
        } catch (error) {
            writeAll(JSON.stringify({ error: error.stack ?? `${error}` }) + "\n");
        }
    }
    server.project.temp.dispose();
}

main(process.argv.slice(2)).then(
    () => process.exit(0),
    (error) => {
        process.stderr.write(`error ${error.message}\n`);
        process.exit(1);
    }
);
