use syntax::{
    AstNode, Edition, SourceFile,
    ast::{self, HasName},
};

use super::{implementation, named};

#[test]
fn an_implementation_is_named_by_the_last_name_of_its_type() {
    let text = "impl crate::Shape<T> {}\nimpl Show for &'a  [u8] {}\nimpl Into<A> for Item {}\n";
    let tree = SourceFile::parse(text, Edition::CURRENT).tree();
    let blocks = tree.syntax().descendants().filter_map(ast::Impl::cast);
    let names: Vec<String> = blocks.filter_map(|it| implementation(&it)).map(|it| it.name).collect();
    assert_eq!(names, ["Shape", "&'a [u8]", "Item"]);
}

#[test]
fn a_raw_name_is_written_without_its_prefix() {
    let tree = SourceFile::parse("fn r#match() {}", Edition::CURRENT).tree();
    let function = tree.syntax().descendants().find_map(ast::Fn::cast).unwrap();
    let item = named(&function, "function").unwrap();
    assert_eq!((item.name.as_str(), item.kind), ("match", "function"));
    assert_eq!(item.name_range, function.name().unwrap().syntax().text_range());
}
