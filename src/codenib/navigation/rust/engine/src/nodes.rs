//! Written items and navigation targets of one file in, its declarations with their parents out.

use std::{cmp::Reverse, collections::BTreeMap};

use ide_db::{SymbolKind, line_index::LineIndex};
use serde_json::{Value, json};
use syntax::{TextRange, TextSize};

use crate::{answers::Nav, items::Item};

struct Node {
    full: TextRange,
    name_range: TextRange,
    name: String,
    kind: &'static str,
    local: bool,
}

#[derive(Default)]
pub struct Nodes(BTreeMap<TextSize, Node>);

impl Nodes {
    pub fn add_item(&mut self, item: &Item) {
        let Item { full, name_range, name, kind } = item;
        let node = Node { full: *full, name_range: *name_range, name: name.clone(), kind, local: false };
        self.0.insert(name_range.start(), node);
    }

    pub fn add_nav(&mut self, nav: &Nav) {
        let name_range = nav.place();
        let (kind, local) = kind(nav.kind);
        self.0.entry(name_range.start()).or_insert_with(|| Node {
            full: nav.full.cover(name_range),
            name_range,
            name: nav.name.clone(),
            kind,
            local,
        });
    }

    /// Nodes in source order, parents first.
    pub fn into_json(self, text: &str, lines: &LineIndex) -> Vec<Value> {
        let mut nodes: Vec<Node> = self.0.into_values().collect();
        nodes.sort_by_key(|it| (it.full.start(), Reverse(it.full.end()), it.name_range.start()));
        let mut open: Vec<usize> = Vec::new();
        let mut rows: Vec<Value> = Vec::with_capacity(nodes.len());
        for (index, node) in nodes.iter().enumerate() {
            while open.last().is_some_and(|parent| !nodes[*parent].full.contains_range(node.full)) {
                open.pop();
            }
            let parent = open.last().copied();
            let member = parent.is_some_and(|it| matches!(nodes[it].kind, "namespace" | "trait"));
            let kind = if node.kind == "function" && member { "method" } else { node.kind };
            let (start, end) = (lines.line_col(node.full.start()), lines.line_col(node.full.end()));
            let at = lines.line_col(node.name_range.start());
            let width = name_width(node, text);
            rows.push(json!([
                node.name,
                kind,
                parent.map_or(-1, |it| it as i64),
                start.line,
                start.col,
                end.line,
                end.col,
                at.line,
                at.col,
                at.col + width,
                u8::from(node.local)
            ]));
            open.push(index);
        }
        rows
    }
}

/// The name alone, on one line: a tuple field or a lifetime with bounds has a longer range.
fn name_width(node: &Node, text: &str) -> u32 {
    let written = &text[node.name_range];
    if written.starts_with(&node.name) {
        return node.name.len() as u32;
    }
    written.lines().next().map_or(0, |line| line.len() as u32)
}

fn kind(kind: Option<SymbolKind>) -> (&'static str, bool) {
    match kind {
        Some(SymbolKind::Function | SymbolKind::Method) => ("function", false),
        Some(SymbolKind::Struct | SymbolKind::Union) => ("struct", false),
        Some(SymbolKind::Enum) => ("enum", false),
        Some(SymbolKind::Variant) => ("enum_member", false),
        Some(SymbolKind::Trait) => ("trait", false),
        Some(SymbolKind::TypeAlias) => ("type_alias", false),
        Some(SymbolKind::Const) => ("constant", false),
        Some(SymbolKind::Field) => ("field", false),
        Some(SymbolKind::Impl | SymbolKind::SelfType) => ("namespace", false),
        Some(SymbolKind::CrateRoot) => ("import", false),
        Some(SymbolKind::Module | SymbolKind::ToolModule) => ("module", false),
        Some(
            SymbolKind::Macro
            | SymbolKind::ProcMacro
            | SymbolKind::Derive
            | SymbolKind::DeriveHelper
            | SymbolKind::Attribute
            | SymbolKind::BuiltinAttr,
        ) => ("macro", false),
        Some(SymbolKind::ValueParam | SymbolKind::SelfParam) => ("parameter", true),
        Some(SymbolKind::TypeParam | SymbolKind::ConstParam | SymbolKind::LifetimeParam) => {
            ("type_parameter", true)
        }
        Some(SymbolKind::Label) => ("label", true),
        Some(SymbolKind::Local | SymbolKind::InlineAsmRegOrRegClass) => ("variable", true),
        Some(SymbolKind::Static) | None => ("variable", false),
    }
}

#[cfg(test)]
mod tests;
