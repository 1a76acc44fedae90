//! One file in, one answer per token out: where "go to definition" leads, and which definitions a search for
//! references starts from. The engine resolves; this module asks it.

use std::sync::Arc;

use hir::{AsAssocItem, AssocItem, Semantics};
use ide::{
    Analysis, FileId, FilePosition, FileRange, GotoDefinitionConfig, NavigationTarget, RaFixtureConfig,
    TryToNav,
};
use ide_db::{
    FxHashMap, MiniCore, RootDatabase, SymbolKind,
    defs::{Definition, IdentClass, NameClass, NameRefClass},
};
use syntax::{
    AstNode, AstToken,
    SyntaxKind::{COMMENT, IDENT, INT_NUMBER, LIFETIME_IDENT, NAME_REF, STRING, TOKEN_TREE},
    SyntaxNode, SyntaxToken, T, TextRange, TextSize, ast,
};

use crate::{
    check::{checking, same_definitions},
    items::{Item, Relation, items},
    mentions::{Mention, MentionFinder},
    queries::stays_in_file,
    refs::References,
    roles,
};

/// Where a navigation target is: its file, the whole declaration and the name.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Nav {
    pub file: FileId,
    pub full: TextRange,
    pub focus: Option<TextRange>,
    pub name: String,
    pub kind: Option<SymbolKind>,
}

impl Nav {
    pub fn of(target: &NavigationTarget) -> Nav {
        Nav {
            file: target.file_id,
            full: target.full_range,
            focus: target.focus_range,
            name: target.name.as_str().to_owned(),
            kind: target.kind,
        }
    }

    pub fn place(&self) -> TextRange {
        self.focus.unwrap_or(self.full)
    }
}

/// Where "go to definition" leads: to a definition, whose place may move without changing the file that names it,
/// or to a place that only the engine's own rules give.
#[derive(Clone, PartialEq)]
pub enum Destination {
    Definition(Definition),
    Place(Nav),
}

pub struct Answer {
    pub range: TextRange,
    pub roles: u8,
    pub destinations: Vec<Destination>,
    pub asks: Vec<Definition>,
    /// The definitions of common kinds that this token is a reference of, and where the engine reports it.
    pub mentions: Vec<Mention>,
    /// A link in a comment: references start from what it leads to.
    pub link: bool,
}

impl Destination {
    pub fn navs(&self, sema: &Semantics<'_, RootDatabase>) -> Vec<Nav> {
        match self {
            Destination::Place(nav) => vec![nav.clone()],
            Destination::Definition(def) => navs_of(sema, *def),
        }
    }
}

pub fn navs_of(sema: &Semantics<'_, RootDatabase>, def: Definition) -> Vec<Nav> {
    def.try_to_nav(sema).into_iter().flatten().map(|target| Nav::of(&target)).collect()
}

pub struct FileAnswers {
    pub answers: Vec<Answer>,
    pub items: Vec<Item>,
    pub relations: Vec<Relation>,
    /// The references of definitions that are visible only in this file.
    pub local_references: FxHashMap<Definition, Arc<References>>,
    pub differences: usize,
}

pub struct FileResolver<'db> {
    sema: Semantics<'db, RootDatabase>,
    analysis: &'db Analysis,
    index: MentionFinder,
    check: bool,
    differences: usize,
}

impl<'db> FileResolver<'db> {
    pub fn new(db: &'db RootDatabase, analysis: &'db Analysis) -> FileResolver<'db> {
        FileResolver {
            sema: Semantics::new(db),
            analysis,
            index: MentionFinder::default(),
            check: checking(),
            differences: 0,
        }
    }

    pub fn file(&mut self, file: FileId) -> FileAnswers {
        let tree = self.sema.parse_guess_edition(file).syntax().clone();
        let mut answers = Vec::new();
        for token in tree.descendants_with_tokens().filter_map(|element| element.into_token()) {
            match token.kind() {
                IDENT | LIFETIME_IDENT | T![self] | T![super] | T![crate] | T![Self] => {
                    answers.extend(self.name(file, &token));
                }
                INT_NUMBER if is_position(&token) => answers.extend(self.name(file, &token)),
                STRING => self.string(file, &token, &mut answers),
                COMMENT => self.comment(file, &token, &mut answers),
                _ => {}
            }
        }
        let (items, relations) = items(&self.sema, &tree);
        let local_references = FxHashMap::default();
        FileAnswers { answers, items, relations, local_references, differences: self.differences }
    }

    fn name(&mut self, file: FileId, token: &SyntaxToken) -> Option<Answer> {
        let expanded = self.sema.descend_into_macros_exact(token.clone());
        let names: Vec<ast::NameLike> =
            expanded.iter().filter_map(|it| ast::NameLike::cast(it.parent()?)).collect();
        let asks: Vec<Definition> = names.iter().filter_map(|name| self.searched(name)).collect();
        let ask = || self.definition(file, token.text_range().start()).map(|it| it.1).unwrap_or_default();
        let destinations = match self.destinations_of(token) {
            Some(destinations) => destinations,
            None => ask().into_iter().map(Destination::Place).collect(),
        };
        if self.check {
            let navs: Vec<Nav> =
                destinations.iter().flat_map(|destination| destination.navs(&self.sema)).collect();
            self.differences += usize::from(!same_definitions(token.text(), &ask(), &navs));
        }
        if destinations.is_empty() && asks.is_empty() {
            return None;
        }
        let roles = expanded.first().map_or(0, roles::roles);
        let mentions = names.iter().flat_map(|name| self.index.mentions(&self.sema, name, token)).collect();
        Some(Answer { range: token.text_range(), roles, destinations, asks, mentions, link: false })
    }

    /// The definition that a search for references at a name starts from.
    fn searched(&self, name: &ast::NameLike) -> Option<Definition> {
        let sema = &self.sema;
        Some(match name {
            ast::NameLike::NameRef(name) => match NameRefClass::classify(sema, name)? {
                NameRefClass::Definition(def, _) => def,
                NameRefClass::FieldShorthand { local_ref, .. } => Definition::Local(local_ref),
                NameRefClass::ExternCrateShorthand { decl, .. } => Definition::ExternCrateDecl(decl),
            },
            ast::NameLike::Name(name) => match NameClass::classify(sema, name)? {
                NameClass::Definition(def) | NameClass::ConstReference(def) => def,
                NameClass::PatFieldShorthand { local_def, .. } => Definition::Local(local_def),
            },
            ast::NameLike::Lifetime(name) => match NameRefClass::classify_lifetime(sema, name) {
                Some(NameRefClass::Definition(def, _)) => def,
                _ => NameClass::classify_lifetime(sema, name)?.defined()?,
            },
        })
    }

    /// Where "go to definition" leads from `token`; None where the engine has a rule of its own beyond "the
    /// declaration of what is named", so that it must be asked.
    fn destinations_of(&self, token: &SyntaxToken) -> Option<Vec<Destination>> {
        if matches!(token.text(), "into" | "try_into" | "to_string" | "parse") {
            return None;
        }
        let mut destinations = Vec::new();
        for token in self.sema.descend_into_macros_no_opaque(token.clone(), false) {
            let parent = token.value.parent()?;
            if parent.kind() == TOKEN_TREE {
                if parent.ancestors().any(|it| ast::ExternCrate::can_cast(it.kind())) {
                    return None;
                }
                continue;
            }
            if !ast::NameLike::can_cast(parent.kind()) {
                return None;
            }
            let Some(class) = IdentClass::classify_node(&self.sema, &parent) else { continue };
            for (def, _) in class.definitions() {
                if self.has_own_rule(def) {
                    return None;
                }
                let found = match stays_in_file(&def) {
                    true => navs_of(&self.sema, def).into_iter().map(Destination::Place).collect(),
                    false => vec![Destination::Definition(def)],
                };
                for destination in found {
                    if !destinations.contains(&destination) {
                        destinations.push(destination);
                    }
                }
            }
        }
        Some(destinations)
    }

    fn has_own_rule(&self, def: Definition) -> bool {
        if matches!(def, Definition::ExternCrateDecl(_)) {
            return true;
        }
        let db = self.sema.db;
        match def.as_assoc_item(db) {
            None | Some(AssocItem::Function(_)) => false,
            Some(item) => item.implemented_trait(db).is_some(),
        }
    }

    /// The engine's own answer at a position: the range of the name and the targets.
    fn definition(&self, file: FileId, offset: TextSize) -> Option<(TextRange, Vec<Nav>)> {
        let config = GotoDefinitionConfig { ra_fixture: fixtures() };
        let position = FilePosition { file_id: file, offset };
        let found = self.analysis.goto_definition(position, &config).ok()??;
        Some((found.range, found.info.iter().map(Nav::of).collect()))
    }

    /// Names inside a format string, and the file that an `include` names.
    fn string(&mut self, file: FileId, token: &SyntaxToken, answers: &mut Vec<Answer>) {
        let Some(call) = token.parent_ancestors().find_map(ast::MacroCall::cast) else { return };
        let start = token.text_range().start();
        for at in names_after(token.text(), b'{') {
            let offset = start + TextSize::new(at as u32);
            let found = self.sema.check_for_format_args_template(token.clone(), offset);
            let Some((range, _, _, Some(resolution))) = found else { continue };
            let def = resolution.either(Definition::from, Definition::from);
            let (place, written) = (FileRange { file_id: file, range }, &token.text()[range - start]);
            let mentions = match self.index.formatted(self.sema.db, def, place, written) {
                true => vec![(def, place, true)],
                false => vec![],
            };
            let destinations = vec![Destination::Definition(def)];
            answers.push(Answer { range, roles: 0, destinations, asks: vec![def], mentions, link: false });
        }
        let callee = call.path().and_then(|path| path.segment()?.name_ref());
        if callee.is_some_and(|name| name.text().starts_with("include"))
            && let Some((range, navs)) = self.definition(file, start + TextSize::new(1))
            && !navs.is_empty()
        {
            answers.push(Answer {
                range,
                roles: roles::IMPORT,
                destinations: navs.into_iter().map(Destination::Place).collect(),
                asks: vec![],
                mentions: vec![],
                link: false,
            });
        }
    }

    fn comment(&mut self, file: FileId, token: &SyntaxToken, answers: &mut Vec<Answer>) {
        if !ast::Comment::cast(token.clone()).is_some_and(|comment| comment.is_doc()) {
            return;
        }
        let mut end = TextSize::new(0);
        for at in names_after(token.text(), b'[') {
            let offset = token.text_range().start() + TextSize::new(at as u32);
            if offset < end {
                continue;
            }
            if let Some((range, navs)) = self.definition(file, offset)
                && !navs.is_empty()
                && token.text_range().contains_range(range)
            {
                end = range.end();
                answers.push(Answer {
                    range,
                    roles: roles::INEXACT,
                    destinations: navs.into_iter().map(Destination::Place).collect(),
                    asks: vec![],
                    mentions: vec![],
                    link: true,
                });
            }
        }
    }
}

pub fn fixtures() -> RaFixtureConfig<'static> {
    RaFixtureConfig { minicore: MiniCore::default(), disable_ra_fixture: true }
}

/// The number of `pair.0` or of `Pair { 0: one }`.
fn is_position(token: &SyntaxToken) -> bool {
    let named = token.parent().is_some_and(|parent: SyntaxNode| parent.kind() == NAME_REF);
    let after = token.prev_token().is_some_and(|before| before.kind() == T![.]);
    named || after || token.next_token().is_some_and(|next| next.kind() == T![:])
}

/// Offsets of the names that follow an opening bracket, backticks skipped.
fn names_after(text: &str, open: u8) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for (index, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == open) {
        let mut at = index + 1;
        while bytes.get(at) == Some(&b'`') {
            at += 1;
        }
        if bytes.get(at).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_' || *byte >= 0x80) {
            found.push(at);
        }
    }
    found
}

#[cfg(test)]
mod tests;
