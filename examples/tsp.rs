//! Travelling salesman by branch and bound: all tasks share the best length so far, in an atomic.
//!
//! ```text
//!   [ visit ] ──► visit ──► one [ visit ] for each city that is left and not too far ──► ...
//!                   └──► best length (atomic) ◄── every task reads it and cuts
//! ```

#[millstream::program]
pub mod tsp {
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Goes on from `city` with the cities of `left` (a bit each) to visit; `length` is what the way so far takes.
    #[task]
    pub fn visit(distances: &[u16], n: u32, city: u32, left: u32, length: u32, best: &AtomicU32) {
        if left == 0 {
            // Relaxed: pairs with the loads below, of which those before the sync may miss it.
            best.fetch_min(
                length + distances[(city * n) as usize] as u32,
                Ordering::Relaxed,
            );
            return;
        }
        // Every city that is left costs at least its shortest way out.
        // Relaxed: pairs with `fetch_min`; who misses a better way only searches more.
        if length + bound(distances, n, left) >= best.load(Ordering::Relaxed) {
            return;
        }
        let mut rest = left;
        while rest != 0 {
            let next = rest.trailing_zeros();
            rest &= rest - 1;
            let way = distances[(city * n + next) as usize] as u32;
            spawn!(visit(
                distances,
                n,
                next,
                left & !(1 << next),
                length + way,
                best
            ));
        }
    }

    /// What the rest of the way takes at least.
    fn bound(distances: &[u16], n: u32, left: u32) -> u32 {
        let mut sum = 0;
        let mut rest = left;
        while rest != 0 {
            let city = rest.trailing_zeros();
            rest &= rest - 1;
            let mut least = u16::MAX;
            for other in 0..n {
                if other != city {
                    least = least.min(distances[(city * n + other) as usize]);
                }
            }
            sum += least as u32;
        }
        sum
    }

    /// Length of the shortest round trip through `n` cities, at most 31; `distances` has a row for each.
    #[task]
    pub fn tsp(distances: &[u16], n: u32) -> u32 {
        assert!(n >= 2);
        assert!(n <= 31);
        let best = AtomicU32::new(u32::MAX);
        spawn!(visit(distances, n, 0, (1 << n) - 2, 0, &best));
        sync!();
        // Relaxed: the sync orders it behind every `fetch_min`.
        best.load(Ordering::Relaxed)
    }
}

fn main() -> Result<(), millstream::Error> {
    let n = 11u32;
    // Cities on a grid, so many streets apart.
    let place = |i: u32| {
        (
            i.wrapping_mul(2_654_435_761) >> 20,
            i.wrapping_mul(2_246_822_519) >> 20,
        )
    };
    let streets = |i, j| (place(i).0.abs_diff(place(j).0) + place(i).1.abs_diff(place(j).1)) as u16;
    let distances: Vec<u16> = (0..n * n).map(|at| streets(at / n, at % n)).collect();

    let device = millstream::Device::auto()?;
    let length = device.run(tsp::call::tsp(&distances, n))?;
    // How much is cut depends on the order of the tasks; the shortest length does not.
    assert_eq!(length, tsp::tsp(&distances, n));
    println!("{n} cities: the shortest round trip is {length}");
    Ok(())
}
