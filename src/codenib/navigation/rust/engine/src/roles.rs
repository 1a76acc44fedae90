//! A token in, its syntactic roles out: import, call, type, write or inherit.

use syntax::{AstNode, SyntaxNode, SyntaxToken, ast, match_ast};

pub const DECLARATION: u8 = 1;
pub const IMPORT: u8 = 2;
pub const CALL: u8 = 4;
pub const TYPE: u8 = 8;
pub const WRITE: u8 = 16;
pub const INHERIT: u8 = 32;
pub const INEXACT: u8 = 64;

pub fn roles(token: &SyntaxToken) -> u8 {
    let Some(name) = token.parent() else { return 0 };
    let Some(owner) = name.parent() else { return 0 };
    match_ast! {
        match owner {
            ast::PathSegment(segment) => of_path(&segment),
            ast::MethodCallExpr(_) => CALL,
            ast::FieldExpr(field) => if is_written(field.syntax()) { WRITE } else { 0 },
            ast::Rename(_) => IMPORT,
            ast::ExternCrate(_) => IMPORT,
            _ => 0,
        }
    }
}

fn of_path(segment: &ast::PathSegment) -> u8 {
    let path = segment.parent_path();
    let top = path.top_path();
    let Some(owner) = top.syntax().parent() else { return 0 };
    if ast::UseTree::can_cast(owner.kind()) {
        return IMPORT;
    }
    if top != path {
        return 0;
    }
    match_ast! {
        match owner {
            ast::PathExpr(it) => {
                let callee = it.syntax().parent().and_then(ast::CallExpr::cast).and_then(|call| call.expr());
                if callee.is_some_and(|callee| callee.syntax() == it.syntax()) {
                    CALL
                } else if is_written(it.syntax()) {
                    WRITE
                } else {
                    0
                }
            },
            ast::MacroCall(_) => CALL,
            ast::PathType(it) => TYPE | inherited(it.syntax()),
            _ => 0,
        }
    }
}

fn is_written(place: &SyntaxNode) -> bool {
    let Some(parent) = place.parent().and_then(ast::BinExpr::cast) else { return false };
    let assigned = matches!(parent.op_kind(), Some(ast::BinaryOp::Assignment { .. }));
    assigned && parent.lhs().is_some_and(|left| left.syntax() == place)
}

/// The trait of an `impl`, or a supertrait.
fn inherited(ty: &SyntaxNode) -> u8 {
    let Some(parent) = ty.parent() else { return 0 };
    if let Some(implementation) = ast::Impl::cast(parent.clone()) {
        let is_trait = implementation.trait_().is_some_and(|it| it.syntax() == ty);
        return if is_trait { INHERIT } else { 0 };
    }
    let list = ast::TypeBound::cast(parent).and_then(|bound| bound.syntax().parent());
    let owner = list.and_then(|list| list.parent());
    if owner.is_some_and(|owner| ast::Trait::can_cast(owner.kind())) { INHERIT } else { 0 }
}

#[cfg(test)]
mod tests;
