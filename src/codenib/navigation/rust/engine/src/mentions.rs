//! A name in, the definitions that it is a reference of out: the engine's rules for the most common kinds.
//!
//! The engine searches text for one definition and resolves every match, so a hundred functions of one name cost
//! a hundred searches. These rules resolve each name once. Other kinds (locals, labels, parameters) have more rules
//! and few searches; they are left to the engine's own search.

use std::mem::discriminant;

use hir::{AsAssocItem, HasContainer, ItemContainer, Semantics};
use ide::FileRange;
use ide_db::{
    FxHashMap, RootDatabase,
    defs::{Definition, NameClass, NameRefClass},
};
use syntax::{AstNode, SyntaxNode, SyntaxToken, T, ast};

/// A function without `self` and with at most so long a name is searched by its type's name, which may find fewer.
const SHORT: usize = 7;

/// A definition, where it is named, and whether the engine's search is certain to find it there.
pub type Mention = (Definition, FileRange, bool);

#[derive(Default)]
pub struct MentionFinder {
    in_trait: FxHashMap<Definition, Option<Definition>>,
    names: FxHashMap<Definition, Option<String>>,
    /// The name of the type of a short function; None for everything else.
    types: FxHashMap<Definition, Option<String>>,
}

impl MentionFinder {
    pub fn mentions(
        &mut self,
        sema: &Semantics<'_, RootDatabase>,
        name: &ast::NameLike,
        token: &SyntaxToken,
    ) -> Vec<Mention> {
        let text = token.text().trim_start_matches("r#");
        let mut found: Vec<Definition> = match name {
            ast::NameLike::NameRef(name) => match NameRefClass::classify(sema, name) {
                // `Self` in the declaration of a type is no reference for the engine, in an `impl` it is.
                Some(NameRefClass::Definition(def, _)) if text == "Self" => {
                    type_of_self(sema.db, def, text).into_iter().collect()
                }
                Some(NameRefClass::Definition(def, _)) => vec![def],
                Some(NameRefClass::FieldShorthand { field_ref, .. }) => vec![Definition::Field(field_ref)],
                _ => vec![],
            },
            ast::NameLike::Name(name) => match NameClass::classify(sema, name) {
                // The name of a declaration is a mention of its trait's item only, and a trait's type of itself.
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
        found.retain(|def| is_indexed(sema.db, *def) || self.short_type(sema.db, *def).is_some());
        if found.is_empty() {
            return vec![];
        }
        found.dedup();
        let range = sema.original_range(name.syntax());
        let place = FileRange { file_id: range.file_id.file_id(sema.db), range: range.range };
        found.retain(|def| self.is_written(sema.db, *def, text, place));
        found.into_iter().map(|def| (def, place, self.is_certain(sema, def, name, token))).collect()
    }

    /// A short function is found where its path holds the name of its type, or `Self` in an `impl` for it.
    /// Where the path has an alias of the type, the engine may or may not know that alias.
    fn is_certain(
        &mut self,
        sema: &Semantics<'_, RootDatabase>,
        def: Definition,
        name: &ast::NameLike,
        token: &SyntaxToken,
    ) -> bool {
        let Some(owner) = self.short_type(sema.db, def) else { return true };
        let segment = name.syntax().parent().and_then(ast::PathSegment::cast);
        let Some(path) = segment.map(|it| it.parent_path()) else { return false };
        if names_in(path.syntax()).any(|it| bare(&it) == owner) {
            return true;
        }
        let has_self = path.syntax().descendants_with_tokens().any(|it| it.kind() == T![Self]);
        let is_for = |it: ast::Impl| it.self_ty().is_some_and(|ty| is_as_written(sema, ty.syntax(), owner));
        has_self && token.parent_ancestors().filter_map(ast::Impl::cast).any(is_for)
    }

    fn short_type(&mut self, db: &RootDatabase, def: Definition) -> Option<&str> {
        let found = self.types.entry(def).or_insert_with(|| short_type(db, def).map(|it| name_of(db, it)));
        found.as_deref()
    }

    /// A name inside a format string.
    pub fn formatted(&mut self, db: &RootDatabase, def: Definition, place: FileRange, text: &str) -> bool {
        is_indexed(db, def) && self.is_written(db, def, text, place)
    }

    fn in_trait(&mut self, db: &RootDatabase, def: Definition) -> Option<Definition> {
        *self.in_trait.entry(def).or_insert_with(|| in_trait(db, def))
    }

    /// Is it written by its own name? The engine counts no alias as a reference.
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

/// The trait's item that an item of an `impl` implements.
pub fn in_trait(db: &RootDatabase, def: Definition) -> Option<Definition> {
    let item = def.as_assoc_item(db)?;
    let items = item.implemented_trait(db)?.items(db);
    let same = |other: &&hir::AssocItem| {
        discriminant(*other) == discriminant(&item) && other.name(db) == item.name(db)
    };
    items.iter().find(same).map(|other| Definition::from(*other))
}

/// Are the references of this definition collected from mentions instead of searched?
pub fn is_indexed(db: &RootDatabase, def: Definition) -> bool {
    match def {
        Definition::Field(_) | Definition::EnumVariant(_) | Definition::Module(_) => true,
        Definition::Adt(_) | Definition::BuiltinType(_) | Definition::Trait(_) | Definition::TypeAlias(_) => {
            true
        }
        Definition::Const(_) | Definition::Static(_) | Definition::Macro(_) => true,
        Definition::Function(_) => short_type(db, def).is_none(),
        _ => false,
    }
}

/// The type that `Self` stands for.
fn type_of_self(db: &RootDatabase, def: Definition, text: &str) -> Option<Definition> {
    match def {
        Definition::SelfType(implementation) if text == "Self" => {
            implementation.self_ty(db).as_adt().map(Definition::Adt)
        }
        _ => None,
    }
}

/// The type of a function that the engine searches by its type's name, and the type's other names.
pub fn short_type(db: &RootDatabase, def: Definition) -> Option<hir::Adt> {
    let Definition::Function(function) = def else { return None };
    let ItemContainer::Impl(implementation) = function.container(db) else { return None };
    let short = !function.has_self_param(db)
        && implementation.trait_(db).is_none()
        && function.name(db).as_str().len() <= SHORT;
    if short { implementation.self_ty(db).as_adt() } else { None }
}

fn name_of(db: &RootDatabase, adt: hir::Adt) -> String {
    adt.name(db).as_str().to_owned()
}

fn names_in(node: &SyntaxNode) -> impl Iterator<Item = String> {
    node.descendants().filter_map(ast::NameLike::cast).map(|it| it.syntax().text().to_string())
}

fn bare(name: &str) -> &str {
    name.trim_start_matches("r#")
}

/// Is the name in this type, as written and not changed by a macro?
fn is_as_written(sema: &Semantics<'_, RootDatabase>, ty: &SyntaxNode, name: &str) -> bool {
    let names = ty.descendants().filter_map(ast::NameRef::cast).filter(|it| bare(&it.text()) == name);
    names
        .filter_map(|it| it.ident_token())
        .any(|it| sema.descend_into_macros_exact(it.clone()).as_slice() == [it])
}
