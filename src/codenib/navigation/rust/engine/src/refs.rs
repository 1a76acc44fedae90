//! A definition in, its name, declarations and visibility, and the places of its references out.

use std::sync::Arc;

use hir::{HasAttrs, MacroKind, Semantics, Visibility};
use ide::{FileId, FileRange, ReferenceCategory, SearchScope, SourceRootId, SymbolKind, TextRange, TryToNav};
use ide_db::{
    FxHashMap, FxHashSet, RootDatabase, base_db::SourceDatabase, defs::Definition, search::FindUsages,
};
use syntax::{AstNode, ast::HasName};

use crate::{
    answers::Nav,
    items::label,
    mentions::{Mention, in_trait, is_indexed, short_type},
};

pub type Places = Vec<(FileId, TextRange)>;

/// The places where the names of all files mention each definition.
#[derive(Default)]
pub struct Mentions {
    pub of: FxHashMap<Definition, Vec<FileRange>>,
    /// Places of `Self`, by the type that it stands for.
    pub selves: FxHashMap<Definition, Vec<FileRange>>,
    /// Types and type aliases, by name.
    pub by_name: FxHashMap<String, Vec<Definition>>,
    /// Definitions mentioned in a form that the engine's text search may miss.
    pub uncertain: FxHashSet<Definition>,
}

impl Mentions {
    pub fn add(&mut self, db: &RootDatabase, (def, place, certain): Mention, is_self: bool) {
        if !certain {
            self.uncertain.insert(def);
        }
        if is_self {
            self.selves.entry(def).or_default().push(place);
            return;
        }
        let fresh = !self.of.contains_key(&def);
        if fresh
            && matches!(def, Definition::Adt(_) | Definition::TypeAlias(_))
            && let Some(name) = def.name(db)
        {
            self.by_name.entry(name.as_str().to_owned()).or_default().push(def);
        }
        self.of.entry(def).or_default().push(place);
    }

    /// The places of a definition, wherever they are.
    pub fn places(&self, sema: &Semantics<'_, RootDatabase>, def: Definition) -> Vec<FileRange> {
        let mut found = self.of.get(&def).cloned().unwrap_or_default();
        match def {
            Definition::Adt(_) => found.extend(self.selves.get(&def).into_iter().flatten()),
            Definition::TypeAlias(alias) => {
                let same = self.same_types(sema.db, alias, def);
                found.extend(same.iter().filter_map(|other| self.of.get(other)).flatten());
                if let Some(adt) = alias.ty(sema.db).as_adt() {
                    found.extend(self.selves.get(&Definition::Adt(adt)).into_iter().flatten());
                }
                if let Some(item) = in_trait(sema.db, def) {
                    found.extend(self.of.get(&item).into_iter().flatten());
                }
            }
            _ => {}
        }
        if let Definition::Adt(adt) = def {
            let name = adt.name(sema.db);
            let ty = adt.ty(sema.db);
            for other in self.by_name.get(name.as_str()).into_iter().flatten() {
                if let Definition::TypeAlias(alias) = other
                    && alias.ty(sema.db) == ty
                {
                    found.extend(self.of.get(other).into_iter().flatten());
                }
            }
        }
        found
    }

    /// The places of a function with a short name; None when the engine's search may find fewer.
    pub fn short(&self, db: &RootDatabase, def: Definition, visible_in: &[VisibleIn]) -> Option<Places> {
        let found = self.of.get(&def).map_or(&[][..], Vec::as_slice);
        let visible = |it: &FileRange| visible_in.iter().all(|part| part.contains(db, it.file_id, it.range));
        let certain = !self.uncertain.contains(&def) && found.iter().all(visible);
        certain.then(|| found.iter().map(|it| (it.file_id, it.range)).collect())
    }

    /// The engine counts a name as a reference of every equal type of that name.
    fn same_types(&self, db: &RootDatabase, alias: hir::TypeAlias, def: Definition) -> Vec<Definition> {
        let ty = alias.ty(db);
        let name = alias.name(db);
        let others = self.by_name.get(name.as_str()).into_iter().flatten();
        let same = |other: &&Definition| match other {
            Definition::Adt(adt) => adt.ty(db) == ty,
            Definition::TypeAlias(other) => Definition::TypeAlias(*other) != def && other.ty(db) == ty,
            _ => false,
        };
        others.filter(same).copied().collect()
    }
}

pub struct References {
    pub def: Definition,
    pub label: Arc<str>,
    /// Where it is declared, as the engine lists it with references; None for primitive types and the like.
    pub declaration: Option<Nav>,
    pub places: Places,
}

impl References {
    /// The declarations are among the places, as in the engine's answer.
    pub fn new(def: Definition, info: &DefinitionInfo, mut places: Places) -> References {
        // What a macro generates is declared in the macro; the call that generates it is a reference.
        places.extend(info.declarations.iter().map(|nav| (nav.file, nav.place())));
        places.sort_by_key(|(file, range)| (*file, range.start(), range.end()));
        places.dedup();
        References { def, label: info.label.clone(), declaration: info.declarations.first().cloned(), places }
    }
}

/// How the references of a definition are searched.
pub enum SearchStrategy {
    /// From the mentions in all files, as far as it is visible.
    FromMentions(VisibleIn),
    /// By the engine's search, file by file, for this name.
    ByFile(Option<String>),
    /// From the mentions where they are certain, else by one search over all files.
    Short([VisibleIn; 2]),
}

pub struct DefinitionInfo {
    pub label: Arc<str>,
    pub declarations: Vec<Nav>,
    pub strategy: SearchStrategy,
}

pub fn describe(sema: &Semantics<'_, RootDatabase>, def: Definition) -> DefinitionInfo {
    let strategy = if is_indexed(sema.db, def) {
        SearchStrategy::FromMentions(VisibleIn::of(sema.db, def))
    } else if let Some(adt) = short_type(sema.db, def) {
        SearchStrategy::Short([def, Definition::Adt(adt)].map(|it| VisibleIn::of(sema.db, it)))
    } else {
        SearchStrategy::ByFile(
            def.name(sema.db).map(|name| name.as_str().trim_start_matches('\'').to_owned()),
        )
    };
    DefinitionInfo { label: label(sema.db, def).into(), declarations: declarations(sema, def), strategy }
}

/// The engine's own search of all files.
pub fn search_text(sema: &Semantics<'_, RootDatabase>, def: Definition) -> Places {
    places(sema, def.usages(sema))
}

/// The engine's own search of some files.
pub fn search_scope(sema: &Semantics<'_, RootDatabase>, def: Definition, scope: &SearchScope) -> Places {
    places(sema, def.usages(sema).in_scope(scope))
}

fn places(sema: &Semantics<'_, RootDatabase>, usages: FindUsages<'_, '_>) -> Places {
    let usages = usages
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

/// The `mod` line of a module: the engine lists that with references, not the module's file.
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

/// Where a definition is visible. The engine searches nowhere else, even if a name there resolves to it.
pub enum VisibleIn {
    Everywhere,
    Folder(SourceRootId),
    Files(FxHashMap<FileId, Option<TextRange>>),
}

impl VisibleIn {
    fn of(db: &RootDatabase, def: Definition) -> VisibleIn {
        if matches!(def, Definition::Module(module) if module.is_crate_root(db)) {
            return VisibleIn::Everywhere;
        }
        if let Definition::Macro(it) = def
            && matches!(it.kind(db), MacroKind::Declarative)
            && !it.attrs(db).is_macro_export()
        {
            let file = it.module(db).krate(db).root_file(db);
            return VisibleIn::Folder(db.file_source_root(file).source_root_id(db));
        }
        match in_trait(db, def).unwrap_or(def).visibility(db) {
            None | Some(Visibility::Public) => VisibleIn::Everywhere,
            Some(Visibility::PubCrate(krate)) => {
                let file = hir::Crate::from(krate).root_file(db);
                VisibleIn::Folder(db.file_source_root(file).source_root_id(db))
            }
            Some(Visibility::Module(module, _)) => {
                let scope = SearchScope::module_and_children(db, module.into());
                VisibleIn::Files(scope.into_iter().map(|(file, range)| (file.file_id(db), range)).collect())
            }
        }
    }

    pub fn contains(&self, db: &RootDatabase, file: FileId, range: TextRange) -> bool {
        match self {
            VisibleIn::Everywhere => true,
            VisibleIn::Folder(root) => db.file_source_root(file).source_root_id(db) == *root,
            VisibleIn::Files(files) => match files.get(&file) {
                Some(Some(part)) => part.contains_inclusive(range.start()),
                Some(None) => true,
                None => false,
            },
        }
    }
}
