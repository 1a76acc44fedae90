//! A syntax tree in, its written declarations and the relations between types and traits out. Declarations that
//! only exist after macros are expanded come with the answers; these are there even where a file is in no crate.

use hir::{Adt, AsAssocItem, AssocItemContainer, Semantics};
use ide_db::{RootDatabase, defs::Definition};
use syntax::{
    AstNode, SyntaxNode, TextRange,
    ast::{self, HasName},
    match_ast,
};

use crate::mentions::in_trait;

pub struct Item {
    pub full: TextRange,
    pub name_range: TextRange,
    pub name: String,
    pub kind: &'static str,
}

pub struct Relation {
    pub kind: &'static str,
    pub source: Definition,
    pub target: Definition,
}

pub fn items(sema: &Semantics<'_, RootDatabase>, tree: &SyntaxNode) -> (Vec<Item>, Vec<Relation>) {
    let mut items = Vec::new();
    let mut relations = Vec::new();
    for node in tree.descendants() {
        match_ast! {
            match node {
                ast::Impl(it) => {
                    items.extend(implementation(&it));
                    implements(sema, &it, &mut relations);
                },
                ast::Trait(it) => {
                    items.extend(named(&it, "trait"));
                    inherits(sema, &it, &mut relations);
                },
                ast::Fn(it) => items.extend(named(&it, "function")),
                ast::Struct(it) => items.extend(named(&it, "struct")),
                ast::Union(it) => items.extend(named(&it, "struct")),
                ast::Enum(it) => items.extend(named(&it, "enum")),
                ast::Variant(it) => items.extend(named(&it, "enum_member")),
                ast::RecordField(it) => items.extend(named(&it, "field")),
                ast::TypeAlias(it) => items.extend(named(&it, "type_alias")),
                ast::Const(it) => items.extend(named(&it, "constant")),
                ast::Static(it) => items.extend(named(&it, "variable")),
                ast::Module(it) => items.extend(named(&it, "module")),
                ast::MacroRules(it) => items.extend(named(&it, "macro")),
                ast::MacroDef(it) => items.extend(named(&it, "macro")),
                _ => {},
            }
        }
    }
    (items, relations)
}

fn named(node: &impl HasName, kind: &'static str) -> Option<Item> {
    let name = node.name()?;
    let text = name.text().trim_start_matches("r#").to_owned();
    let name_range = name.syntax().text_range();
    Some(Item { full: node.syntax().text_range(), name_range, name: text, kind })
}

fn implementation(node: &ast::Impl) -> Option<Item> {
    let ty = node.self_ty()?;
    let name_range = ty.syntax().text_range();
    Some(Item { full: node.syntax().text_range(), name_range, name: type_name(&ty), kind: "namespace" })
}

/// `Foo` of `crate::Foo<T>`; other types as they are written.
fn type_name(ty: &ast::Type) -> String {
    if let ast::Type::PathType(path) = ty
        && let Some(name) = path.path().and_then(|path| path.segment()?.name_ref())
    {
        return name.text().to_string();
    }
    ty.syntax().text().to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn implements(sema: &Semantics<'_, RootDatabase>, node: &ast::Impl, relations: &mut Vec<Relation>) {
    let Some(implementation) = sema.to_def(node) else { return };
    let Some(trait_) = implementation.trait_(sema.db) else { return };
    if let Some(adt) = implementation.self_ty(sema.db).as_adt() {
        let (source, target) = (Definition::Adt(adt), Definition::Trait(trait_));
        relations.push(Relation { kind: "implement", source, target });
    }
    for item in implementation.items(sema.db) {
        let source = Definition::from(item);
        if let Some(target) = in_trait(sema.db, source) {
            relations.push(Relation { kind: "override", source, target });
        }
    }
}

fn inherits(sema: &Semantics<'_, RootDatabase>, node: &ast::Trait, relations: &mut Vec<Relation>) {
    let Some(trait_) = sema.to_def(node) else { return };
    for parent in trait_.direct_supertraits(sema.db) {
        if parent != trait_ {
            let (source, target) = (Definition::Trait(trait_), Definition::Trait(parent));
            relations.push(Relation { kind: "inherit", source, target });
        }
    }
}

/// The path of a definition as text: `crate 1.0::module::Type::name`. Not unique by itself.
pub fn label(db: &RootDatabase, def: Definition) -> String {
    let mut parts: Vec<String> = Vec::new();
    if let Some(krate) = def.krate(db) {
        let name = krate.display_name(db).map_or_else(|| "?".to_owned(), |name| name.to_string());
        // The standard library has one where Cargo could tell how its crates belong together, and it means nothing.
        let version =
            krate.version(db).filter(|_| !krate.is_builtin(db)).map(|version| format!(" {version}"));
        parts.push(format!("{name}{}", version.unwrap_or_default()));
    }
    if let Some(module) = def.module(db) {
        let path = module.path_to_root(db);
        parts.extend(path.iter().rev().filter_map(|it| Some(it.name(db)?.as_str().to_owned())));
    }
    if let Some(owner) = owner(db, def) {
        parts.push(owner);
    }
    if !matches!(def, Definition::Crate(_)) {
        parts.extend(def.name(db).map(|name| name.as_str().to_owned()));
    }
    parts.join("::")
}

fn owner(db: &RootDatabase, def: Definition) -> Option<String> {
    let named = |adt: Adt| adt.name(db).as_str().to_owned();
    match def {
        Definition::Field(field) => Some(field.parent_def(db).name(db).as_str().to_owned()),
        Definition::EnumVariant(variant) => Some(variant.parent_enum(db).name(db).as_str().to_owned()),
        Definition::SelfType(implementation) => implementation.self_ty(db).as_adt().map(named),
        Definition::GenericParam(param) => param.parent().name(db).map(|name| name.as_str().to_owned()),
        _ => match def.as_assoc_item(db)?.container(db) {
            AssocItemContainer::Trait(it) => Some(it.name(db).as_str().to_owned()),
            AssocItemContainer::Impl(it) => {
                let ty = it.self_ty(db).as_adt().map_or_else(|| "impl".to_owned(), named);
                let of = it.trait_(db).map(|it| format!(" as {}", it.name(db).as_str()));
                Some(format!("<{ty}{}>", of.unwrap_or_default()))
            }
        },
    }
}

#[cfg(test)]
mod tests;
