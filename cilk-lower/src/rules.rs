//! What a `macro_rules!` says: its rules, which of them takes some tokens, and what it makes of them.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};
use syn::{
    ext::IdentExt,
    parse::{ParseStream, Parser},
    spanned::Spanned,
};

/// A macro of the program.
#[derive(Clone, Debug)]
pub(crate) struct Macro {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    takes: Vec<Node>,
    shown: String,
    gives: Vec<Node>,
}

/// A part of a rule.
#[derive(Clone, Debug)]
enum Node {
    Token(TokenTree),
    Group(Delimiter, Vec<Node>, Span),
    /// `$x:expr`, or `$x` in what is given.
    Part(String, Kind, Span),
    /// `$( .. ),*`
    Repeat(Vec<Node>, Option<TokenTree>, char, Span),
}

/// What a part is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Expr,
    Ty,
    Ident,
    Literal,
    Tree,
    Pat,
    Block,
    Stmt,
    Path,
    Lifetime,
    Vis,
    Item,
    /// In what is given.
    Given,
}

const KINDS: &[(&str, Kind)] = &[
    ("expr", Kind::Expr),
    ("expr_2021", Kind::Expr),
    ("ty", Kind::Ty),
    ("ident", Kind::Ident),
    ("literal", Kind::Literal),
    ("tt", Kind::Tree),
    ("pat", Kind::Pat),
    ("pat_param", Kind::Pat),
    ("block", Kind::Block),
    ("stmt", Kind::Stmt),
    ("path", Kind::Path),
    ("lifetime", Kind::Lifetime),
    ("vis", Kind::Vis),
    ("item", Kind::Item),
];

/// What stands for the parts of a rule.
#[derive(Clone, Debug)]
enum Bound {
    One(TokenStream),
    Many(Vec<Bound>),
}

type Parts = BTreeMap<String, Bound>;

/// What is wrong, where, and what would be right.
pub(crate) type Wrong = (Span, String, String);

impl Macro {
    /// Reads `(..) => { .. }; (..) => { .. };`.
    pub(crate) fn read(tokens: TokenStream, span: Span) -> Result<Self, Wrong> {
        let mut rules = Vec::new();
        let mut tokens = tokens.into_iter().peekable();
        while let Some(takes) = tokens.next() {
            let arrow = [tokens.next(), tokens.next()];
            let is = |token: &Option<TokenTree>, sign| matches!(token, Some(TokenTree::Punct(p)) if p.as_char() == sign);
            let is_arrow = is(&arrow[0], '=') && is(&arrow[1], '>');
            let (TokenTree::Group(takes), true, Some(TokenTree::Group(gives))) =
                (takes, is_arrow, tokens.next())
            else {
                return Err((
                    span,
                    "this is no rule of a macro".to_owned(),
                    "write `(what it takes) => { what stands for it };`".to_owned(),
                ));
            };
            if is(&tokens.peek().cloned(), ';') {
                tokens.next();
            }
            rules.push(Rule {
                takes: nodes(takes.stream(), true)?,
                shown: takes.to_string(),
                gives: nodes(gives.stream(), false)?,
            });
        }
        Ok(Self { rules })
    }

    /// What stands for a use of it. `call` numbers the use: names that the macro itself gives are not those around it.
    pub(crate) fn expand(
        &self,
        name: &str,
        tokens: &TokenStream,
        span: Span,
        call: usize,
    ) -> Result<TokenStream, Wrong> {
        for rule in &self.rules {
            let parse = |input: ParseStream<'_>| {
                let mut parts = Parts::new();
                match_all(&rule.takes, input, &mut parts)?;
                Ok(parts)
            };
            if let Ok(parts) = parse.parse2(tokens.clone()) {
                let own = own_names(&rule.gives, &parts);
                let give = Give { own, call };
                return give.all(&rule.gives, &parts, false);
            }
        }
        let mut rules = String::new();
        for rule in &self.rules {
            let comma = if rules.is_empty() { "" } else { ", " };
            let _ = write!(rules, "{comma}`{}`", rule.shown);
        }
        Err((
            span,
            format!("no rule of `{name}!` takes this"),
            format!("it takes {rules}"),
        ))
    }
}

/// The parts of a rule's side.
fn nodes(tokens: TokenStream, takes: bool) -> Result<Vec<Node>, Wrong> {
    let mut out = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let span = token.span();
        match token {
            TokenTree::Punct(p) if p.as_char() == '$' => {
                match tokens.next() {
                    Some(TokenTree::Ident(name)) if name == "crate" => {
                        let help = "name the item as the program does, without `$crate::`";
                        return Err((span, "`$crate` in a program".to_owned(), help.to_owned()));
                    }
                    Some(TokenTree::Ident(name)) if takes => {
                        let colon = matches!(tokens.next(), Some(TokenTree::Punct(p)) if p.as_char() == ':');
                        let kind = match tokens.next() {
                            Some(TokenTree::Ident(kind)) if colon => kind,
                            _ => {
                                let message = format!("`${name}` without what it is");
                                let help = format!("write `${name}:expr`");
                                return Err((name.span(), message, help));
                            }
                        };
                        let known = KINDS.iter().find(|(n, _)| kind == n);
                        let Some((_, known)) = known else {
                            let all: Vec<&str> = KINDS.iter().map(|(n, _)| *n).collect();
                            let message = format!("a macro takes no `{kind}`");
                            return Err((
                                kind.span(),
                                message,
                                format!("there are {}", all.join(", ")),
                            ));
                        };
                        out.push(Node::Part(name.to_string(), *known, name.span()));
                    }
                    Some(TokenTree::Ident(name)) => {
                        out.push(Node::Part(name.to_string(), Kind::Given, name.span()));
                    }
                    Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis => {
                        let inner = nodes(g.stream(), takes)?;
                        let sign = |token: &TokenTree| match token {
                            TokenTree::Punct(p) if "*+?".contains(p.as_char()) => Some(p.as_char()),
                            _ => None,
                        };
                        let first = tokens.next();
                        let (by, often) = match first.as_ref().and_then(sign) {
                            Some(often) => (None, Some(often)),
                            None => (first, tokens.next().as_ref().and_then(sign)),
                        };
                        let Some(often) = often else {
                            let help = "write `$( .. ),*`, or `+` or `?` in place of `*`";
                            let message = "what is repeated here has no `*` behind it";
                            return Err((g.span(), message.to_owned(), help.to_owned()));
                        };
                        out.push(Node::Repeat(inner, by, often, g.span()));
                    }
                    _ => {
                        let message = "a `$` that is followed by no name and no `( .. )`";
                        let help = "expressions about the parts of a macro are not part of the task language";
                        return Err((span, message.to_owned(), help.to_owned()));
                    }
                }
            }
            TokenTree::Group(g) => {
                out.push(Node::Group(
                    g.delimiter(),
                    nodes(g.stream(), takes)?,
                    g.span(),
                ));
            }
            token => out.push(Node::Token(token)),
        }
    }
    Ok(out)
}

/// Takes all that is there.
fn match_all(nodes: &[Node], input: ParseStream<'_>, parts: &mut Parts) -> syn::Result<()> {
    match_some(nodes, input, parts)?;
    match input.is_empty() {
        true => Ok(()),
        false => Err(input.error("left over")),
    }
}

fn match_some(nodes: &[Node], input: ParseStream<'_>, parts: &mut Parts) -> syn::Result<()> {
    for node in nodes {
        match node {
            Node::Token(token) => match_token(token, input)?,
            Node::Group(delimiter, inner, _) => {
                let group: Group = input.parse()?;
                if group.delimiter() != *delimiter {
                    return Err(input.error("other brackets"));
                }
                let parse = |input: ParseStream<'_>| match_all(inner, input, parts);
                parse.parse2(group.stream())?;
            }
            Node::Part(name, kind, _) => {
                let part = match_part(*kind, input)?;
                parts.insert(name.clone(), Bound::One(part));
            }
            Node::Repeat(inner, by, often, _) => {
                match_repeat(inner, by.as_ref(), *often, input, parts)?;
            }
        }
    }
    Ok(())
}

fn match_token(token: &TokenTree, input: ParseStream<'_>) -> syn::Result<()> {
    let next: TokenTree = input.parse()?;
    let same = match (token, &next) {
        (TokenTree::Punct(a), TokenTree::Punct(b)) => a.as_char() == b.as_char(),
        (a, b) => a.to_string() == b.to_string(),
    };
    match same {
        true => Ok(()),
        false => Err(input.error("another token")),
    }
}

/// As often as it goes. Each round's parts stand behind those of the one before.
fn match_repeat(
    inner: &[Node],
    by: Option<&TokenTree>,
    often: char,
    input: ParseStream<'_>,
    parts: &mut Parts,
) -> syn::Result<()> {
    let mut rounds: Vec<Parts> = Vec::new();
    while !input.is_empty() && (often != '?' || rounds.is_empty()) {
        let ahead = input.fork();
        let mut round = Parts::new();
        let by = by.filter(|_| !rounds.is_empty());
        let one = |input: ParseStream<'_>, round: &mut Parts| {
            if let Some(by) = by {
                match_token(by, input)?;
            }
            match_some(inner, input, round)
        };
        if one(&ahead, &mut round).is_err() || ahead.cursor() == input.cursor() {
            break;
        }
        one(input, &mut Parts::new())?;
        rounds.push(round);
    }
    if often == '+' && rounds.is_empty() {
        return Err(input.error("at least once"));
    }
    let mut names = BTreeSet::new();
    named(inner, &mut names);
    for name in names {
        let all = rounds.iter().filter_map(|round| round.get(&name).cloned());
        let all = all.collect();
        parts.insert(name, Bound::Many(all));
    }
    Ok(())
}

/// The names of the parts in these nodes.
fn named(nodes: &[Node], names: &mut BTreeSet<String>) {
    for node in nodes {
        match node {
            Node::Token(_) => {}
            Node::Group(_, inner, _) | Node::Repeat(inner, ..) => named(inner, names),
            Node::Part(name, ..) => {
                names.insert(name.clone());
            }
        }
    }
}

fn match_part(kind: Kind, input: ParseStream<'_>) -> syn::Result<TokenStream> {
    if kind != Kind::Vis && input.is_empty() {
        return Err(input.error("nothing left"));
    }
    Ok(match kind {
        Kind::Expr => whole(&input.parse()?),
        Kind::Ty => input.parse::<syn::Type>()?.into_token_stream(),
        Kind::Ident => Ident::parse_any(input)?.into_token_stream(),
        Kind::Literal => {
            let minus: Option<syn::Token![-]> = input.parse()?;
            let value: syn::Lit = input.parse()?;
            quote::quote!(#minus #value)
        }
        Kind::Tree | Kind::Given => input.parse::<TokenTree>()?.into_token_stream(),
        Kind::Pat => syn::Pat::parse_multi(input)?.into_token_stream(),
        Kind::Block => input.parse::<syn::Block>()?.into_token_stream(),
        Kind::Stmt => input.parse::<syn::Stmt>()?.into_token_stream(),
        Kind::Path => input.parse::<syn::Path>()?.into_token_stream(),
        Kind::Lifetime => input.parse::<syn::Lifetime>()?.into_token_stream(),
        Kind::Vis => input.parse::<syn::Visibility>()?.into_token_stream(),
        Kind::Item => input.parse::<syn::Item>()?.into_token_stream(),
    })
}

/// An expression that nothing beside it takes apart: one with operators stands in parentheses.
pub(crate) fn whole(e: &syn::Expr) -> TokenStream {
    use syn::Expr as E;
    match e {
        E::Path(_)
        | E::Lit(_)
        | E::Call(_)
        | E::MethodCall(_)
        | E::Index(_)
        | E::Field(_)
        | E::Paren(_)
        | E::Tuple(_)
        | E::Array(_)
        | E::Repeat(_)
        | E::Macro(_) => e.to_token_stream(),
        e => {
            let span = e.span();
            quote::quote_spanned!(span=> (#e))
        }
    }
}

/// Names that what is given binds and that are others than those around the macro: what it is given names them, too, or they would be left behind it.
fn own_names(gives: &[Node], parts: &Parts) -> BTreeSet<String> {
    let mut theirs = BTreeSet::new();
    parts.values().for_each(|part| part.names(&mut theirs));
    let mut bound = BTreeSet::new();
    bound_in(gives, true, &mut bound);
    let mut own: BTreeSet<String> = bound.intersection(&theirs).cloned().collect();
    let is_let = |node: &Node| matches!(node, Node::Token(TokenTree::Ident(i)) if i == "let");
    if gives.iter().any(is_let) {
        bound_in(gives, false, &mut own);
    }
    own
}

impl Bound {
    fn names(&self, into: &mut BTreeSet<String>) {
        match self {
            Self::One(tokens) => words(tokens.clone(), into),
            Self::Many(all) => all.iter().for_each(|one| one.names(into)),
        }
    }
}

fn words(tokens: TokenStream, into: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(i) => drop(into.insert(i.to_string())),
            TokenTree::Group(g) => words(g.stream(), into),
            _ => {}
        }
    }
}

/// Names behind `let` and `for`, between the `|` of closures and in front of `=>`; those within brackets only if `deep`.
fn bound_in(nodes: &[Node], deep: bool, into: &mut BTreeSet<String>) {
    let (mut pattern, mut closure) = (false, false);
    let is = |at: Option<usize>, sign| {
        let node = at.and_then(|at| nodes.get(at));
        matches!(node, Some(Node::Token(TokenTree::Punct(p))) if p.as_char() == sign)
    };
    for (i, node) in nodes.iter().enumerate() {
        let (before, behind) = (i.checked_sub(1), Some(i + 1));
        match node {
            Node::Token(TokenTree::Ident(word)) => match word.to_string().as_str() {
                "let" => pattern = true,
                "for" => pattern = is_loop(&nodes[i + 1..]),
                "in" => pattern = false,
                "mut" | "ref" => {}
                name if pattern || closure || before_arrow(&nodes[i..]) => bind(name, into),
                _ => {}
            },
            Node::Token(TokenTree::Punct(p)) => match p.as_char() {
                ':' if is(behind, ':') || is(before, ':') => {}
                '=' | ';' | ':' => pattern = false,
                '|' => {
                    let begins = before.is_none_or(|at| {
                        matches!(&nodes[at], Node::Token(TokenTree::Punct(_)))
                            || matches!(&nodes[at], Node::Token(TokenTree::Ident(i)) if i == "move")
                    });
                    closure = !closure && begins;
                }
                _ => {}
            },
            Node::Group(_, inner, _) => {
                if pattern || closure || before_arrow(&nodes[i..]) {
                    all_in(inner, into);
                }
                if deep {
                    bound_in(inner, deep, into);
                }
            }
            Node::Repeat(inner, ..) => bound_in(inner, deep, into),
            Node::Part(..) | Node::Token(_) => {}
        }
    }
}

/// Whether what is behind a `for` is a loop's pattern, and no type of an `impl`.
fn is_loop(behind: &[Node]) -> bool {
    let is =
        |node: &Node, word: &str| matches!(node, Node::Token(TokenTree::Ident(i)) if i == word);
    let ends = |node: &Node| {
        is(node, "for") || matches!(node, Node::Token(TokenTree::Punct(p)) if p.as_char() == ';')
    };
    let mut behind = behind.iter().take_while(|node| !ends(node));
    behind.any(|node| is(node, "in"))
}

/// Whether a case of a `match` goes on to its `=>`.
fn before_arrow(nodes: &[Node]) -> bool {
    for (i, node) in nodes.iter().enumerate() {
        match node {
            Node::Token(TokenTree::Punct(p)) => match (p.as_char(), nodes.get(i + 1)) {
                ('=', Some(Node::Token(TokenTree::Punct(next)))) => return next.as_char() == '>',
                (',' | ';' | '=', _) => return false,
                _ => {}
            },
            Node::Token(TokenTree::Ident(i)) if i == "if" => return true,
            Node::Group(Delimiter::Brace, ..) if i > 1 => return false,
            _ => {}
        }
    }
    false
}

fn bind(name: &str, into: &mut BTreeSet<String>) {
    let keyword = matches!(
        name,
        "if" | "match" | "else" | "_" | "true" | "false" | "self" | "return"
    );
    if !keyword && name.starts_with(|c: char| c.is_lowercase() || c == '_') {
        into.insert(name.to_owned());
    }
}

/// The names of a pattern.
fn all_in(nodes: &[Node], into: &mut BTreeSet<String>) {
    for node in nodes {
        match node {
            Node::Token(TokenTree::Ident(word)) if word != "mut" && word != "ref" => {
                bind(&word.to_string(), into);
            }
            Node::Group(_, inner, _) | Node::Repeat(inner, ..) => all_in(inner, into),
            Node::Token(_) | Node::Part(..) => {}
        }
    }
}

/// Writes out what a rule gives.
struct Give {
    own: BTreeSet<String>,
    call: usize,
}

impl Give {
    /// `fields`: of a struct, whose names are the struct's.
    fn all(&self, nodes: &[Node], parts: &Parts, fields: bool) -> Result<TokenStream, Wrong> {
        let mut out = TokenStream::new();
        let sign = |at: Option<usize>| match at.and_then(|at| nodes.get(at)) {
            Some(Node::Token(TokenTree::Punct(p))) => Some(p.as_char()),
            Some(_) => Some(' '),
            None => None,
        };
        for (i, node) in nodes.iter().enumerate() {
            let (before, behind) = (sign(i.checked_sub(1)), sign(Some(i + 1)));
            // Behind one point a name is a field's; two are a range.
            let is_part = before == Some('.') && sign(i.checked_sub(2)) != Some('.');
            match node {
                Node::Token(TokenTree::Ident(name))
                    if !is_part && self.own.contains(&name.to_string()) =>
                {
                    let own = Ident::new(&format!("{name}_of_macro{}", self.call), name.span());
                    let is_field = fields && matches!(before, None | Some(','));
                    match behind {
                        Some(':') if is_field => out.extend(quote::quote!(#name)),
                        None | Some(',') if is_field => out.extend(quote::quote!(#name: #own)),
                        _ => out.extend(quote::quote!(#own)),
                    }
                }
                Node::Token(token) => out.extend([token.clone()]),
                Node::Group(delimiter, inner, span) => {
                    let of = i.checked_sub(1).and_then(|at| nodes.get(at));
                    let fields = *delimiter == Delimiter::Brace
                        && match of {
                            Some(Node::Token(TokenTree::Ident(name))) => {
                                name.to_string().starts_with(char::is_uppercase)
                            }
                            Some(Node::Part(..)) => true,
                            _ => false,
                        };
                    let mut group = Group::new(*delimiter, self.all(inner, parts, fields)?);
                    group.set_span(*span);
                    out.extend([TokenTree::Group(group)]);
                }
                Node::Part(name, _, span) => match parts.get(name) {
                    Some(Bound::One(tokens)) => out.extend(tokens.clone()),
                    Some(Bound::Many(_)) => {
                        let help = format!("write `$(${name}),*`, as it was taken");
                        return Err((*span, format!("`${name}` is repeated"), help));
                    }
                    None => {
                        let help = "write it among what the rule takes: `$name:expr`";
                        let message = format!("the macro takes no `${name}`");
                        return Err((*span, message, help.to_owned()));
                    }
                },
                Node::Repeat(inner, by, _, span) => {
                    self.repeat((inner, by.as_ref(), *span), parts, fields, &mut out)?
                }
            }
        }
        Ok(out)
    }

    fn repeat(
        &self,
        (inner, by, span): (&[Node], Option<&TokenTree>, Span),
        parts: &Parts,
        fields: bool,
        out: &mut TokenStream,
    ) -> Result<(), Wrong> {
        let mut names = BTreeSet::new();
        named(inner, &mut names);
        let many = names.iter().filter_map(|name| match parts.get(name)? {
            Bound::Many(all) => Some((name, all)),
            Bound::One(_) => None,
        });
        let many: Vec<_> = many.collect();
        let Some((_, first)) = many.first() else {
            let message = "nothing in this is repeated among what the macro takes";
            let help = "name a part that is: `$( $x ),*`";
            return Err((span, message.to_owned(), help.to_owned()));
        };
        if let Some((name, _)) = many.iter().find(|(_, all)| all.len() != first.len()) {
            let message = format!("`${name}` is not repeated as often as what it stands beside");
            let help = "give the macro as many of each";
            return Err((span, message, help.to_owned()));
        }
        for i in 0..first.len() {
            let mut round = parts.clone();
            round.extend(
                many.iter()
                    .map(|(name, all)| ((*name).clone(), all[i].clone())),
            );
            if let (Some(by), true) = (by, i > 0) {
                out.extend([by.clone()]);
            }
            out.extend(self.all(inner, &round, fields)?);
        }
        Ok(())
    }
}
