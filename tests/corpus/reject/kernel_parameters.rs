//! What a kernel cannot take and give.

#[millstream::program]
pub mod program {
    use std::sync::atomic::AtomicU32;

    pub struct Item {
        pub n: u32,
    }

    #[kernel]
    pub fn nothing() {}

    #[kernel]
    pub fn channel_first(next: Channel<Item>, item: Item) {}

    #[kernel]
    pub fn two_elements(a: Element<Item>, b: Element<Item>) {}

    #[kernel]
    pub fn borrowed_element(data: &[u32]) {}

    #[kernel]
    pub fn borrowed_channel(item: Item, next: Channel<(u32, &u32)>, atomic: Channel<AtomicU32>) {}

    #[kernel]
    pub fn no_types(a: Element, b: Channel) {}

    #[kernel]
    pub fn parts(Item { n }: Element<Item>, (a, b): Channel<Item>) {}

    #[kernel]
    pub fn mutable(item: Item, data: &mut [u32], rows: MatMut<f32>, both: (&mut u32, u32)) {}

    #[kernel]
    pub fn bound(item: Item, atomic: AtomicU32, both: (&[u32], u32)) {}

    #[kernel]
    pub fn returns(item: Item) -> u32 {
        item.n
    }

    #[task]
    #[kernel]
    pub fn both(item: Item) {}

    pub fn helper(next: Channel<Item>) {}

    #[task]
    pub fn task(next: Channel<Item>) -> Element<Item> {}

    pub struct Holds {
        pub next: Channel<Item>,
    }

    #[kernel]
    pub fn nested(item: Item, next: &Channel<Item>, channels: [Channel<Item>; 2]) {}

    impl Item {
        #[kernel]
        pub fn method(self) {}
    }
}

//~ 12:12: the kernel `nothing` has no element
//~   help: its first parameter is the element that it consumes: a value without references, or `Element<T>`
//~ 15:32: the first parameter of a kernel is the element that it consumes
//~   help: put it in front of the channels: a value without references, or `Element<T>`
//~ 18:46: a kernel consumes one channel: only its first parameter is an element
//~   help: let other kernels consume the other channels, and emit into one of this kernel's
//~ 21:35: an element of a channel cannot be `&[u32]`
//~   help: elements are plain data: let them hold an index into a slice that the kernel is given as an argument
//~ 24:55: an element of a channel cannot be `(u32, &u32)`
//~   help: elements are plain data: let them hold an index into a slice that the kernel is given as an argument
//~ 24:85: an element of a channel cannot be `AtomicU32`
//~   help: elements are plain data: let them hold an index into a slice that the kernel is given as an argument
//~ 27:24: `Element` needs the type it holds
//~   help: write `Element<u32>`
//~ 27:36: `Channel` needs the type it holds
//~   help: write `Channel<u32>`
//~ 30:18: this parameter needs a name
//~   help: what is in an `Element` comes with `deq()`, and a channel has no parts
//~ 30:45: this parameter needs a name
//~   help: what is in an `Element` comes with `deq()`, and a channel has no parts
//~ 33:38: a kernel cannot have `&mut [u32]`
//~   help: its elements run side by side: share atomics by `&`, as in `&[AtomicU32]`, or emit what is to be written to a channel
//~ 33:56: a kernel cannot have `MatMut<f32>`
//~   help: its elements run side by side: share atomics by `&`, as in `&[AtomicU32]`, or emit what is to be written to a channel
//~ 33:75: a kernel cannot have `(&mut u32, u32)`
//~   help: its elements run side by side: share atomics by `&`, as in `&[AtomicU32]`, or emit what is to be written to a channel
//~ 36:38: an atomic cannot be passed by value
//~   help: pass it by reference: `&AtomicU32`
//~ 36:55: a kernel cannot have `(&[u32], u32)`
//~   help: give each reference a parameter of its own
//~ 39:32: a kernel returns nothing
//~   help: emit it into a channel, or add it to an atomic
//~ 45:12: `both` is a task and a kernel
//~   help: leave out `#[task]`: a kernel may spawn tasks
//~ 47:25: `Channel` stands only in the parameters of a kernel
//~   help: a helper or task returns what is to be emitted, and the kernel emits it
//~ 50:23: `Channel` stands only in the parameters of a kernel
//~   help: a helper or task returns what is to be emitted, and the kernel emits it
//~ 50:41: `Element` stands only in the parameters of a kernel
//~   help: a helper or task returns what is to be emitted, and the kernel emits it
//~ 53:19: `Channel` stands only in the parameters of a kernel
//~   help: a helper or task returns what is to be emitted, and the kernel emits it
//~ 57:37: a reference to a `Channel`
//~   help: a kernel takes the `Channel` itself: leave out the `&`
//~ 57:64: `Channel` stands only in the parameters of a kernel
//~   help: a helper or task returns what is to be emitted, and the kernel emits it
//~ 60:9: a method cannot be a task or kernel
//~   help: write a function outside of the `impl` block; it may call methods
