//! For CODENIB_CHECK: do the short ways find what the engine's own ways find? Differences are notes.

use hir::Semantics;
use ide::{FileId, TextRange};
use ide_db::{FxHashSet, RootDatabase, defs::Definition};

use crate::{
    ask::Nav,
    index::is_indexed,
    items::label,
    refs::{Listed, by_text, search},
};

type Places = Vec<(FileId, TextRange)>;

pub fn same_definitions(name: &str, engine: &[Nav], here: &[Nav]) -> bool {
    let places = |navs: &[Nav]| sorted(navs.iter().map(|nav| (nav.file, nav.place())).collect());
    let (engine, here) = (places(engine), places(here));
    if engine != here {
        eprintln!("note definition of {name}: engine {engine:?}, here {here:?}");
    }
    engine == here
}

/// Only files of the checkout count: places elsewhere are left out of the facts.
pub fn same_references(
    sema: &Semantics<'_, RootDatabase>,
    listed: &Listed,
    def: Definition,
    checkout: &FxHashSet<FileId>,
) -> bool {
    if !is_indexed(sema.db, def) {
        return true;
    }
    let declared = search(sema, &Listed::default(), def).places;
    let mut engine: Places = by_text(sema, def).into_iter().chain(declared).collect();
    let mut here = search(sema, listed, def).places;
    for places in [&mut engine, &mut here] {
        places.retain(|(file, _)| checkout.contains(file));
    }
    let (engine, here) = (sorted(engine), sorted(here));
    if engine != here {
        let only = |left: &Places, right: &Places| -> Places {
            left.iter().filter(|place| !right.contains(place)).copied().collect()
        };
        let (engine, here) = (only(&engine, &here), only(&here, &engine));
        eprintln!("note references of {}: engine only {engine:?}, here only {here:?}", label(sema.db, def));
    }
    engine == here
}

fn sorted(mut places: Places) -> Places {
    places.sort_by_key(|(file, range)| (*file, range.start(), range.end()));
    places.dedup();
    places
}
