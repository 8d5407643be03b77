//! Macros of a program, `macro_rules!`: each use stands for what a rule of it gives, before anything else looks at the program.

use crate::{
    diag::Diagnostics,
    nesting,
    rules::{Macro, Wrong, whole},
};
use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeMap;
use syn::{
    parse::{Parse, ParseStream, Parser},
    spanned::Spanned,
    visit::{self, Visit},
    visit_mut::{self, VisitMut},
};

/// How many uses a program may have, those in others counted each time, how deep these may lie, and how many tokens they come to.
const MOST: usize = 10_000;
const DEEPEST: usize = 64;
const TOKENS: usize = 1_000_000;

/// Puts what they stand for in the place of macros, if the program has any.
///
/// # Errors
/// What is wrong with a macro or with a use of one.
pub fn expand(module: &mut syn::ItemMod) -> Result<(), Diagnostics> {
    let mut said = Diagnostics::default();
    let mut found = Definitions {
        macros: BTreeMap::new(),
        said: &mut said,
    };
    found.visit_item_mod_mut(module);
    let macros = found.macros;
    if macros.is_empty() && said.is_empty() {
        return Ok(());
    }
    let mut expand = Expand {
        macros: &macros,
        said: &mut said,
        uses: 0,
        depth: 0,
        tokens: 0,
        full: false,
    };
    expand.visit_item_mod_mut(module);
    if said.is_empty()
        && let Some(span) = nesting::too_deep(module.to_token_stream())
    {
        said.error(span, nesting::TOO_DEEP)
            .help(nesting::TOO_DEEP_HELP);
    }
    // Of those that keep parts together rustc says that they are not needed.
    module
        .attrs
        .push(syn::parse_quote!(#[allow(unused_parens)]));
    match said.is_empty() {
        true => Ok(()),
        false => Err(said.sorted()),
    }
}

/// Takes the definitions out of the module.
struct Definitions<'d> {
    macros: BTreeMap<String, Macro>,
    said: &'d mut Diagnostics,
}

/// The macros that the task language has itself.
pub(crate) const KNOWN: &[&str] = &[
    "spawn",
    "sync",
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "panic",
    "unreachable",
    "todo",
    "unimplemented",
    "matches",
];

impl Definitions<'_> {
    fn define(&mut self, item: &syn::ItemMacro) -> bool {
        let Some(name) = item
            .ident
            .as_ref()
            .filter(|_| item.mac.path.is_ident("macro_rules"))
        else {
            return false;
        };
        let wrong = match Macro::read(item.mac.tokens.clone(), name.span()) {
            _ if KNOWN.contains(&name.to_string().as_str()) => {
                let message = format!("the task language has a macro `{name}!` itself");
                Some((
                    name.span(),
                    message,
                    "give this one another name".to_owned(),
                ))
            }
            Ok(rules) => self.macros.insert(name.to_string(), rules).map(|_| {
                let message = format!("the macro `{name}!` is defined more than once");
                (
                    name.span(),
                    message,
                    "give each a name of its own".to_owned(),
                )
            }),
            Err(wrong) => Some(wrong),
        };
        if let Some((span, message, help)) = wrong {
            self.said.error(span, message).help(help);
        }
        true
    }
}

impl VisitMut for Definitions<'_> {
    fn visit_item_mod_mut(&mut self, module: &mut syn::ItemMod) {
        if let Some((_, items)) = &mut module.content {
            items.retain(|item| !matches!(item, syn::Item::Macro(m) if self.define(m)));
        }
        visit_mut::visit_item_mod_mut(self, module);
    }

    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        block
            .stmts
            .retain(|stmt| !matches!(stmt, syn::Stmt::Item(syn::Item::Macro(m)) if self.define(m)));
        visit_mut::visit_block_mut(self, block);
    }
}

/// Expands uses.
struct Expand<'e> {
    macros: &'e BTreeMap<String, Macro>,
    said: &'e mut Diagnostics,
    uses: usize,
    depth: usize,
    tokens: usize,
    /// There are too many, which has been said.
    full: bool,
}

impl Expand<'_> {
    fn is_use(&self, path: &syn::Path) -> bool {
        path.get_ident()
            .is_some_and(|name| self.macros.contains_key(&name.to_string()))
    }

    fn say(&mut self, (span, message, help): Wrong) {
        self.said.error(span, message).help(help);
    }

    /// What stands for a use.
    fn given(
        &mut self,
        name: &syn::Ident,
        tokens: &TokenStream,
        span: Span,
    ) -> Option<TokenStream> {
        if self.full {
            return None;
        }
        self.uses += 1;
        self.tokens += count(tokens.clone());
        if self.uses > MOST || self.depth >= DEEPEST || self.tokens > TOKENS {
            self.full = true;
            let message = "macros stand for too much here";
            let help = "a macro that uses itself needs a rule that ends this; or write a loop or a function";
            self.say((span, message.to_owned(), help.to_owned()));
            return None;
        }
        let shown = name.to_string();
        let given = self
            .macros
            .get(&shown)?
            .expand(&shown, tokens, span, self.uses);
        match given {
            Ok(given) => {
                self.tokens += count(given.clone());
                Some(given)
            }
            Err(wrong) => {
                self.say(wrong);
                None
            }
        }
    }

    /// The same of a use where something of that kind stands.
    fn as_a<T>(
        &mut self,
        mac: &syn::Macro,
        what: &str,
        parse: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
    ) -> Option<T> {
        let (name, span) = (mac.path.get_ident()?.clone(), mac.span());
        let given = self.given(&name, &mac.tokens, span)?;
        if let ("statement" | "expression", Some(at)) = (what, told_apart(&given)) {
            let message = format!(
                "`{name}!` stands for a parallel loop, or for a child whose result goes elsewhere than to a `let`"
            );
            let help = "write it out where it is used; a macro may stand for whole tasks, and for `let x = spawn!(..);`, `spawn!(..);` and `sync!();`";
            self.say((at, message, help.to_owned()));
            return None;
        }
        match parse.parse2(given) {
            Ok(value) => Some(value),
            Err(error) => {
                let message = format!("what `{name}!` stands for here is no {what}: {error}");
                let help = match what {
                    "expression" => "several statements are one as a block: `=> {{ .. }}`",
                    _ => "what a rule gives stands in the place of the macro",
                };
                self.say((span, message, help.to_owned()));
                None
            }
        }
    }

    /// Looks at what was given for uses in it.
    fn within<T>(&mut self, look: impl FnOnce(&mut Self) -> T) -> T {
        self.depth += 1;
        let value = look(self);
        self.depth -= 1;
        value
    }

    fn items<T: Parse>(
        &mut self,
        items: &mut Vec<T>,
        is_use: impl Fn(&T) -> Option<syn::Macro> + Copy,
        visit: impl Fn(&mut Self, &mut T) + Copy,
    ) {
        for mut item in std::mem::take(items) {
            let mac = is_use(&item).filter(|mac| self.is_use(&mac.path));
            let Some(mac) = mac else {
                visit(self, &mut item);
                items.push(item);
                continue;
            };
            let all = |input: ParseStream<'_>| {
                let mut all = Vec::new();
                while !input.is_empty() {
                    all.push(input.parse()?);
                }
                Ok(all)
            };
            if let Some(mut given) = self.as_a(&mac, "item", all) {
                self.within(|e| e.items(&mut given, is_use, visit));
                items.extend(given);
            }
        }
    }

    /// Uses in what other macros are given: `assert!(odd!(n))`.
    fn in_tokens(&mut self, tokens: TokenStream) -> TokenStream {
        let all: Vec<TokenTree> = tokens.into_iter().collect();
        let (mut out, mut at) = (TokenStream::new(), 0);
        while let Some(token) = all.get(at) {
            if let (TokenTree::Ident(name), Some(TokenTree::Punct(sign)), Some(TokenTree::Group(g))) =
                (token, all.get(at + 1), all.get(at + 2))
                && sign.as_char() == '!'
                && self.macros.contains_key(&name.to_string())
            {
                let mac = syn::Macro {
                    path: name.clone().into(),
                    bang_token: syn::Token![!](sign.span()),
                    delimiter: syn::MacroDelimiter::Paren(syn::token::Paren(g.span())),
                    tokens: g.stream(),
                };
                if let Some(mut e) = self.as_a(&mac, "expression", syn::Expr::parse) {
                    self.within(|c| c.visit_expr_mut(&mut e));
                    out.extend(whole(&e));
                }
                at += 3;
                continue;
            }
            match token {
                TokenTree::Group(g) => {
                    let mut group = Group::new(g.delimiter(), self.in_tokens(g.stream()));
                    group.set_span(g.span());
                    out.extend([TokenTree::Group(group)]);
                }
                token => out.extend([token.clone()]),
            }
            at += 1;
        }
        out
    }
}

fn count(tokens: TokenStream) -> usize {
    let one = |token| match token {
        TokenTree::Group(g) => 2 + count(g.stream()),
        _ => 1,
    };
    tokens.into_iter().map(one).sum()
}

/// Where statements have a parallel loop, or a child of which more is to be known than that it is one. These are told apart by their places, which are those in
/// the macro for each use of it.
fn told_apart(given: &TokenStream) -> Option<Span> {
    spawns(given.clone())?;
    let mut found = Placed(None);
    match syn::Block::parse_within.parse2(given.clone()) {
        Ok(stmts) => stmts.iter().for_each(|stmt| found.visit_stmt(stmt)),
        // What is wrong with them is said where they are read.
        Err(_) => return None,
    }
    found.0
}

/// Where there is anything that spawns or syncs.
fn spawns(tokens: TokenStream) -> Option<Span> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(i) if i == "spawn" || i == "sync" || i == "parallel" => Some(i.span()),
        TokenTree::Group(g) => spawns(g.stream()),
        _ => None,
    })
}

/// Looks for what is told apart by its place.
struct Placed(Option<Span>);

impl Placed {
    fn arguments(&mut self, mac: &syn::Macro) {
        self.0 = self.0.or_else(|| spawns(mac.tokens.clone()));
    }
}

impl<'s> Visit<'s> for Placed {
    fn visit_stmt(&mut self, stmt: &'s syn::Stmt) {
        let is = |mac: &syn::Macro, names: &[&str]| names.iter().any(|n| mac.path.is_ident(n));
        match stmt {
            syn::Stmt::Local(l) => match l.init.as_ref().map(|init| (&*init.expr, &init.diverge)) {
                Some((syn::Expr::Macro(m), None)) if is(&m.mac, &["spawn"]) => {
                    self.arguments(&m.mac);
                }
                _ => visit::visit_stmt(self, stmt),
            },
            syn::Stmt::Macro(m) if m.semi_token.is_some() && is(&m.mac, &["spawn", "sync"]) => {
                self.arguments(&m.mac);
            }
            _ => visit::visit_stmt(self, stmt),
        }
    }

    fn visit_macro(&mut self, mac: &'s syn::Macro) {
        if let Some(name) = mac
            .path
            .get_ident()
            .filter(|n| *n == "spawn" || *n == "sync")
        {
            self.0 = self.0.or(Some(name.span()));
        }
        self.arguments(mac);
    }

    fn visit_attribute(&mut self, attr: &'s syn::Attribute) {
        if attr
            .path()
            .segments
            .last()
            .is_some_and(|s| s.ident == "parallel")
        {
            self.0 = self.0.or_else(|| Some(attr.span()));
        }
    }
}

impl VisitMut for Expand<'_> {
    fn visit_item_mod_mut(&mut self, module: &mut syn::ItemMod) {
        if let Some((_, items)) = &mut module.content {
            let is_use = |item: &syn::Item| match item {
                syn::Item::Macro(m) => Some(m.mac.clone()),
                _ => None,
            };
            self.items(items, is_use, |e, item| e.visit_item_mut(item));
        }
    }

    fn visit_item_impl_mut(&mut self, block: &mut syn::ItemImpl) {
        let is_use = |item: &syn::ImplItem| match item {
            syn::ImplItem::Macro(m) => Some(m.mac.clone()),
            _ => None,
        };
        self.visit_type_mut(&mut block.self_ty);
        self.items(&mut block.items, is_use, |e, item| {
            e.visit_impl_item_mut(item)
        });
    }

    fn visit_item_trait_mut(&mut self, item: &mut syn::ItemTrait) {
        let is_use = |item: &syn::TraitItem| match item {
            syn::TraitItem::Macro(m) => Some(m.mac.clone()),
            _ => None,
        };
        self.items(&mut item.items, is_use, |e, item| {
            e.visit_trait_item_mut(item)
        });
    }

    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        let all = std::mem::take(&mut block.stmts);
        let last = all.len().wrapping_sub(1);
        for (i, mut stmt) in all.into_iter().enumerate() {
            let (mac, semi) = match &stmt {
                syn::Stmt::Macro(m) if self.is_use(&m.mac.path) => (m.mac.clone(), m.semi_token),
                syn::Stmt::Item(syn::Item::Macro(m)) if self.is_use(&m.mac.path) => {
                    (m.mac.clone(), m.semi_token)
                }
                _ => {
                    self.visit_stmt_mut(&mut stmt);
                    block.stmts.push(stmt);
                    continue;
                }
            };
            let Some(stmts) = self.as_a(&mac, "statement", syn::Block::parse_within) else {
                continue;
            };
            let mut inner = syn::Block {
                brace_token: syn::token::Brace(mac.span()),
                stmts,
            };
            self.within(|e| e.visit_block_mut(&mut inner));
            // A `;` behind the macro is one behind its last expression.
            if let Some(syn::Stmt::Expr(_, end @ None)) = inner.stmts.last_mut()
                && (semi.is_some() || i != last)
            {
                *end = Some(semi.unwrap_or_default());
            }
            block.stmts.extend(inner.stmts);
        }
    }

    fn visit_expr_mut(&mut self, e: &mut syn::Expr) {
        match e {
            syn::Expr::Macro(m) if self.is_use(&m.mac.path) => {
                let Some(mut given) = self.as_a(&m.mac, "expression", syn::Expr::parse) else {
                    return;
                };
                self.within(|c| c.visit_expr_mut(&mut given));
                let tokens = whole(&given);
                *e = syn::parse2(tokens).unwrap_or(given);
            }
            e => visit_mut::visit_expr_mut(self, e),
        }
    }

    fn visit_type_mut(&mut self, ty: &mut syn::Type) {
        match ty {
            syn::Type::Macro(m) if self.is_use(&m.mac.path) => {
                if let Some(mut given) = self.as_a(&m.mac, "type", syn::Type::parse) {
                    self.within(|e| e.visit_type_mut(&mut given));
                    *ty = given;
                }
            }
            ty => visit_mut::visit_type_mut(self, ty),
        }
    }

    fn visit_pat_mut(&mut self, pat: &mut syn::Pat) {
        match pat {
            syn::Pat::Macro(m) if self.is_use(&m.mac.path) => {
                if let Some(mut given) = self.as_a(&m.mac, "pattern", syn::Pat::parse_multi) {
                    self.within(|e| e.visit_pat_mut(&mut given));
                    *pat = given;
                }
            }
            pat => visit_mut::visit_pat_mut(self, pat),
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        mac.tokens = self.in_tokens(std::mem::take(&mut mac.tokens));
    }
}
