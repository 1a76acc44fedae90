//! Definitions in, the places that the engine finds for each of them out. Each definition is searched once.

use hir::{Semantics, Visibility};
use ide::{FileId, FileRange, ReferenceCategory, SearchScope, SourceRootId, SymbolKind, TextRange, TryToNav};
use ide_db::{FxHashMap, RootDatabase, base_db::SourceDatabase, defs::Definition};
use syntax::{AstNode, ast::HasName};

use crate::{
    ask::Nav,
    index::{in_trait, is_indexed},
};

pub struct References {
    pub def: Definition,
    /// Where it is declared, as references answer it; None for primitive types and the like.
    pub declaration: Option<Nav>,
    pub places: Vec<(FileId, TextRange)>,
}

pub type Listed = FxHashMap<Definition, Vec<FileRange>>;

/// The places that references answer for a definition, the declaration among them.
pub fn search(sema: &Semantics<'_, RootDatabase>, listed: &Listed, def: Definition) -> References {
    let mut places = match is_indexed(sema.db, def) {
        true => {
            let reach = Reach::of(sema.db, def);
            let all = listed.get(&def).into_iter().flatten().map(|it| (it.file_id, it.range));
            all.filter(|(file, range)| reach.holds(sema.db, *file, *range)).collect()
        }
        false => by_text(sema, def),
    };
    // What a macro makes is declared in the macro; the call that makes it is a reference.
    let navs = declarations(sema, def);
    places.extend(navs.iter().map(|nav| (nav.file, nav.place())));
    places.sort_by_key(|(file, range)| (*file, range.start(), range.end()));
    places.dedup();
    References { def, declaration: navs.into_iter().next(), places }
}

/// The engine's own search.
pub fn by_text(sema: &Semantics<'_, RootDatabase>, def: Definition) -> Vec<(FileId, TextRange)> {
    let usages = def
        .usages(sema)
        .set_included_categories(ReferenceCategory::all())
        .set_exclude_library_files(true)
        .include_self_refs()
        .all();
    let mut places = Vec::new();
    for (file, found) in usages {
        let file = file.file_id(sema.db);
        places.extend(found.into_iter().map(|it| (file, it.range)));
    }
    places
}

fn declarations(sema: &Semantics<'_, RootDatabase>, def: Definition) -> Vec<Nav> {
    if let Definition::Module(module) = def
        && let Some(nav) = module_line(sema.db, module)
    {
        return vec![nav];
    }
    let found = def.try_to_nav(sema);
    found.into_iter().flatten().map(|target| Nav::of(&target)).collect()
}

/// For references a module is declared by its `mod` line, not by its file.
fn module_line(db: &RootDatabase, module: hir::Module) -> Option<Nav> {
    let source = module.declaration_source(db)?;
    let name = source.value.name()?;
    let (focus, context) = source.with_value(name.syntax()).original_file_range_opt(db)?;
    if !context.is_root() {
        return None;
    }
    let full = source.with_value(source.value.syntax()).original_file_range_rooted(db);
    let file = focus.file_id.file_id(db);
    let full = if full.file_id == focus.file_id { full.range.cover(focus.range) } else { focus.range };
    let name = name.text().to_string();
    Some(Nav { file, full, focus: Some(focus.range), name, kind: Some(SymbolKind::Module) })
}

/// Where a definition is visible. The engine looks nowhere else, also where a name resolves to it nevertheless.
enum Reach {
    Everywhere,
    Folder(SourceRootId),
    Files(FxHashMap<FileId, Option<TextRange>>),
}

impl Reach {
    fn of(db: &RootDatabase, def: Definition) -> Reach {
        if matches!(def, Definition::Module(module) if module.is_crate_root(db)) {
            return Reach::Everywhere;
        }
        match in_trait(db, def).unwrap_or(def).visibility(db) {
            None | Some(Visibility::Public) => Reach::Everywhere,
            Some(Visibility::PubCrate(krate)) => {
                let file = hir::Crate::from(krate).root_file(db);
                Reach::Folder(db.file_source_root(file).source_root_id(db))
            }
            Some(Visibility::Module(module, _)) => {
                let scope = SearchScope::module_and_children(db, module.into());
                Reach::Files(scope.into_iter().map(|(file, range)| (file.file_id(db), range)).collect())
            }
        }
    }

    fn holds(&self, db: &RootDatabase, file: FileId, range: TextRange) -> bool {
        match self {
            Reach::Everywhere => true,
            Reach::Folder(root) => db.file_source_root(file).source_root_id(db) == *root,
            Reach::Files(files) => match files.get(&file) {
                Some(Some(part)) => part.contains_inclusive(range.start()),
                Some(None) => true,
                None => false,
            },
        }
    }
}
