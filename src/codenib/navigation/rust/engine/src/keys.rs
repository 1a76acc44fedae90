//! Definitions and navigation targets in, targets of facts out: a place in the checkout, a file, or a string.

use ide::{FileId, TextRange, TextSize};
use ide_db::{FxHashMap, FxHashSet, SymbolKind, defs::Definition};
use vfs::Vfs;

use crate::{answers::Nav, gather::Answered, refs::References};

#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Target {
    Place(FileId, TextSize),
    File(FileId),
    Text(String),
}

pub struct Keys {
    of: FxHashMap<Definition, Target>,
    names: FxHashMap<Definition, String>,
    /// What is declared at a place, also outside the checkout.
    at: FxHashMap<(FileId, TextSize), Target>,
}

/// Is this the source file of a module, where no name declares it?
pub fn is_file(nav: &Nav) -> bool {
    let module = matches!(nav.kind, Some(SymbolKind::Module | SymbolKind::CrateRoot) | None);
    module && nav.focus.is_none() && nav.full.start() == TextSize::new(0)
}

impl Keys {
    pub fn new(answered: &Answered, known: &FxHashMap<FileId, String>) -> Keys {
        let own = declared_by_name(answered);
        let mut keys =
            Keys { of: FxHashMap::default(), names: FxHashMap::default(), at: FxHashMap::default() };
        let mut first: FxHashMap<Target, usize> = FxHashMap::default();
        for (index, found) in answered.references.iter().enumerate() {
            let Some(target) = in_checkout(found, known) else { continue };
            let better = |index: &usize| !is_own(&answered.references[*index], &own) && is_own(found, &own);
            if first.get(&target).is_none_or(better) {
                first.insert(target, index);
            }
        }
        let mut used: FxHashMap<String, usize> = FxHashMap::default();
        for found in &answered.references {
            let label = &found.label;
            let target = match in_checkout(found, known) {
                None => Target::Text(numbered(&mut used, outside(found, label))),
                Some(target) => match first[&target] {
                    index if answered.references[index].places == found.places => target,
                    // Another definition at the same place: a file that two crates share, a macro used twice.
                    _ => Target::Text(numbered(&mut used, format!("also {label}"))),
                },
            };
            if let Some(nav) = &found.declaration {
                keys.names.insert(found.def, nav.name.clone());
                keys.at.entry((nav.file, nav.place().start())).or_insert_with(|| target.clone());
            }
            keys.of.insert(found.def, target);
        }
        keys.add_module_files(answered);
        keys
    }

    /// "Go to definition" of a module leads to its file, while its `mod` line declares it.
    fn add_module_files(&mut self, answered: &Answered) {
        for answer in answered.files.iter().flatten().flat_map(|file| &file.answers) {
            if let [def @ Definition::Module(_)] = answer.asks.as_slice()
                && let [nav] = answered.navs(answer).as_slice()
                && let Some(target) = self.of.get(def).cloned()
            {
                self.at.entry((nav.file, nav.place().start())).or_insert(target);
            }
        }
    }

    pub fn of(&self, def: &Definition) -> Option<&Target> {
        self.of.get(def)
    }

    pub fn name(&self, def: &Definition) -> Option<&str> {
        self.names.get(def).map(String::as_str)
    }

    pub fn at(&self, nav: &Nav) -> Option<&Target> {
        self.at.get(&(nav.file, nav.place().start()))
    }

    /// The target of "go to definition".
    pub fn destination(&self, nav: &Nav, known: &FxHashMap<FileId, String>, vfs: &Vfs) -> Target {
        if known.contains_key(&nav.file) {
            return place(nav);
        }
        self.at(nav).cloned().unwrap_or_else(|| {
            let path = vfs.file_path(nav.file).to_string();
            let name = path.rsplit('/').next().unwrap_or_default();
            Target::Text(format!("{name}#{}@{}", nav.name, u32::from(nav.place().start())))
        })
    }
}

fn place(nav: &Nav) -> Target {
    if is_file(nav) { Target::File(nav.file) } else { Target::Place(nav.file, nav.place().start()) }
}

fn in_checkout(found: &References, known: &FxHashMap<FileId, String>) -> Option<Target> {
    let nav = found.declaration.as_ref()?;
    known.contains_key(&nav.file).then(|| place(nav))
}

/// The offset keeps equal labels apart, for example the methods of two implementations.
fn outside(found: &References, label: &str) -> String {
    match &found.declaration {
        Some(nav) => format!("{label}@{}", u32::from(nav.place().start())),
        None => label.to_owned(),
    }
}

/// Different definitions never share a string.
fn numbered(used: &mut FxHashMap<String, usize>, text: String) -> String {
    let count = used.entry(text.clone()).or_default();
    *count += 1;
    if *count == 1 { text } else { format!("{text} {count}") }
}

fn declared_by_name(answered: &Answered) -> FxHashSet<(TextRange, Definition)> {
    let answers = answered.files.iter().flatten().flat_map(|file| &file.answers);
    answers.flat_map(|answer| answer.asks.iter().map(|def| (answer.range, *def))).collect()
}

fn is_own(found: &References, own: &FxHashSet<(TextRange, Definition)>) -> bool {
    found.declaration.as_ref().is_some_and(|nav| own.contains(&(nav.place(), found.def)))
}

#[cfg(test)]
mod tests;
