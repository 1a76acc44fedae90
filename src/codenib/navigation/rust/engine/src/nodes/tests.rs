use ide_db::line_index::LineIndex;
use serde_json::{Value, json};
use syntax::{TextRange, TextSize};

use super::Nodes;
use crate::items::Item;

fn item(text: &str, full: &str, name: &str, kind: &'static str) -> Item {
    let start = text.find(full).expect("a part of the text");
    let at = start + full.find(name).expect("a part of the declaration");
    let range =
        |from: usize, length: usize| TextRange::at(TextSize::new(from as u32), TextSize::new(length as u32));
    let (full, name_range) = (range(start, full.len()), range(at, name.len()));
    Item { full, name_range, name: name.to_owned(), kind }
}

fn rows(text: &str, items: &[Item]) -> Vec<Value> {
    let mut nodes = Nodes::default();
    items.iter().for_each(|item| nodes.add_item(item));
    nodes.into_json(text, &LineIndex::new(text))
}

#[test]
fn members_stand_below_what_encloses_them_and_are_methods() {
    let text = "impl Shape {\n    fn area() {}\n}\nfn free() {}\n";
    let inner = item(text, "fn area() {}", "area", "function");
    let owner = item(text, "impl Shape {\n    fn area() {}\n}", "Shape", "namespace");
    let free = item(text, "fn free() {}", "free", "function");
    assert_eq!(
        rows(text, &[inner, owner, free]),
        [
            json!(["Shape", "namespace", -1, 0, 0, 2, 1, 0, 5, 10, 0]),
            json!(["area", "method", 0, 1, 4, 1, 16, 1, 7, 11, 0]),
            json!(["free", "function", -1, 3, 0, 3, 12, 3, 3, 7, 0]),
        ]
    );
}

#[test]
fn a_name_of_several_lines_ends_with_its_first() {
    let text = "impl Of<\n  A> {}";
    let mut of = item(text, text, "Of<\n  A>", "namespace");
    of.name = "Of < A >".to_owned();
    assert_eq!(rows(text, &[of]), [json!(["Of < A >", "namespace", -1, 0, 0, 1, 7, 0, 5, 8, 0])]);
}
