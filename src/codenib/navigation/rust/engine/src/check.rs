//! For CODENIB_CHECK: our answers in, whether they equal the engine's own out. Differences are printed as notes.

use hir::Semantics;
use ide::FileId;
use ide_db::{FxHashSet, RootDatabase};

use crate::{
    answers::Nav,
    refs::{Places, References, describe, search_text},
};

pub fn same_definitions(name: &str, engine: &[Nav], here: &[Nav]) -> bool {
    let places = |navs: &[Nav]| sorted(navs.iter().map(|nav| (nav.file, nav.place())).collect());
    let (engine, here) = (places(engine), places(here));
    if engine != here {
        eprintln!("note definition of {name}: engine {engine:?}, here {here:?}");
    }
    engine == here
}

pub fn checking() -> bool {
    std::env::var_os("CODENIB_CHECK").is_some()
}

/// Only files of the checkout count: the facts have no other places.
pub fn same_references(
    sema: &Semantics<'_, RootDatabase>,
    found: &References,
    checkout: &FxHashSet<FileId>,
) -> bool {
    let def = found.def;
    let mut engine = References::new(def, &describe(sema, def), search_text(sema, def)).places;
    let mut here = found.places.clone();
    for places in [&mut engine, &mut here] {
        places.retain(|(file, _)| checkout.contains(file));
    }
    if engine != here {
        let only = |left: &Places, right: &Places| -> Places {
            left.iter().filter(|place| !right.contains(place)).copied().collect()
        };
        let (engine, here) = (only(&engine, &here), only(&here, &engine));
        eprintln!("note references of {}: engine only {engine:?}, here only {here:?}", found.label);
    }
    engine == here
}

fn sorted(mut places: Places) -> Places {
    places.sort_by_key(|(file, range)| (*file, range.start(), range.end()));
    places.dedup();
    places
}
