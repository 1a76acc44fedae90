//! Files in, answers of all of them and the references of every definition asked for out, on several threads.
//! What an edit does not touch is kept (memo.rs); asking again for everything finds out what that is.

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
    ask::{Answer, FileAnswers, Goal, Nav},
    check::{checking, same_references},
    memo,
    refs::{About, Listed, Places, References, Way},
};

type Named = (String, Option<FileId>);
type Answers = Vec<Option<Arc<FileAnswers>>>;

pub struct Answered {
    /// In the order of the files; None where a file is not part of the analysed folders.
    pub files: Answers,
    goals: FxHashMap<Definition, Arc<Vec<Nav>>>,
    pub references: Vec<Arc<References>>,
    pub failures: usize,
    pub differences: usize,
}

impl Answered {
    /// Where definition leads from an answer, each place once.
    pub fn navs<'a>(&'a self, answer: &'a Answer) -> Vec<&'a Nav> {
        let mut found: Vec<&Nav> = Vec::new();
        for goal in &answer.goals {
            let navs = match goal {
                Goal::Place(nav) => std::slice::from_ref(nav),
                Goal::Definition(def) => self.goals.get(def).map_or(&[][..], |navs| navs.as_slice()),
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
    // A panic in the engine costs one file or one definition; what was lost is counted, not printed.
    std::panic::set_hook(Box::new(|_| ()));
    let mut failures = 0;
    let answered = each(host, files, "answers", &mut failures, |db, (_, file)| {
        file.map(|file| memo::answers(db, db.file_text(file)).0)
    });
    let files_of: Answers = answered.into_iter().map(Option::flatten).collect();
    let goals = goals(host, &files_of, &mut failures);
    let wanted = wanted(&files_of);
    let known = each(host, &wanted, "definitions", &mut failures, |db, wanted| match wanted {
        Wanted::Inner(_) => None,
        Wanted::Outer(def) => Some((*def, memo::known(db, *def))),
    });
    let known: Vec<Option<(Definition, Arc<About>)>> = known.into_iter().map(Option::flatten).collect();
    let listed = listed(host.raw_database(), &files_of, files);
    let searched = search(host, files, &files_of, &known, &mut failures);
    let numbers: Vec<usize> = (0..wanted.len()).collect();
    let found = each(host, &numbers, "references", &mut failures, |db, index| match &wanted[*index] {
        Wanted::Inner(found) => Some(found.clone()),
        Wanted::Outer(_) => {
            let (def, about) = known[*index].as_ref()?;
            let places = match &about.way {
                Way::Short(reaches) => match listed.short(db, *def, reaches) {
                    Some(places) => places,
                    None => memo::everywhere(db, *def).to_vec(),
                },
                Way::ByFile(_) => searched.get(index).cloned().unwrap_or_default(),
                Way::Listed(reach) => {
                    let all = listed.places(&Semantics::new(db), *def).into_iter();
                    let all = all.map(|it| (it.file_id, it.range));
                    all.filter(|(file, range)| reach.holds(db, *file, *range)).collect()
                }
            };
            Some(Arc::new(References::new(*def, about, places)))
        }
    });
    let references: Vec<Arc<References>> = found.into_iter().flatten().flatten().collect();
    let mut differences = files_of.iter().flatten().map(|it| it.differences).sum();
    if checking() {
        let checkout: FxHashSet<FileId> = files.iter().filter_map(|(_, file)| *file).collect();
        let same = each(host, &references, "checks", &mut failures, |db, found| {
            same_references(&Semantics::new(db), found, &checkout)
        });
        differences += same.iter().filter(|it| **it == Some(false)).count();
    }
    Answered { files: files_of, goals, references, failures, differences }
}

/// Where definition leads for everything that is named.
fn goals(
    host: &AnalysisHost,
    answers: &Answers,
    failures: &mut usize,
) -> FxHashMap<Definition, Arc<Vec<Nav>>> {
    let mut seen: FxHashSet<Definition> = FxHashSet::default();
    for goal in answers.iter().flatten().flat_map(|file| &file.answers).flat_map(|answer| &answer.goals) {
        if let Goal::Definition(def) = goal {
            seen.insert(*def);
        }
    }
    let defs: Vec<Definition> = seen.into_iter().collect();
    let found = each(host, &defs, "goals", failures, |db, def| memo::navs(db, *def));
    defs.into_iter().zip(found).filter_map(|(def, navs)| Some((def, navs?))).collect()
}

/// A definition that is asked for.
enum Wanted {
    /// Visible in one file only, whose answers have its references.
    Inner(Arc<References>),
    Outer(Definition),
}

/// Each definition that is asked for, once, in the order of the files.
fn wanted(answers: &Answers) -> Vec<Wanted> {
    let mut seen: FxHashSet<Definition> = FxHashSet::default();
    let mut found = Vec::new();
    for file in answers.iter().flatten() {
        for def in file.answers.iter().flat_map(|answer| &answer.asks) {
            if seen.insert(*def) {
                found.push(match file.inner.get(def) {
                    Some(references) => Wanted::Inner(references.clone()),
                    None => Wanted::Outer(*def),
                });
            }
        }
    }
    found
}

/// What the names say they are references of. The engine leaves out library files, which a checkout may hold.
fn listed(db: &RootDatabase, answers: &Answers, files: &[Named]) -> Listed {
    let mut listed = Listed::default();
    for ((_, file), answers) in files.iter().zip(answers) {
        let (Some(file), Some(answers)) = (file, answers) else { continue };
        if is_library(db, *file) {
            continue;
        }
        for answer in &answers.answers {
            let is_self = matches!(answer.asks.as_slice(), [Definition::SelfType(_), ..]);
            for mention in &answer.listed {
                listed.add(db, *mention, is_self);
            }
        }
    }
    listed
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
    known: &[Option<(Definition, Arc<About>)>],
    failures: &mut usize,
) -> FxHashMap<usize, Places> {
    let mut by_name: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    let mut types: FxHashMap<Definition, usize> = FxHashMap::default();
    let mut other_types: Vec<usize> = Vec::new();
    for (index, found) in known.iter().enumerate() {
        let Some((def, about)) = found else { continue };
        let Way::ByFile(Some(name)) = &about.way else { continue };
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
    let found = each(host, &numbers, "searches", failures, |db, at| {
        let (Some(file), Some(answers)) = (files[*at].1, &answers[*at]) else { return Vec::new() };
        if is_library(db, file) {
            return Vec::new();
        }
        let text = db.file_text(file);
        let words = memo::words(db, text).0;
        let mut wanted: Vec<usize> =
            words.iter().filter_map(|word| by_name.get(word.as_str())).flatten().copied().collect();
        if words.contains("Self") {
            wanted.extend(&other_types);
            for def in answers.answers.iter().flat_map(|answer| &answer.asks) {
                let Definition::SelfType(implementation) = def else { continue };
                let adt = implementation.self_ty(db).as_adt();
                wanted.extend(adt.and_then(|adt| types.get(&Definition::Adt(adt))));
            }
        }
        wanted.sort_unstable();
        wanted.dedup();
        let defs: Arc<[Definition]> =
            wanted.iter().filter_map(|it| known[*it].as_ref().map(|it| it.0)).collect();
        let places = memo::in_file(db, text, defs);
        places.iter().map(|(at, file, range)| (wanted[*at], *file, *range)).collect()
    });
    let mut all: FxHashMap<usize, Places> = FxHashMap::default();
    for (index, file, range) in found.into_iter().flatten().flatten() {
        all.entry(index).or_default().push((file, range));
    }
    all
}

/// Do `job` for every item on several threads, each with its own handle; None where the engine panicked.
fn each<T: Sync, R: Send>(
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
