//! The front end: from a program's source to its verified IR.
//!
//! Items, then each function's types, then what awaits a sync, then IR. The macro hands in the module it stands on, the command
//! the text of a file; the rest is the same.

use crate::{
    build, check,
    diag::{Diagnostic, Diagnostics},
    expanded,
    hir::{Body, Expr, FnId},
    items,
    nesting::{self, ParseError},
    outline, pending, placed,
    rust::ParallelLoop,
    spelled,
};
use millstream_graph::{
    ir::{Options, Program},
    verify,
};
use syn::spanned::Spanned;

/// A program, and what Rust made of its module has to know.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The program.
    pub program: Program,
    /// Its parallel loops.
    pub loops: Vec<ParallelLoop>,
}

/// Why a source file has no program.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Something is wrong in the file; the places are in it.
    #[error("{0}")]
    Source(#[from] Diagnostics),
    /// What was built is not well-formed: a mistake of Millstream, not of the program.
    #[error("the program was built wrong, which is a mistake in Millstream: {0}")]
    Internal(String),
}

/// Reads a `.rs` file: the module under `#[millstream::program]`. `name` picks one where there are several.
///
/// # Errors
/// Syntax errors and everything that the task language refuses, each with its place.
pub fn parse_file(text: &str, file: &str, name: Option<&str>) -> Result<Program, SourceError> {
    let (module, options) = read_file(text, name)?;
    Ok(parse_module(&module, options, file)?.program)
}

/// The module under `#[millstream::program]` in a `.rs` file, and the options that stand there.
///
/// # Errors
/// Syntax errors, no program, or options that there are not.
pub fn read_file(text: &str, name: Option<&str>) -> Result<(syn::ItemMod, Options), Diagnostics> {
    let parsed = nesting::parse_file(text).map_err(|e| unparsed(&e))?;
    let mut module = find_program(&parsed, name)?;
    expanded::expand(&mut module)?;
    let options = module
        .attrs
        .iter()
        .find(|a| is_program_attribute(a))
        .map(attribute_options)
        .transpose()?
        .unwrap_or_default();
    Ok((module, options))
}

/// Reads a program module.
///
/// # Errors
/// Everything that the task language refuses, each with its place.
pub fn parse_module(
    module: &syn::ItemMod,
    options: Options,
    file: &str,
) -> Result<Parsed, SourceError> {
    let mut said = Diagnostics::default();
    placed::refuse_misplaced(module, &mut said);
    let respelled = spelled::respelled(module, &mut said);
    let module = respelled.as_ref().unwrap_or(module);
    let mut m = items::collect(module, options);
    m.diags.0.splice(0..0, said.0);
    if !m.diags.is_empty() {
        // What is wrong with a type or a signature would show again at each use.
        return Err(SourceError::Source(m.diags.sorted()));
    }
    let mut bodies = Vec::new();
    // Copies of functions with parameters are found on the way.
    let mut next = 0;
    while next < m.fns.len() || m.make_pointed() {
        if m.is_caller(FnId(next)) {
            bodies.push(Body::made(Vec::new(), Expr::nothing()));
            next += 1;
            continue;
        }
        let before = m.diags.0.len();
        let body = check::function(&mut m, FnId(next));
        m.diags.without_followers(before);
        let item = &m.fns[next];
        if let (Some(used), Some(first)) = (item.used, m.diags.0.get_mut(before))
            && item.name.len() < 80
        {
            first.note(used, format!("in `{}`, which is used here", item.name));
        }
        next += 1;
        if let Some(mut body) = body {
            body.adds = pending::check(&body, &mut m.diags);
            bodies.push(body);
        }
    }
    for (id, body) in m.callers() {
        if let Some(of) = bodies.get_mut(id.0) {
            *of = body;
        }
    }
    let loops = match m.diags.is_empty() {
        true => outline::program(&mut m, &mut bodies),
        false => Vec::new(),
    };
    if !m.fns.iter().any(|f| f.kind.spawns()) && m.diags.is_empty() {
        m.diags
            .error(
                module.ident.span(),
                format!("the program `{}` has no task and no kernel", m.name),
            )
            .help("put `#[task]` or `#[kernel]` in front of a function");
    }
    if !m.diags.is_empty() {
        return Err(SourceError::Source(m.diags.sorted()));
    }
    let program = build::program(&m, &bodies, file);
    verify::verify(&program).map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        SourceError::Internal(lines.join("\n"))
    })?;
    Ok(Parsed { program, loops })
}

/// Whether an attribute is `#[program]`, however its path is written.
#[must_use]
pub fn is_program_attribute(attr: &syn::Attribute) -> bool {
    attr.path()
        .segments
        .last()
        .is_some_and(|s| s.ident == "program")
}

fn unparsed(error: &ParseError) -> Diagnostics {
    let mut diags = Diagnostics::default();
    match error {
        ParseError::Brackets(span) => diags
            .error(
                *span,
                "the brackets do not match here, or a text or comment has no end",
            )
            .help("look for a `(`, `[` or `{` before this place that nothing closes"),
        ParseError::Open(span) => diags
            .error(*span, "this bracket is not closed")
            .help("what follows is closed by another kind of bracket before it is"),
        ParseError::TooDeep(span) => diags
            .error(*span, nesting::TOO_DEEP)
            .help(nesting::TOO_DEEP_HELP),
        ParseError::Syntax(error) => return syntax(error),
    };
    diags
}

fn syntax(error: &syn::Error) -> Diagnostics {
    let mut diags = Diagnostics::default();
    for e in error.clone() {
        diags.error(e.span(), e.to_string());
    }
    diags
}

/// The options in `#[program(..)]`.
///
/// # Errors
/// An option that there is not.
fn attribute_options(attr: &syn::Attribute) -> Result<Options, Diagnostics> {
    match &attr.meta {
        syn::Meta::List(list) => program_options(list.tokens.clone()),
        _ => Ok(Options::default()),
    }
}

/// The options of a program from the tokens between the parentheses of its attribute.
///
/// # Errors
/// An option that there is not.
pub fn program_options(tokens: proc_macro2::TokenStream) -> Result<Options, Diagnostics> {
    use syn::{Token, parse::Parser, punctuated::Punctuated};
    let mut options = Options::default();
    let parser = Punctuated::<syn::Ident, Token![,]>::parse_terminated;
    let words = parser.parse2(tokens).map_err(|e| syntax(&e))?;
    let mut diags = Diagnostics::default();
    for word in &words {
        match word.to_string().as_str() {
            "checked" => options.checked = true,
            "unchecked" => options.unchecked = true,
            "fast_math" => options.fast_math = true,
            other => {
                let d = diags.error(word.span(), format!("there is no program option `{other}`"));
                let near = check::nearest(other, ["checked", "unchecked", "fast_math"].into_iter());
                d.help(near.map_or_else(
                    || "there are `checked`, `unchecked` and `fast_math`".to_owned(),
                    |n| format!("did you mean `{n}`?"),
                ));
            }
        }
    }
    if options.checked && options.unchecked {
        let last = words
            .last()
            .map_or_else(proc_macro2::Span::call_site, syn::Ident::span);
        diags
            .error(last, "a program is either `checked` or `unchecked`")
            .help("leave out one of them");
    }
    if diags.is_empty() {
        Ok(options)
    } else {
        Err(diags)
    }
}

/// The program module of a file.
///
/// # Errors
/// No program, or several and none of that name.
fn find_program(file: &syn::File, name: Option<&str>) -> Result<syn::ItemMod, Diagnostics> {
    let mut found: Vec<&syn::ItemMod> = Vec::new();
    for item in &file.items {
        if let syn::Item::Mod(m) = item
            && m.attrs.iter().any(is_program_attribute)
        {
            found.push(m);
        }
    }
    let all: Vec<String> = found.iter().map(|m| format!("`{}`", m.ident)).collect();
    let wanted: Vec<&&syn::ItemMod> = found
        .iter()
        .filter(|m| name.is_none_or(|n| m.ident == n))
        .collect();
    match wanted.as_slice() {
        [one] => Ok((**one).clone()),
        _ => {
            let mut diags = Diagnostics::default();
            let span = found
                .get(1)
                .map_or_else(proc_macro2::Span::call_site, |m| m.ident.span());
            let d: &mut Diagnostic = match (found.is_empty(), name) {
                (true, _) => diags.error(file.span(), "there is no program in this file"),
                (false, None) => diags.error(
                    span,
                    format!("this file has several programs: {}", all.join(", ")),
                ),
                (false, Some(name)) => diags.error(
                    span,
                    format!(
                        "there is no program `{name}` in this file; there are {}",
                        all.join(", ")
                    ),
                ),
            };
            d.help(match (found.is_empty(), name) {
                (true, _) => "put `#[millstream::program]` in front of the module with the tasks",
                _ => "name the one to use",
            });
            Err(diags)
        }
    }
}
