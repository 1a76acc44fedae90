//! The resident engine: requests on standard input, one line of JSON each, answers on standard output.
//!
//! `{"sync": FILES, "changed": PATHS}` gives the current files and which of them changed, were added or removed.
//! `{"lines": FILES}` asks for the line of each, under `"settings"`, which manifests decide. After an answer comes
//! `{"end": COUNT}`, or `{"error": REASON}`.

use std::io::{BufRead, Write};

use serde_json::{Value, json};
use vfs::AbsPathBuf;

use crate::{
    facts,
    load::{Loaded, load},
};

pub fn serve(root: AbsPathBuf, settings: Value) -> anyhow::Result<()> {
    let mut loaded: Option<Loaded> = None;
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let reply = match answer(&root, &settings, &mut loaded, &request) {
            Ok(count) => json!({"end": count}),
            Err(error) => json!({"error": format!("{error:#}")}),
        };
        println!("{reply}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn answer(
    root: &AbsPathBuf,
    settings: &Value,
    loaded: &mut Option<Loaded>,
    request: &Value,
) -> anyhow::Result<usize> {
    let changed = texts(&request["changed"]);
    match loaded {
        Some(loaded) if !changed.is_empty() => {
            let paths: Vec<AbsPathBuf> = changed.iter().map(|path| root.join(path)).collect();
            loaded.reread(&paths);
        }
        Some(_) => {}
        None => *loaded = Some(load(root, settings.clone(), &texts(&request["sync"]))?),
    }
    let wanted = texts(&request["lines"]);
    if wanted.is_empty() {
        return Ok(0);
    }
    let loaded = loaded.as_mut().expect("loaded above");
    if let Some(settings) = request.get("settings") {
        loaded.settings = settings.clone();
    }
    loaded.read_included(root);
    loaded.reload(root, &wanted)?;
    let summary = facts(loaded, root, &wanted)?;
    println!("{}", json!({"summary": summary}));
    Ok(wanted.len())
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|it| it.as_str().map(str::to_owned)).collect()
}
