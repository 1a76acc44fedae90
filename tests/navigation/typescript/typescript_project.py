"""A small repository with what is hard in TypeScript and JavaScript, and two ways to ask about it."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections import defaultdict
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

Place = tuple[str, int, int]

#: A package with a project, tests that it does not include, a solution of two projects, and plain JavaScript.
FILES = {
    "app/tsconfig.json": '{"compilerOptions": {"strict": true, "jsx": "preserve"}, "include": ["src"]}',
    "app/src/shapes.ts": """
        /** Has an {@link Area}. */
        export interface Shape { kind: string; area(): number; }
        export abstract class Base implements Shape {
          static count = 0;
          static make() { return this.count; }
          constructor(public kind: string, protected size = 1) { Base.count++; }
          abstract area(): number;
          get double() { return this.area() * 2; }
          set double(value: number) { this.size = value; }
        }
        export class Square extends Base {
          #side: number;
          constructor(side: number) { super("square"); this.#side = side; }
          area() { return this.#side ** 2; }
        }
        export class Circle extends Base { radius = 1; area() { return this.radius; } }
        export type Area = ReturnType<Shape["area"]>;
        export type Any = { tag: "a"; value: number } | { tag: "b"; value: string };
        export enum Color { Red, Green = "green" as any }
        export namespace Tools { export const scale = 2; }
        export function pick(key: "kind"): string;
        export function pick(key: "area"): number;
        export function pick(key: string): any { return key; }
        export default class Main<T extends Shape> { shapes: T[] = []; first = <U extends T>(of: U) => of; }
    """,
    "app/src/index.ts": """
        export * from "./shapes";
        export { Square as Box, default } from "./shapes";
        export { default as Root } from "./shapes";
        import * as all from "./shapes";
        export { all };
        export const version = "é";
    """,
    "app/src/use.ts": """
        import Main, { Any, Box, Circle, Color, Shape, Tools, all, pick, type Area } from "./index";
        import { version as v } from "./index";
        const main = new Main<Shape>();
        const box = new Box(2), circle = new Circle("round");
        const shapes: (Box | Circle)[] = [box, circle];
        function total(of: Any, options: { deep: boolean; kind?: string }): Area {
          const { value, tag: label } = of;
          outer: for (const shape of shapes) {
            const { kind, double: twice } = shape;
            if (kind === label) continue outer;
            shape.area(), shape["kind"], (() => twice)();
          }
          return options.deep ? Number(value) : main.shapes.length;
        }
        const deep = true, é = v;
        total({ tag: "a", value: 1 }, { deep });
        total({ tag: "b", value: "x" }, { deep: false, kind: é });
        export const picked = [pick("kind"), pick("area"), Color.Green, Tools.scale, all.Tools.scale];
        let a: number, b = { a: 1, c: { d: 2 } }, d;
        ({ a, c: { d } } = b);
        class Twice extends Circle { area() { return super.area() * 2; } again = () => this.area(); }
        export type Named = { [K in keyof Shape]: Shape[K] } & { name?: string };
        export = {} as Twice;
    """,
    "app/src/view.tsx": """
        import { version } from "./index";
        declare namespace JSX { interface Element {} interface IntrinsicElements { div: { title?: string } } }
        interface Props { title: string; children?: any }
        function Label({ title, ...rest }: Props) { return <div title={title} {...rest} />; }
        export const view = <Label title={version}><div title="x"></div></Label>;
    """,
    "app/test/shapes.test.ts": """
        import { Square, pick } from "../src/index";
        import { helper } from "./helper";
        const square = new Square(helper(3));
        pick("kind");
        square.area();
    """,
    "app/test/helper.ts": "export function helper(size: number) { return size; }\n",
    "solution/tsconfig.json": '{"files": [], "references": [{"path": "./core"}, {"path": "./client"}]}',
    "solution/core/tsconfig.json": '{"compilerOptions": {"composite": true, "outDir": "../out/core"}}',
    "solution/core/core.ts": """
        export interface Item { id: number }
        export function load(id: number): Item { return { id }; }
        export const items: Item[] = [load(1)];
    """,
    "solution/client/tsconfig.json": """
        {"compilerOptions": {"composite": true, "outDir": "../out"}, "references": [{"path": "../core"}]}
    """,
    "solution/client/client.ts": """
        import { load, type Item } from "../core/core";
        export const item: Item = load(2);
        export const id = item.id;
    """,
    "js/lib/app.js": """
        /**
         * @typedef {Object} Options
         * @property {string} path where
         */
        var utils = require("./utils");
        exports = module.exports = App;
        /** @param {Options} options */
        function App(options) { this.path = options.path; this.count = utils.merge(1); }
        App.prototype.start = function start() { return this.path + this.count; };
        module.exports.version = utils.VERSION;
    """,
    "js/lib/utils.js": """
        'use strict';
        exports.merge = function (one) { return one; };
        const VERSION = 1;
        module.exports.VERSION = VERSION;
    """,
    "js/test/app.js": """
        const App = require("../lib/app"), { merge, VERSION: v } = require("../lib/utils");
        const app = new App({ path: "a" });
        app.start();
        merge(v + App.version);
    """,
    "js/old/first.js": "var shared = { one: 1 };\nfunction run() { return shared.one; }\n",
    "js/old/second.js": "var shared = { two: 2 };\nfunction run() { return shared.two; }\nrun();\n",
    "js/modern.mjs": """
        import def, { named as other } from "./module.mjs";
        export const sum = async () => {
          for await (const each of [def]) each(other);
          return (await import("./module.mjs")).named;
        };
    """,
    "js/module.mjs": "export default function () {}\nexport function named() {}\nexport { named as x };\n",
}  # fmt: skip


def write(root: Path, files: dict[str, str]) -> list[str]:
    """Writes the files without their indent; gives the names of those that have facts."""
    for name, text in files.items():
        lines = text.strip("\n").split("\n")
        indent = len(lines[0]) - len(lines[0].lstrip())
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("\n".join(line[indent:] for line in lines).rstrip() + "\n", encoding="utf-8")
    return sorted(name for name in files if not name.endswith(".json"))


class Facts:
    """Answers from lines of facts, as the static provider gives them."""

    def __init__(self, lines: list[bytes]) -> None:
        self.files: dict[str, dict[str, Any]] = {}
        self.rows: dict[str, list[tuple[Any, ...]]] = {}
        self.listed: dict[Any, set[Place]] = defaultdict(set)
        for line in lines:
            facts = json.loads(line)
            path, flat = facts["path"], facts["occurrences"]
            targets = [tuple(it) if isinstance(it, list) else it for it in facts["targets"]]
            lists = [[targets[index] for index in row] for row in facts["lists"]] + [[]]
            self.files[path], self.rows[path] = facts, []
            for at in range(0, len(flat), 8):
                place, (roles, defs, keys, asks) = flat[at : at + 4], flat[at + 4 : at + 8]
                searched = lists[keys if asks < 0 else asks]
                self.rows[path].append((*place, roles, lists[defs], searched))
                for key in lists[keys]:
                    self.listed[key].add((path, place[0], place[1]))

    def at(self, path: str, line: int, column: int) -> tuple[Any, ...] | None:
        return next((row for row in self.rows[path] if row[:2] == (line, column)), None)

    def definition(self, path: str, line: int, column: int) -> set[Place]:
        row = self.at(path, line, column)
        return {(*it, 0, 0)[:3] for it in row[5] if isinstance(it, tuple)} if row else set()

    def references(self, path: str, line: int, column: int) -> set[Place]:
        row = self.at(path, line, column)
        return set().union(*(self.listed[key] for key in row[6])) if row else set()


class Live:
    """The real server, asked one question at a time with one file open."""

    def __init__(self, command: tuple[str, ...], tsserver: Path, root: Path) -> None:
        self._root, self._open = root, ""
        self._answers: queue.Queue[Any] = queue.Queue()
        self._process = subprocess.Popen(
            [*command, "--stdio"], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        threading.Thread(target=self._read, daemon=True).start()
        options = {
            "disableAutomaticTypingAcquisition": True,
            "tsserver": {"path": str(tsserver), "useSyntaxServer": "never"},
        }
        uri = self._uri("")
        self._ask(
            "initialize",
            {"processId": None, "rootUri": uri, "capabilities": {}, "initializationOptions": options,
             "workspaceFolders": [{"uri": uri, "name": "root"}]},
        )  # fmt: skip
        self._send({"method": "initialized", "params": {}})

    def _uri(self, path: str) -> str:
        return "file://" + quote(str(self._root / path).rstrip("/"))

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._process.stdin.flush()

    def _read(self) -> None:
        out = self._process.stdout
        assert out
        while header := out.readline():
            out.readline()
            message = json.loads(out.read(int(header.split(b":")[1])))
            if "method" in message and "id" in message:
                self._send({"id": message["id"], "result": None})
            elif "id" in message:
                self._answers.put(message)

    def _ask(self, method: str, params: Any) -> Any:
        self._send({"id": 1, "method": method, "params": params})
        return self._answers.get(timeout=120).get("result")

    def open(self, path: str) -> None:
        """Opens `path`, closing the file before it."""
        if self._open:
            closed = {"textDocument": {"uri": self._uri(self._open)}}
            self._send({"method": "textDocument/didClose", "params": closed})
        kinds = {"ts": "typescript", "tsx": "typescriptreact"}
        language = kinds.get(path.rsplit(".", 1)[1], "javascript")
        text = (self._root / path).read_text(encoding="utf-8")
        document = {"uri": self._uri(path), "languageId": language, "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        self._open = path

    def places(self, method: str, path: str, line: int, column: int) -> set[Place]:
        position = {"textDocument": {"uri": self._uri(path)}, "position": {"line": line, "character": column}}
        found = self._ask(f"textDocument/{method}", {**position, "context": {"includeDeclaration": True}})
        below = unquote(self._uri("")) + "/"
        places = ((unquote(it["uri"]), it["range"]["start"]) for it in found or [])
        return {
            (uri.removeprefix(below), start["line"], start["character"])
            for uri, start in places
            if uri.startswith(below)
        }

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()
