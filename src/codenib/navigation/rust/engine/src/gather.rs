//! Files in, the answers of all of them and the references of every requested definition out, on several threads.
//! Everything is asked for each time; what an edit does not affect is cached (queries.rs).

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use hir::Semantics;
use ide::{AnalysisHost, FileId};
use ide_db::{FxHashMap, FxHashSet, RootDatabase, base_db::SourceDatabase, defs::Definition};

use crate::{
    STACK_BYTES,
    answers::{Answer, Destination, FileAnswers, Nav},
    check::{checking, same_references},
    queries,
    refs::{DefinitionInfo, Mentions, Places, References, SearchStrategy},
};

type Named = (String, Option<FileId>);
type Answers = Vec<Option<Arc<FileAnswers>>>;

pub struct Answered {
    /// In the order of the files; None where a file is not part of the analysed folders.
    pub files: Answers,
    destinations: FxHashMap<Definition, Arc<Vec<Nav>>>,
    pub references: Vec<Arc<References>>,
    pub failures: usize,
    pub differences: usize,
}

impl Answered {
    /// Where "go to definition" leads from an answer, each place once.
    pub fn navs<'a>(&'a self, answer: &'a Answer) -> Vec<&'a Nav> {
        let mut found: Vec<&Nav> = Vec::new();
        for destination in &answer.destinations {
            let navs = match destination {
                Destination::Place(nav) => std::slice::from_ref(nav),
                Destination::Definition(def) => {
                    self.destinations.get(def).map_or(&[][..], |navs| navs.as_slice())
                }
            };
            for nav in navs {
                if !found.contains(&nav) {
                    found.push(nav);
                }
            }
        }
        found
    }
}

pub fn answer(host: &AnalysisHost, files: &[Named]) -> Answered {
    // A panic in the engine loses one file or one definition: it is counted, not printed.
    std::panic::set_hook(Box::new(|_| ()));
    let mut failures = 0;
    let answered = parallel(host, files, "answers", &mut failures, |db, (_, file)| {
        file.map(|file| queries::answers(db, db.file_text(file)).0)
    });
    let files_of: Answers = answered.into_iter().map(Option::flatten).collect();
    let destinations = destinations(host, &files_of, &mut failures);
    let requested = requested(&files_of);
    let known = parallel(host, &requested, "definitions", &mut failures, |db, requested| match requested {
        Requested::Local(_) => None,
        Requested::Global(def) => Some((*def, queries::info(db, *def))),
    });
    let known: Vec<Option<(Definition, Arc<DefinitionInfo>)>> =
        known.into_iter().map(Option::flatten).collect();
    let mentions = mentions(host.raw_database(), &files_of, files);
    let searched = search(host, files, &files_of, &known, &mut failures);
    let numbers: Vec<usize> = (0..requested.len()).collect();
    let found = parallel(host, &numbers, "references", &mut failures, |db, index| match &requested[*index] {
        Requested::Local(found) => Some(found.clone()),
        Requested::Global(_) => {
            let (def, info) = known[*index].as_ref()?;
            let places = match &info.strategy {
                SearchStrategy::Short(visible_in) => match mentions.short(db, *def, visible_in) {
                    Some(places) => places,
                    None => queries::search_all_files(db, *def).to_vec(),
                },
                SearchStrategy::ByFile(_) => searched.get(index).cloned().unwrap_or_default(),
                SearchStrategy::FromMentions(visible_in) => {
                    let all = mentions.places(&Semantics::new(db), *def).into_iter();
                    let all = all.map(|it| (it.file_id, it.range));
                    all.filter(|(file, range)| visible_in.contains(db, *file, *range)).collect()
                }
            };
            Some(Arc::new(References::new(*def, info, places)))
        }
    });
    let references: Vec<Arc<References>> = found.into_iter().flatten().flatten().collect();
    let mut differences = files_of.iter().flatten().map(|it| it.differences).sum();
    if checking() {
        let checkout: FxHashSet<FileId> = files.iter().filter_map(|(_, file)| *file).collect();
        let same = parallel(host, &references, "checks", &mut failures, |db, found| {
            same_references(&Semantics::new(db), found, &checkout)
        });
        differences += same.iter().filter(|it| **it == Some(false)).count();
    }
    Answered { files: files_of, destinations, references, failures, differences }
}

/// Where "go to definition" leads for every definition that is named.
fn destinations(
    host: &AnalysisHost,
    answers: &Answers,
    failures: &mut usize,
) -> FxHashMap<Definition, Arc<Vec<Nav>>> {
    let mut added: FxHashSet<Definition> = FxHashSet::default();
    for destination in
        answers.iter().flatten().flat_map(|file| &file.answers).flat_map(|answer| &answer.destinations)
    {
        if let Destination::Definition(def) = destination {
            added.insert(*def);
        }
    }
    let defs: Vec<Definition> = added.into_iter().collect();
    let found = parallel(host, &defs, "destinations", failures, |db, def| queries::navs(db, *def));
    defs.into_iter().zip(found).filter_map(|(def, navs)| Some((def, navs?))).collect()
}

/// A definition whose references are requested.
enum Requested {
    /// Visible in one file only; the answers of that file have its references.
    Local(Arc<References>),
    Global(Definition),
}

/// Each requested definition once, in the order of the files.
fn requested(answers: &Answers) -> Vec<Requested> {
    let mut added: FxHashSet<Definition> = FxHashSet::default();
    let mut found = Vec::new();
    for file in answers.iter().flatten() {
        for def in file.answers.iter().flat_map(|answer| &answer.asks) {
            if added.insert(*def) {
                found.push(match file.local_references.get(def) {
                    Some(references) => Requested::Local(references.clone()),
                    None => Requested::Global(*def),
                });
            }
        }
    }
    found
}

/// The mentions in all files. The engine's search excludes library files, which may be in the checkout.
fn mentions(db: &RootDatabase, answers: &Answers, files: &[Named]) -> Mentions {
    let mut mentions = Mentions::default();
    for ((_, file), answers) in files.iter().zip(answers) {
        let (Some(file), Some(answers)) = (file, answers) else { continue };
        if is_library(db, *file) {
            continue;
        }
        for answer in &answers.answers {
            let is_self = matches!(answer.asks.as_slice(), [Definition::SelfType(_), ..]);
            for mention in &answer.mentions {
                mentions.add(db, *mention, is_self);
            }
        }
    }
    mentions
}

fn is_library(db: &RootDatabase, file: FileId) -> bool {
    let root = db.file_source_root(file).source_root_id(db);
    db.source_root(root).source_root(db).is_library
}

/// The places of the definitions that are searched file by file, by number: each file is searched for those
/// whose name is written in it, and for the types that its `Self` may stand for.
fn search(
    host: &AnalysisHost,
    files: &[Named],
    answers: &Answers,
    known: &[Option<(Definition, Arc<DefinitionInfo>)>],
    failures: &mut usize,
) -> FxHashMap<usize, Places> {
    let mut by_name: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    let mut types: FxHashMap<Definition, usize> = FxHashMap::default();
    let mut other_types: Vec<usize> = Vec::new();
    for (index, found) in known.iter().enumerate() {
        let Some((def, info)) = found else { continue };
        let SearchStrategy::ByFile(Some(name)) = &info.strategy else { continue };
        by_name.entry(name).or_default().push(index);
        match def {
            Definition::Adt(_) => {
                types.insert(*def, index);
            }
            Definition::TypeAlias(_) | Definition::BuiltinType(_) => other_types.push(index),
            _ => {}
        }
    }
    let numbers: Vec<usize> = (0..files.len()).collect();
    let found = parallel(host, &numbers, "searches", failures, |db, at| {
        let (Some(file), Some(answers)) = (files[*at].1, &answers[*at]) else { return Vec::new() };
        if is_library(db, file) {
            return Vec::new();
        }
        let text = db.file_text(file);
        let words = queries::words(db, text).0;
        let mut requested: Vec<usize> =
            words.iter().filter_map(|word| by_name.get(word.as_str())).flatten().copied().collect();
        if words.contains("Self") {
            requested.extend(&other_types);
            for def in answers.answers.iter().flat_map(|answer| &answer.asks) {
                let Definition::SelfType(implementation) = def else { continue };
                let adt = implementation.self_ty(db).as_adt();
                requested.extend(adt.and_then(|adt| types.get(&Definition::Adt(adt))));
            }
        }
        requested.sort_unstable();
        requested.dedup();
        let defs: Arc<[Definition]> =
            requested.iter().filter_map(|it| known[*it].as_ref().map(|it| it.0)).collect();
        let places = queries::search_file(db, text, defs);
        places.iter().map(|(at, file, range)| (requested[*at], *file, *range)).collect()
    });
    let mut all: FxHashMap<usize, Places> = FxHashMap::default();
    for (index, file, range) in found.into_iter().flatten().flatten() {
        all.entry(index).or_default().push((file, range));
    }
    all
}

/// Run `job` for every item on several threads, each with its own handle; None where the engine panicked.
fn parallel<T: Sync, R: Send>(
    host: &AnalysisHost,
    items: &[T],
    stage: &str,
    failures: &mut usize,
    job: impl Fn(&RootDatabase, &T) -> R + Sync,
) -> Vec<Option<R>> {
    let threads = std::thread::available_parallelism().map_or(1, |it| it.get()).min(8);
    let (counter, lost) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let db = host.raw_database().clone();
            let (job, counter, lost, results) = (&job, &counter, &lost, &results);
            let body = move || {
                let work = || loop {
                    let index = counter.fetch_add(1, Ordering::Relaxed);
                    if index >= items.len() {
                        break;
                    }
                    if index.is_multiple_of(100) {
                        eprintln!("progress {stage} {index} {}", items.len());
                    }
                    match catch_unwind(AssertUnwindSafe(|| job(&db, &items[index]))) {
                        Ok(result) => *results[index].lock().unwrap() = Some(result),
                        Err(_) => {
                            lost.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                };
                hir::attach_db_allow_change(&db, work);
            };
            std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, body).expect("a thread");
        }
    });
    *failures += lost.into_inner();
    results.into_iter().map(|it| it.into_inner().unwrap()).collect()
}
