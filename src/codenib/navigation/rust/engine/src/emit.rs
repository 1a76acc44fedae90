//! Answers and references in, one line of facts per file out.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufWriter, Write},
};

use ide::{FileId, TextRange, TextSize};
use ide_db::{FxHashMap, defs::Definition};
use serde_json::{Value, json};

use crate::{
    answers::{Answer, Nav},
    gather::Answered,
    keys::{Keys, Target, is_file},
    load::Loaded,
    nodes::Nodes,
    roles::{DECLARATION, INEXACT},
};

/// The scope of a file of which nothing is known.
const UNRESOLVED: &str = "unresolved";

/// The facts of one range of a file.
#[derive(Default)]
struct Occurrence {
    roles: u8,
    answered: bool,
    defs: Vec<Target>,
    keys: Vec<Target>,
    asks: Vec<Target>,
}

#[derive(Default)]
struct Facts<'a> {
    occurrences: BTreeMap<(TextSize, TextSize), Occurrence>,
    navs: Vec<&'a Nav>,
    relations: Vec<(&'static str, Target, Target)>,
}

type Names = FxHashMap<FileId, String>;

pub fn emit(
    loaded: &Loaded,
    files: &[(String, Option<FileId>)],
    known: &Names,
    answered: Answered,
) -> anyhow::Result<Value> {
    let keys = Keys::new(&answered, known);
    let mut facts: FxHashMap<FileId, Facts<'_>> = FxHashMap::default();
    for file in known.keys() {
        facts.insert(*file, Facts::default());
    }
    add_answers(loaded, files, known, &answered, &keys, &mut facts);
    add_references(&answered, &keys, &mut facts);
    add_relations(&answered, &keys, &mut facts);

    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut occurrences = 0;
    for (index, (name, file)) in files.iter().enumerate() {
        let line = match file.and_then(|file| Some((file, facts.remove(&file)?))) {
            Some((file, facts)) => {
                occurrences += facts.occurrences.len();
                let mut nodes = Nodes::default();
                answered.files[index].iter().flat_map(|it| &it.items).for_each(|item| nodes.add_item(item));
                let scope = scope_of(loaded, file, answered.files[index].is_some());
                write_file(loaded, (name, file, scope), facts, nodes, known)
            }
            None => empty(name),
        };
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    Ok(json!({
        "workspaces": loaded.workspaces,
        "files": files.len(),
        "outside": files.iter().filter(|(_, file)| file.is_none()).count(),
        "silent": answered.files.iter().filter(|it| it.as_ref().is_none_or(|it| it.answers.is_empty())).count(),
        "occurrences": occurrences,
        "definitions": answered.references.len(),
        "failures": answered.failures,
        "differences": answered.differences,
        "problems": loaded.problems,
    }))
}

/// A file that no module declares under the crates' features has syntax and no meaning; nor has one where the
/// engine gave up.
fn scope_of(loaded: &Loaded, file: FileId, answered: bool) -> &'static str {
    let sema = hir::Semantics::new(loaded.host.raw_database());
    if answered && sema.file_to_module_defs(file).next().is_some() { "project" } else { UNRESOLVED }
}

fn empty(name: &str) -> Value {
    json!({"path": name, "encoding": "utf-8", "nodes": [], "targets": [], "lists": [], "occurrences": [],
           "relations": [], "scope": UNRESOLVED})
}

fn add_answers<'a>(
    loaded: &Loaded,
    files: &[(String, Option<FileId>)],
    known: &Names,
    answered: &'a Answered,
    keys: &Keys,
    facts: &mut FxHashMap<FileId, Facts<'a>>,
) {
    for ((_, file), answers) in files.iter().zip(&answered.files) {
        let (Some(file), Some(answers)) = (file, answers) else { continue };
        let text = loaded.host.analysis().file_text(*file).expect("no changes are under way");
        for answer in &answers.answers {
            let navs = answered.navs(answer);
            let found = facts.get_mut(file).expect("a known file");
            let occurrence = found.occurrences.entry(span(answer.range)).or_default();
            occurrence.answered = true;
            occurrence.roles |= answer.roles | inexact(answer, &navs, keys, &text[answer.range]);
            let destinations = navs.iter().map(|nav| keys.destination(nav, known, &loaded.vfs));
            occurrence.defs.extend(destinations);
            if answer.link {
                occurrence.asks.extend(navs.iter().filter_map(|nav| keys.at(nav).cloned()));
            }
            occurrence.asks.extend(answer.asks.iter().filter_map(|def| keys.of(def).cloned()));
            for nav in navs.into_iter().filter(|nav| !is_file(nav)) {
                if let Some(facts) = facts.get_mut(&nav.file) {
                    facts.navs.push(nav);
                }
            }
        }
    }
}

fn add_references<'a>(answered: &'a Answered, keys: &Keys, facts: &mut FxHashMap<FileId, Facts<'a>>) {
    for found in &answered.references {
        let Some(key) = keys.of(&found.def) else { continue };
        let declaration = found.declaration.as_ref();
        let whole = declaration.filter(|nav| is_file(nav)).map(|nav| (nav.file, nav.place()));
        for (file, range) in &found.places {
            let Some(facts) = facts.get_mut(file) else { continue };
            let at = if whole == Some((*file, *range)) { TextRange::empty(0.into()) } else { *range };
            let occurrence = facts.occurrences.entry(span(at)).or_default();
            occurrence.keys.push(key.clone());
            if !occurrence.answered {
                occurrence.roles |= INEXACT;
            }
            let declares = declaration.is_some_and(|nav| (nav.file, nav.place()) == (*file, *range));
            if declares && (occurrence.asks.contains(key) || !occurrence.answered) {
                occurrence.roles |= DECLARATION;
            }
        }
        if let Some(nav) = declaration.filter(|nav| !is_file(nav))
            && let Some(facts) = facts.get_mut(&nav.file)
        {
            facts.navs.push(nav);
        }
    }
}

/// A relation stands in the file that declares its source.
fn add_relations(answered: &Answered, keys: &Keys, facts: &mut FxHashMap<FileId, Facts<'_>>) {
    for relation in answered.files.iter().flatten().flat_map(|file| &file.relations) {
        let (Some(source), Some(target)) = (keys.of(&relation.source), keys.of(&relation.target)) else {
            continue;
        };
        if let Target::Place(file, _) = source
            && let Some(facts) = facts.get_mut(file)
        {
            facts.relations.push((relation.kind, source.clone(), target.clone()));
        }
    }
}

fn span(range: TextRange) -> (TextSize, TextSize) {
    (range.start(), range.end())
}

/// `self`, `Self`, `crate` and renamed imports are written otherwise than what they name.
fn inexact(answer: &Answer, navs: &[&Nav], keys: &Keys, text: &str) -> u8 {
    let bare = |name: &str| name.trim_start_matches("r#").trim_start_matches('\'').to_owned();
    let text = bare(text);
    let by_def = |def: &Definition| keys.name(def).is_none_or(|name| bare(name) == text);
    let exact = match answer.asks.as_slice() {
        [] => navs.iter().any(|nav| bare(&nav.name) == text),
        asks => asks.iter().any(by_def),
    };
    if exact && text != "Self" { 0 } else { INEXACT }
}

/// Targets and lists of one file, each stored once in the order of first use.
struct Tables<'a> {
    known: &'a Names,
    places: &'a dyn Fn(FileId, TextSize) -> Value,
    targets: Vec<Value>,
    lists: Vec<Vec<usize>>,
    target_ids: FxHashMap<Target, usize>,
    list_ids: FxHashMap<Vec<usize>, usize>,
}

impl Tables<'_> {
    fn target(&mut self, target: &Target) -> usize {
        if let Some(id) = self.target_ids.get(target) {
            return *id;
        }
        self.targets.push(match target {
            Target::Place(file, offset) => (self.places)(*file, *offset),
            Target::File(file) => json!([self.known[file]]),
            Target::Text(text) => json!(text),
        });
        self.target_ids.insert(target.clone(), self.targets.len() - 1);
        self.targets.len() - 1
    }

    fn list(&mut self, targets: &[Target]) -> usize {
        let mut ids: Vec<usize> = targets.iter().map(|target| self.target(target)).collect();
        ids.sort_unstable();
        ids.dedup();
        if let Some(id) = self.list_ids.get(&ids) {
            return *id;
        }
        self.lists.push(ids.clone());
        self.list_ids.insert(ids, self.lists.len() - 1);
        self.lists.len() - 1
    }
}

fn write_file(
    loaded: &Loaded,
    (name, file, scope): (&str, FileId, &str),
    facts: Facts<'_>,
    mut nodes: Nodes,
    known: &Names,
) -> Value {
    let analysis = loaded.host.analysis();
    let text = analysis.file_text(file).expect("no changes are under way");
    let lines = analysis.file_line_index(file).expect("no changes are under way");
    facts.navs.iter().for_each(|nav| nodes.add_nav(nav));
    let places = |file: FileId, offset: TextSize| {
        let at = analysis.file_line_index(file).expect("no changes are under way").line_col(offset);
        json!([known[&file], at.line, at.col])
    };
    let mut tables = Tables {
        known,
        places: &places,
        targets: Vec::new(),
        lists: Vec::new(),
        target_ids: FxHashMap::default(),
        list_ids: FxHashMap::default(),
    };
    let mut flat: Vec<i64> = Vec::with_capacity(facts.occurrences.len() * 8);
    for ((start, end), occurrence) in facts.occurrences {
        let (from, to) = (lines.line_col(start), lines.line_col(end));
        let defs = if occurrence.defs.is_empty() { -1 } else { tables.list(&occurrence.defs) as i64 };
        let keys = if occurrence.keys.is_empty() { -1 } else { tables.list(&occurrence.keys) as i64 };
        let asks = match occurrence.asks.is_empty() && keys < 0 {
            true => -1,
            false => tables.list(&occurrence.asks) as i64,
        };
        let asks = if asks == keys { -1 } else { asks };
        let place = [from.line, from.col, to.line, to.col].map(i64::from);
        flat.extend(place);
        flat.extend([i64::from(occurrence.roles), defs, keys, asks]);
    }
    let row = |(kind, source, target): &(&'static str, Target, Target)| {
        (*kind, tables.target(source), tables.target(target))
    };
    let relations: BTreeSet<_> = facts.relations.iter().map(row).collect();
    json!({
        "path": name,
        "encoding": "utf-8",
        "nodes": nodes.into_json(&text, &lines),
        "targets": tables.targets,
        "lists": tables.lists,
        "occurrences": flat,
        "relations": relations,
        "scope": scope,
    })
}

#[cfg(test)]
mod tests;
