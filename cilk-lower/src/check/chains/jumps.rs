//! `skip` and `step_by` next to a slice go where its items are, as they do in Rust: those that are left out are not walked over. They are a part of the slice,
//! and of what is stepped through the first of each chunk. So does `skip` behind `enumerate` and `copied`, where the numbers begin later.

use super::{
    super::{
        Checker,
        iteration::{PARTS, part_left},
        places::strip,
    },
    adaptors::Place,
    item,
    loops::{Loop, Rounds},
};
use crate::ty::Ty;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::{parse_quote_spanned, spanned::Spanned};

/// What a chain begins with: a slice, and what its items are.
struct Of<'e> {
    slice: &'e syn::Expr,
    mutable: bool,
    /// Of parts: how wide they are.
    width: Option<&'e syn::Expr>,
    method: &'e Ident,
}

impl Checker<'_> {
    /// The slice that a chain's base runs over.
    fn slice_under<'e>(&mut self, base: &'e syn::Expr) -> Option<Of<'e>> {
        let syn::Expr::MethodCall(m) = base else {
            return None;
        };
        let name = m.method.to_string();
        let width = match (m.args.len(), m.args.first()) {
            (0, _) if matches!(&*name, "iter" | "iter_mut") => None,
            (1, Some(width)) if PARTS.contains(&&*name) => Some(width),
            _ => return None,
        };
        let of = &m.receiver;
        let mut ty = self.type_ahead(&parse_quote_spanned!(m.span()=> &(#of)));
        while let Ty::Ref { target, .. } = self.shallow(&ty) {
            ty = *target;
        }
        matches!(self.shallow(&ty), Ty::Slice { .. } | Ty::Array(..)).then_some(Of {
            slice: &m.receiver,
            mutable: name.ends_with("_mut"),
            width,
            method: &m.method,
        })
    }

    /// Whether a chain is a slice's items and what leaves some of them out, or turns them round, alone.
    pub(super) fn only_jumps(&mut self, e: &syn::Expr) -> bool {
        let mut adaptors = Vec::new();
        let Some(base) = self.links(e, &mut adaptors) else {
            return false;
        };
        let is_part = matches!(base, syn::Expr::MethodCall(m) if !m.args.is_empty());
        let jumps = |m: &&syn::ExprMethodCall| match m.method.to_string().as_str() {
            "rev" => !is_part,
            name => matches!(name, "skip" | "take" | "step_by"),
        };
        adaptors.iter().filter(|m| m.method == "step_by").count() <= 1
            && adaptors.iter().all(jumps)
            && self.slice_under(base).is_some()
    }

    /// The same, perhaps with numbers, or copied.
    pub(super) fn jumps_at_most(&mut self, e: &syn::Expr) -> bool {
        let mut adaptors = Vec::new();
        let Some(base) = self.links(e, &mut adaptors).cloned() else {
            return false;
        };
        let is_part = matches!(&base, syn::Expr::MethodCall(m) if !m.args.is_empty());
        self.cuts(&adaptors, is_part).0 == adaptors.len() && self.slice_under(&base).is_some()
    }

    /// How many items a slice has, of a chain that is these.
    pub(super) fn length_of(&mut self, e: &syn::Expr) -> Option<syn::Expr> {
        let of = self.slice_under(strip(e)).filter(|of| of.width.is_none())?;
        let (span, slice) = (e.span(), of.slice);
        Some(parse_quote_spanned!(span=> (#slice).len()))
    }

    /// The loop of a slice's items behind the first adaptors, and how many of these that are; none if they are not such ones.
    pub(super) fn jumping(
        &mut self,
        base: &syn::Expr,
        adaptors: &[&syn::ExprMethodCall],
        span: Span,
        place: Place<'_>,
    ) -> Option<(Loop, usize)> {
        let is_part = matches!(base, syn::Expr::MethodCall(m) if !m.args.is_empty());
        let (cuts, is_whole) = self.cuts(adaptors, is_part);
        let step = adaptors.get(cuts).filter(|_| is_whole);
        let step = step.filter(|m| m.method == "step_by" && m.args.len() == 1);
        let jumps = adaptors[..cuts].iter().any(|m| m.method == "skip");
        if step.is_none() && !jumps {
            return None;
        }
        let of = self.slice_under(base)?;
        let mut all = Loop::new(base, span, place, of.width.is_none(), true);
        let [slice, width, count] = ["slice", "width", "count"].map(|name| all.variable(name));
        let by = match of.mutable {
            true => quote_spanned!(span=> &mut),
            false => quote_spanned!(span=> &),
        };
        let of_slice = of.slice;
        let mut before = quote_spanned!(span=> let #slice = #by (#of_slice)[..];);
        if let Some(of_width) = of.width {
            before.extend(quote_spanned!(span=> let #width: usize = #of_width;));
        }
        let is_windows = of.method == "windows";
        let (mut from_end, mut copied, mut counts) = (false, false, None);
        for m in &adaptors[..cuts] {
            let Some(number) = m.args.first() else {
                match m.method.to_string().as_str() {
                    "rev" => from_end = !from_end,
                    "enumerate" => {
                        let at = all.variable("at");
                        before.extend(quote_spanned!(span=> let mut #at: usize = 0;));
                        counts = Some(at);
                    }
                    _ => copied = true,
                }
                continue;
            };
            let elements = match (&of.width, is_windows, m.method == "skip") {
                (None, ..) | (Some(_), true, true) => quote_spanned!(span=> #count),
                (Some(_), false, _) => quote_spanned!(span=> #count.saturating_mul(#width)),
                (Some(_), true, false) => {
                    quote_spanned!(span=> if #count == 0 { 0 } else { #count.saturating_add(#width).wrapping_sub(1) })
                }
            };
            let part = part_left(m, from_end, &slice, &count);
            before.extend(quote_spanned!(span=>
                let #count: usize = #number;));
            // Where there are fewer items none is numbered.
            let numbered = counts.iter().filter(|_| m.method == "skip");
            before.extend(quote_spanned!(span=> #(#numbered = #numbered.wrapping_add(#count);)*));
            before.extend(quote_spanned!(span=>
                let #count = (#elements).min(#slice.len()); let #slice = #by #slice[#part];));
        }
        let over = match step {
            Some(step) => {
                let rest = Stepped {
                    of: &of,
                    from_end,
                    names: [&slice, &width, &count],
                    by: &by,
                };
                let (more, over, then) = rest.by(&step.args[0], all.variable("step"), span);
                before.extend(more);
                all.rounds = vec![Rounds::new(&over, span)];
                all.then(&then);
                all.before = before;
                return Some((all, cuts + 1));
            }
            None => {
                let method = of.method;
                let width = of.width.map(|_| &width).into_iter();
                let turned = from_end.then(|| quote_spanned!(span=> .rev()));
                let turned = turned.into_iter();
                parse_quote_spanned!(span=> #slice.#method(#(#width)*) #(#turned)*)
            }
        };
        all.rounds = vec![Rounds::new(&over, span)];
        all.before = before;
        let item = item(span);
        if copied {
            all.then(&quote_spanned!(span=> let #item = *#item;));
            all.refers = false;
        }
        if let Some(at) = counts {
            all.then(&quote_spanned!(span=> let #item = (#at, #item); #at += 1;));
            all.refers = false;
        }
        Some((all, cuts))
    }

    /// How many of the first adaptors leave items out or turn them round, with what stands between them; and whether nothing does.
    fn cuts(&mut self, adaptors: &[&syn::ExprMethodCall], is_part: bool) -> (usize, bool) {
        let (mut cuts, mut counted, mut between) = (0, false, false);
        for (i, m) in adaptors.iter().enumerate() {
            match (m.method.to_string().as_str(), m.args.len()) {
                ("rev", 0) if !is_part && !between => cuts = i + 1,
                ("skip" | "take", 1) => (cuts, counted) = (i + 1, between),
                ("copied" | "cloned", 0) if !between => between = true,
                ("enumerate", 0) if !adaptors[..i].iter().any(|m| m.method == "enumerate") => {
                    between = true;
                }
                _ => break,
            }
        }
        (cuts, !counted)
    }
}

/// What is left of a slice, to be stepped through.
struct Stepped<'e> {
    of: &'e Of<'e>,
    from_end: bool,
    /// The slice, the width of its parts, and a number.
    names: [&'e Ident; 3],
    by: &'e TokenStream,
}

impl Stepped<'_> {
    /// What stands before, what is run over, and what makes an item of that.
    fn by(
        &self,
        number: &syn::Expr,
        step: Ident,
        span: Span,
    ) -> (TokenStream, syn::Expr, TokenStream) {
        let ([slice, width, count], by, item) = (self.names, self.by, item(span));
        let mut before = quote_spanned!(span=> let #step: usize = #number; assert!(#step != 0););
        let chunks = Ident::new(
            if self.of.mutable {
                "chunks_mut"
            } else {
                "chunks"
            },
            span,
        );
        let name = self.of.method.to_string();
        if self.of.width.is_none() {
            // From behind, the last chunk is whole: it ends with the first item.
            let turned = self.from_end.then(|| {
                before.extend(quote_spanned!(span=>
                    let #count = ((#slice.len() % #step + (#step - 1)) % #step).min(#slice.len()); let #slice = #by #slice[#count..];));
                quote_spanned!(span=> .rev())
            });
            let turned = turned.into_iter();
            let over = parse_quote_spanned!(span=> #slice.#chunks(#step) #(#turned)*);
            return (
                before,
                over,
                quote_spanned!(span=> let #item = #by #item[0];),
            );
        }
        if name == "windows" {
            before.extend(quote_spanned!(span=>
                assert!(#width != 0); let #count = if #slice.len() < #width { 0 } else { #slice.len() - #width + 1 };));
            let over = parse_quote_spanned!(span=> (0..#count).step_by(#step));
            return (
                before,
                over,
                quote_spanned!(span=> let #item = &#slice[#item..#item + #width];),
            );
        }
        before.extend(quote_spanned!(span=> assert!(#width != 0);));
        if name.starts_with("chunks_exact") {
            before.extend(quote_spanned!(span=>
                let #count = #slice.len() - #slice.len() % #width; let #slice = #by #slice[..#count];));
        }
        let over = parse_quote_spanned!(span=> #slice.#chunks(#width.saturating_mul(#step)));
        let then = quote_spanned!(span=> let #count = #width.min(#item.len()); let #item = #by #item[..#count];);
        (before, over, then)
    }
}

/// The chain without `nth` or `last`: what is asked for is the first of its items.
pub(super) fn first_of(end: &syn::ExprMethodCall) -> Option<syn::ExprMethodCall> {
    let (span, of) = (end.span(), strip(&end.receiver));
    match (end.method.to_string().as_str(), end.args.first()) {
        ("nth", Some(number)) => Some(parse_quote_spanned!(span=> (#of).skip(#number).next())),
        ("last", None) => Some(parse_quote_spanned!(span=> (#of).rev().next())),
        _ => None,
    }
}
