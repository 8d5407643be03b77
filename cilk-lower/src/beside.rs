//! Types of Rust's library that a program may name and that are made of others, written as a program would write them: `std::cmp::Reverse`, `std::num::Wrapping`, `std::num::NonZero`, and
//! `u128` and `i128` as two halves. They stand in modules of the program that names them, and what it does not use of them is not copied.

use crate::{
    generics::FamilyId,
    items::{Item, Module},
    library::items,
};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::fmt::Write as _;

/// Where the halves stand, and their type.
const WIDE: &str = "std::wide::Wide";

const REVERSE: &str = "
    pub struct Reverse<T>(pub T);
    impl<T> PartialEq for Reverse<T> {
        fn eq(&self, other: &Self) -> bool { self.0 == other.0 }
    }
    impl<T> Eq for Reverse<T> {}
    impl<T> PartialOrd for Reverse<T> {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> { other.0.partial_cmp(&self.0) }
    }
    impl<T> Ord for Reverse<T> {
        fn cmp(&self, other: &Self) -> Ordering { other.0.cmp(&self.0) }
    }
    impl<T: Default> Default for Reverse<T> {
        fn default() -> Self { Reverse(T::default()) }
    }
";

const WRAPPING: &str = "
    #[derive(PartialEq, Eq, PartialOrd, Ord, Default)]
    pub struct Wrapping<T>(pub T);
    impl<T> Neg for Wrapping<T> { type Output = Self; fn neg(self) -> Self { Wrapping(self.0.wrapping_neg()) } }
    impl<T> Not for Wrapping<T> { type Output = Self; fn not(self) -> Self { Wrapping(!self.0) } }
    impl<T> Shl<usize> for Wrapping<T> {
        type Output = Self;
        fn shl(self, by: usize) -> Self { Wrapping(self.0.wrapping_shl((by & 63) as u32)) }
    }
    impl<T> Shr<usize> for Wrapping<T> {
        type Output = Self;
        fn shr(self, by: usize) -> Self { Wrapping(self.0.wrapping_shr((by & 63) as u32)) }
    }
    impl<T> ShlAssign<usize> for Wrapping<T> { fn shl_assign(&mut self, by: usize) { *self = *self << by; } }
    impl<T> ShrAssign<usize> for Wrapping<T> { fn shr_assign(&mut self, by: usize) { *self = *self >> by; } }
    impl<T> Wrapping<T> {
        pub fn pow(self, by: u32) -> Self { Wrapping(self.0.wrapping_pow(by)) }
        pub fn count_ones(self) -> u32 { self.0.count_ones() }
        pub fn rotate_left(self, by: u32) -> Self { Wrapping(self.0.rotate_left(by)) }
        pub fn rotate_right(self, by: u32) -> Self { Wrapping(self.0.rotate_right(by)) }
    }
";

/// Numbers that are not zero. What has one or none is an `Option` of it, as in Rust.
const NON_ZERO: &str = "
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    pub struct NonZero<T>(T);
    impl<T> NonZero<T> {
        pub const fn new(x: T) -> Option<Self> { if x == 0 as T { None } else { Some(NonZero(x)) } }
        pub const fn get(self) -> T { self.0 }
        pub const fn leading_zeros(self) -> u32 { self.0.leading_zeros() }
        pub const fn trailing_zeros(self) -> u32 { self.0.trailing_zeros() }
        pub const fn count_ones(self) -> NonZero<u32> { NonZero(self.0.count_ones()) }
        pub const fn ilog2(self) -> u32 { self.0.ilog2() }
        pub const fn is_power_of_two(self) -> bool { self.0.is_power_of_two() }
        pub const fn checked_add(self, by: T) -> Option<Self> {
            match self.0.checked_add(by) { Some(x) => Some(NonZero(x)), None => None }
        }
        pub const fn saturating_add(self, by: T) -> Self { NonZero(self.0.saturating_add(by)) }
        pub const fn checked_mul(self, by: Self) -> Option<Self> {
            match self.0.checked_mul(by.0) { Some(x) => Some(NonZero(x)), None => None }
        }
    }
";

/// A number of 128 bits by its halves: `S` says whether it has a sign. Products and remainders by Knuth's algorithm D with digits of 32 bits.
const HALVES: &str = "
    pub struct Wide<const S: bool> { low: u64, high: u64 }
    impl<const S: bool> Wide<S> {
        pub const BITS: u32 = 128;
        pub const MAX: Self = Wide { low: !0, high: if S { !0 >> 1 } else { !0 } };
        pub const MIN: Self = Wide { low: 0, high: if S { 1 << 63 } else { 0 } };
        fn of(low: u64, high: u64) -> Self { Wide { low, high } }
        fn is_negative(self) -> bool { S && self.high >> 63 != 0 }
        fn is_positive(self) -> bool { !self.is_negative() && (self.low | self.high) != 0 }
        fn size(self) -> Self { if self.is_negative() { -self } else { self } }
        pub fn abs(self) -> Self { self.size() }
        pub fn signum(self) -> Self {
            if self.is_negative() { Self::of(!0, !0) } else { Self::of(((self.low | self.high) != 0) as u64, 0) }
        }
        pub fn count_ones(self) -> u32 { self.low.count_ones() + self.high.count_ones() }
        pub fn leading_zeros(self) -> u32 {
            if self.high != 0 { self.high.leading_zeros() } else { 64 + self.low.leading_zeros() }
        }
        pub fn trailing_zeros(self) -> u32 {
            if self.low != 0 { self.low.trailing_zeros() } else { 64 + self.high.trailing_zeros() }
        }
        pub fn is_power_of_two(self) -> bool { self.count_ones() == 1 }
        pub fn ilog2(self) -> u32 { assert!((self.low | self.high) != 0); 127 - self.leading_zeros() }
        pub fn wrapping_add(self, other: Self) -> Self { self + other }
        pub fn wrapping_sub(self, other: Self) -> Self { self - other }
        pub fn wrapping_mul(self, other: Self) -> Self { self * other }
        pub fn wrapping_div(self, by: Self) -> Self { self / by }
        pub fn wrapping_rem(self, by: Self) -> Self { self % by }
        pub fn checked_mul(self, other: Self) -> Option<Self> {
            let product = self * other;
            let is_none = Self::of(0, 0) == self;
            let turns = S && (self == -Self::of(1, 0) && other == Self::MIN);
            if is_none { return Some(product); }
            if turns || product / self != other { None } else { Some(product) }
        }
        pub fn div_ceil(self, by: Self) -> Self {
            let (q, r) = self.div_rem(by);
            if r == Self::of(0, 0) || r.is_negative() != by.is_negative() { q } else { q + Self::of(1, 0) }
        }
        pub fn is_multiple_of(self, by: Self) -> bool {
            let none = Self::of(0, 0);
            if by == none { self == none } else { self % by == none }
        }
        pub fn rem_euclid(self, by: Self) -> Self {
            let rest = self % by;
            if rest.is_negative() { rest + by.size() } else { rest }
        }
        pub fn div_euclid(self, by: Self) -> Self {
            let (q, rest) = self.div_rem(by);
            let one = Self::of(1, 0);
            if !rest.is_negative() { q } else if by.is_negative() { q + one } else { q - one }
        }
        pub fn wrapping_neg(self) -> Self { -self }
        pub fn abs_diff(self, other: Self) -> Wide<false> {
            let d = if self < other { other - self } else { self - other };
            Wide { low: d.low, high: d.high }
        }
        pub fn rotate_left(self, by: u32) -> Self {
            let by = by % 128;
            if by == 0 { self } else { Self::left(self, by) | Self::right(self, 128 - by) }
        }
        pub fn rotate_right(self, by: u32) -> Self { self.rotate_left(128 - by % 128) }
        pub fn pow(self, by: u32) -> Self {
            let (mut all, mut power, mut left) = (Self::of(1, 0), self, by);
            while left > 0 {
                if left % 2 == 1 { all = all * power; }
                power = power * power;
                left /= 2;
            }
            all
        }
        pub fn checked_add(self, other: Self) -> Option<Self> {
            let sum = self + other;
            let over = if S { ((self.high ^ sum.high) & (other.high ^ sum.high)) >> 63 != 0 } else { sum < self };
            if over { None } else { Some(sum) }
        }
        pub fn checked_sub(self, other: Self) -> Option<Self> {
            let d = self - other;
            let over = if S { ((self.high ^ other.high) & (self.high ^ d.high)) >> 63 != 0 } else { self < other };
            if over { None } else { Some(d) }
        }
        pub fn overflowing_add(self, other: Self) -> (Self, bool) { (self + other, self.checked_add(other).is_none()) }
        pub fn overflowing_sub(self, other: Self) -> (Self, bool) { (self - other, self.checked_sub(other).is_none()) }
        pub fn overflowing_mul(self, other: Self) -> (Self, bool) { (self * other, self.checked_mul(other).is_none()) }
        pub fn saturating_add(self, other: Self) -> Self {
            if let Some(sum) = self.checked_add(other) { return sum; }
            if other.is_negative() { Self::MIN } else { Self::MAX }
        }
        pub fn saturating_sub(self, other: Self) -> Self {
            if let Some(d) = self.checked_sub(other) { return d; }
            if other.is_negative() { Self::MAX } else { Self::MIN }
        }
        pub fn saturating_mul(self, other: Self) -> Self {
            if let Some(product) = self.checked_mul(other) { return product; }
            if self.is_negative() != other.is_negative() { Self::MIN } else { Self::MAX }
        }
        pub fn checked_div(self, by: Self) -> Option<Self> {
            let turns = S && self == Self::MIN && by == -Self::of(1, 0);
            if turns || by == Self::of(0, 0) { None } else { Some(self / by) }
        }
        pub fn checked_rem(self, by: Self) -> Option<Self> {
            let turns = S && self == Self::MIN && by == -Self::of(1, 0);
            if turns || by == Self::of(0, 0) { None } else { Some(self % by) }
        }
        pub fn checked_pow(self, by: u32) -> Option<Self> {
            let (mut all, mut power, mut left) = (Self::of(1, 0), self, by);
            while left > 0 {
                if left % 2 == 1 { all = all.checked_mul(power)?; }
                left /= 2;
                if left > 0 { power = power.checked_mul(power)?; }
            }
            Some(all)
        }
        pub fn wrapping_pow(self, by: u32) -> Self { self.pow(by) }
        pub fn unsigned_abs(self) -> Wide<false> {
            let size = self.size();
            Wide { low: size.low, high: size.high }
        }
        pub fn isqrt(self) -> Self {
            assert!(!self.is_negative());
            if (self.low | self.high) == 0 { return self; }
            let (mut rest, mut root) = (self, Self::of(0, 0));
            let mut bit = Self::left(Self::of(1, 0), self.ilog2() / 2 * 2);
            while (bit.low | bit.high) != 0 {
                let with = root | bit;
                root = Self::right(root, 1);
                if rest >= with {
                    rest = rest - with;
                    root = root | bit;
                }
                bit = Self::right(bit, 2);
            }
            root
        }
        pub fn count_zeros(self) -> u32 { 128 - self.count_ones() }
        pub fn leading_ones(self) -> u32 { (!self).leading_zeros() }
        pub fn trailing_ones(self) -> u32 { (!self).trailing_zeros() }
        pub fn swap_bytes(self) -> Self { Self::of(self.high.swap_bytes(), self.low.swap_bytes()) }
        pub fn reverse_bits(self) -> Self { Self::of(self.high.reverse_bits(), self.low.reverse_bits()) }
        fn left(self, by: u32) -> Self {
            if by == 0 { self }
            else if by < 64 { Self::of(self.low << by, (self.high << by) | (self.low >> (64 - by))) }
            else { Self::of(0, self.low << (by - 64)) }
        }
        fn right(self, by: u32) -> Self {
            if by == 0 { self }
            else if by < 64 { Self::of((self.low >> by) | (self.high << (64 - by)), self.high >> by) }
            else { Self::of(self.high >> (by - 64), 0) }
        }
        fn shifted_right(self, by: u32) -> Self {
            let moved = Self::right(self, by);
            if by > 0 && self.is_negative() { moved | !Self::right(Self::of(!0, !0), by) } else { moved }
        }
        fn divided_by_half(high: u64, low: u64, by: u64) -> (u64, u64) {
            let shift = by.leading_zeros();
            let v = by << shift;
            let (v1, v0) = (v >> 32, v & 0xffff_ffff);
            let u32_ = if shift == 0 { high } else { (high << shift) | (low >> (64 - shift)) };
            let rest = low << shift;
            let (u1, u0) = (rest >> 32, rest & 0xffff_ffff);
            let mut q1 = u32_ / v1;
            let mut r = u32_.wrapping_sub(q1.wrapping_mul(v1));
            while q1 >> 32 != 0 || q1.wrapping_mul(v0) > ((r << 32) | u1) {
                q1 = q1.wrapping_sub(1);
                r = r.wrapping_add(v1);
                if r >> 32 != 0 { break; }
            }
            let u21 = (u32_ << 32).wrapping_add(u1).wrapping_sub(q1.wrapping_mul(v));
            let mut q0 = u21 / v1;
            r = u21.wrapping_sub(q0.wrapping_mul(v1));
            while q0 >> 32 != 0 || q0.wrapping_mul(v0) > ((r << 32) | u0) {
                q0 = q0.wrapping_sub(1);
                r = r.wrapping_add(v1);
                if r >> 32 != 0 { break; }
            }
            let left = (u21 << 32).wrapping_add(u0).wrapping_sub(q0.wrapping_mul(v)) >> shift;
            ((q1 << 32).wrapping_add(q0), left)
        }
        fn div_rem_of_sizes(self, by: Self) -> (Self, Self) {
            if self.high == 0 && by.high == 0 {
                return (Self::of(self.low / by.low, 0), Self::of(self.low % by.low, 0));
            }
            if by.high == 0 {
                let (q1, r1) = (self.high / by.low, self.high % by.low);
                let (q0, r0) = Self::divided_by_half(r1, self.low, by.low);
                return (Self::of(q0, q1), Self::of(r0, 0));
            }
            let (mut left, mut quotient) = (self, 0u64);
            let mut shift = by.high.leading_zeros();
            loop {
                let part = Self::left(by, shift);
                let fits = left.high > part.high || left.high == part.high && left.low >= part.low;
                if fits {
                    left = left - part;
                    quotient |= 1 << shift;
                }
                if shift == 0 { break; }
                shift -= 1;
            }
            (Self::of(quotient, 0), left)
        }
        fn div_rem(self, by: Self) -> (Self, Self) {
            let (q, r) = self.size().div_rem_of_sizes(by.size());
            (
                if self.is_negative() != by.is_negative() { -q } else { q },
                if self.is_negative() { -r } else { r },
            )
        }
        fn as_f64(self) -> f64 {
            let size = self.size();
            let x = if size.high == 0 { size.low as f64 } else {
                let by = 64 - size.high.leading_zeros();
                let top = Self::right(size, by);
                let rest = Self::left(size, 128 - by);
                let top = top.low | ((rest.low | rest.high) != 0) as u64;
                top as f64 * f64::from_bits((1023 + by as u64) << 52)
            };
            if self.is_negative() { -x } else { x }
        }
        fn as_f32(self) -> f32 {
            let size = self.size();
            let x = if size.high == 0 { size.low as f32 } else {
                let by = 64 - size.high.leading_zeros();
                let top = Self::right(size, by);
                let rest = Self::left(size, 128 - by);
                let top = top.low | ((rest.low | rest.high) != 0) as u64;
                top as f32 * f32::from_bits((127 + by) << 23)
            };
            if self.is_negative() { -x } else { x }
        }
    }
    impl<const S: bool> Default for Wide<S> { fn default() -> Self { Wide { low: 0, high: 0 } } }
    impl<const S: bool> PartialEq for Wide<S> {
        fn eq(&self, other: &Self) -> bool { self.low == other.low && self.high == other.high }
    }
    impl<const S: bool> Eq for Wide<S> {}
    impl<const S: bool> PartialOrd for Wide<S> {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> { Some(self.cmp(other)) }
    }
    impl<const S: bool> Ord for Wide<S> {
        fn cmp(&self, other: &Self) -> Ordering {
            let turned = if S { 1 << 63 } else { 0 };
            (self.high ^ turned, self.low).cmp(&(other.high ^ turned, other.low))
        }
    }
    impl<const S: bool> Add for Wide<S> {
        type Output = Self;
        fn add(self, other: Self) -> Self {
            let (low, carry) = self.low.overflowing_add(other.low);
            Wide { low, high: self.high.wrapping_add(other.high).wrapping_add(carry as u64) }
        }
    }
    impl<const S: bool> Sub for Wide<S> {
        type Output = Self;
        fn sub(self, other: Self) -> Self {
            let (low, borrow) = self.low.overflowing_sub(other.low);
            Wide { low, high: self.high.wrapping_sub(other.high).wrapping_sub(borrow as u64) }
        }
    }
    impl<const S: bool> Mul for Wide<S> {
        type Output = Self;
        fn mul(self, other: Self) -> Self {
            let (a0, a1) = (self.low & 0xffff_ffff, self.low >> 32);
            let (b0, b1) = (other.low & 0xffff_ffff, other.low >> 32);
            let (low, cross) = (a0 * b0, a1 * b0);
            let middle = (low >> 32) + (cross & 0xffff_ffff) + a0 * b1;
            let high = a1 * b1 + (cross >> 32) + (middle >> 32);
            let more = self.low.wrapping_mul(other.high).wrapping_add(self.high.wrapping_mul(other.low));
            Wide { low: (middle << 32) | (low & 0xffff_ffff), high: high.wrapping_add(more) }
        }
    }
    impl<const S: bool> Div for Wide<S> { type Output = Self; fn div(self, by: Self) -> Self { self.div_rem(by).0 } }
    impl<const S: bool> Rem for Wide<S> { type Output = Self; fn rem(self, by: Self) -> Self { self.div_rem(by).1 } }
    impl<const S: bool> BitAnd for Wide<S> {
        type Output = Self;
        fn bitand(self, other: Self) -> Self { Wide { low: self.low & other.low, high: self.high & other.high } }
    }
    impl<const S: bool> BitOr for Wide<S> {
        type Output = Self;
        fn bitor(self, other: Self) -> Self { Wide { low: self.low | other.low, high: self.high | other.high } }
    }
    impl<const S: bool> BitXor for Wide<S> {
        type Output = Self;
        fn bitxor(self, other: Self) -> Self { Wide { low: self.low ^ other.low, high: self.high ^ other.high } }
    }
    impl<const S: bool> Not for Wide<S> { type Output = Self; fn not(self) -> Self { Wide { low: !self.low, high: !self.high } } }
    impl<const S: bool> Neg for Wide<S> { type Output = Self; fn neg(self) -> Self { Wide { low: 0, high: 0 } - self } }
";

/// The operators that have one which assigns: their traits, methods and signs.
const ASSIGNING: [(&str, &str, &str); 8] = [
    ("Add", "add", "+"),
    ("Sub", "sub", "-"),
    ("Mul", "mul", "*"),
    ("Div", "div", "/"),
    ("Rem", "rem", "%"),
    ("BitAnd", "bitand", "&"),
    ("BitOr", "bitor", "|"),
    ("BitXor", "bitxor", "^"),
];

const INTEGERS: [&str; 10] = [
    "i32", "u32", "usize", "u64", "i64", "u8", "u16", "i8", "i16", "isize",
];

/// `std::num::Wrapping` with all of its operators.
fn wrapping() -> String {
    let mut text = WRAPPING.to_owned();
    for (of, name, sign) in ASSIGNING {
        let value = match name {
            "add" | "sub" | "mul" | "div" | "rem" => format!("self.0.wrapping_{name}(other.0)"),
            _ => format!("self.0 {sign} other.0"),
        };
        _ = writeln!(
            text,
            "impl<T> {of} for Wrapping<T> {{ type Output = Self; fn {name}(self, other: Self) -> Self {{ Wrapping({value}) }} }}
             impl<T> {of}Assign for Wrapping<T> {{ fn {name}_assign(&mut self, other: Self) {{ *self = *self {sign} other; }} }}"
        );
    }
    text
}

/// The halves with all of their operators.
fn wide() -> String {
    let mut text = HALVES.to_owned();
    for (of, name, sign) in ASSIGNING {
        _ = writeln!(
            text,
            "impl<const S: bool> {of}Assign for Wide<S> {{ fn {name}_assign(&mut self, other: Self) {{ *self = *self {sign} other; }} }}"
        );
    }
    for by in INTEGERS {
        for (of, name, with) in [("Shl", "shl", "left"), ("Shr", "shr", "shifted_right")] {
            _ = writeln!(
                text,
                "impl<const S: bool> {of}<{by}> for Wide<S> {{ type Output = Self; fn {name}(self, by: {by}) -> Self {{ self.{with}((by & 127) as u32) }} }}
                 impl<const S: bool> {of}Assign<{by}> for Wide<S> {{ fn {name}_assign(&mut self, by: {by}) {{ *self = self.{with}((by & 127) as u32); }} }}"
            );
        }
    }
    text
}

/// `U32`, of `u32`.
fn capital(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    format!("{}{rest}", first.to_uppercase())
}

/// Whether one of these names stands among tokens.
fn names(tokens: TokenStream, wanted: &[&str]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(i) => wanted.iter().any(|name| i == name),
        TokenTree::Group(g) => names(g.stream(), wanted),
        // `1u128`
        TokenTree::Literal(l) => {
            let text = l.to_string();
            text.starts_with(|c: char| c.is_ascii_digit())
                && wanted.iter().any(|name| text.ends_with(name))
        }
        TokenTree::Punct(_) => false,
    })
}

/// What a program's own items have to have beside them, for what they name.
pub(crate) fn beside(program: &[syn::Item]) -> Vec<syn::Item> {
    let has = |wanted: &[&str]| {
        program
            .iter()
            .any(|item| names(item.to_token_stream(), wanted))
    };
    let mut text = String::new();
    if has(&["Reverse"]) {
        _ = write!(text, "pub mod cmp {{ {REVERSE} }}");
    }
    let mut numbers = String::new();
    if has(&["Wrapping"]) {
        numbers.push_str(&wrapping());
    }
    let non_zeros = INTEGERS.map(|of| (format!("NonZero{}", capital(of)), of));
    if has(&["NonZero"]) || non_zeros.iter().any(|(name, _)| has(&[name])) {
        numbers.push_str(NON_ZERO);
        for (name, of) in non_zeros {
            _ = write!(numbers, "pub type {name} = NonZero<{of}>;");
        }
    }
    if !numbers.is_empty() {
        _ = write!(text, "pub mod num {{ {numbers} }}");
    }
    if has(&["u128", "i128"]) {
        _ = write!(
            text,
            "pub mod wide {{ {} pub type u128 = Wide<false>; pub type i128 = Wide<true>; }}",
            wide()
        );
    }
    match text.is_empty() {
        true => Vec::new(),
        false => items(&format!("pub mod std {{ {text} }}")),
    }
}

/// Whether a name is that of an integer of two halves.
pub(crate) fn is_wide(name: &str) -> bool {
    matches!(name, "u128" | "i128")
}

impl Module {
    /// The family of integers of two halves, if the program names them.
    pub(crate) fn wide(&self) -> Option<FamilyId> {
        match self.names.get(WIDE) {
            Some(Item::Family(id)) => Some(*id),
            _ => None,
        }
    }
}
