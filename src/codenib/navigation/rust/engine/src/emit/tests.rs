use ide::{FileId, TextSize};
use ide_db::FxHashMap;
use serde_json::json;

use super::Tables;
use crate::keys::Target;

#[test]
fn targets_and_lists_are_stored_once_in_the_order_of_first_use() {
    let file = FileId::from_raw(1);
    let known = FxHashMap::from_iter([(file, "src/lib.rs".to_owned())]);
    let mut tables = Tables {
        known: &known,
        places: &|file: FileId, at: TextSize| json!([file.index(), u32::from(at)]),
        targets: Vec::new(),
        lists: Vec::new(),
        target_ids: FxHashMap::default(),
        list_ids: FxHashMap::default(),
    };
    let (place, whole, text) =
        (Target::Place(file, 4.into()), Target::File(file), Target::Text("std::fmt".to_owned()));
    assert_eq!(tables.list(&[place.clone(), text.clone()]), 0);
    assert_eq!(tables.list(std::slice::from_ref(&whole)), 1);
    assert_eq!(tables.list(&[text, place.clone(), place]), 0);
    assert_eq!(tables.targets, [json!([1, 4]), json!("std::fmt"), json!(["src/lib.rs"])]);
    assert_eq!(tables.lists, [vec![0, 1], vec![2]]);
}
