use syntax::{AstNode, Edition, SourceFile, SyntaxKind::INT_NUMBER};

use super::{is_position, names_after};

#[test]
fn names_follow_an_opening_bracket_and_backticks() {
    assert_eq!(names_after("[one] and [`two`], [3], [] [_x", b'['), [1, 12, 28]);
    assert_eq!(names_after("{} {a} {{b}} {é}", b'{'), [4, 9, 14]);
    assert_eq!(names_after("", b'['), [0usize; 0]);
}

#[test]
fn a_number_is_a_name_where_it_stands_for_a_field() {
    let text = "fn f(p: (u8, u8)) { p.0; let q = Pair { 1: 2 }; g(3); }";
    let tree = SourceFile::parse(text, Edition::CURRENT).tree();
    let numbers = tree.syntax().descendants_with_tokens().filter_map(|it| it.into_token());
    let found: Vec<(String, bool)> = numbers
        .filter(|it| it.kind() == INT_NUMBER)
        .map(|it| (it.text().to_owned(), is_position(&it)))
        .collect();
    let expected = [("0", true), ("1", true), ("2", false), ("3", false)];
    assert_eq!(found, expected.map(|(text, is)| (text.to_owned(), is)));
}
