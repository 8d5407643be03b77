//! `spawn!`, `sync!`, assertions, and the forms in which a child's result is taken.

use super::{
    Binding, Checker, answers, nearest, overloads,
    patterns::{ArmSyntax, BodySyntax},
};
use crate::{
    hir::{Expr, ExprKind, FnId, Stmt, Then},
    items::Item,
    ty::{BOOL, Ty},
};
use millstream_graph::ir::{BinOp, Combine, FunctionKind};
use proc_macro2::Span;
use quote::ToTokens;
use syn::{Token, parse::Parser, punctuated::Punctuated, spanned::Spanned};

const WHERE_SPAWN: &str = "take its result with `let x = spawn!(..)`, `x = spawn!(..)`, `a[i] = spawn!(..)`, `sum += spawn!(..)` or `best = best.max(spawn!(..))`; a value may be made of children's results: `sum += 2 * spawn!(..)`";
pub(super) const CONVERT: &str =
    "a child's result is taken as it is: convert it, as in `sum += spawn!(..) as u64`";

/// The macro, if the expression is a `spawn!`.
pub(super) fn spawn_macro(e: &syn::Expr) -> Option<&syn::Macro> {
    match e {
        syn::Expr::Macro(m) if is(&m.mac, "spawn") => Some(&m.mac),
        syn::Expr::Paren(p) => spawn_macro(&p.expr),
        syn::Expr::Group(g) => spawn_macro(&g.expr),
        _ => None,
    }
}

pub(super) fn is(mac: &syn::Macro, name: &str) -> bool {
    mac.path.segments.last().is_some_and(|s| s.ident == name)
}

/// A spawn before it is known where its result goes.
pub(super) struct Child {
    func: FnId,
    args: Vec<Expr>,
    /// What goes there: the result, or what is made of it.
    pub(super) ret: Ty,
    then: Option<Then>,
    pub(super) span: Span,
}

impl Child {
    pub(super) fn with(self, dest: Option<(Expr, Combine)>) -> Expr {
        let dest = if self.ret.is_unit() { None } else { dest };
        Expr::new(
            ExprKind::Spawn {
                func: self.func,
                args: self.args,
                dest,
                then: self.then,
            },
            Ty::unit(),
            self.span,
        )
    }
}

impl Checker<'_> {
    /// A macro whose value is used.
    pub(super) fn macro_value(&mut self, mac: &syn::Macro, want: Option<&Ty>) -> Expr {
        let span = mac.span();
        if is(mac, "spawn") {
            match self.child(mac) {
                None => return Self::broken(span),
                Some(child) if child.ret.is_unit() => return child.with(None),
                Some(_) => {}
            }
            if want.is_some_and(Ty::is_unit) {
                return self.refuse(
                    span,
                    "a child's result where the block has no value",
                    "put a `;` behind it: `spawn!(..);` drops the result",
                );
            }
            return self.refuse(span, "a child's result is used where it is spawned, but it comes with the next `sync!()`", WHERE_SPAWN);
        }
        if is(mac, "matches") {
            return self.matches(mac);
        }
        self.macro_statement(mac)
    }

    /// A macro that stands as a statement.
    pub(super) fn macro_statement(&mut self, mac: &syn::Macro) -> Expr {
        let span = mac.span();
        let name = mac
            .path
            .segments
            .last()
            .map(|s| s.ident.to_string())
            .unwrap_or_default();
        match name.as_str() {
            "spawn" => self
                .child(mac)
                .map_or_else(|| Self::broken(span), |child| child.with(None)),
            "sync" => {
                if !self.kind.is_some_and(FunctionKind::spawns) {
                    return self.refuse(
                        span,
                        "only a task or kernel can sync",
                        "put `#[task]` in front of the function",
                    );
                }
                Expr::new(ExprKind::Sync, Ty::unit(), span)
            }
            "assert" | "debug_assert" => self.assert(mac, name.starts_with("debug")),
            "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => {
                self.assert_cmp(mac, name.ends_with("eq"), name.starts_with("debug"))
            }
            "panic" | "unreachable" | "todo" | "unimplemented" => {
                let text = message(mac.tokens.clone().into_iter().collect(), &name);
                Expr::new(ExprKind::Panic(text), Ty::Never, span)
            }
            "matches" => self.matches(mac),
            "println" | "print" | "eprintln" | "eprint" | "dbg" => self.refuse(
                span,
                format!("`{name}!` is not part of the task language"),
                "a device does not print: write values to a buffer",
            ),
            "vec" | "format" => self.refuse(
                span,
                format!("`{name}!` is not part of the task language"),
                "nothing is allocated in a task: use an array",
            ),
            _ => {
                let help = nearest(&name, crate::expanded::KNOWN.iter().copied()).map_or_else(
                    || "the macros of the task language are `spawn!`, `sync!`, `matches!`, `panic!` and the assertions".to_owned(),
                    |n| format!("did you mean `{n}!`?"),
                );
                self.refuse(
                    span,
                    format!("`{name}!` is not part of the task language"),
                    help,
                )
            }
        }
    }

    /// The call in a `spawn!`.
    fn child(&mut self, mac: &syn::Macro) -> Option<Child> {
        let span = mac.span();
        if !self.kind.is_some_and(FunctionKind::spawns) {
            self.error(span, "only a task or kernel can spawn")
                .help("put `#[task]` in front of the function");
            return None;
        }
        let call = match mac.parse_body::<syn::Expr>() {
            Ok(e) => e,
            Err(error) => {
                self.error(error.span(), format!("`spawn!` takes a call: {error}"))
                    .help("write `spawn!(task(arguments))`");
                return None;
            }
        };
        let syn::Expr::Call(call) = super::places::strip(&call) else {
            self.error(call.span(), "`spawn!` takes the call of a task")
                .help("write `spawn!(task(arguments))`");
            return None;
        };
        let path = match super::places::strip(&call.func) {
            syn::Expr::Path(p) => Some(&p.path),
            _ => None,
        };
        let Some(name) = path.and_then(answers::called).map(ToString::to_string) else {
            self.error(
                call.func.span(),
                "`spawn!` takes the call of a task of this program, by its name",
            )
            .help("tasks stand in the program's own module: write `spawn!(task(arguments))`");
            return None;
        };
        let is_bare = path.is_some_and(|p| p.get_ident().is_some());
        if is_bare && self.lookup(&name).is_some() {
            self.error(
                call.func.span(),
                format!("`{name}` is a variable here, not a task"),
            )
            .help("give the variable another name");
            return None;
        }
        let Some(Item::Fn(func)) = self.m.named(&name) else {
            let tasks = self
                .m
                .fns
                .iter()
                .filter(|f| f.kind == FunctionKind::Task)
                .map(|f| f.name.as_str());
            let help = nearest(&name, tasks).map_or_else(
                || "define it in this module".to_owned(),
                |n| format!("did you mean `{n}`?"),
            );
            self.error(
                call.func.span(),
                format!("there is no task `{name}` in this program"),
            )
            .help(help);
            return None;
        };
        if self.m.fns[func.0].kind == FunctionKind::Kernel {
            self.refuse_kernel(func, call.func.span());
            return None;
        }
        if self.m.fns[func.0].kind != FunctionKind::Task {
            let at = self.m.fns[func.0].span;
            self.error(
                call.func.span(),
                format!("`{name}` is a helper, and only tasks can be spawned"),
            )
            .help("put `#[task]` in front of it, or call it without `spawn!`")
            .note(at, "it is defined here");
            return None;
        }
        let args: Vec<&syn::Expr> = call.args.iter().collect();
        let (args, ret) = self.fn_arguments(func, &args, span);
        for arg in args.iter().filter(|a| lends_temporary(a)) {
            self.error(
                arg.span,
                "a value without a name is lent to a child, which may outlive it",
            )
            .help("give it a name by `let`, outside of loops without a `sync!()`, and lend that");
        }
        Some(Child {
            func,
            args,
            ret,
            then: None,
            span,
        })
    }

    /// The child in a value, whose result goes on through it, `1 + spawn!(..)`, or all children there. What is evaluated before them comes into the statements.
    pub(super) fn child_in(
        &mut self,
        value: &syn::Expr,
        want: Option<&Ty>,
        stmts: &mut Vec<Stmt>,
    ) -> Option<Child> {
        let Some(mapped) = answers::mapped(value) else {
            return self.child(spawn_macro(value)?);
        };
        for local in &mapped.before {
            self.local(local, stmts);
        }
        let (mut children, mut all) = (Vec::new(), Vec::new());
        for (name, mac) in &mapped.children {
            let child = self.child(mac)?;
            let result = self.add_var(&name.to_string(), child.ret.clone());
            self.bind(&name.to_string(), Binding::Var(result));
            children.push((child.func, result));
            all.push(child);
        }
        let value = self.expr(&mapped.value, want);
        let value = match want {
            Some(want) => self.coerce(value, want),
            None => value,
        };
        let ret = self.shallow(&value.ty);
        let span = all.first()?.span;
        Some(Child {
            func: children.first()?.0,
            args: all.into_iter().flat_map(|child| child.args).collect(),
            ret,
            then: Some(Then { children, value }),
            span,
        })
    }

    /// `place = spawn!(..)`, `place = place.max(spawn!(..))`, and the same the other way round.
    pub(super) fn assigned_spawn(&mut self, a: &syn::ExprAssign) -> Option<Expr> {
        let right = super::places::strip(&a.right);
        let place = &a.left;
        let to = |value: &dyn ToTokens, span| syn::parse_quote_spanned!(span=> #place = #value);
        if let Some(given) = self.given_by_ways(place, right, &to) {
            return Some(given);
        }
        let own = |name: &str| self.m.named(name).is_some();
        let starts = |from: &syn::Expr| {
            from.to_token_stream().to_string() == a.left.to_token_stream().to_string()
        };
        let (value, combine) = match gathering_call(right, own) {
            Some((from, combine, value)) if starts(from) => (value, combine),
            Some((value, combine, from)) if starts(from) && answers::may_spawn(value) => {
                return Some(self.gathered_in_front(place, value, combine));
            }
            _ => (right, Combine::Store),
        };
        if let syn::Expr::Binary(b) = right
            && let Some(sign) = lazy_sign(&b.op)
            && starts(&b.left)
            && answers::may_spawn(&b.right)
        {
            let to = tidy(place);
            return Some(self.refuse(
                b.op.span(),
                format!("results cannot be gathered with `{sign}{sign}`: there would be no child where `{to}` decides"),
                format!("write `{to} {sign}= spawn!(..)`: the child comes to be in any case"),
            ));
        }
        answers::may_spawn(value).then(|| self.spawn_into(&a.left, value, combine, ""))
    }

    /// `place += spawn!(..)` and its kin.
    pub(super) fn gathered_spawn(&mut self, op: BinOp, b: &syn::ExprBinary) -> Option<Expr> {
        let (place, sign) = (&b.left, &b.op);
        let to = |value: &dyn ToTokens, span| syn::parse_quote_spanned!(span=> #place #sign #value);
        if let Some(given) = self.given_by_ways(place, super::places::strip(&b.right), &to) {
            return Some(given);
        }
        if !answers::may_spawn(&b.right) {
            return None;
        }
        let combine = match op {
            BinOp::Add => Combine::Add,
            BinOp::Or => Combine::Or,
            BinOp::And => Combine::And,
            BinOp::Xor => Combine::Xor,
            BinOp::Sub => {
                return Some(self.refuse(
                    b.op.span(),
                    "results cannot be gathered with `-=`",
                    "gather them by `+=` in a variable of their own, and take that away after the `sync!()`",
                ));
            }
            BinOp::Mul => {
                return Some(self.refuse(
                    b.op.span(),
                    "results cannot be gathered with `*=`",
                    "store them, `a[i] = spawn!(..)`, and multiply after the `sync!()`; or let the rounds of a parallel loop do it: `let y = spawn!(..); sync!(); x *= y;`",
                ));
            }
            _ => {
                return Some(self.refuse(
                    b.op.span(),
                    "results cannot be gathered with this operator: the order in which they come is not known",
                    "there are `+=`, `|=`, `&=`, `^=`, `x = x.min(spawn!(..))` and `x = x.max(spawn!(..))`",
                ));
            }
        };
        Some(self.spawn_into(&b.left, &b.right, combine, "_assign"))
    }

    /// `place = spawn!(..).max(place)`: which side comes first makes no difference to scalars, but methods and operators of one's own may tell their sides apart.
    fn gathered_in_front(
        &mut self,
        place: &syn::Expr,
        value: &syn::Expr,
        combine: Combine,
    ) -> Expr {
        let of_parts = |e: &Expr| {
            let ExprKind::Spawn { dest, .. } = &*e.kind else {
                return false;
            };
            matches!(dest, Some((_, Combine::Each(_))))
        };
        let spawn = self.spawn_into(place, value, combine, "");
        let told_apart = match &*spawn.kind {
            ExprKind::Block(stmts, _) => stmts
                .iter()
                .any(|s| matches!(s, Stmt::Expr(e) if of_parts(e))),
            _ => of_parts(&spawn),
        };
        if !told_apart {
            return spawn;
        }
        let to = tidy(place);
        self.refuse(
            value.span(),
            format!("`{to}` gathers results that are no scalars, and stands behind the child"),
            format!("begin with `{to}`, as in `{to} = {to}.max(spawn!(..))`"),
        )
    }

    /// `ending`: that of the names of operators' methods.
    fn spawn_into(
        &mut self,
        place: &syn::Expr,
        value: &syn::Expr,
        combine: Combine,
        ending: &str,
    ) -> Expr {
        let place = self.place(place);
        let place = self.behind_refs(place);
        let (want, mut stmts) = (place.ty.clone(), Vec::new());
        let Some(child) = self.child_in(value, Some(&want), &mut stmts) else {
            return Self::broken(value.span());
        };
        if matches!(*place.kind, ExprKind::Error) {
            return place;
        }
        // What is wrong with it has been said.
        if matches!(child.ret, Ty::Error) {
            return Self::broken(child.span);
        }
        if !self.table.unify(&place.ty, &child.ret) {
            let (want, have) = (self.show(&place.ty), self.show(&child.ret));
            return self.refuse(
                child.span,
                format!("expected `{want}`, found `{have}`"),
                CONVERT,
            );
        }
        let combine = match combine.op() {
            Some(op) if !child.ret.is_scalar() => {
                let method = overloads::method(op).map(|name| format!("{name}{ending}"));
                match self.gathering_ways(method.as_deref(), &child) {
                    Some(ways) => Combine::Each(ways),
                    None => return Self::broken(child.span),
                }
            }
            _ => combine,
        };
        let spawn = child.with(Some((place, combine)));
        if stmts.is_empty() {
            return spawn;
        }
        let span = spawn.span;
        stmts.push(Stmt::Expr(spawn));
        Expr::new(ExprKind::Block(stmts, None), Ty::unit(), span)
    }

    fn assert(&mut self, mac: &syn::Macro, debug: bool) -> Expr {
        let span = mac.span();
        let Some(args) = self.macro_arguments(mac) else {
            return Self::broken(span);
        };
        let Some(first) = args.first() else {
            return self.refuse(
                span,
                "an assertion needs a condition",
                "write `assert!(condition)`",
            );
        };
        let cond = self.expr_as(first, &BOOL);
        let text = args
            .get(1)
            .and_then(literal_text)
            .unwrap_or_else(|| tidy(first));
        Expr::new(ExprKind::Assert { text, cond, debug }, Ty::unit(), span)
    }

    fn assert_cmp(&mut self, mac: &syn::Macro, equal: bool, debug: bool) -> Expr {
        let span = mac.span();
        let Some(args) = self.macro_arguments(mac) else {
            return Self::broken(span);
        };
        let [a, b, rest @ ..] = args.as_slice() else {
            return self.refuse(
                span,
                "this assertion compares two values",
                "write `assert_eq!(a, b)`",
            );
        };
        let left = self.expr(a, None);
        let left = self.behind_refs(left);
        let want = left.ty.clone();
        let right = self.expr(b, Some(&want));
        let right = self.behind_refs(right);
        let shown = format!(
            "{} {} {}",
            tidy(a),
            if equal { "==" } else { "!=" },
            tidy(b)
        );
        let text = rest.first().and_then(literal_text).unwrap_or(shown);
        let op = if equal { BinOp::Eq } else { BinOp::Ne };
        if self.operator("eq", &[&left.ty, &right.ty], &[]).is_some()
            || self.has_own("eq", &left.ty)
        {
            let cond = self.comparison(op, left, right, span, span);
            return Expr::new(ExprKind::Assert { text, cond, debug }, Ty::unit(), span);
        }
        let right = self.coerce(right, &want);
        let (left, right) = (self.without_refs(left), self.without_refs(right));
        Expr::new(
            ExprKind::AssertCmp {
                text,
                equal,
                left,
                right,
                debug,
            },
            Ty::unit(),
            span,
        )
    }

    fn macro_arguments(&mut self, mac: &syn::Macro) -> Option<Vec<syn::Expr>> {
        match Punctuated::<syn::Expr, Token![,]>::parse_terminated.parse2(mac.tokens.clone()) {
            Ok(args) => Some(args.into_iter().collect()),
            Err(error) => {
                self.error(error.span(), error.to_string());
                None
            }
        }
    }

    /// `matches!(value, pattern)`
    fn matches(&mut self, mac: &syn::Macro) -> Expr {
        let span = mac.span();
        let parser = |input: syn::parse::ParseStream<'_>| {
            let value: syn::Expr = input.parse()?;
            input.parse::<Token![,]>()?;
            let pat = syn::Pat::parse_multi_with_leading_vert(input)?;
            let guard = input
                .parse::<Option<Token![if]>>()?
                .map(|_| input.parse::<syn::Expr>())
                .transpose()?;
            input.parse::<Option<Token![,]>>()?;
            Ok((value, pat, guard))
        };
        match parser.parse2(mac.tokens.clone()) {
            Ok((value, pat, guard)) => {
                let value = self.expr(&value, None);
                let (yes, rest, no) = (
                    syn::parse_quote_spanned!(span=> true),
                    syn::parse_quote_spanned!(span=> _),
                    syn::parse_quote_spanned!(span=> false),
                );
                let arms = [
                    ArmSyntax {
                        pat: &pat,
                        guard: guard.as_ref(),
                        body: BodySyntax::Expr(&yes),
                    },
                    ArmSyntax::new(&rest, BodySyntax::Expr(&no)),
                ];
                self.matching(value, &arms, Some(&BOOL), span)
            }
            Err(error) => self.refuse(
                error.span(),
                error.to_string(),
                "write `matches!(value, pattern)`",
            ),
        }
    }
}

/// Whether an argument is the address of a value that is computed where it stands. One made of constants lives as long as the program.
fn lends_temporary(arg: &Expr) -> bool {
    match &*arg.kind {
        ExprKind::Unsize(inner) => lends_temporary(inner),
        ExprKind::AddrOf(value) => !value.is_place() && !is_constant(value),
        ExprKind::SubSlice { base, .. } => {
            matches!(base.ty, Ty::Array(..)) && !base.is_place() && !is_constant(base)
        }
        _ => false,
    }
}

fn is_constant(e: &Expr) -> bool {
    match &*e.kind {
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::Const(_)
        | ExprKind::Error => true,
        ExprKind::Array(elems) | ExprKind::Tuple(elems) => elems.iter().all(is_constant),
        ExprKind::Repeat(value, _) | ExprKind::Cast(value) | ExprKind::Unary(_, value) => {
            is_constant(value)
        }
        ExprKind::Binary(_, a, b) => is_constant(a) && is_constant(b),
        ExprKind::Struct {
            fields, base: None, ..
        } => fields.iter().all(|(_, e)| is_constant(e)),
        _ => false,
    }
}

/// `place.max(spawn!(..))` and the other ways to gather: where it starts from, how, and what.
pub(super) fn gathering_call(
    e: &syn::Expr,
    own: impl Fn(&str) -> bool,
) -> Option<(&syn::Expr, Combine, &syn::Expr)> {
    let extreme = |name: &syn::Ident| match name.to_string().as_str() {
        "max" => Some(Combine::Max),
        "min" => Some(Combine::Min),
        _ => None,
    };
    match e {
        syn::Expr::MethodCall(m) => {
            let combine = match extreme(&m.method) {
                None if m.method == "wrapping_add" => Combine::Add,
                combine => combine?,
            };
            Some((&m.receiver, combine, m.args.first()?))
        }
        // `max(x, spawn!(..))` of `std::cmp`.
        syn::Expr::Call(c) if c.args.len() == 2 => {
            let syn::Expr::Path(path) = &*c.func else {
                return None;
            };
            let names: Vec<String> = (path.path.segments.iter())
                .map(|s| s.ident.to_string())
                .collect();
            let of_std = match names.as_slice() {
                [name] => !own(name),
                [.., of, _] => {
                    matches!(of.as_str(), "cmp" | "Ord")
                        || millstream_graph::ty::Scalar::from_name(of).is_some()
                }
                [] => false,
            };
            if !of_std {
                return None;
            }
            let combine = extreme(&path.path.segments.last()?.ident)?;
            Some((&c.args[0], combine, &c.args[1]))
        }
        syn::Expr::Binary(b) => {
            let combine = match b.op {
                syn::BinOp::Add(_) => Combine::Add,
                syn::BinOp::BitOr(_) => Combine::Or,
                syn::BinOp::BitAnd(_) => Combine::And,
                syn::BinOp::BitXor(_) => Combine::Xor,
                _ => return None,
            };
            Some((&b.left, combine, &b.right))
        }
        _ => None,
    }
}

/// The operator that `&&` or `||` is where both sides are evaluated.
const fn lazy_sign(op: &syn::BinOp) -> Option<char> {
    match op {
        syn::BinOp::And(_) => Some('&'),
        syn::BinOp::Or(_) => Some('|'),
        _ => None,
    }
}

fn literal_text(e: &syn::Expr) -> Option<String> {
    match e {
        syn::Expr::Lit(l) => match &l.lit {
            syn::Lit::Str(s) => Some(s.value()),
            _ => None,
        },
        _ => None,
    }
}

fn message(tokens: Vec<proc_macro2::TokenTree>, name: &str) -> String {
    match tokens.first() {
        Some(proc_macro2::TokenTree::Literal(l)) => syn::parse2::<syn::LitStr>(l.to_token_stream())
            .map_or_else(|_| l.to_string(), |s| s.value()),
        _ => format!("{name}!()"),
    }
}

/// Tokens as a person would space them.
fn tidy(tokens: &impl ToTokens) -> String {
    let mut out = String::new();
    spaced(tokens.to_token_stream(), &mut out);
    out
}

fn spaced(tokens: proc_macro2::TokenStream, out: &mut String) {
    use proc_macro2::{Delimiter, Spacing, TokenTree as T};
    // Whether an operand has just ended, so that an operator is binary; whether the next token follows without a space.
    let (mut operand, mut tight) = (false, true);
    for token in tokens {
        match &token {
            T::Group(g) => {
                let (open, close) = match g.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{ ", " }"),
                    Delimiter::None => ("", ""),
                };
                let after_name = operand && g.delimiter() != Delimiter::Brace;
                out.push_str(if tight || after_name { "" } else { " " });
                out.push_str(open);
                spaced(g.stream(), out);
                out.push_str(close);
                (operand, tight) = (true, false);
            }
            T::Punct(p) => {
                let c = p.as_char();
                let joined = p.spacing() == Spacing::Joint;
                let sticks =
                    matches!(c, ',' | ';' | '.' | '?' | ':') || c == '!' && operand && !joined;
                let prefix = !operand && matches!(c, '!' | '-' | '&' | '*');
                out.push_str(if tight || sticks { "" } else { " " });
                out.push(c);
                tight = joined || prefix || matches!(c, '.' | ':');
                operand = c == '?';
            }
            T::Ident(_) | T::Literal(_) => {
                out.push_str(if tight { "" } else { " " });
                out.push_str(&token.to_string());
                (operand, tight) = (true, false);
            }
        }
    }
}
