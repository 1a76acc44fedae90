use syntax::{AstNode, Edition, SourceFile, SyntaxKind::IDENT};

use super::{CALL, IMPORT, INHERIT, TYPE, WRITE, roles};

/// The roles of the first token `name` in the text.
fn roles_of(text: &str, name: &str) -> u8 {
    let tree = SourceFile::parse(text, Edition::CURRENT).tree();
    let mut tokens = tree.syntax().descendants_with_tokens().filter_map(|it| it.into_token());
    let token = tokens.find(|it| it.kind() == IDENT && it.text() == name).expect("a token of that name");
    roles(&token)
}

#[test]
fn a_name_has_the_roles_of_its_syntax() {
    assert_eq!(roles_of("use a::{b, c as d};", "b"), IMPORT);
    assert_eq!(roles_of("use a::{b, c as d};", "d"), IMPORT);
    assert_eq!(roles_of("fn f() { g(x); }", "g"), CALL);
    assert_eq!(roles_of("fn f() { g(x); }", "x"), 0);
    assert_eq!(roles_of("fn f() { a::b::g(); }", "a"), 0);
    assert_eq!(roles_of("fn f() { x.run(); }", "run"), CALL);
    assert_eq!(roles_of("fn f() { show!(x); }", "show"), CALL);
    assert_eq!(roles_of("fn f() { total += 1; }", "total"), WRITE);
    assert_eq!(roles_of("fn f() { p.x = y; }", "x"), WRITE);
    assert_eq!(roles_of("fn f() { p.x = y; }", "y"), 0);
    assert_eq!(roles_of("fn f(a: Box<u8>) {}", "Box"), TYPE);
    assert_eq!(roles_of("impl Show for Item {}", "Show"), TYPE | INHERIT);
    assert_eq!(roles_of("impl Show for Item {}", "Item"), TYPE);
    assert_eq!(roles_of("trait Sub: Super {}", "Super"), TYPE | INHERIT);
    assert_eq!(roles_of("struct Declared;", "Declared"), 0);
}
