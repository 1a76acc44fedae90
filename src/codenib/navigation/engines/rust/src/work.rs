//! Files in, answers of all of them and the references of every definition asked for out, on several threads.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use hir::Semantics;
use ide::{Analysis, AnalysisHost, FileId};
use ide_db::{FxHashMap, FxHashSet, RootDatabase, base_db::SourceDatabase, defs::Definition};

use crate::{
    STACK_BYTES,
    ask::{Asker, FileAnswers},
    check::same_references,
    items::label,
    refs::{Listed, References, search},
};

/// A search keeps the trees that it has seen; they are let go after this many.
const RENEW: usize = 1000;

pub struct Answered {
    /// In the order of the files; None where a file is not part of the analysed folders.
    pub files: Vec<Option<FileAnswers>>,
    pub references: Vec<References>,
    pub labels: FxHashMap<Definition, String>,
    pub failures: usize,
    pub differences: usize,
}

pub fn answer(host: &AnalysisHost, files: &[(String, Option<FileId>)]) -> Answered {
    let failures = AtomicUsize::new(0);
    let differences = AtomicUsize::new(0);
    let check = std::env::var_os("CODENIB_CHECK").is_some();
    // A panic in the engine costs one file or one definition; what was lost is counted, not printed.
    std::panic::set_hook(Box::new(|_| ()));

    let slots: Vec<Mutex<Option<FileAnswers>>> = files.iter().map(|_| Mutex::new(None)).collect();
    parallel(host, files.len(), "answers", |db, analysis, next| {
        let mut asker = Asker::new(db, analysis, check);
        while let Some(index) = next() {
            let Some(file) = files[index].1 else { continue };
            match catch_unwind(AssertUnwindSafe(|| asker.file(file))) {
                Ok(answers) => *slots[index].lock().unwrap() = Some(answers),
                Err(_) => {
                    failures.fetch_add(1, Ordering::Relaxed);
                    asker = Asker::new(db, analysis, check);
                }
            }
        }
        differences.fetch_add(asker.differences, Ordering::Relaxed);
    });
    let answers: Vec<Option<FileAnswers>> = slots.into_iter().map(|it| it.into_inner().unwrap()).collect();

    let wanted = wanted(&answers);
    let listed = listed(host.raw_database(), &answers, files);
    let checkout: FxHashSet<FileId> = files.iter().filter_map(|(_, file)| *file).collect();
    let found: Vec<Mutex<Option<References>>> = wanted.iter().map(|_| Mutex::new(None)).collect();
    let labels = Mutex::new(FxHashMap::default());
    parallel(host, wanted.len(), "references", |db, _, next| {
        let mut named: Vec<(Definition, String)> = Vec::new();
        let mut sema = Semantics::new(db);
        let mut count = 0;
        while let Some(index) = next() {
            let def = wanted[index];
            let result = catch_unwind(AssertUnwindSafe(|| {
                named.push((def, label(db, def)));
                if check && !same_references(&sema, &listed, def, &checkout) {
                    differences.fetch_add(1, Ordering::Relaxed);
                }
                search(&sema, &listed, def)
            }));
            match result {
                Ok(references) => *found[index].lock().unwrap() = Some(references),
                Err(_) => {
                    failures.fetch_add(1, Ordering::Relaxed);
                    sema = Semantics::new(db);
                }
            }
            count += 1;
            if count % RENEW == 0 {
                sema = Semantics::new(db);
            }
        }
        labels.lock().unwrap().extend(named);
    });
    Answered {
        files: answers,
        references: found.into_iter().filter_map(|it| it.into_inner().unwrap()).collect(),
        labels: labels.into_inner().unwrap(),
        failures: failures.into_inner(),
        differences: differences.into_inner(),
    }
}

/// Each definition that is asked for, once, in the order of the files.
fn wanted(answers: &[Option<FileAnswers>]) -> Vec<Definition> {
    let mut seen: FxHashSet<Definition> = FxHashSet::default();
    let asked = answers.iter().flatten().flat_map(|file| &file.answers).flat_map(|answer| &answer.asks);
    asked.filter(|def| seen.insert(**def)).copied().collect()
}

/// What the names say they are references of. The engine leaves out library files, which a checkout may hold.
fn listed(db: &RootDatabase, answers: &[Option<FileAnswers>], files: &[(String, Option<FileId>)]) -> Listed {
    let mut listed = Listed::default();
    for ((_, file), answers) in files.iter().zip(answers) {
        let (Some(file), Some(answers)) = (file, answers) else { continue };
        let root = db.file_source_root(*file).source_root_id(db);
        if db.source_root(root).source_root(db).is_library {
            continue;
        }
        for (def, place) in answers.answers.iter().flat_map(|answer| &answer.listed) {
            listed.entry(*def).or_default().push(*place);
        }
    }
    listed
}

/// Run `job` on every thread with its own snapshot; `next` hands out the indexes below `total`.
fn parallel(
    host: &AnalysisHost,
    total: usize,
    stage: &str,
    job: impl Fn(&RootDatabase, &Analysis, &mut dyn FnMut() -> Option<usize>) + Sync,
) {
    let threads = std::thread::available_parallelism().map_or(1, |it| it.get()).min(8);
    let counter = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (db, analysis) = (host.raw_database().clone(), host.analysis());
            let (job, counter) = (&job, &counter);
            let body = move || {
                let mut next = || {
                    let index = counter.fetch_add(1, Ordering::Relaxed);
                    if index.is_multiple_of(100) && index < total {
                        eprintln!("progress {stage} {index} {total}");
                    }
                    (index < total).then_some(index)
                };
                hir::attach_db_allow_change(&db, || job(&db, &analysis, &mut next));
            };
            std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, body).expect("a thread");
        }
    });
}
