//! rust-facts ROOT SETTINGS: names of source files on standard input, one JSON line of facts per file on
//! standard output. `progress DONE TOTAL`, `note TEXT` and at the end `summary JSON` go to standard error.
//! With a third argument `serve` it is resident and answers requests (serve.rs). `rust-facts lsp` is the live
//! server (lsp.rs).

mod answers;
mod check;
mod emit;
mod gather;
mod items;
mod keys;
mod load;
mod lsp;
mod mentions;
mod nodes;
mod queries;
mod refs;
mod roles;
mod serve;

use std::{io::Read, path::Path};

use ide_db::FxHashMap;
use vfs::{AbsPathBuf, FileId, VfsPath};

/// Deeply nested code needs more than the usual eight megabytes.
const STACK_BYTES: usize = 256 << 20;

fn main() {
    let program = || match run() {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("error {error:#}");
            1
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(program);
    let code = thread.expect("a thread").join().unwrap_or(1);
    // Dropping the whole database takes seconds and frees what the system takes back anyway.
    std::process::exit(code);
}

fn run() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["lsp"] {
        return lsp::serve();
    }
    let [root, settings, rest @ ..] = arguments.as_slice() else {
        anyhow::bail!("usage: rust-facts ROOT SETTINGS [serve] < FILES, or rust-facts lsp");
    };
    let root = load::absolute(Path::new(root))?;
    if rest.first().is_some_and(|word| word == "serve") {
        return serve::serve(root, serde_json::from_str(settings)?);
    }
    let mut names = String::new();
    std::io::stdin().read_to_string(&mut names)?;
    let names: Vec<String> = names.lines().map(str::to_owned).collect();
    let loaded = load::load(&root, serde_json::from_str(settings)?, &names)?;
    for problem in &loaded.problems {
        eprintln!("note {}", problem.replace('\n', " "));
    }
    let summary = facts(&loaded, &root, &names)?;
    eprintln!("summary {summary}");
    Ok(())
}

/// Prints the line of each file, and gives the summary.
pub fn facts(
    loaded: &load::Loaded,
    root: &AbsPathBuf,
    names: &[String],
) -> anyhow::Result<serde_json::Value> {
    let files: Vec<(String, Option<FileId>)> = names
        .iter()
        .map(|name| {
            let found = loaded.vfs.file_id(&VfsPath::from(root.join(name)));
            (name.clone(), found.map(|(file, _)| file))
        })
        .collect();
    let known: FxHashMap<FileId, String> =
        files.iter().filter_map(|(name, file)| Some((((*file)?), name.clone()))).collect();
    let answered = gather::answer(&loaded.host, &files);
    emit::emit(loaded, &files, &known, answered)
}
