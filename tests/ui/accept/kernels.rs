//! Kernels in all their forms.

#[millstream::program]
mod forms {
    use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

    pub(crate) struct Item {
        pub(crate) n: u32,
        pub(crate) path: [u8; 4],
        pub(crate) pair: (f32, bool),
    }

    #[task]
    pub(crate) fn fill(data: &mut [u32], value: u32) {
        for x in data.iter_mut() {
            *x = value;
        }
    }

    /// In the paper's words.
    #[kernel]
    pub(crate) fn paper(src: Element<Item>, more: Channel<Item>, count: &AtomicU64) {
        let item = src.deq();
        src.tfree();
        count.fetch_add(1, Ordering::Relaxed);
        let mut next = more.talloc();
        next.n = item.n + 1;
        if !next.pair.1 {
            more.enq(next);
        }
    }

    #[kernel]
    pub(crate) fn short(item: Item, sums: &[AtomicU32], more: Channel<Item>, numbers: Channel<u32>, m: Mat<f32>, scale: f32) {
        let mut parts = [0u32; 8];
        {
            let (left, right) = parts.split_at_mut(4);
            spawn!(fill(left, item.n));
            spawn!(fill(right, item.n + 1));
        }
        numbers.emit(item.n);
        sync!();
        for p in parts {
            sums[0].fetch_add(p, Ordering::Relaxed);
            numbers.emit(p);
        }
        if m[(0, 0)] * scale > 1.0 {
            more.emit(Item { n: 1, ..item });
        }
    }

    #[kernel]
    pub(crate) fn last((a, b): (u32, u32), _scale: f32) {
        assert!(a <= b);
    }
}

/// The graph, by its elision.
pub fn serially() {
    use std::sync::atomic::{AtomicU32, AtomicU64};
    let (items, numbers) = (millstream::Channel::new(), millstream::Channel::new());
    let (count, sums) = (AtomicU64::new(0), [AtomicU32::new(0)]);
    let m = [2.0f32];
    items.emit(forms::Item { n: 1, path: [0; 4], pair: (0.5, false) });
    items.run(|item: millstream::Element<_>| forms::paper(item, items.clone(), &count));
    items.run(|item: forms::Item| {
        forms::short(item, &sums, items.clone(), numbers.clone(), millstream::Mat::new(&m, 1, 1), 2.0);
    });
    numbers.run(|n: u32| forms::last((n, 9), 1.0));
    let _: millstream::Kernel<(u32, u32), (), (millstream::__private::ByValue<f32>, ())> = forms::kernel::last;
    let _ = (forms::kernel::paper.name(), forms::kernel::short.name());
}
