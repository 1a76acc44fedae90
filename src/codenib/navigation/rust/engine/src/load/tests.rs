use std::path::Path;

use super::{absolute, is_conventional_target, is_included, manifests, text_of};

#[test]
fn targets_are_recognized_by_cargos_conventions() {
    for path in
        ["src/main.rs", "a/src/lib.rs", "build.rs", "src/bin/tool.rs", "tests/all.rs", "examples/x.rs"]
    {
        assert!(is_conventional_target(Path::new(path)), "{path}");
    }
    for path in ["src/shape.rs", "src/bin/tool/part.rs", "tests/support/mod.rs"] {
        assert!(!is_conventional_target(Path::new(path)), "{path}");
    }
}

#[test]
fn only_texts_that_sources_include_are_read_besides_them() {
    assert!(is_included(Path::new("README.md")) && is_included(Path::new("a/b.toml")));
    assert!(!is_included(Path::new("src/lib.rs")) && !is_included(Path::new("md")));
}

#[test]
fn carriage_returns_are_dropped_at_line_ends_alone() {
    let text = |bytes: &[u8]| text_of(vfs::Change::Create(bytes.to_vec(), 0));
    assert_eq!(text(b"a\r\nb\rc\n").as_deref(), Some("a\nb\rc\n"));
    assert_eq!(text(&[0xff, 0xfe]), None);
    assert_eq!(text_of(vfs::Change::Delete), None);
}

#[test]
fn manifests_are_read_in_the_folders_of_files_and_above() {
    let folder = std::env::temp_dir().join(format!("rust-facts-{}", std::process::id()));
    for (path, text) in
        [("Cargo.toml", "top"), ("member/Cargo.toml", "member"), ("other/Cargo.toml", "other")]
    {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let found = manifests(&absolute(&folder).unwrap(), &["member/src/lib.rs".to_owned()]);
    std::fs::remove_dir_all(&folder).unwrap();
    let texts: Vec<_> = found.values().map(|it| String::from_utf8_lossy(it).into_owned()).collect();
    assert_eq!(texts, ["top", "member"]);
}
