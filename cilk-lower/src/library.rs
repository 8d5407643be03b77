//! Methods of Rust's own types that are written in the task language: what they are for a type is a copy, as of any function with parameters.
//!
//! They need not be Rust as they stand, for no one but the front end reads them: an operation that a copy's type lacks is refused where the method is called by
//! what rustc says of its bounds. In them nothing of the program has a name.

mod slices;

use crate::{
    generics::{At, FamilyId, TemplateId},
    items::{Item, Module},
};
use proc_macro2::{Group, Span, TokenStream, TokenTree};
use std::{collections::BTreeMap, sync::LazyLock};

/// Where their names are looked up: no module of a program can be called so.
const HERE: &str = "<std>";
/// What the types of ranges that functions give begin with.
pub(crate) const RANGE: &str = "std::ops::Range";

/// Of `bool`s.
const BOOLS: &str = "
    const fn then_some<T>(b: bool, x: T) -> Option<T> { if b { Some(x) } else { None } }
    const fn then<T, F: FnOnce() -> T>(b: bool, f: F) -> Option<T> { if b { Some(f()) } else { None } }
";

/// Of integers.
const INTS: &str = "
    const fn checked_div<T>(a: T, b: T) -> Option<T> {
        if b == 0 || T::MIN != 0 && a == T::MIN && b == !0 { None } else { Some(a / b) }
    }
    const fn checked_rem<T>(a: T, b: T) -> Option<T> {
        if b == 0 || T::MIN != 0 && a == T::MIN && b == !0 { None } else { Some(a % b) }
    }
    const fn checked_neg<T>(a: T) -> Option<T> {
        if T::MIN == 0 { return if a == 0 { Some(a) } else { None }; }
        if a == T::MIN { None } else { Some(a.wrapping_neg()) }
    }
    const fn checked_abs<T>(a: T) -> Option<T> { if a == T::MIN { None } else { Some(a.abs()) } }
    const fn checked_shl<T>(a: T, by: u32) -> Option<T> { if by < T::BITS { Some(a << by) } else { None } }
    const fn checked_shr<T>(a: T, by: u32) -> Option<T> { if by < T::BITS { Some(a >> by) } else { None } }
    const fn checked_pow<T>(a: T, by: u32) -> Option<T> {
        let mut all: T = 1;
        let mut power = a;
        let mut left = by;
        while left > 0 {
            if left % 2 == 1 {
                let (next, over) = all.overflowing_mul(power);
                if over { return None; }
                all = next;
            }
            left /= 2;
            if left > 0 {
                let (next, over) = power.overflowing_mul(power);
                if over { return None; }
                power = next;
            }
        }
        Some(all)
    }
    const fn checked_ilog2<T>(a: T) -> Option<u32> { if a > 0 { Some(a.ilog2()) } else { None } }
    const fn checked_ilog10<T>(a: T) -> Option<u32> { if a > 0 { Some(a.ilog10()) } else { None } }
    const fn checked_next_power_of_two<T>(a: T) -> Option<T> {
        if a > T::MAX / 2 + 1 { None } else { Some(a.next_power_of_two()) }
    }
    const fn checked_add_signed<T, S>(a: T, b: S) -> Option<T> {
        let sum = a.wrapping_add(b as T);
        if (b >= 0) == (sum >= a) { Some(sum) } else { None }
    }
    const fn wrapping_add_signed<T, S>(a: T, b: S) -> T { a.wrapping_add(b as T) }
    const fn saturating_add_signed<T, S>(a: T, b: S) -> T {
        let sum = a.wrapping_add(b as T);
        if (b >= 0) == (sum >= a) { sum } else if b >= 0 { T::MAX } else { 0 }
    }
    const fn saturating_pow<T>(a: T, by: u32) -> T {
        let mut all: T = 1;
        let mut left = by;
        let mut power = a;
        while left > 0 {
            if left % 2 == 1 { all = all.saturating_mul(power); }
            left /= 2;
            if left > 0 { power = power.saturating_mul(power); }
        }
        all
    }
    const fn wrapping_div<T>(a: T, b: T) -> T {
        if T::MIN != 0 && a == T::MIN && b == !0 { a } else { a / b }
    }
    const fn wrapping_rem<T>(a: T, b: T) -> T {
        if T::MIN != 0 && a == T::MIN && b == !0 { 0 } else { a % b }
    }
    const fn checked_rem_euclid<T>(a: T, b: T) -> Option<T> {
        if b == 0 || T::MIN != 0 && a == T::MIN && b == !0 { None } else { Some(a.rem_euclid(b)) }
    }
    const fn checked_div_euclid<T>(a: T, b: T) -> Option<T> {
        if b == 0 || T::MIN != 0 && a == T::MIN && b == !0 { None } else { Some(a.div_euclid(b)) }
    }
    const fn wrapping_rem_euclid<T>(a: T, b: T) -> T {
        if T::MIN != 0 && a == T::MIN && b == !0 { 0 } else { a.rem_euclid(b) }
    }
    const fn wrapping_div_euclid<T>(a: T, b: T) -> T {
        if T::MIN != 0 && a == T::MIN && b == !0 { a } else { a.div_euclid(b) }
    }
    const fn saturating_div<T>(a: T, b: T) -> T {
        if T::MIN != 0 && a == T::MIN && b == !0 { T::MAX } else { a / b }
    }
    const fn saturating_neg<T>(a: T) -> T { if a == T::MIN { T::MAX } else { a.wrapping_neg() } }
    const fn saturating_abs<T>(a: T) -> T { if a == T::MIN { T::MAX } else { a.abs() } }
    const fn overflowing_neg<T>(a: T) -> (T, bool) {
        (a.wrapping_neg(), if T::MIN == 0 { a != 0 } else { a == T::MIN })
    }
    const fn checked_add_unsigned<T, U>(a: T, b: U) -> Option<T> {
        let sum = a.wrapping_add(b as T);
        if sum < a { None } else { Some(sum) }
    }
    const fn checked_sub_unsigned<T, U>(a: T, b: U) -> Option<T> {
        let rest = a.wrapping_sub(b as T);
        if rest > a { None } else { Some(rest) }
    }
    const fn saturating_add_unsigned<T, U>(a: T, b: U) -> T {
        let sum = a.wrapping_add(b as T);
        if sum < a { T::MAX } else { sum }
    }
    const fn saturating_sub_unsigned<T, U>(a: T, b: U) -> T {
        let rest = a.wrapping_sub(b as T);
        if rest > a { T::MIN } else { rest }
    }
    const fn wrapping_add_unsigned<T, U>(a: T, b: U) -> T { a.wrapping_add(b as T) }
    const fn wrapping_sub_unsigned<T, U>(a: T, b: U) -> T { a.wrapping_sub(b as T) }
    const fn checked_next_multiple_of<T>(a: T, b: T) -> Option<T> {
        if b == 0 { return None; }
        let rest = a % b;
        if rest == 0 { return Some(a); }
        let next = a.wrapping_add(b - rest);
        if next < a { None } else { Some(next) }
    }
    const fn checked_ilog<T>(a: T, base: T) -> Option<u32> {
        if a > 0 && base > 1 { Some(a.ilog(base)) } else { None }
    }
    const fn unbounded_shl<T>(a: T, by: u32) -> T { if by < T::BITS { a << by } else { 0 } }
    const fn unbounded_shr<T>(a: T, by: u32) -> T {
        if by < T::BITS { a >> by } else if T::MIN == 0 { 0 } else { a >> (T::BITS - 1) }
    }
    const fn eq_ignore_ascii_case<T>(a: T, b: &T) -> bool { a.to_ascii_lowercase() == b.to_ascii_lowercase() }
    const fn to_be<T>(a: T) -> T { a.swap_bytes() }
    const fn to_le<T>(a: T) -> T { a }
    const fn midpoint<T>(a: T, b: T) -> T {
        let low = (a & b).wrapping_add((a ^ b) >> 1);
        if T::MIN != 0 && low < 0 && (a ^ b) & 1 != 0 { low + 1 } else { low }
    }
";

/// Of floats.
const FLOATS: &str = "
    const fn is_normal<T>(x: T) -> bool { x.is_finite() && x.abs() >= T::MIN_POSITIVE }
    const fn is_subnormal<T>(x: T) -> bool { x != 0.0 && x.abs() < T::MIN_POSITIVE }
    const fn midpoint<T>(a: T, b: T) -> T {
        if T::EPSILON > 1e-10 { return ((a as f64 + b as f64) / 2.0) as T; }
        let (small, large) = (T::MIN_POSITIVE * 2.0, T::MAX / 2.0);
        if a.abs() <= large && b.abs() <= large { (a + b) / 2.0 }
        else if a.abs() < small { a + b / 2.0 }
        else if b.abs() < small { a / 2.0 + b }
        else { a / 2.0 + b / 2.0 }
    }
    fn asinh<T>(x: T) -> T {
        let (size, inverse) = (x.abs(), 1.0 / x.abs());
        (size + (size / (inverse.hypot(1.0) + inverse))).ln_1p().copysign(x)
    }
    fn atanh<T>(x: T) -> T { 0.5 * ((2.0 * x) / (1.0 - x)).ln_1p() }
    fn acosh<T>(x: T) -> T {
        if x < 1.0 { T::NAN } else { (x + ((x - 1.0).sqrt() * (x + 1.0).sqrt())).ln() }
    }
    const fn next_up<T>(x: T) -> T {
        if x.is_nan() || x == T::INFINITY { return x; }
        let bits = x.to_bits();
        if x == 0.0 { T::from_bits(1) } else if x > 0.0 { T::from_bits(bits + 1) } else { T::from_bits(bits - 1) }
    }
    const fn next_down<T>(x: T) -> T { -(-x).next_up() }
";

/// Of arrays, and functions that make them.
const ARRAYS: &str = "
    fn map<T, R, const N: usize, F: Fn(T) -> R>(a: [T; N], f: F) -> [R; N] {
        let mut out: [R; N] = zeroed();
        for i in 0..N { out[i] = f(a[i]); }
        out
    }
    fn each_ref<T, const N: usize>(a: &[T; N]) -> [&T; N] {
        let mut out: [&T; N] = zeroed();
        for i in 0..N { out[i] = &a[i]; }
        out
    }
    fn each_mut<T, const N: usize>(a: &mut [T; N]) -> [&mut T; N] {
        let mut out: [&mut T; N] = zeroed();
        for i in 0..N { out[i] = &mut a[i]; }
        out
    }
    fn from_fn<T, const N: usize, F: Fn(usize) -> T>(f: F) -> [T; N] {
        let mut out: [T; N] = zeroed();
        for i in 0..N { out[i] = f(i); }
        out
    }
";

/// Types.
const TYPES: &str = "
    struct Range<T> { start: T, end: T }
    impl<T> Range<T> {
        const fn contains(&self, x: &T) -> bool { self.start <= *x && *x < self.end }
        const fn is_empty(&self) -> bool { !(self.start < self.end) }
        const fn len(&self) -> usize {
            if self.start < self.end { self.end.wrapping_sub(self.start) as usize } else { 0 }
        }
        fn next(&mut self) -> Option<T> {
            if !(self.start < self.end) { return None; }
            let x = self.start;
            self.start = x + 1;
            Some(x)
        }
        fn next_back(&mut self) -> Option<T> {
            if !(self.start < self.end) { return None; }
            self.end = self.end - 1;
            Some(self.end)
        }
    }
    struct RangeInclusive<T> { first: T, last: T }
    impl<T> RangeInclusive<T> {
        const fn start(&self) -> &T { &self.first }
        const fn end(&self) -> &T { &self.last }
        const fn contains(&self, x: &T) -> bool { self.first <= *x && *x <= self.last }
        const fn is_empty(&self) -> bool { !(self.first <= self.last) }
        fn next(&mut self) -> Option<T> {
            if !(self.first <= self.last) { return None; }
            let x = self.first;
            if x < self.last { self.first = x + 1; } else { self.first = 1; self.last = 0; }
            Some(x)
        }
        fn next_back(&mut self) -> Option<T> {
            if !(self.first <= self.last) { return None; }
            let x = self.last;
            if self.first < x { self.last = x - 1; } else { self.first = 1; self.last = 0; }
            Some(x)
        }
    }
";

/// Of what a method is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Of {
    Bool,
    Int,
    Float,
    Slice,
    Array,
}

impl Of {
    const ALL: [(Self, &'static str, &'static str); 5] = [
        (Self::Bool, "bool", BOOLS),
        (Self::Int, "<int>", INTS),
        (Self::Float, "<float>", FLOATS),
        (Self::Slice, "<[T]>", slices::SLICES),
        (Self::Array, "<[T; N]>", ARRAYS),
    ];
}

/// The types that `a..b` and `a..=b` have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranges {
    open: FamilyId,
    closed: FamilyId,
}

impl Ranges {
    pub(crate) const fn both(self) -> [FamilyId; 2] {
        [self.open, self.closed]
    }

    /// That with these limits.
    pub(crate) const fn with(self, limits: &syn::RangeLimits) -> FamilyId {
        match limits {
            syn::RangeLimits::HalfOpen(_) => self.open,
            syn::RangeLimits::Closed(_) => self.closed,
        }
    }

    /// Whether it is one of them, and that with its end.
    pub(crate) fn is_closed(self, family: FamilyId) -> Option<bool> {
        match family {
            _ if family == self.open => Some(false),
            _ if family == self.closed => Some(true),
            _ => None,
        }
    }
}

/// The methods that a program has asked for.
#[derive(Debug, Default)]
pub(crate) struct Library {
    asked: BTreeMap<(Of, String), TemplateId>,
}

/// The text of each method: most programs ask for few, and reading all takes longer than lowering a small program. One begins where a line that is indented
/// once says so.
static METHODS: LazyLock<BTreeMap<(Of, &str), &str>> = LazyLock::new(|| {
    let mut out = BTreeMap::new();
    for (of, _, text) in Of::ALL {
        let begins = text.match_indices("\n    ").map(|(i, _)| i).filter(|i| {
            let line = &text[i + 5..];
            line.starts_with("fn ") || line.starts_with("const fn ")
        });
        let begins: Vec<usize> = begins.chain([text.len()]).collect();
        for method in begins.windows(2).map(|w| &text[w[0]..w[1]]) {
            if let Some((_, rest)) = method.split_once("fn ")
                && let Some((name, _)) = rest.split_once('<')
            {
                out.insert((of, name), method);
            }
        }
    }
    let texts = Of::ALL.iter().map(|(.., text)| text.matches("fn ").count());
    debug_assert_eq!(
        texts.sum::<usize>(),
        out.len(),
        "a method is not found where it begins"
    );
    out
});

pub(crate) fn items(text: &str) -> Vec<syn::Item> {
    let tokens = text.parse::<TokenStream>().map(nowhere);
    let file = tokens
        .ok()
        .and_then(|tokens| syn::parse2::<syn::File>(tokens).ok());
    file.map(|f| f.items).unwrap_or_default()
}

/// Tokens that stand nowhere in a program's file.
fn nowhere(tokens: TokenStream) -> TokenStream {
    let one = |mut token| {
        if let TokenTree::Group(g) = token {
            token = Group::new(g.delimiter(), nowhere(g.stream())).into();
        }
        token.set_span(Span::call_site());
        token
    };
    tokens.into_iter().map(one).collect()
}

/// Whether something stands nowhere in a program's file, as what the library's methods say does.
pub(crate) fn is_nowhere(span: Span) -> bool {
    span.byte_range() == Span::call_site().byte_range()
}

impl Module {
    /// Declares the types of the library.
    pub(crate) fn declare_library(&mut self) {
        let at = At {
            here: HERE.to_owned(),
            ..At::default()
        };
        for item in items(TYPES) {
            self.elsewhere(&at, |m| m.declare_library_item(&item, "std::ops"));
        }
        let family = |name: &str| match self.names.get(name) {
            Some(Item::Family(id)) => Some(*id),
            _ => None,
        };
        let (open, closed) = (family(RANGE), family("std::ops::RangeInclusive"));
        self.ranges = open
            .zip(closed)
            .map(|(open, closed)| Ranges { open, closed });
    }

    /// The type of ranges that a path names, if it names nothing of the program.
    pub(crate) fn range_named(&self, path: &syn::Path) -> Option<FamilyId> {
        let whole = self.whole_path(path);
        let path = whole.as_ref().unwrap_or(path);
        let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        let ranges = self.ranges?;
        let of = |name: &str| match name {
            "Range" => Some(ranges.open),
            "RangeInclusive" => Some(ranges.closed),
            _ => None,
        };
        match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [name] if self.in_library() || whole.is_some() => of(name),
            [.., "ops", name] => of(name),
            _ => None,
        }
    }

    /// A method of this name.
    pub(crate) fn library(&mut self, of: Of, name: &str) -> Option<TemplateId> {
        // What the library alone may call.
        if name.starts_with('_') && !self.in_library() {
            return None;
        }
        self.library_part(of, name)
    }

    /// The same of what the library alone may call, too.
    pub(crate) fn library_part(&mut self, of: Of, name: &str) -> Option<TemplateId> {
        let key = (of, name.to_owned());
        if let Some(id) = self.library.asked.get(&key) {
            return Some(*id);
        }
        let text = METHODS.get(&(of, name))?;
        let item = items(text).into_iter().find_map(|item| match item {
            syn::Item::Fn(f) => Some(f),
            _ => None,
        })?;
        let (_, shown, _) = Of::ALL.into_iter().find(|(other, ..)| *other == of)?;
        let at = At {
            here: HERE.to_owned(),
            ..At::default()
        };
        let id = self.elsewhere(&at, |m| m.template(format!("{shown}::{name}"), item));
        self.library.asked.insert(key, id);
        Some(id)
    }

    /// Whether names are looked up for a method of the library.
    pub(crate) fn in_library(&self) -> bool {
        self.at.here == HERE
    }
}
