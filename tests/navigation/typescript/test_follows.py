"""The TypeScript engine that stays: after every edit its lines are those of a run from nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from textwrap import dedent

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codenib.core.errors import ProviderError
from codenib.manifest.home import tools_folder
from codenib.navigation.tools.locate import Toolbox
from codenib.navigation.typescript.backend import TypeScriptBackend, TypeScriptEngine

SHAPES = """
export interface Shape { area(): number; kind: string }
export class Base { name = 'base'; describe() { return this.name } }
export class Square extends Base implements Shape {
  kind = 'square';
  constructor(public side: number) { super(); }
  area() { return this.side * this.side }
  clone() { return new Square(this.side) }
}
export class Circle implements Shape { kind = 'circle'; area() { return 3 } }
export function make(side: number) { return { shape: new Square(side), side } }
export const all: Shape[] = [];
"""
USE = """
import { Square, make, Shape, all as every } from './index';
import pick, { type Picked } from './pick';
export function run(shapes: Shape[]) {
  const { shape, side } = make(2);
  for (const each of shapes.concat(every)) if (each.kind) each.area();
  return { area: shape.area() + side, shape, picked: pick(shapes, 'kind') };
}
export function both(one: Square | Picked) { return one.side }
export class Cube extends Square { area() { return 6 * super.area() } }
"""
#: Versions of each file; None: it is not there. What an edit does is a change from one to another.
VERSIONS: dict[str, list[str | None]] = {
    "tsconfig.json": ['{"compilerOptions": {"strict": true, "target": "es2022"}, "include": ["src"]}'],
    "src/shapes.ts": [
        SHAPES,
        "// moved down\n\n"
        + SHAPES.replace("return this.side * this.side", "const s = this.side; return s * s"),
        SHAPES.replace(
            "return { shape: new Square(side), side }", "return { shape: new Circle(), side: '' }"
        ),
        SHAPES.replace("kind: string }", "kind: 'a' | 'b'; label?: string }").replace("describe()", "tell()"),
        SHAPES.replace("class Base {", "class Base { side = 1; clone() { return this }"),
        SHAPES.replace("export class Circle", "class Circle")
        + "export { Circle as Round, Square as default };\n",
    ],
    "src/index.ts": [
        "export * from './shapes';\n",
        "export { Square, make, all, type Shape } from './shapes';\n",
        "import { Circle, make, all } from './shapes';\nexport { Circle as Square, make, all };\n"
        "export type { Shape } from './shapes';\n",
        "export * from './shapes';\nexport * from './pick';\n"
        "export const make = (n: number) => ({ shape: n, side: n });\n",
    ],
    "src/pick.ts": [
        """
        export interface Picked { side: number; kind: string }
        export default function pick<T, K extends keyof T>(from: T[], key: K): T[K] { return from[0][key] }
        """,
        """
        import type { Shape } from './shapes';
        export type Picked = { side: string } | { side: Shape };
        function pick(from: Shape[], key: 'kind'): string;
        function pick(from: Shape[], key: string): Shape;
        function pick(from: Shape[], key: string): string | Shape { return from[0] }
        export default pick;
        """,
        None,
    ],
    "src/use.ts": [
        USE,
        USE.replace("const { shape, side } = make(2);", "const made = make(2), { shape, side } = made;"),
        USE.replace("export function both", "function both").replace("all as every", "all as every, Base"),
    ],
    "src/last.ts": [
        """
        import { run, both, Cube } from './use';
        import * as shapes from './index';
        const { area, shape } = run([]);
        export const kinds = Object.values(shapes.make(1)).concat(area as never);
        export const found = [shape.area(), new Cube(1).clone().describe(), both(new Cube(2))];
        declare global { interface Window { cube: Cube } }
        window.cube.area();
        """,
        "import { kinds } from './last';\nimport { Cube } from './use';\n"
        "export const found = new Cube(3).kind;\n",
    ],
    "src/types.d.ts": [
        None,
        "interface Window { square: number }\ndeclare const version: string;\n",
        "declare const version: { major: number };\n",
    ],
    "src/version.ts": [
        "export const major = version.major;\nexport const text = window.square + version;\n",
        "const version = 1;\nexport const major = version;\n",
    ],
    "js/view.js": [
        """
        module.exports = View;
        function View(name) { this.name = name; this.parts = []; }
        View.prototype.render = function () { return this.name + View.limit; };
        View.limit = 3;
        """,
        """
        'use strict';
        module.exports = View;
        function View(name, more) { this.name = more; this.extra = name; }
        View.prototype.render = function render(how) { var limit = 4; return this.extra; };
        View.prototype.close = function () { return this.render(); };
        """,
        "exports.View = class View { render() { return 1 } };\nexports.limit = 2;\n",
    ],
    "js/app.js": [
        """
        var View = require('./view');
        var app = exports = module.exports = {};
        app.view = function (name) { var view = new View(name); return view.render(); };
        app.limit = View.limit;
        app.init = function init() { this.settings = { depth: 1 }; return this.settings; };
        """,
        """
        const { View, limit } = require('./view');
        exports.view = (name) => new View(name).render();
        exports.init = () => ({ depth: limit });
        """,
    ],
    "js/main.js": [
        """
        var app = require('./app'), View = require('./view');
        app.view('x'); app.init().depth; app.limit;
        new View('y').close();
        /** @param {View} view */
        function show(view) { return view.name + view.extra; }
        """,
        "import app from './app';\nimport * as all from './app';\nimport './view';\nall.view(app.limit);\n",
        None,
    ],
    "js/alone.js": ["var limit = 1;\nfunction init() { return limit; }\n", "var depth = 1;\n", None],
}


def text_of(path: str, at: int) -> str | None:
    found = VERSIONS[path][at]
    return None if found is None else dedent(found)


@pytest.fixture(scope="module")
def backend() -> TypeScriptBackend:
    tools = Toolbox(tools_folder())
    try:
        tools.require("typescript"), tools.require("node")
    except ProviderError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    return TypeScriptBackend(tools)


class Project:
    """A checkout, the engine that stays with it, and its lines as far as the engine gave them."""

    def __init__(self, backend: TypeScriptBackend, root: Path) -> None:
        self.backend = backend
        self.root = root
        self.engine: TypeScriptEngine = backend.engine(root, trusted=False)
        self.lines: dict[str, bytes] = {}
        for path in VERSIONS:
            self.put(path, 0)
        self.follow([path for path in VERSIONS if not path.endswith(".json")])

    def put(self, path: str, at: int) -> None:
        place = self.root / path
        text = text_of(path, at)
        if text is None:
            place.unlink(missing_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")

    @property
    def paths(self) -> list[str]:
        return [
            path for path in sorted(VERSIONS) if not path.endswith(".json") and (self.root / path).exists()
        ]

    def follow(self, changed: list[str]) -> set[str]:
        """Tell the engine; gives the files whose lines differ."""
        first = not self.lines
        self.engine.sync(self.paths, changed)
        found, same = self.engine.differing(self.paths, anew=first)
        self.lines = {path: found.get(path) or self.lines[path] for path in self.paths}
        assert found.keys() | same == set(self.paths)
        return set(found)

    def rebuilt(self) -> dict[str, bytes]:
        made = self.backend.produce(self.root, self.paths, lambda *_: None, trusted=False)
        return dict(zip(self.paths, made, strict=True))


@pytest.fixture(scope="module")
def started(backend: TypeScriptBackend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    made = Project(backend, tmp_path_factory.mktemp("project").resolve())
    yield made
    made.engine.close()


@pytest.fixture
def project(started: Project) -> Project:
    """The project with the first version of each file."""
    for path in VERSIONS:
        started.put(path, 0)
    started.follow([path for path in VERSIONS if not path.endswith(".json")])
    return started


@pytest.mark.tools
@pytest.mark.slow
@given(data=st.data())
@settings(
    max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)
def test_lines_after_every_edit_of_a_script_are_those_of_a_run_from_nothing(
    backend: TypeScriptBackend, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    moves = [(path, at) for path, found in VERSIONS.items() if len(found) > 1 for at in range(len(found))]
    made = Project(backend, tmp_path_factory.mktemp("project").resolve())
    for path, at in data.draw(st.lists(st.sampled_from(moves), min_size=3, max_size=6)):
        made.put(path, at)
        made.follow([path])
        assert made.lines == made.rebuilt()
    made.engine.close()


@pytest.mark.tools
def test_an_edit_of_a_body_leaves_the_lines_of_users_alone(project: Project) -> None:
    project.put("src/use.ts", 1)
    found = project.follow(["src/use.ts"])
    assert "src/use.ts" in found
    assert "src/last.ts" not in found
    assert project.lines == project.rebuilt()


@pytest.mark.tools
def test_a_member_that_came_joins_the_references_in_files_that_were_not_edited(project: Project) -> None:
    project.put("src/shapes.ts", 4)
    assert "src/use.ts" in project.follow(["src/shapes.ts"])
    assert project.lines == project.rebuilt()


@pytest.mark.tools
def test_a_file_that_came_or_went_is_followed(project: Project) -> None:
    project.put("src/pick.ts", 2)
    assert "src/use.ts" in project.follow(["src/pick.ts"])
    project.put("src/pick.ts", 1)
    assert "src/pick.ts" in project.follow(["src/pick.ts"])
    assert project.lines == project.rebuilt()


#: Steps of a project: texts by path, None for a file that goes. Each showed once what a kept answer missed.
CHAINS: dict[str, list[dict[str, str | None]]] = {
    "an importer that came asks for an export that is edited later": [
        {
            "src/header.tsx": "export function Header() { return null }\n",
            "src/home.tsx": "import { Header } from './header';\nexport const home = <Header />;\n",
        },
        {"src/about.tsx": "import { Header } from './header';\nexport const about = <Header />;\n"},
        {"src/header.tsx": "const line = 1;\nexport function Header() { return line ? null : null }\n"},
    ],
    "a name that another module hides": [
        {
            "src/inner.ts": "class log { size = 1 }\nexport default log;\nlog.name;\n",
            "src/outer.ts": "export class log { size = 2 }\nexport * from './inner';\n",
        },
        {"src/user.ts": "import type { log } from './outer';\nlet one: log;\n"},
        {"src/user.ts": None},
    ],
    "a module begins to export all of another that has a name of its own": [
        {
            "src/inner.ts": "export const log = [1];\nexport const other = 1;\n",
            "src/outer.ts": "function log() { return 1 }\nexport { log };\n",
            "src/user.ts": "import { log } from './outer';\nlog();\n",
        },
        {"src/outer.ts": "function log() { return 1 }\nexport { log };\nexport * from './inner';\n"},
        {"src/outer.ts": "function log() { return 1 }\nexport { log };\n"},
    ],
    "a file that exports parts begins to export a whole": [
        {
            "js/whole.js": "const part = { size: 1 };\nmodule.exports.part = part;\nexports.more = part;\n",
            "js/user.js": "export { part as list } from './whole';\n",
        },
        {
            "js/whole.js": "const part = { size: 1 };\nmodule.exports.part = part;\nexports.more = part;\n"
            "const list = { size: 2 };\nmodule.exports = list;\n"
        },
        {"js/more.js": "const list = require('./whole');\nlist.size;\n"},
    ],
    "a module that a namespace stands for passes a class on": [
        {
            "src/map.ts": "export class Map { go() { return 1 } }\n",
            "src/index.ts": "import { Map } from './map';\nexport { Map };\n",
            "src/user.ts": "import { Map } from './map';\nnew Map();\n",
            "src/all.ts": "import * as all from './index';\nnew all.Map();\nnew all.Map();\n",
        },
        {"src/index.ts": "// Moved down.\nimport { Map } from './map';\nexport { Map };\n"},
        {"src/index.ts": "import { Map } from './map';\n\nexport { Map };\n"},
        {"src/map.ts": "export class Map { go() { return '' } }\n"},
    ],
    "a name that two projects use several times is edited in one and asked in the other": [
        {
            "src/tsconfig.json": '{"files": [], "references": [{"path": "./core"}, {"path": "./web"}]}',
            "src/core/tsconfig.json": '{"compilerOptions": {"composite": true}}',
            "src/web/tsconfig.json": '{"compilerOptions": {"composite": true}, '
            '"references": [{"path": "../core"}]}',
            "src/core/size.ts": "export const size = 1;\n",
            "src/core/other.ts": "export function other() { return 1 }\n",
            "src/core/user.ts": "import { size } from './size';\nsize;\n",
            "src/web/page.ts": "import { size } from '../core/size';\n"
            "import { other } from '../core/other';\nsize + size + size + other();\n",
        },
        {"src/core/user.ts": "// Moved down.\nimport { size } from './size';\nsize;\n"},
        {"src/core/other.ts": "// Moved down.\nexport function other() { return 2 }\n"},
    ],
    "an edited file comes to the project that is asked before its own": [
        {
            "src/tsconfig.json": '{"files": [], "references": [{"path": "./a"}, {"path": "./b"}]}',
            "src/a/tsconfig.json": '{"compilerOptions": {"composite": true}}',
            "src/b/tsconfig.json": '{"compilerOptions": {"composite": true}}',
            "src/a/page.ts": "export const page = 1;\n",
            "src/b/size.ts": "export function size(): number { return 1 }\n",
            "src/b/user.ts": "import { size } from './size';\nsize();\n",
        },
        {
            "src/a/page.ts": "import { size } from '../b/size';\nexport const page = size();\n",
            "src/b/size.ts": "export function size(): number { return 2 }\n",
        },
        {"src/b/size.ts": "export function size(): number { return 3 }\n"},
    ],
    "a file comes to a project that others of its own do not see": [
        {
            "src/tsconfig.json": '{"files": [], "references": [{"path": "./a"}, {"path": "./b"}]}',
            "src/a/tsconfig.json": '{"compilerOptions": {"composite": true}}',
            "src/b/tsconfig.json": '{"compilerOptions": {"composite": true}}',
            "src/a/page.ts": "export const page = 1;\n",
            "src/b/size.ts": "export function size(): number { return 1 }\n",
            "src/b/user.ts": "import { size } from './size';\nsize();\n",
        },
        {"src/a/page.ts": "import { size } from '../b/size';\nexport const page = size();\n"},
        {"src/a/page.ts": "export const page = 1;\n"},
    ],
    "a body gives its function another type": [
        {
            "src/make.ts": "export function make() {\n  class Own { size = 1 }\n  return new Own();\n}\n"
            "export function other(): string { return '' }\n",
            "src/user.ts": "import { make } from './make';\nmake().size.toFixed;\nmake().wide;\n",
        },
        {
            "src/make.ts": "export function make() {\n  class Own { size = [1]; wide = 1 }\n"
            "  return new Own();\n}\n"
            "export function other(): string { return 'x' }\n"
        },
        {"src/make.ts": "export function make() { return { size: 1 } }\nexport const other = 1;\n"},
    ],
    "a body is edited in a file whose types come from another edited one": [
        {
            "src/base.ts": "export function base() { return '' }\n",
            "src/pass.ts": "import { base } from './base';\nexport function pass() { return base() }\n",
            "src/user.ts": "import { pass } from './pass';\npass().length;\n",
        },
        {
            "src/base.ts": "export function base() { return [1] }\n",
            "src/pass.ts": "import { base } from './base';\n"
            "// Now.\nexport function pass() { return base() }\n",
        },
    ],
    "a module becomes an empty script": [
        {
            "js/parts.js": "const part = 1;\nmodule.exports.part = part;\n",
            "js/user.js": "import parts from './parts';\nparts;\n",
        },
        {"js/parts.js": "\n"},
        {"js/parts.js": "export default 1;\n"},
    ],
}


@pytest.mark.tools
@pytest.mark.parametrize("steps", CHAINS.values(), ids=CHAINS.keys())
def test_lines_after_each_step_of_a_chain_are_those_of_a_run_from_nothing(
    backend: TypeScriptBackend, tmp_path: Path, steps: list[dict[str, str | None]]
) -> None:
    root = tmp_path.resolve()
    (root / "src").mkdir()
    (root / "src/tsconfig.json").write_text('{"compilerOptions": {"strict": true, "jsx": "preserve"}}')
    engine = backend.engine(root, trusted=False)
    lines: dict[str, bytes] = {}
    for step in steps:
        for path, text in step.items():
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                place.unlink()
            else:
                place.write_text(text, encoding="utf-8")
        paths = sorted(str(each.relative_to(root)) for each in root.rglob("*.*s*") if each.suffix != ".json")
        engine.sync(paths, list(step))
        found, _ = engine.differing(paths, anew=not lines)
        lines = {path: found.get(path) or lines[path] for path in paths}
        made = backend.produce(root, paths, lambda *_: None, trusted=False)
        assert lines == dict(zip(paths, made, strict=True))
    engine.close()


@pytest.mark.tools
def test_it_says_how_far_it_is(backend: TypeScriptBackend, tmp_path: Path) -> None:
    """Else it is ended once all files together take the time that one may."""
    paths = ["a.ts", "b.ts"]
    for path in paths:
        (tmp_path / path).write_text("export {};\n")
    engine = backend.engine(tmp_path.resolve(), trusted=False)
    said: Queue[tuple[str, int, int]] = Queue()
    engine.on_progress = lambda stage, done, total: said.put((stage, done, total))
    engine.sync(paths, paths)
    engine.differing(paths, anew=True)
    assert ("", 2, 2) in iter(lambda: said.get(timeout=60), None)
    engine.close()


@pytest.mark.tools
def test_the_same_files_again_give_no_line(project: Project) -> None:
    assert project.follow(["src/use.ts"]) == set()
