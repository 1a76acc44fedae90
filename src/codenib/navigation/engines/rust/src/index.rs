//! A name in, the definitions that it is a reference of out: the engine's rules for the kinds that are many.
//!
//! The engine searches text for one definition and resolves every match, so a hundred functions of one name cost
//! a hundred times. These rules read the same resolution once for each name. Other kinds (types with their
//! `Self`, locals, macros) have more rules and few searches; they are left to the engine's own search.

use std::mem::discriminant;

use hir::{AsAssocItem, HasContainer, ItemContainer, Semantics};
use ide::FileRange;
use ide_db::{
    FxHashMap, RootDatabase,
    defs::{Definition, NameClass, NameRefClass},
};
use syntax::{AstNode, ast};

/// A shorter name of a function without `self` is searched by its type's name, which may find less.
const SHORT: usize = 7;

#[derive(Default)]
pub struct Lister {
    in_trait: FxHashMap<Definition, Option<Definition>>,
    names: FxHashMap<Definition, Option<String>>,
}

impl Lister {
    pub fn listed(
        &mut self,
        sema: &Semantics<'_, RootDatabase>,
        name: &ast::NameLike,
        text: &str,
    ) -> Vec<(Definition, FileRange)> {
        let mut found: Vec<Definition> = match name {
            ast::NameLike::NameRef(name) => match NameRefClass::classify(sema, name) {
                // `Self` in the declaration of a type is no reference for the engine, in an `impl` it is.
                Some(NameRefClass::Definition(def, _)) if text == "Self" => {
                    stood_for(sema.db, def, text).into_iter().collect()
                }
                Some(NameRefClass::Definition(def, _)) => vec![def],
                Some(NameRefClass::FieldShorthand { field_ref, .. }) => vec![Definition::Field(field_ref)],
                _ => vec![],
            },
            ast::NameLike::Name(name) => match NameClass::classify(sema, name) {
                // The name of a declaration is listed for its trait's item only, and a trait's type for itself.
                Some(NameClass::Definition(def)) => match self.in_trait(sema.db, def) {
                    None if matches!(def, Definition::TypeAlias(_)) => vec![def],
                    other => other.into_iter().collect(),
                },
                Some(NameClass::ConstReference(def)) => vec![def],
                Some(NameClass::PatFieldShorthand { field_ref, .. }) => vec![Definition::Field(field_ref)],
                None => vec![],
            },
            ast::NameLike::Lifetime(_) => vec![],
        };
        if let Some(other) = found.first().and_then(|def| self.in_trait(sema.db, *def)) {
            found.push(other);
        }
        found.retain(|def| is_indexed(sema.db, *def));
        if found.is_empty() {
            return vec![];
        }
        found.dedup();
        let range = sema.original_range(name.syntax());
        let place = FileRange { file_id: range.file_id.file_id(sema.db), range: range.range };
        found.retain(|def| self.is_written(sema.db, *def, text, place));
        found.into_iter().map(|def| (def, place)).collect()
    }

    /// A name inside a format string.
    pub fn formatted(&mut self, db: &RootDatabase, def: Definition, place: FileRange, text: &str) -> bool {
        is_indexed(db, def) && self.is_written(db, def, text, place)
    }

    fn in_trait(&mut self, db: &RootDatabase, def: Definition) -> Option<Definition> {
        *self.in_trait.entry(def).or_insert_with(|| in_trait(db, def))
    }

    /// Is it written by its own name? An alias is no reference for the engine.
    fn is_written(&mut self, db: &RootDatabase, def: Definition, text: &str, place: FileRange) -> bool {
        if text == "Self" {
            return matches!(def, Definition::Adt(_));
        }
        if let Definition::Module(module) = def {
            match text {
                "super" | "crate" => return true,
                // `self` stands for a module in its own source; in `use io::{self}` it is no reference.
                "self" => {
                    let source = module.definition_source_range(db);
                    let file = source.file_id.original_file(db).file_id(db);
                    return file == place.file_id && source.value.contains_range(place.range);
                }
                _ => {}
            }
        }
        let name = self.names.entry(def).or_insert_with(|| match def {
            Definition::Module(it) if it.is_crate_root(db) => {
                it.krate(db).display_name(db).map(|name| name.crate_name().symbol().as_str().to_owned())
            }
            _ => def.name(db).map(|name| name.as_str().to_owned()),
        });
        name.as_deref() == Some(text)
    }
}

/// The trait's item that an item of an `impl` stands for.
pub fn in_trait(db: &RootDatabase, def: Definition) -> Option<Definition> {
    let item = def.as_assoc_item(db)?;
    let items = item.implemented_trait(db)?.items(db);
    let same = |other: &&hir::AssocItem| {
        discriminant(*other) == discriminant(&item) && other.name(db) == item.name(db)
    };
    items.iter().find(same).map(|other| Definition::from(*other))
}

/// Are the references of this definition read from the names, not searched?
pub fn is_indexed(db: &RootDatabase, def: Definition) -> bool {
    match def {
        Definition::Field(_) | Definition::EnumVariant(_) | Definition::Module(_) => true,
        Definition::Adt(_) | Definition::BuiltinType(_) | Definition::Trait(_) | Definition::TypeAlias(_) => {
            true
        }
        Definition::Const(_) | Definition::Static(_) | Definition::Macro(_) => true,
        Definition::Function(_) => !is_short(db, def),
        _ => false,
    }
}

/// The type that `Self` is.
fn stood_for(db: &RootDatabase, def: Definition, text: &str) -> Option<Definition> {
    match def {
        Definition::SelfType(implementation) if text == "Self" => {
            implementation.self_ty(db).as_adt().map(Definition::Adt)
        }
        _ => None,
    }
}

/// Does the engine search this function by its type's name, and the type's other names?
pub fn is_short(db: &RootDatabase, def: Definition) -> bool {
    let Definition::Function(function) = def else { return false };
    let ItemContainer::Impl(implementation) = function.container(db) else { return false };
    !function.has_self_param(db)
        && implementation.trait_(db).is_none()
        && function.name(db).as_str().len() <= SHORT
        && implementation.self_ty(db).as_adt().is_some()
}
