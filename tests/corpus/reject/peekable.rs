//! Who looks at the next item runs the closures before it.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering};

    #[task]
    pub fn run(data: &[u32], seen: &AtomicU32, least: u32) -> u32 {
        let mut count = 0;
        let mut sums = data.iter().map(|x| {
            count += 1;
            x + count
        }).peekable();
        let mut marked = data.iter().filter(|x| seen.fetch_max(**x, Ordering::Relaxed) < **x).peekable();
        let mut large = data.iter().copied().filter(|x| *x > least && data[0] < *x).peekable();
        let note = |x: &&u32| { count += 1; **x > 3 };
        let mut noted = data.iter().filter(note).peekable();
        let steps = data.iter().map(|x| { count += 1; x + count });
        let mut named = steps.peekable();
        let mut sum = 0;
        while let Some(x) = large.next() {
            if large.peek() == Some(&x) {
                sum += x;
            }
        }
        sum
    }
}

//~ 10:40: `peekable` behind a closure that may change something
//~   help: `peek` would run the closure once more: take the items first, and use in the loop what the closure does
//~ 14:45: `peekable` behind a closure that may change something
//~   help: `peek` would run the closure once more: take the items first, and use in the loop what the closure does
//~ 17:44: `peekable` behind a closure that may change something
//~   help: `peek` would run the closure once more: take the items first, and use in the loop what the closure does
//~ 18:37: `peekable` behind a closure that may change something
//~   help: `peek` would run the closure once more: take the items first, and use in the loop what the closure does
