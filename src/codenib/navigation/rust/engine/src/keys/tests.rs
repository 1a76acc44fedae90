use ide::{FileId, TextRange};
use ide_db::{FxHashMap, SymbolKind};

use super::{Target, is_file, numbered, place};
use crate::answers::Nav;

fn nav(kind: Option<SymbolKind>, full: (u32, u32), focus: Option<(u32, u32)>) -> Nav {
    let range = |(start, end): (u32, u32)| TextRange::new(start.into(), end.into());
    Nav { file: FileId::from_raw(7), full: range(full), focus: focus.map(range), name: "it".to_owned(), kind }
}

#[test]
fn a_module_without_a_name_is_its_file() {
    assert!(is_file(&nav(Some(SymbolKind::Module), (0, 90), None)));
    assert!(is_file(&nav(None, (0, 90), None)));
    assert!(!is_file(&nav(Some(SymbolKind::Module), (0, 90), Some((4, 6)))));
    assert!(!is_file(&nav(Some(SymbolKind::Module), (5, 90), None)));
    assert!(!is_file(&nav(Some(SymbolKind::Struct), (0, 90), None)));
}

#[test]
fn a_declaration_is_placed_at_its_name() {
    let file = FileId::from_raw(7);
    assert!(place(&nav(Some(SymbolKind::Struct), (3, 90), Some((10, 14)))) == Target::Place(file, 10.into()));
    assert!(place(&nav(Some(SymbolKind::Struct), (3, 90), None)) == Target::Place(file, 3.into()));
    assert!(place(&nav(Some(SymbolKind::Module), (0, 90), None)) == Target::File(file));
}

#[test]
fn equal_texts_of_different_definitions_are_numbered() {
    let mut used = FxHashMap::default();
    let texts = ["a", "b", "a", "a"].map(|text| numbered(&mut used, text.to_owned()));
    assert_eq!(texts, ["a", "b", "a 2", "a 3"]);
}
