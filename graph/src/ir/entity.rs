//! The indices of the IR: a newtype each, printed as the text form prints them.

macro_rules! entities {
    ($($(#[$doc:meta])* $name:ident $prefix:literal)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into the table it belongs to.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// From an index into the table it belongs to.
            #[must_use]
            pub const fn new(index: usize) -> Self {
                Self(index as u32)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    )*};
}

entities! {
    /// A function of a program.
    FuncId "f"
    /// A register of a function.
    LocalId "%"
    /// Local memory of a function.
    SlotId "$"
    /// A block of a function.
    BlockId "b"
    /// A constant array of a program.
    DataId "d"
    /// A task of a levelized program.
    TaskId "t"
    /// A segment of a task; the first is its entry.
    SegmentId "s"
    /// A field of a task's frame.
    FieldId "."
    /// A channel: of a kernel, its n-th parameter that is one; of a program that was made of a graph, the graph's n-th.
    ChannelId "c"
    /// A piece of an argument that a graph gives to a kernel.
    UniformId "a"
}
