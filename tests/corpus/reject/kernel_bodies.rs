//! What a kernel cannot do.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy)]
    pub struct Item {
        pub n: u32,
    }

    pub fn helper(n: u32) {
        work(Item { n });
    }

    #[task]
    pub fn task(n: u32) {
        spawn!(work(Item { n }));
        spawn!(held(Item { n }));
    }

    #[kernel]
    pub fn work(item: Item, next: Channel<Item>, numbers: Channel<u32>) {
        next.emit(3u32);
        numbers.emit(item);
        next.emit();
        next.emit(item, item);
        next.talloc(1);
        next.send(item);
        next.emitt(item);
        numbers.len();
        let other = next;
        helper(numbers);
        let both = (next, 1);
        next.n = 4;
        item.emit(2);
        let item = next.talloc();
        item.n = 4;
        next.enq(item);
    }

    #[kernel]
    pub fn held(item: Element<Item>, next: Channel<Item>) {
        let n = item.n;
        next.emit(item);
        item.deq(1);
        item.dequeue();
        item.tree();
        let inner = item.deq();
        inner.deq();
        item.tfree();
        task(next)
    }
}

//~ 11:9: `work` is a kernel: a graph runs it, over the elements of a channel
//~   note: 21:12: it is defined here
//~   help: emit an element into the channel that it consumes, or move what both need to a helper
//~ 16:16: `work` is a kernel: a graph runs it, over the elements of a channel
//~   note: 21:12: it is defined here
//~   help: emit an element into the channel that it consumes, or move what both need to a helper
//~ 17:16: `held` is a kernel: a graph runs it, over the elements of a channel
//~   note: 41:12: it is defined here
//~   help: emit an element into the channel that it consumes, or move what both need to a helper
//~ 22:19: expected `Item`, found `u32`
//~ 23:22: expected `u32`, found `Item`
//~ 24:14: `emit` takes one argument, an element
//~   help: here are 0
//~ 25:14: `emit` takes one argument, an element
//~   help: here are 2
//~ 26:14: `talloc` takes no argument
//~   help: here are 1
//~ 27:14: a channel has no method `send`
//~   help: did you mean `emit`?
//~ 28:14: a channel has no method `emitt`
//~   help: did you mean `emit`?
//~ 29:17: a channel has no method `len`
//~   help: a kernel puts elements in, by `emit(..)`: `talloc()`, then `enq(..)`, is the same
//~ 30:21: `next` is a channel, and no value
//~   help: write `next.emit(..)`
//~ 31:16: `numbers` is a channel, and no value
//~   help: write `numbers.emit(..)`
//~ 32:21: `next` is a channel, and no value
//~   help: write `next.emit(..)`
//~ 33:9: `next` is a channel, and no value
//~   help: write `next.emit(..)`
//~ 34:14: `Item` has no method `emit`
//~   help: write it in an `impl` block of the struct
//~ 36:9: `item` cannot be changed: it is not declared `mut`
//~   note: 35:13: it is declared here
//~   help: write `mut item` there
//~ 42:17: `item` is an element that is still in its channel
//~   help: write `item.deq()`
//~ 43:19: `item` is an element that is still in its channel
//~   help: write `item.deq()`
//~ 44:14: `deq` takes no argument
//~   help: here are 1
//~ 45:14: an element has no method `dequeue`
//~   help: an element is taken by `deq()`
//~ 46:14: an element has no method `tree`
//~   help: did you mean `tfree`?
//~ 48:15: `Item` has no method `deq`
//~   help: write it in an `impl` block of the struct
//~ 50:14: `next` is a channel, and no value
//~   help: write `next.emit(..)`
