//! A maximal independent set by Luby's rounds, and greedy colours, on a graph in CSR form.
#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU8, Ordering};

    const FREE: u8 = 0;
    const IN: u8 = 1;
    const OUT: u8 = 2;

    fn hash(v: usize, round: u32) -> u32 {
        let x = (v as u32).wrapping_mul(0x9e37_79b1) ^ round.wrapping_mul(0x85eb_ca6b);
        (x ^ x >> 15).wrapping_mul(0x2c1b_3c6d)
    }

    fn edges<'a>(offsets: &[u32], targets: &'a [u32], v: usize) -> &'a [u32] {
        &targets[offsets[v] as usize..offsets[v + 1] as usize]
    }

    #[task]
    pub fn independent(offsets: &[u32], targets: &[u32], state: &[AtomicU8]) -> (u32, u32) {
        let mut rounds = 0;
        loop {
            let mut left = 0u32;
            #[parallel]
            for v in 0..state.len() {
                if state[v].load(Ordering::Relaxed) != FREE {
                    continue;
                }
                let mine = (hash(v, rounds), v);
                // Those that win in this round are taken for free by others.
                let wins = edges(offsets, targets, v)
                    .iter()
                    .map(|&u| u as usize)
                    .filter(|&u| state[u].load(Ordering::Relaxed) != OUT)
                    .all(|u| {
                        let theirs = (hash(u, rounds), u);
                        theirs.0 < mine.0 || theirs.0 == mine.0 && theirs.1 < mine.1
                    });
                if wins {
                    state[v].store(IN, Ordering::Relaxed);
                }
            }
            #[parallel]
            for v in 0..state.len() {
                let near = edges(offsets, targets, v).iter().any(|u| state[*u as usize].load(Ordering::Relaxed) == IN);
                if state[v].load(Ordering::Relaxed) == FREE {
                    if near {
                        state[v].store(OUT, Ordering::Relaxed);
                    } else {
                        left += 1;
                    }
                }
            }
            rounds += 1;
            if left == 0 {
                break;
            }
        }
        let members = state.iter().filter(|s| s.load(Ordering::Relaxed) == IN).count();
        (rounds, members as u32)
    }

    #[task]
    pub fn colours(offsets: &[u32], targets: &[u32], colour: &mut [u8]) -> u8 {
        colour.fill(u8::MAX);
        for v in 0..colour.len() {
            let near = edges(offsets, targets, v);
            let free = (0..64u8).find(|&c| near.iter().all(|&u| colour[u as usize] != c)).expect("few neighbours");
            colour[v] = free;
        }
        colour.iter().copied().max().unwrap_or(0)
    }
}

millstream_tests::cases! {
    colours(&[0, 2, 4, 6, 8], &[1, 3, 0, 2, 1, 3, 0, 2], &mut [0; 4]);
    independent(&[0, 2, 4, 6, 8], &[1, 3, 0, 2, 1, 3, 0, 2], &[const { std::sync::atomic::AtomicU8::new(0) }; 4]);
}
