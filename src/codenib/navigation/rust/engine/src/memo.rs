//! What is worked out once and kept until an edit touches something that it was read from. The engine's own
//! account of dependencies (salsa) decides that: each function here reads everything through its `db`.

use std::{any::Any, sync::Arc};

use hir::{EditionedFileId, Semantics};
use ide::{Analysis, FileId, TextRange};
use ide_db::{
    FxHashSet, RootDatabase,
    base_db::{FileText, SourceDatabase},
    defs::Definition,
    search::SearchScope,
};
use syntax::Edition;

use crate::{
    ask::{Asker, FileAnswers, Nav, navs_of},
    refs::{About, Places, References, about, by_text, within},
};

/// A shared value. Two are equal when they are the same, so one worked out anew counts as changed.
pub struct Kept<T>(pub Arc<T>);

impl<T> Clone for Kept<T> {
    fn clone(&self) -> Self {
        Kept(self.0.clone())
    }
}

impl<T> PartialEq for Kept<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A definition as a key.
#[salsa::interned(no_lifetime, revisions = usize::MAX)]
struct Searched {
    def: Definition,
}

/// A file and the definitions that are searched in it.
#[salsa::interned(no_lifetime)]
struct Wanted {
    text: FileText,
    #[returns(ref)]
    defs: Arc<[Definition]>,
}

/// The answers for every token of a file, and the references of what is only visible in it.
#[salsa::tracked]
pub fn answers(db: &dyn SourceDatabase, text: FileText) -> Kept<FileAnswers> {
    let root = root_of(db);
    let mut found = Asker::new(root, analysis_of(root)).file(text.file_id(db));
    let sema = Semantics::new(root);
    let mut seen = FxHashSet::default();
    for def in found.answers.iter().flat_map(|answer| &answer.asks) {
        if stays_in_file(def) && seen.insert(*def) {
            let about = about(&sema, *def);
            let places = by_text(&sema, *def);
            found.inner.insert(*def, Arc::new(References::new(*def, &about, places)));
        }
    }
    Kept(Arc::new(found))
}

/// The words of a file: what is not among them cannot be found in it.
#[salsa::tracked]
pub fn words(db: &dyn SourceDatabase, text: FileText) -> Kept<FxHashSet<String>> {
    let split = text.text(db).split(|it: char| !it.is_alphanumeric() && it != '_');
    Kept(Arc::new(split.filter(|word| !word.is_empty()).map(str::to_owned).collect()))
}

/// How a definition is called, where it is declared and where it is visible.
pub fn known(db: &RootDatabase, def: Definition) -> Arc<About> {
    #[salsa::tracked]
    fn known(db: &dyn SourceDatabase, searched: Searched) -> Kept<About> {
        Kept(Arc::new(about(&Semantics::new(root_of(db)), searched.def(db))))
    }
    known(db, Searched::new(db, def)).0
}

/// Where definition leads from a name of a definition.
pub fn navs(db: &RootDatabase, def: Definition) -> Arc<Vec<Nav>> {
    #[salsa::tracked]
    fn navs(db: &dyn SourceDatabase, searched: Searched) -> Kept<Vec<Nav>> {
        Kept(Arc::new(navs_of(&Semantics::new(root_of(db)), searched.def(db))))
    }
    navs(db, Searched::new(db, def)).0
}

/// The engine's search for a definition in all files that may see it.
pub fn everywhere(db: &RootDatabase, def: Definition) -> Arc<Places> {
    #[salsa::tracked]
    fn everywhere(db: &dyn SourceDatabase, searched: Searched) -> Kept<Places> {
        Kept(Arc::new(by_text(&Semantics::new(root_of(db)), searched.def(db))))
    }
    everywhere(db, Searched::new(db, def)).0
}

/// The engine's search for several definitions in one file; by the number of the definition.
pub fn in_file(
    db: &RootDatabase,
    text: FileText,
    defs: Arc<[Definition]>,
) -> Arc<Vec<(usize, FileId, TextRange)>> {
    #[salsa::tracked]
    fn in_file(db: &dyn SourceDatabase, wanted: Wanted) -> Kept<Vec<(usize, FileId, TextRange)>> {
        let root = root_of(db);
        let sema = Semantics::new(root);
        let file = wanted.text(db).file_id(db);
        // A scope names a file together with the edition that a crate reads it in.
        let editions = Edition::iter().map(|edition| EditionedFileId::new(db, file, edition));
        let scope = SearchScope::files(&editions.collect::<Vec<_>>());
        let mut found = Vec::new();
        for (index, def) in wanted.defs(db).iter().enumerate() {
            found.extend(within(&sema, *def, &scope).into_iter().map(|(file, range)| (index, file, range)));
        }
        Kept(Arc::new(found))
    }
    in_file(db, Wanted::new(db, text, defs)).0
}

/// Is a definition only visible in the file that holds it?
pub fn stays_in_file(def: &Definition) -> bool {
    matches!(
        def,
        Definition::Local(_)
            | Definition::Label(_)
            | Definition::SelfType(_)
            | Definition::GenericParam(_)
            | Definition::InlineAsmOperand(_)
    )
}

fn root_of(db: &dyn SourceDatabase) -> &RootDatabase {
    let any: &dyn Any = db;
    any.downcast_ref().expect("the only kind of database here")
}

/// The engine's questions on this very handle of the database. `AnalysisHost::analysis` makes another handle,
/// and what is read through that would not count as read by the question that is being worked out.
fn analysis_of(db: &RootDatabase) -> &Analysis {
    const { assert!(size_of::<Analysis>() == size_of::<RootDatabase>()) };
    // SAFETY: an `Analysis` is a struct whose one field is the database; equal sizes leave no other layout.
    unsafe { &*std::ptr::from_ref(db).cast::<Analysis>() }
}
