//! Cached queries: results are reused until an edit changes something that they were computed from. The engine's
//! tracking of dependencies (salsa) decides that: each function here reads everything through its `db`.

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
    answers::{FileAnswers, FileResolver, Nav, navs_of},
    refs::{DefinitionInfo, Places, References, describe, search_scope, search_text},
};

/// A shared value. Two are equal only when they are the same object, so a recomputed one counts as changed.
pub struct Shared<T>(pub Arc<T>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared(self.0.clone())
    }
}

impl<T> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A definition as a key.
#[salsa::interned(no_lifetime, revisions = usize::MAX)]
struct DefinitionKey {
    def: Definition,
}

/// A file and the definitions that are searched in it.
#[salsa::interned(no_lifetime)]
struct FileSearch {
    text: FileText,
    #[returns(ref)]
    defs: Arc<[Definition]>,
}

/// The answers for every token of a file, and the references of definitions that are visible only in it.
#[salsa::tracked]
pub fn answers(db: &dyn SourceDatabase, text: FileText) -> Shared<FileAnswers> {
    let root = root_of(db);
    let mut found = FileResolver::new(root, analysis_of(root)).file(text.file_id(db));
    let sema = Semantics::new(root);
    let mut added = FxHashSet::default();
    for def in found.answers.iter().flat_map(|answer| &answer.asks) {
        if stays_in_file(def) && added.insert(*def) {
            let info = describe(&sema, *def);
            let places = search_text(&sema, *def);
            found.local_references.insert(*def, Arc::new(References::new(*def, &info, places)));
        }
    }
    Shared(Arc::new(found))
}

/// The words of a file: a search for any other word needs not read it.
#[salsa::tracked]
pub fn words(db: &dyn SourceDatabase, text: FileText) -> Shared<FxHashSet<String>> {
    let split = text.text(db).split(|it: char| !it.is_alphanumeric() && it != '_');
    Shared(Arc::new(split.filter(|word| !word.is_empty()).map(str::to_owned).collect()))
}

/// The name, declarations and visibility of a definition.
pub fn info(db: &RootDatabase, def: Definition) -> Arc<DefinitionInfo> {
    #[salsa::tracked]
    fn info(db: &dyn SourceDatabase, searched: DefinitionKey) -> Shared<DefinitionInfo> {
        Shared(Arc::new(describe(&Semantics::new(root_of(db)), searched.def(db))))
    }
    info(db, DefinitionKey::new(db, def)).0
}

/// Where "go to definition" leads from a name of the definition.
pub fn navs(db: &RootDatabase, def: Definition) -> Arc<Vec<Nav>> {
    #[salsa::tracked]
    fn navs(db: &dyn SourceDatabase, searched: DefinitionKey) -> Shared<Vec<Nav>> {
        Shared(Arc::new(navs_of(&Semantics::new(root_of(db)), searched.def(db))))
    }
    navs(db, DefinitionKey::new(db, def)).0
}

/// The engine's search for a definition in all files that may see it.
pub fn search_all_files(db: &RootDatabase, def: Definition) -> Arc<Places> {
    #[salsa::tracked]
    fn search_all_files(db: &dyn SourceDatabase, searched: DefinitionKey) -> Shared<Places> {
        Shared(Arc::new(search_text(&Semantics::new(root_of(db)), searched.def(db))))
    }
    search_all_files(db, DefinitionKey::new(db, def)).0
}

/// The engine's search for several definitions in one file: index of the definition, file and range.
pub fn search_file(
    db: &RootDatabase,
    text: FileText,
    defs: Arc<[Definition]>,
) -> Arc<Vec<(usize, FileId, TextRange)>> {
    #[salsa::tracked]
    fn search_file(db: &dyn SourceDatabase, wanted: FileSearch) -> Shared<Vec<(usize, FileId, TextRange)>> {
        let root = root_of(db);
        let sema = Semantics::new(root);
        let file = wanted.text(db).file_id(db);
        // A scope names a file together with the edition that a crate reads it in.
        let editions = Edition::iter().map(|edition| EditionedFileId::new(db, file, edition));
        let scope = SearchScope::files(&editions.collect::<Vec<_>>());
        let mut found = Vec::new();
        for (index, def) in wanted.defs(db).iter().enumerate() {
            found.extend(
                search_scope(&sema, *def, &scope).into_iter().map(|(file, range)| (index, file, range)),
            );
        }
        Shared(Arc::new(found))
    }
    search_file(db, FileSearch::new(db, text, defs)).0
}

/// Is a definition visible only in the file that declares it?
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

/// The engine's API on this very handle of the database. `AnalysisHost::analysis` creates another handle, and what
/// is read through that would not be tracked as a dependency of the running query.
fn analysis_of(db: &RootDatabase) -> &Analysis {
    const { assert!(size_of::<Analysis>() == size_of::<RootDatabase>()) };
    // SAFETY: an `Analysis` is a struct whose one field is the database; equal sizes leave no other layout.
    unsafe { &*std::ptr::from_ref(db).cast::<Analysis>() }
}
