"""Options by which a compilation database of a stranger could make clangd write, load or read on.

`{victim}` stands for a folder outside the repository; `{own}` for the repository.
"""

from __future__ import annotations

import json
from pathlib import Path

HOSTILE_OPTIONS: dict[str, list[str]] = {
    "diagnostic log": ["-Xclang", "-diagnostic-log-file", "-Xclang", "{victim}/log"],
    "diagnostic log, joined": ["-Xclang=-diagnostic-log-file", "-Xclang={victim}/log"],
    "module cache": ["-fmodules", "-fmodules-cache-path={victim}/modules"],
    "module cache for the front end": ["-Xclang", "-fmodules", "-Xclang", "-fmodules-cache-path={victim}/m"],
    "serialized diagnostics": ["-serialize-diagnostics", "{victim}/serialized"],
    "serialized diagnostics, two dashes": ["--serialize-diagnostics", "{victim}/serialized"],
    "statistics": ["-Xclang", "-stats-file={victim}/stats"],
    "statistics beside objects": ["-save-stats=obj", "-o", "{victim}/a.o"],
    "dependencies": ["-MD", "-MF", "{victim}/dependencies"],
    "dependencies, joined": ["-MMD", "-MF{victim}/dependencies"],
    "dependencies by the preprocessor": ["-Wp,-MD,{victim}/dependencies"],
    "dependencies for the front end": ["-Xclang", "-dependency-file", "-Xclang", "{victim}/d"],
    "preprocessor options": ["-Xpreprocessor", "-MF", "-Xpreprocessor", "{victim}/d"],
    "module dependencies": ["-module-dependency-dir", "{victim}/modules"],
    "time trace": ["-ftime-trace={victim}/trace"],
    "crash reports": ["-fcrash-diagnostics-dir={victim}/crash", "-gen-reproducer"],
    "output": ["-o", "{victim}/a.o"],
    "output, joined": ["-o{victim}/a.o"],
    "output, long": ["--output={victim}/a.o"],
    "output of Microsoft's driver": ["--driver-mode=cl", "/Fo{victim}/a.obj", "-Fa{victim}/a.asm"],
    "temporary files": ["-save-temps=obj", "-dumpdir", "{victim}/"],
    "optimization record": ["-foptimization-record-file={victim}/record"],
    "profile": ["-fprofile-instr-generate={victim}/profile"],
    "coverage": ["--coverage", "-fprofile-dir={victim}"],
    "header includes": ["-Xclang", "-header-include-file", "-Xclang", "{victim}/headers"],
    "compilation database fragments": ["-MJ", "{victim}/fragment"],
    "fragments, long": ["-gen-cdb-fragment-path", "{victim}/fragments"],
    "precompiled header out": ["-Xclang", "-emit-pch", "-o", "{victim}/pch"],
    "index store": ["-index-store-path", "{victim}/index"],
    "migration": ["-ccc-objcmt-migrate", "{victim}/migration"],
    "symbol graph": ["--emit-symbol-graph", "--symbol-graph-dir={victim}"],
    "product name": ["-extract-api", "-o", "{victim}/api"],
    "plugin": ["-fplugin={victim}/plugin.so"],
    "plugin for the front end": ["-Xclang", "-load", "-Xclang", "{victim}/plugin.so"],
    "plugin of the optimizer": ["-fpass-plugin={victim}/plugin.so"],
    "plugin by the back end": ["-mllvm", "-load={victim}/plugin.so"],
    "back end option, joined": ["-mllvm=-load={victim}/plugin.so"],
    "programs of the driver": ["-B{victim}"],
    "programs of the driver, apart": ["-B", "{victim}"],
    "resource folder": ["-resource-dir", "{victim}"],
    "resource folder, joined": ["-resource-dir={victim}"],
    "options file": ["@{victim}/options"],
    "options file as a folder": ["-I", "@{victim}/options"],
    "options file as a macro": ["-D", "@{victim}/options"],
    "options file as a header": ["-include", "@{victim}/options"],
    "option as a folder": ["-I", "-fplugin={victim}/plugin.so"],
    "configuration": ["--config={victim}/clang.cfg"],
    "configuration, apart": ["--config", "{victim}/clang.cfg"],
    "configuration folder": ["--config-user-dir={victim}"],
    "virtual files": ["-ivfsoverlay", "{victim}/overlay.yaml"],
    "virtual files of Microsoft's": ["-vfsoverlay", "{victim}/overlay.yaml"],
    "precompiled header in": ["-include-pch", "{victim}/all.pch"],
    "module map": ["-fmodule-map-file={victim}/module.modulemap"],
    "module file": ["-fmodule-file={victim}/module.pcm"],
    "prebuilt modules": ["-fprebuilt-module-path={victim}"],
    "header of a stranger": ["-include", "{victim}/passwords"],
    "header of a stranger, joined": ["-include{victim}/passwords"],
    "header above": ["-include", "{own}/../victim/passwords"],
    "macros of a stranger": ["-imacros", "{victim}/passwords"],
    "linker": ["-Wl,-o,{victim}/a", "-fuse-ld={victim}/ld", "-T", "{victim}/script"],
    "assembler": ["-Wa,-o,{victim}/a", "-Xassembler", "{victim}/a"],
    "wrapper": ["-wrapper", "{victim}/wrapper"],
    "specifications": ["-specs={victim}/specs"],
    "another input": ["{victim}/other.c"],
    "inputs after the options": ["--", "{victim}/other.c"],
}


def hostile_database(own: Path, victim: Path, options: list[str]) -> list[dict[str, object]]:
    """Entries for `a.c` of the repository at `own` with `options`, by a compiler that `victim` holds."""
    filled = [option.format(victim=victim, own=own) for option in options]
    arguments = [f"{victim}/bin/clang", *filled, "-Wall", "-DKEPT", "-c", "a.c"]
    return [{"directory": str(own), "file": "a.c", "arguments": arguments}]


def write_project(own: Path, victim: Path, options: list[str]) -> None:
    """A repository of two files whose every description of the build is hostile."""
    own.mkdir(parents=True)
    victim.mkdir(parents=True)
    (own / "a.c").write_text('#include "b.h"\nint use(void) { int unused; return half(4); }\n')
    (own / "b.h").write_text("int half(int whole);\n")
    (own / "compile_commands.json").write_text(json.dumps(hostile_database(own, victim, options)))
    (own / "compile_flags.txt").write_text(
        "\n".join(option.format(victim=victim, own=own) for option in options)
    )
    log = json.dumps(["-Xclang", "-diagnostic-log-file", "-Xclang", f"{victim}/by-configuration"])
    (own / ".clangd").write_text(f"CompileFlags:\n  Add: {log}\n")
