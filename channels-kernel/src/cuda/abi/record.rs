//! How a structure that host and device share is described: once, in Rust. The host reads and writes it by the description; the device's
//! own declaration is made from it, with an assertion for the place of each member.

use crate::cuda::plan::Plan;
use std::{fmt::Write as _, marker::PhantomData};

/// How many values an array has: a number that the program decides, or that is the same for all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Count {
    /// Channel stacks.
    Stacks,
    /// Channels that feed a segment.
    Sources,
    /// Pushes of a segment, at most.
    Pushes,
    /// Counters of a dispatch, at most.
    Groups,
    /// Fields that children inherit; one if there is none, for an array has at least one.
    Inherited,
    /// Arrays of fields, of all stacks.
    Fields,
    /// Tiles that blocks may give back: each the one that it has, and the next.
    Given,
    /// Words that are bound to the kernels of a graph.
    Uniforms,
}

impl Count {
    /// Those that the device's code knows by name.
    pub(in crate::cuda) const NAMED: [Self; 6] = [
        Self::Stacks,
        Self::Sources,
        Self::Pushes,
        Self::Groups,
        Self::Inherited,
        Self::Given,
    ];

    /// What the device's code calls it.
    pub(in crate::cuda) const fn name(self) -> &'static str {
        match self {
            Self::Stacks => "STACKS",
            Self::Sources => "SOURCES",
            Self::Pushes => "MAX_PUSHES",
            Self::Groups => "MAX_GROUPS",
            Self::Inherited => "INHERITED",
            Self::Fields => "FIELDS",
            Self::Given => "MOST_GIVEN",
            Self::Uniforms => "UNIFORMS",
        }
    }

    /// The number.
    #[must_use]
    pub fn of(self, plan: &Plan) -> usize {
        match self {
            Self::Stacks => plan.stacks.len(),
            Self::Sources => plan.sources.len(),
            Self::Pushes => plan.pushes(),
            Self::Groups => plan.groups(),
            Self::Inherited => plan.inherited.len().max(1),
            Self::Fields => plan.fields(),
            Self::Given => 2 * super::MOST_BLOCKS as usize,
            Self::Uniforms => plan.program.program.uniforms.len(),
        }
    }
}

/// What a field holds.
pub trait Value: Copy {
    /// The device's name for it.
    const TYPE: &'static str;
    /// `u32`s that it takes, and that its place is a multiple of.
    const WORDS: usize;
    /// From its words, lowest first.
    fn from_words(words: &[u32]) -> Self;
    /// Into its words.
    fn to_words(self, words: &mut [u32]);
}

impl Value for u32 {
    const TYPE: &'static str = "u32";
    const WORDS: usize = 1;
    fn from_words(words: &[u32]) -> Self {
        words[0]
    }
    fn to_words(self, words: &mut [u32]) {
        words[0] = self;
    }
}

impl Value for f32 {
    const TYPE: &'static str = "f32";
    const WORDS: usize = 1;
    fn from_words(words: &[u32]) -> Self {
        Self::from_bits(words[0])
    }
    fn to_words(self, words: &mut [u32]) {
        words[0] = self.to_bits();
    }
}

impl Value for u64 {
    const TYPE: &'static str = "u64";
    const WORDS: usize = 2;
    fn from_words(words: &[u32]) -> Self {
        Self::from(words[0]) | Self::from(words[1]) << 32
    }
    fn to_words(self, words: &mut [u32]) {
        (words[0], words[1]) = (self as u32, (self >> 32) as u32);
    }
}

/// A field of a record, one value or an array of them: where it lies among the record's `u32`s.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field<T> {
    at: usize,
    count: usize,
    holds: PhantomData<T>,
}

impl<T: Value> Field<T> {
    /// Its first word.
    #[must_use]
    pub const fn at(self) -> usize {
        self.at
    }

    /// The value; the first one of an array.
    #[must_use]
    pub fn get(self, record: &[u32]) -> T {
        T::from_words(&record[self.at..][..T::WORDS])
    }

    /// Sets the value; the first one of an array.
    pub fn set(self, record: &mut [u32], value: T) {
        self.fill(record, &[value]);
    }

    /// All values of an array.
    #[must_use]
    pub fn all(self, record: &[u32]) -> Vec<T> {
        let words = &record[self.at..][..self.count * T::WORDS];
        words.chunks_exact(T::WORDS).map(T::from_words).collect()
    }

    /// The first values of an array.
    #[must_use]
    pub fn first(self, record: &[u32], count: usize) -> Vec<T> {
        let mut all = self.all(record);
        all.truncate(count);
        all
    }

    /// Sets the first values of an array.
    pub fn fill(self, record: &mut [u32], values: &[T]) {
        assert!(
            values.len() <= self.count,
            "as many values as there are places"
        );
        let places = record[self.at..].chunks_exact_mut(T::WORDS);
        places
            .zip(values)
            .for_each(|(words, value)| value.to_words(words));
    }
}

/// Gives fields their places, one behind another, each aligned.
#[derive(Debug)]
pub(super) struct Places {
    at: usize,
    align: usize,
}

impl Places {
    pub(super) const fn new() -> Self {
        Self { at: 0, align: 1 }
    }

    pub(super) fn next<T: Value>(&mut self, count: usize) -> Field<T> {
        let at = self.at.next_multiple_of(T::WORDS);
        self.at = at + count * T::WORDS;
        self.align = self.align.max(T::WORDS);
        Field {
            at,
            count,
            holds: PhantomData,
        }
    }

    /// Words of all, as many as the next record's fields are aligned behind them.
    pub(super) const fn end(self) -> usize {
        self.at.next_multiple_of(self.align)
    }
}

/// What a field of a struct of Rust's is for the device.
pub(super) trait Shared {
    /// Its declaration, under that name.
    fn declared(name: &str) -> String;
}

impl Shared for u32 {
    fn declared(name: &str) -> String {
        format!("u32 {name}")
    }
}

impl Shared for u64 {
    fn declared(name: &str) -> String {
        format!("u64 {name}")
    }
}

impl<const N: usize> Shared for [u64; N] {
    fn declared(name: &str) -> String {
        format!("u64 {name}[{N}]")
    }
}

/// A member of a structure, as it is declared for the device.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) name: &'static str,
    /// What is declared, the name in it.
    pub(super) declared: String,
    /// Where it lies, in bytes.
    pub(super) at: usize,
    pub(super) doc: &'static [&'static str],
}

/// How the device declares a field of a record.
pub(super) fn declared<T: Value>(name: &str, count: Option<Count>) -> String {
    let array = count.map_or_else(String::new, |count| format!("[{}]", count.name()));
    format!("{} {name}{array}", T::TYPE)
}

/// Values of a field in a program's record.
pub(super) fn count(count: Option<Count>, plan: &Plan) -> usize {
    count.map_or(1, |count| count.of(plan))
}

/// A structure, as it is declared for the device.
#[derive(Clone, Debug)]
pub(super) struct Structure {
    pub(super) name: &'static str,
    pub(super) doc: &'static [&'static str],
    pub(super) members: Vec<Member>,
    pub(super) bytes: usize,
}

impl Structure {
    /// The declaration, and what asserts that the device's compiler puts everything where the host does.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        let mut line = |text: String| {
            let _ = writeln!(out, "{text}");
        };
        self.doc.iter().for_each(|doc| line(format!("//{doc}")));
        line(format!("struct {} {{", self.name));
        for Member { declared, doc, .. } in &self.members {
            line(format!("  {declared};  //{}", doc.concat()));
        }
        line("};".to_owned());
        for Member { name, at, .. } in &self.members {
            line(format!("LIES_AT({}, {name}, {at});", self.name));
        }
        line(format!("TAKES({}, {});", self.name, self.bytes));
        out
    }
}

/// Structures whose arrays are as long as the program says: `field: type [count]`. For each there is a struct of the fields' places.
macro_rules! records {
    (@count) => { None };
    (@count $count:ident) => { Some(Count::$count) };
    ($($(#[doc = $about:literal])* $Name:ident { $($(#[doc = $doc:literal])* $field:ident: $ty:ty $([$count:ident])?,)* })*) => {$(
        $(#[doc = $about])*
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct $Name {
            $($(#[doc = $doc])* pub $field: Field<$ty>,)*
            words: usize,
        }

        impl $Name {
            /// Where everything lies in a program's.
            #[must_use]
            pub fn new(plan: &Plan) -> Self {
                let mut places = Places::new();
                Self {
                    // In this order.
                    $($field: places.next(count(records!(@count $($count)?), plan)),)*
                    words: places.end(),
                }
            }

            /// `u32`s of one.
            #[must_use]
            pub const fn words(&self) -> usize {
                self.words
            }

            /// Bytes of one.
            #[must_use]
            pub const fn bytes(&self) -> u64 {
                4 * self.words as u64
            }

            /// One of zeros.
            #[must_use]
            pub fn zeroed(&self) -> Vec<u32> {
                vec![0; self.words]
            }

            #[allow(dead_code, reason = "`Channels` is declared by the names of the program's own channels")]
            fn structure(plan: &Plan) -> Structure {
                let places = Self::new(plan);
                let members = vec![$(Member {
                    name: stringify!($field),
                    declared: declared::<$ty>(stringify!($field), records!(@count $($count)?)),
                    at: 4 * places.$field.at(),
                    doc: &[$($doc),*],
                }),*];
                Structure { name: stringify!($Name), doc: &[$($about),*], members, bytes: 4 * places.words }
            }
        }
    )*};
}

/// Structures that are the same for all programs: Rust's own, in C's layout. `field: type = "type"` where the device has another word for
/// the same bytes, as for an address.
macro_rules! structs {
    (@declared $field:ident $ty:ty) => { <$ty as Shared>::declared(stringify!($field)) };
    (@declared $field:ident $ty:ty = $device:literal) => { format!("{} {}", $device, stringify!($field)) };
    ($($(#[doc = $about:literal])* $Name:ident { $($(#[doc = $doc:literal])* $field:ident: $ty:ty $(= $device:literal)?,)* })*) => {$(
        $(#[doc = $about])*
        #[repr(C)]
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub struct $Name {
            $($(#[doc = $doc])* pub $field: $ty,)*
        }

        impl $Name {
            fn structure() -> Structure {
                let members = vec![$(Member {
                    name: stringify!($field),
                    declared: structs!(@declared $field $ty $(= $device)?),
                    at: std::mem::offset_of!($Name, $field),
                    doc: &[$($doc),*],
                }),*];
                Structure { name: stringify!($Name), doc: &[$($about),*], members, bytes: size_of::<$Name>() }
            }
        }
    )*};
}

pub(super) use {records, structs};
