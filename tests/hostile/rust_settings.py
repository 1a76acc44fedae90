"""Files by which a Rust repository of a stranger could choose the programs that engines run.

`{victim}` stands for a folder outside the repository; `{program}` for a program of the stranger in it.
"""

from __future__ import annotations

from pathlib import Path

#: Refused without trust: no variable overrules them.
REFUSED: dict[str, dict[str, str]] = {
    "variable that loads a library": {".cargo/config.toml": '[env]\nLD_PRELOAD = "evil.so"\n'},
    "variable in lower case": {".cargo/config.toml": '[env]\nDyld_Insert_Libraries = "evil.so"\n'},
    "variable that names the compiler": {
        ".cargo/config.toml": '[env]\nRUSTC = {{ value = "x", force = true }}\n'
    },
    "another file of settings": {".cargo/config.toml": 'include = ["more.toml"]\n'},
    "credentials by a program": {
        ".cargo/config": '[registry]\nglobal-credential-providers = ["{program}"]\n'
    },
    "credentials of a registry": {
        ".cargo/config.toml": '[registries.x]\ncredential-provider = ["{program}"]\n'
    },
    "compiler option that writes": {
        ".cargo/config.toml": '[build]\nrustflags = ["--print=cfg={victim}/written"]\n'
    },
    "compiler option that writes, for a target": {
        ".cargo/config.toml": "[target.'cfg(all())']\nrustflags = \"--emit=dep-info={victim}/written\"\n"
    },
    "compiler option that loads": {
        ".cargo/config.toml": '[build]\nrustflags = ["-Zcodegen-backend={victim}/x.so"]\n'
    },
    "compiler options in a file": {".cargo/config.toml": '[build]\nrustflags = ["@{victim}/options"]\n'},
    "unstable setting": {".cargo/config.toml": "[unstable]\nscript = true\n"},
    "settings for the host": {".cargo/config.toml": "[host]\nrunner = '{program}'\n"},
    "settings in an ignored folder": {
        ".gitignore": "inner/\n",
        "inner/.cargo/config.toml": "include = 'x.toml'\n",
    },
    "settings beside a cache": {
        "target/CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n",
        "target/crate/.cargo/config.toml": "include = 'x.toml'\n",
    },
    "sysroot": {"rust-project.json": '{{"sysroot": "{victim}", "crates": []}}'},
    "sysroot, escaped": {"rust-project.json": '{{"\\u0073ysroot": "{victim}", "crates": []}}'},
    "sysroot, hidden file": {".rust-project.json": '{{"sysroot_src": "{victim}", "crates": []}}'},
    "settings of the server": {
        "rust-analyzer.toml": '[cargo]\nbuildScripts.overrideCommand = ["{program}"]\n'
    },
}

#: Overruled by variables: the stranger's program does not run, and answers come as ever.
OVERRULED: dict[str, dict[str, str]] = {
    "compiler": {".cargo/config.toml": '[build]\nrustc = "{program}"\n'},
    "compiler, old name": {".cargo/config": '[build]\nrustc = "{program}"\n'},
    "wrappers": {
        ".cargo/config.toml": '[build]\nrustc-wrapper = "{program}"\nrustc-workspace-wrapper = "{program}"\n'
    },
    "toolchain": {"rust-toolchain.toml": '[toolchain]\npath = "{victim}"\n'},
    "toolchain, old name": {"rust-toolchain": '[toolchain]\npath = "{victim}"\n'},
    "build script": {"build.rs": 'fn main() {{ std::fs::write("{victim}/ran", "x").unwrap(); }}\n'},
}


def write_crate(own: Path, victim: Path, files: dict[str, str]) -> None:
    """A crate with `files`, and a program in `victim` that leaves `ran` there when it runs."""
    program = victim / "bin" / "rustc"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\ntouch {victim}/ran\nexec rustc "$@"\n')
    program.chmod(0o755)
    (victim / "bin" / "cargo").symlink_to(program)
    manifest = '[package]\nname = "m"\nversion = "0.1.0"\nedition = "2021"\n\n[workspace]\n'
    crate = {
        "Cargo.toml": manifest,
        "Cargo.lock": 'version = 3\n\n[[package]]\nname = "m"\nversion = "0.1.0"\n',
    }
    crate["src/lib.rs"] = (
        "pub fn half(whole: i32) -> i32 {\n    whole / 2\n}\npub fn two() -> i32 { half(4) }\n"
    )
    filled = {path: text.format(victim=victim, program=program) for path, text in files.items()}
    for path, text in {**crate, **filled}.items():
        (own / path).parent.mkdir(parents=True, exist_ok=True)
        (own / path).write_text(text)
