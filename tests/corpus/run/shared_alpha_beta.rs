//! Othello by bitboards: negamax, the whole tree down to a depth, and alpha-beta whose window siblings share by an atomic.
#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicI32, Ordering};

    type Bits = u64;
    const LEFT: Bits = 0xfefe_fefe_fefe_fefe;
    const CORNERS: u64 = 0x8100_0000_0000_0081;
    const RIGHT: Bits = 0x7f7f_7f7f_7f7f_7f7f;

    fn shift(b: Bits, direction: u32) -> Bits {
        match direction {
            0 => (b << 1) & LEFT,
            1 => (b >> 1) & RIGHT,
            2 => b << 8,
            3 => b >> 8,
            4 => (b << 9) & LEFT,
            5 => (b >> 9) & RIGHT,
            6 => (b << 7) & RIGHT,
            7 => (b >> 7) & LEFT,
            _ => unreachable!(),
        }
    }

    fn moves(own: Bits, other: Bits) -> Bits {
        let empty = !(own | other);
        let mut result = 0;
        for d in 0..8 {
            let mut x = shift(own, d) & other;
            for _ in 0..5 {
                x |= shift(x, d) & other;
            }
            result |= shift(x, d) & empty;
        }
        result
    }

    fn play(own: Bits, other: Bits, at: Bits) -> (Bits, Bits) {
        let mut flips = 0;
        for d in 0..8 {
            let mut line = 0;
            let mut x = shift(at, d);
            while x & other != 0 {
                line |= x;
                x = shift(x, d);
            }
            if x & own != 0 {
                flips |= line;
            }
        }
        (own | flips | at, other & !flips)
    }

    fn worth(own: Bits, other: Bits) -> i32 {

        let discs = own.count_ones() as i32 - other.count_ones() as i32;
        let corners = (own & CORNERS).count_ones() as i32 - (other & CORNERS).count_ones() as i32;
        let mobility = moves(own, other).count_ones() as i32 - moves(other, own).count_ones() as i32;
        discs + 20 * corners + 5 * mobility
    }

    /// The worth for who is not to move, so that the parent takes the largest.
    #[task]
    pub fn negamax(own: Bits, other: Bits, depth: u32, passed: bool) -> i32 {
        if depth == 0 {
            return -worth(own, other);
        }
        let mut m = moves(own, other);
        if m == 0 {
            if passed {
                return -(own.count_ones() as i32 - other.count_ones() as i32) * 100;
            }
            let v = spawn!(negamax(other, own, depth - 1, true));
            sync!();
            return -v;
        }
        let mut best = i32::MIN;
        while m != 0 {
            let at = m & m.wrapping_neg();
            m ^= at;
            let (a, b) = play(own, other, at);
            best = best.max(spawn!(negamax(b, a, depth - 1, false)));
        }
        sync!();
        -best
    }

    /// Alpha-beta below a node; a task for each of its children, which see what their elder siblings found.
    #[task]
    pub fn search(own: Bits, other: Bits, depth: u32, alpha: i32, beta: i32, parent: &AtomicI32) {
        // What is good here is bad for the parent: its window may have shrunk since.
        let beta = beta.min(-parent.load(Ordering::Relaxed));
        if depth == 0 {
            parent.fetch_max(-worth(own, other), Ordering::Relaxed);
            return;
        }
        let m = moves(own, other);
        if m == 0 {
            parent.fetch_max(-worth(own, other) * 2, Ordering::Relaxed);
            return;
        }
        let best = AtomicI32::new(alpha);
        let mut left = m;
        let mut first = true;
        while left != 0 && best.load(Ordering::Relaxed) < beta {
            let at = left & left.wrapping_neg();
            left ^= at;
            let (a, b) = play(own, other, at);
            spawn!(search(b, a, depth - 1, -beta, -alpha, &best));
            if first {
                // The eldest brother first, then the others together.
                sync!();
                first = false;
            }
        }
        sync!();
        parent.fetch_max(-best.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    #[task]
    pub fn othello(depth: u32) -> (i32, i32) {
        let (black, white): (Bits, Bits) = (0x0000_0008_1000_0000, 0x0000_0010_0800_0000);
        let v = spawn!(negamax(black, white, depth, false));
        let root = AtomicI32::new(-1_000_000);
        spawn!(search(black, white, depth, -1_000_000, 1_000_000, &root));
        sync!();
        (-v, -root.load(Ordering::Relaxed))
    }
}

millstream_tests::cases! {
    othello(3);
}
