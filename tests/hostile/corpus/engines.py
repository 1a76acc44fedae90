"""Repositories whose descriptions of a build or of an editor's settings are aimed at engines and servers.

Each row is a case: files beside a small good project of the language.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.gitrepo import GitRepo
from tests.hostile.compile_options import HOSTILE_OPTIONS, hostile_database
from tests.hostile.corpus.case import (
    GO,
    PYTHON,
    RUST,
    SECRET_NAME,
    TYPESCRIPT,
    C,
    Case,
    Place,
    Project,
    from_files,
)
from tests.hostile.rust_settings import OVERRULED, REFUSED

Rows = dict[str, dict[str, str]]

_PYRIGHT = "pyrightconfig.json"
_ACT = "import os\nos.system('touch {victim}/ran-python')\n"
_USE_SECRET = f"from secret import {SECRET_NAME}\n\nvalue = {SECRET_NAME}()\n"
_PYTHON: Rows = {
    "venv by path": {_PYRIGHT: '{"venvPath": "{victim}", "venv": "bin"}', "use.py": _USE_SECRET},
    "interpreter": {_PYRIGHT: '{"pythonPath": "{program}", "venv": "."}', ".vscode/settings.json": '{"python.pythonPath": "{program}"}'},
    "extra paths": {_PYRIGHT: '{"extraPaths": ["{victim}", "/", "../victim"]}', "use.py": _USE_SECRET},
    "stub path": {_PYRIGHT: '{"stubPath": "{victim}", "typeshedPath": "{victim}"}', "use.py": _USE_SECRET},
    "execution environments": {_PYRIGHT: '{"executionEnvironments": [{"root": "{victim}"}, {"root": "/", "extraPaths": ["{victim}"]}]}', "use.py": _USE_SECRET},
    "include outside": {_PYRIGHT: '{"include": ["{victim}", "../victim", "/"], "exclude": []}'},
    "include everything": {_PYRIGHT: '{"include": ["/", "**"], "ignore": [], "strict": ["**"]}'},
    "extends outside": {_PYRIGHT: '{"extends": "{victim}/secret.txt"}'},
    "extends itself": {_PYRIGHT: '{"extends": "./pyrightconfig.json"}'},
    "baseline outside": {_PYRIGHT: '{"baselineFile": "{victim}/cache/baseline.json"}'},
    "deep settings": {_PYRIGHT: "[" * 50_000},
    "settings of rubbish": {_PYRIGHT: "\udcff{,"},
    "pyproject paths": {"pyproject.toml": '[tool.pyright]\nvenvPath = "{victim}"\nextraPaths = ["{victim}"]\n[tool.basedpyright]\nstubPath = "{victim}"\n', "use.py": _USE_SECRET},
    "pyproject extends": {"pyproject.toml": '[tool.pyright]\nextends = "{victim}/secret.txt"\n', "sub/pyproject.toml": "[tool.pyright]\n"},
    "build back end": {"pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "evil"\nbackend-path = ["."]\n', "evil.py": _ACT, "setup.py": _ACT},
    "modules that shadow": {"typing.py": _ACT, "builtins.pyi": "def open() -> int: ...\n", "os.py": _ACT, "sys.py": _ACT},
    "virtual environment": {".venv/bin/python": "#!/bin/sh\ntouch {victim}/ran-venv\n", ".venv/pyvenv.cfg": "home = {victim}/bin\ninclude-system-site-packages = true\n", ".venv/lib/python3.11/site-packages/evil.pth": "import os; os.system('touch {victim}/ran-pth')\n", ".venv/lib/python3.11/site-packages/x.pth": "{victim}\n"},
    "path file outside": {"venv/pyvenv.cfg": "home = /usr/bin\n", "venv/lib/python3.11/site-packages/up.pth": "{victim}\n/\n../../../../../victim\n", _PYRIGHT: '{"venvPath": ".", "venv": "venv"}', "use.py": _USE_SECRET},
    "editable install outside": {"venv/lib/python3.11/site-packages/__editable__.x.pth": "{victim}\n", _PYRIGHT: '{"venvPath": ".", "venv": "venv"}', "use.py": _USE_SECRET},
    "plugins of mypy": {"mypy.ini": "[mypy]\nplugins = {victim}/secret.py\npython_executable = {program}\n", "mypy_plugin.py": _ACT},
    "imports that loop": {f"m{n}.py": f"from m{(n + 1) % 40} import *\n" for n in range(40)},
    "types that explode": {"types_bomb.py": "def f(a):\n" + "".join(f"    x{n} = (x{n - 1}, x{n - 1})\n" if n else "    x0 = (1, 'a')\n" for n in range(28)) + "    return x27\n"},
    "deep expression": {"deep.py": "x = " + "(" * 3000 + "1" + ")" * 3000 + "\ny = " + "+".join(["1"] * 20_000) + "\n"},
    "many overloads": {"over.py": "from typing import overload\n" + "".join(f"@overload\ndef f(a: {n}) -> int: ...\n" for n in range(300)) + "def f(a): ...\n"},
    "relative import outside": {"pkg/__init__.py": "", "pkg/up.py": "from ....victim import secret\nfrom ...victim.secret import *\n"},
    "django settings": {"manage.py": _ACT, "settings.py": _ACT, "urls.py": _ACT, "conftest.py": _ACT},
}  # fmt: skip

_TS = "tsconfig.json"
_TYPESCRIPT: Rows = {
    "plugin": {_TS: '{"compilerOptions": {"plugins": [{"name": "evil"}]}}', "node_modules/evil/index.js": "require('fs').writeFileSync('{victim}/ran-plugin','')", "node_modules/evil/package.json": '{"name":"evil","main":"index.js"}'},
    "plugin by path": {_TS: '{"compilerOptions": {"plugins": [{"name": "./evil.js"}, {"name": "{victim}/evil.js"}, {"transform": "./evil.js"}]}}', "evil.js": "require('fs').writeFileSync('{victim}/ran-plugin','')"},
    "extends outside": {_TS: '{"extends": "{victim}/secret.txt"}'},
    "extends a package": {_TS: '{"extends": "evil"}', "node_modules/evil/package.json": '{"tsconfig": "../../../victim/secret.txt"}'},
    "extends in a circle": {_TS: '{"extends": "./b.json"}', "b.json": '{"extends": "./tsconfig.json"}'},
    "type roots": {_TS: '{"compilerOptions": {"typeRoots": ["{victim}", "/"], "types": ["*"]}}'},
    "paths outside": {_TS: '{"compilerOptions": {"baseUrl": "/", "paths": {"*": ["{victim}/*"], "secret": ["{victim}/secret.ts"]}}}', "use.ts": f'import {{ {SECRET_NAME} }} from "secret";\n{SECRET_NAME}();\n'},
    "root folders outside": {_TS: '{"compilerOptions": {"rootDirs": ["{victim}", "."], "rootDir": "/"}}', "use.ts": f'import {{ {SECRET_NAME} }} from "./secret";\n'},
    "files outside": {_TS: '{"files": ["{victim}/secret.ts", "../victim/secret.ts"], "include": ["/**/*", "../**/*"]}'},
    "references outside": {_TS: '{"references": [{"path": "{victim}"}, {"path": "/"}], "files": []}'},
    "output outside": {_TS: '{"compilerOptions": {"outDir": "{victim}/cache", "declarationDir": "{victim}/cache", "tsBuildInfoFile": "{victim}/cache/info", "incremental": true, "composite": true}}'},
    "trace outside": {_TS: '{"compilerOptions": {"generateTrace": "{victim}/cache", "generateCpuProfile": "{victim}/cache/p", "traceResolution": true}}'},
    "library of the repository": {_TS: '{"compilerOptions": {"lib": ["evil"], "noLib": true, "types": ["{victim}/secret"]}}', "node_modules/typescript/lib/tsserver.js": "require('fs').writeFileSync('{victim}/ran-tsserver','')", "node_modules/typescript/package.json": '{"name":"typescript","version":"6.0.3","main":"lib/typescript.js"}', "node_modules/typescript/lib/typescript.js": "require('fs').writeFileSync('{victim}/ran-typescript','')"},
    "server of the repository": {"node_modules/.bin/tsserver": "#!/bin/sh\ntouch {victim}/ran\n", "node_modules/typescript-language-server/lib/cli.mjs": "import fs from 'fs'; fs.writeFileSync('{victim}/ran-server','')", ".vscode/settings.json": '{"typescript.tsdk": "node_modules/typescript/lib", "typescript.tsserver.nodePath": "{program}"}'},
    "plug and play": {".pnp.cjs": "require('fs').writeFileSync('{victim}/ran-pnp','')", ".pnp.js": "require('fs').writeFileSync('{victim}/ran-pnp','')", ".pnp.loader.mjs": "import fs from 'fs'; fs.writeFileSync('{victim}/ran-pnp','')", ".yarnrc.yml": "yarnPath: {program}\nplugins: [{path: evil.cjs}]\n"},
    "exports outside": {"package.json": '{"name": "x", "exports": {"./*": "../victim/*"}, "imports": {"#s": "{victim}/secret.ts"}, "main": "../victim/secret.ts", "types": "../victim/secret.ts"}', "use.ts": f'import {{ {SECRET_NAME} }} from "#s";\n'},
    "dependency that links outside": {"package.json": '{"dependencies": {"v": "file:../victim", "w": "link:{victim}"}, "workspaces": ["../victim", "/**"]}', "use.ts": 'import "v/secret";\n'},
    "scripts": {"package.json": '{"scripts": {"preinstall": "{program}", "postinstall": "{program}", "prepare": "{program}"}}', ".npmrc": "script-shell={program}\nnode-options=--require {victim}/x.js\n"},
    "node settings": {"package.json": '{"type": "module", "node": {"require": "./evil.js"}}', "node.config.json": '{"nodeOptions": {"import": "./evil.js"}}', ".noderc": "--require ./evil.js", "evil.js": "require('fs').writeFileSync('{victim}/ran-node','')"},
    "settings of rubbish": {_TS: "{\udcff", "jsconfig.json": "[" * 50_000},
    "types that explode": {"bomb.ts": "type T0 = [1];\n" + "".join(f"type T{n} = [...T{n - 1}, ...T{n - 1}];\n" for n in range(1, 30)) + "export const x: T29 = null!;\n"},
    "recursive types": {"rec.ts": "type R<T> = { a: R<[T]>; b: R<{c: T}> };\ndeclare const r: R<1>;\nexport const y = r.a.b.a.b.a.b.a.b;\ntype P<S extends string> = S extends `${infer A}${infer B}` ? P<B> : S;\nexport type Q = P<'" + "a" * 2000 + "'>;\n"},
    "union that explodes": {"union.ts": "type D = '0'|'1'|'2'|'3'|'4'|'5'|'6'|'7'|'8'|'9';\nexport type U = `${D}${D}${D}${D}${D}${D}`;\n"},
    "references by path": {"ref.ts": '/// <reference path="{victim}/secret.ts" />\n/// <reference types="../victim/secret" />\n/// <amd-module name="x"/>\n', "up.ts": 'import "../victim/secret";\nimport "/etc/passwd";\nimport "file://{victim}/secret.ts";\n'},
    "automatic types": {"package.json": '{"dependencies": {"lodash": "1", "react": "1", "left-pad": "1"}}', "use.js": "const _ = require('lodash');\n"},
    "babel and eslint": {"babel.config.js": "require('fs').writeFileSync('{victim}/ran-babel','')", ".eslintrc.js": "require('fs').writeFileSync('{victim}/ran-eslint','')", "vite.config.ts": "require('fs').writeFileSync('{victim}/ran-vite','')", "webpack.config.js": "require('fs').writeFileSync('{victim}/ran-webpack','')", "jest.config.js": "require('fs').writeFileSync('{victim}/ran-jest','')"},
}  # fmt: skip

_MOD = "module example.org/harbour\n\ngo 1.21\n"
_SECRET_GO = 'package harbour\n\nimport "example.org/victim"\n\nvar _ = victim.Canary\n'
_GO: Rows = {
    "replace outside": {"go.mod": _MOD + "\nrequire example.org/victim v0.0.0\n\nreplace example.org/victim => {victim}\n", "use.go": _SECRET_GO},
    "replace above": {"go.mod": _MOD + "\nrequire example.org/victim v0.0.0\n\nreplace example.org/victim => ../victim\n", "use.go": _SECRET_GO},
    "toolchain": {"go.mod": "module example.org/harbour\n\ngo 1.99.0\n\ntoolchain go1.99.0\n"},
    "toolchain by path": {"go.mod": "module example.org/harbour\n\ngo 1.21\n\ntoolchain go1.21.0-evil\n"},
    "workspace outside": {"go.work": "go 1.21\n\nuse (\n\t.\n\t{victim}\n\t../victim\n)\n"},
    "workspace of rubbish": {"go.work": "\udcff use (((("},
    "module of the network": {"go.mod": _MOD + "\nrequire 127.0.0.1/x v1.0.0\nrequire example.com/evil v1.2.3\n", "use.go": 'package harbour\n\nimport _ "example.com/evil"\n'},
    "generate": {"gen.go": "package harbour\n\n//go:generate {program}\n//go:generate sh -c \"touch {victim}/ran-generate\"\n"},
    "cgo flags": {"cgo.go": 'package harbour\n\n/*\n#cgo CFLAGS: -fplugin={victim}/plugin.so -I{victim}\n#cgo LDFLAGS: -Wl,-o,{victim}/cache/x\n#cgo pkg-config: evil\n#include "secret.h"\n*/\nimport "C"\n\nvar _ = C.int(1)\n'},
    "cgo options that write": {"cgo.go": 'package harbour\n\n// #cgo CFLAGS: -MD -MF{victim}/cache/deps -save-temps\n// int x;\nimport "C"\n\nvar _ = C.x\n'},
    "cgo compiler": {"cgo.go": 'package harbour\n\n// #cgo CFLAGS: -B{victim}/bin -wrapper {program}\n// #cgo noescape x\nimport "C"\n', "go.env": "CC={program}\n"},
    "environment file": {"go.env": "GOFLAGS=-toolexec={program}\nCC={program}\nGOPROXY=http://127.0.0.1:{port}\n", ".env": "GOFLAGS=-toolexec={program}\n"},
    "embedding outside": {"embed.go": 'package harbour\n\nimport _ "embed"\n\n//go:embed ../victim/secret.txt\nvar s string\n\n//go:embed {victim}/*\nvar t string\n'},
    "vendor that is inconsistent": {"vendor/modules.txt": "# example.org/victim v0.0.0 => {victim}\n## explicit\nexample.org/victim\n", "vendor/example.org/victim/x.go": "package victim\n\nvar Canary = 1\n", "use.go": _SECRET_GO},
    "line directives": {"line.go": "package harbour\n\n//line {victim}/secret.go:1\nfunc Forged() int { return 1 }\n/*line /etc/passwd:1:1*/ func Other() int { return 2 }\n"},
    "linkname": {"link.go": 'package harbour\n\nimport _ "unsafe"\n\n//go:linkname forged os.Exit\nfunc forged(int)\n'},
    "assembly": {"x_amd64.s": "#include \"{victim}/secret.h\"\nTEXT ·x(SB),7,$0\n\tRET\n", "x.go": "package harbour\n\nfunc x()\n"},
    "file without a package": {"bad.go": "\udcff\0package", "bad2.go": "package other\n", "bad3.go": "// +build ignore\n\npackage main\n"},
    "modules of rubbish": {"go.mod": "module " + "x" * 100_000 + "\n", "sub/go.mod": "\0\0"},
    "modules in modules": {f"m{n}/go.mod": f"module example.org/m{n}\n\ngo 1.21\n\nreplace example.org/m{n + 1} => ../m{n + 1}\n" for n in range(12)},
    "imports that loop": {"a/a.go": 'package a\n\nimport "example.org/harbour/b"\n\nvar A = b.B\n', "b/b.go": 'package b\n\nimport "example.org/harbour/a"\n\nvar B = a.A\n'},
    "types that explode": {"bomb.go": "package harbour\n\ntype T0 struct{ a, b int }\n" + "".join(f"type T{n} struct{{ a, b T{n - 1} }}\n" for n in range(1, 40)) + "\ntype G[T any] struct{ x *G[G[T]] }\n\nvar _ G[int]\n"},
    "constant that explodes": {"const.go": "package harbour\n\nconst a = 1 << 100000\n" + "".join(f"const c{n} = {'a' if not n else f'c{n - 1}'} * {'a' if not n else f'c{n - 1}'}\n" for n in range(30))},
    "settings of gopls": {".vscode/settings.json": '{"go.toolsEnvVars": {"GOFLAGS": "-toolexec={program}"}, "gopls": {"build.env": {"CC": "{program}"}}, "go.alternateTools": {"go": "{program}"}}', "gopls.mod": "module gopls-workspace\n\nreplace x => {victim}\n"},
    "tool directives": {"go.mod": "module example.org/harbour\n\ngo 1.24\n\ntool example.org/harbour/evil\n", "evil/main.go": "package main\n\nfunc init() { panic(1) }\n\nfunc main() {}\n"},
    "version control": {".hg/hgrc": "[hooks]\npre-status = {program}\n[extensions]\nx = {victim}/secret.py\n", ".svn/entries": "12\n", ".bzr/README": "x\n"},
}  # fmt: skip

_CARGO = '[package]\nname = "harbour"\nversion = "0.1.0"\nedition = "2021"\n'
_RUST_MORE: Rows = {
    "dependency by path": {"Cargo.toml": _CARGO + '\n[dependencies]\nvictim = { path = "../victim" }\nother = { path = "{victim}" }\n\n[workspace]\n'},
    "dependency by git": {"Cargo.toml": _CARGO + '\n[dependencies]\nevil = { git = "http://127.0.0.1:{port}/x" }\nevil2 = { git = "ext::{program}" }\n\n[workspace]\n', "Cargo.lock": ""},
    "registry": {"Cargo.toml": _CARGO + '\n[dependencies]\nevil = { version = "1", registry-index = "http://127.0.0.1:{port}/x" }\n\n[workspace]\n', "Cargo.lock": ""},
    "registry in place of another": {".cargo/config.toml": '[source.crates-io]\nreplace-with = "evil"\n\n[source.evil]\nregistry = "sparse+http://127.0.0.1:{port}/"\n'},
    "source by folder": {".cargo/config.toml": '[source.crates-io]\nreplace-with = "v"\n\n[source.v]\ndirectory = "{victim}"\n'},
    "workspace outside": {"Cargo.toml": _CARGO + '\n[workspace]\nmembers = ["../victim", "{victim}", "/*"]\n'},
    "build script elsewhere": {"Cargo.toml": _CARGO.replace("edition", 'build = "evil.rs"\nedition') + "\n[workspace]\n", "evil.rs": 'fn main() { std::fs::write("{victim}/ran-build", "").unwrap(); }\n'},
    "build script above": {"Cargo.toml": _CARGO.replace("edition", 'build = "../victim/secret.rs"\nedition') + "\n[workspace]\n"},
    "macro crate": {"Cargo.toml": _CARGO + '\n[dependencies]\nevil = { path = "evil" }\n\n[workspace]\n', "Cargo.lock": "", "evil/Cargo.toml": '[package]\nname = "evil"\nversion = "0.1.0"\nedition = "2021"\n\n[lib]\nproc-macro = true\n', "evil/src/lib.rs": "extern crate proc_macro;\n#[proc_macro]\npub fn evil(_: proc_macro::TokenStream) -> proc_macro::TokenStream { std::fs::write(\"{victim}/ran-macro\", \"\").unwrap(); \"\".parse().unwrap() }\n", "src/more.rs": "evil::evil!();\n"},
    "library elsewhere": {"Cargo.toml": _CARGO + '\n[lib]\npath = "src/lib.rs"\n\n[[bin]]\nname = "x"\npath = "{victim}/secret.rs"\n\n[workspace]\n'},
    "modules by path": {"src/up.rs": f'#[path = "{{victim}}/secret.rs"]\nmod a;\n#[path = "../../victim/secret.rs"]\nmod b;\npub fn x() {{ a::{SECRET_NAME}(); }}\n'},
    "include of a file": {"src/inc.rs": 'include!("{victim}/secret.rs");\nconst S: &str = include_str!("{victim}/secret.txt");\nconst E: &str = env!("HOME");\n'},
    "toolchain of the future": {"rust-toolchain.toml": '[toolchain]\nchannel = "nightly-2099-01-01"\ncomponents = ["evil"]\n'},
    "toolchain of rubbish": {"rust-toolchain": "\udcff\n", "rust-toolchain.toml": "[" * 5000},
    "alias and runner": {".cargo/config.toml": '[alias]\nmetadata = "run"\ncheck = ["run"]\n\n[target.x86_64-unknown-linux-gnu]\nrunner = "{program}"\nlinker = "{program}"\n'},
    "target folder": {".cargo/config.toml": '[build]\ntarget-dir = "{victim}/cache"\ndep-info-basedir = "{victim}"\n'},
    "target of the repository": {".cargo/config.toml": '[build]\ntarget = "evil.json"\n', "evil.json": '{"llvm-target": "x", "linker": "{program}"}'},
    "documentation program": {".cargo/config.toml": '[build]\nrustdoc = "{program}"\nrustc = "{program}"\n\n[doc]\nbrowser = "{program}"\n'},
    "http settings": {".cargo/config.toml": '[http]\nproxy = "127.0.0.1:{port}"\ncainfo = "{victim}/secret.txt"\n\n[net]\noffline = false\ngit-fetch-with-cli = true\n'},
    "server settings in the editor": {".vscode/settings.json": '{"rust-analyzer.server.path": "{program}", "rust-analyzer.check.overrideCommand": ["{program}"], "rust-analyzer.procMacro.enable": true}', "rust-analyzer.json": '{"cargo": {"buildScripts": {"overrideCommand": ["{program}"]}}}'},
    "project of crates": {"rust-project.json": '{"crates": [{"root_module": "{victim}/secret.rs", "edition": "2021", "deps": []}, {"root_module": "src/lib.rs", "edition": "2021", "deps": [], "proc_macro_dylib_path": "{victim}/plugin.so"}], "runnables": [{"program": "{program}"}]}'},
    "macro that explodes": {"src/bomb.rs": "macro_rules! b { ($($t:tt)*) => { b!($($t)* $($t)* x); } }\nb!(x);\nmacro_rules! c { () => { c!(); c!(); } }\nc!();\n"},
    "types that explode": {"src/types.rs": "pub fn f() -> impl Sized { " + "(" * 120 + "1" + ",1)" * 120 + " }\ntype A = [[[[u8; 9999]; 9999]; 9999]; 9999];\ntrait T { type X: T; }\nimpl<A: T> T for (A,) { type X = ((A,),); }\n"},
    "manifest of rubbish": {"Cargo.toml": "[" * 9000, "sub/Cargo.toml": "\udcff\0"},
    "manifest that inherits outside": {"Cargo.toml": _CARGO + 'workspace = "../victim"\n'},
    "features of a nightly": {"Cargo.toml": 'cargo-features = ["script", "profile-rustflags"]\n' + _CARGO + "\n[profile.dev]\nrustflags = ['-Zevil']\n\n[workspace]\n"},
    "credentials": {".cargo/credentials.toml": '[registry]\ntoken = "Zk7QpLm2Xn4Rt8"\n', ".cargo/credentials": '[registry]\ntoken = "Zk7QpLm2Xn4Rt8"\n'},
}  # fmt: skip

_CLANGD: Rows = {
    "settings that add options": {".clangd": "CompileFlags:\n  Add: [-fplugin={victim}/plugin.so, -Xclang, -load, -Xclang, {victim}/plugin.so]\n  Compiler: {program}\n"},
    "settings that include outside": {".clangd": "CompileFlags:\n  Add: [-include, {victim}/secret.h]\n  CompilationDatabase: {victim}\n"},
    "settings of an index": {".clangd": "Index:\n  External:\n    Server: 127.0.0.1:{port}\n    MountPoint: /\n"},
    "settings of an index file": {".clangd": "Index:\n  External:\n    File: {victim}/secret.txt\n    MountPoint: {victim}\n  Background: Build\n"},
    "tidy": {".clang-tidy": "Checks: '*'\nInheritParentConfig: true\nCheckOptions: {x: '{victim}'}\nExtraArgs: ['-fplugin={victim}/plugin.so']\n", ".clang-format": "BasedOnStyle: file:{victim}/secret.txt\n"},
    "settings of rubbish": {".clangd": "\udcff[[[[{", ".clang-tidy": "[" * 20_000},
    "include of a secret": {"evil.c": f'#include "{{victim}}/secret.h"\n#include "../victim/secret.h"\n#include <{{victim}}/secret.txt>\n#define JOIN(a, b) a##b\nint e(void) {{ return JOIN({SECRET_NAME[:6]}, {SECRET_NAME[6:]})() != 0; }}\n'},
    "include of devices": {"dev.c": '#include "/dev/zero"\n#include "/dev/stdin"\n#include "/proc/self/environ"\n#include_next "/dev/tty"\n#embed "/dev/urandom"\n'},
    "include of itself": {"self.c": '#include "self.c"\n#include __FILE__\n', "self.h": '#include "self.h"\n#include "self2.h"\n', "self2.h": '#include "self.h"\n'},
    "includes that explode": {f"inc{n}.h": f'#include "inc{n + 1}.h"\n#include "inc{n + 1}.h"\n' for n in range(24)} | {"inc24.h": "int x;\n", "bomb.c": '#include "inc0.h"\n'},
    "macros that explode": {"macro.c": "#define A0 x x\n" + "".join(f"#define A{n} A{n - 1} A{n - 1} A{n - 1} A{n - 1}\n" for n in range(1, 16)) + "int f(void) { A15 }\n"},
    "templates that explode": {"tmpl.cpp": "template<int N> struct F { typename F<N-1>::t a; typename F<N-2>::t b; typedef F t; };\nF<2000000> f;\ntemplate<class T> struct R { R<R<T>> *p; R<R<T*>> operator->(); };\nint g() { R<int> r; return r->p; }\n"},
    "constant evaluation": {"const.cpp": "constexpr long f(long n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\nconstexpr long x = f(60);\nstatic_assert(f(50) > 0);\n"},
    "pragmas": {"pragma.c": '#pragma comment(lib, "{victim}/x")\n#pragma clang module load evil\n#pragma GCC dependency "{victim}/secret.txt"\n#pragma include_alias("quay.h", "{victim}/secret.h")\n#pragma clang __debug crash\n#pragma clang __debug overflow_stack\n'},
    "inline assembly": {"asm.c": '__asm__(".incbin \\"{victim}/secret.txt\\"");\n__asm__(".include \\"{victim}/secret.txt\\"");\n'},
    "line directives": {"line.c": '#line 1 "{victim}/secret.h"\nint forged(void);\n# 1 "/etc/passwd" 1 3 4\nint other(void);\n'},
    "options in a file": {"compile_flags.txt": "-fplugin={victim}/plugin.so\n-include\n{victim}/secret.h\n@{victim}/secret.txt\n-o{victim}/cache/x\n"},
    "build of cmake": {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.5)\nproject(x C)\nexecute_process(COMMAND touch {victim}/ran-cmake)\nadd_library(x port.c)\n", "CMakePresets.json": '{"version": 3, "configurePresets": [{"name": "x", "binaryDir": "{victim}/cache"}]}'},
    "build of meson and make": {"meson.build": "project('x','c')\nrun_command('{program}')\n", "Makefile": "x:=$(shell {program})\nall:\n\t{program}\n", "configure": "#!/bin/sh\ntouch {victim}/ran-configure\n", "BUILD.bazel": "genrule(name='x', cmd='{program}')\n", "build.ninja": "rule x\n command = {program}\n"},
    "modules of clang": {"module.modulemap": 'module evil { header "{victim}/secret.h" extern module x "{victim}/secret.txt" }\n', "mod.cppm": "export module evil;\nimport std;\nexport int x;\n"},
}  # fmt: skip


def _rows(language: str, rows: Mapping[str, Mapping[str, str]], project: Project) -> Iterator[Case]:
    for name, files in rows.items():
        written = {
            path: text.encode("utf-8", "surrogateescape") if "\udcff" in text else text
            for path, text in files.items()
        }
        yield from_files(f"engine {language}: {name}", written, project)


def _database(name: str, options: list[str]) -> Case:
    def build(place: Place, repo: GitRepo) -> None:
        filled = [place.fill(option) for option in options]
        entries = hostile_database(place.own, place.victim, filled)
        for entry in entries:
            entry["file"] = "port.c"
            entry["arguments"] = [word if word != "a.c" else "port.c" for word in entry["arguments"]]  # type: ignore[attr-defined]
        place.files({"compile_commands.json": json.dumps(entries), "compile_flags.txt": "\n".join(filled)})
        repo.commit()

    return Case(f"engine c: {name}", build, C)


def _build_folder(place: Place, repo: GitRepo) -> None:
    """Databases outside: by a link, and where engines look above the repository."""
    entries = json.dumps(hostile_database(place.own, place.victim, [f"-include{place.victim}/secret.h"]))
    (place.victim / "compile_commands.json").write_text(entries)
    (place.own / "compile_commands.json").symlink_to(place.victim / "compile_commands.json")
    (place.own / "build").symlink_to(place.victim)
    repo.commit()


def _linked(language: str, project: Project, links: Mapping[str, str]) -> Case:
    """Links into the user's folder in the places where engines look for dependencies."""

    def build(place: Place, repo: GitRepo) -> None:
        for name, target in links.items():
            (place.own / name).parent.mkdir(parents=True, exist_ok=True)
            (place.own / name).symlink_to(place.fill(target))
        repo.commit()

    return Case(f"engine {language}: links for dependencies", build, project)


def _pipes(language: str, project: Project, names: tuple[str, ...]) -> Iterator[Case]:
    """Pipes in the place of settings: an engine that opens one would wait for ever."""
    for name in names:

        def build(place: Place, _: GitRepo, name: str = name) -> None:
            path: Path = place.own / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            os.mkfifo(path)

        yield Case(f"engine {language}: {name} is a pipe", build, project)


def engine_cases() -> Iterator[Case]:
    """Every case of this module."""
    yield from _rows("python", _PYTHON, PYTHON)
    yield _linked(
        "python",
        PYTHON,
        {".venv": "{victim}", "typings": "{victim}", "linked.py": "{victim}/secret.py", "stubs": "/"},
    )
    yield from _pipes(
        "python", PYTHON, ("pyrightconfig.json", "pyproject.toml", ".venv/pyvenv.cfg", "sub/pipe.py")
    )
    yield from _rows("typescript", _TYPESCRIPT, TYPESCRIPT)
    yield _linked(
        "typescript",
        TYPESCRIPT,
        {"node_modules": "{victim}", "linked.ts": "{victim}/secret.ts", "types": "{victim}"},
    )
    yield from _pipes(
        "typescript",
        TYPESCRIPT,
        ("tsconfig.json", "package.json", "sub/pipe.ts", "node_modules/x/package.json"),
    )
    yield from _rows("go", _GO, GO)
    yield _linked(
        "go", GO, {"vendor": "{victim}", "linked.go": "{victim}/secret.go", "go.work": "{victim}/secret.txt"}
    )
    yield from _pipes("go", GO, ("go.sum", "go.work", "vendor/modules.txt", "sub/pipe.go"))
    yield from _rows("rust", {name: _unescaped(files) for name, files in (REFUSED | OVERRULED).items()}, RUST)
    yield from _rows("rust", _RUST_MORE, RUST)
    yield _linked(
        "rust",
        RUST,
        {".cargo": "{victim}", "src/linked.rs": "{victim}/secret.rs", "target": "{victim}/cache"},
    )
    yield from _pipes(
        "rust", RUST, ("rust-toolchain.toml", ".cargo/config.toml", "rust-project.json", "src/pipe.rs")
    )
    for name, options in HOSTILE_OPTIONS.items():
        yield _database(name, options)
    yield from _rows("c", _CLANGD, C)
    yield Case("engine c: database that links outside", _build_folder, C)
    yield from _pipes("c", C, ("compile_commands.json", "compile_flags.txt", ".clangd", "sub/pipe.h"))


def _unescaped(files: Mapping[str, str]) -> dict[str, str]:
    """The tables for `str.format` have doubled braces."""
    return {path: text.replace("{{", "{").replace("}}", "}") for path, text in files.items()}
