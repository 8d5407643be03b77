//! State in loops across syncs: a row a child, a sync a round.

#[millstream::program]
pub mod program {
    const N: usize = 6;
    const FAR: u32 = 1_000_000;

    #[task]
    pub fn relax(row: &mut [u32], via: &[u32], k: usize) {
        for j in 0..N {
            row[j] = row[j].min(row[k] + via[j]);
        }
    }

    #[task]
    pub fn shortest(dist: &mut [u32]) -> u32 {
        let mut changes = 0;
        for k in 0..N {
            let mut via = [0; N];
            via.copy_from_slice(&dist[k * N..(k + 1) * N]);
            let mut rest = &mut dist[..];
            while rest.len() > 0 {
                let (row, tail) = rest.split_at_mut(N);
                spawn!(relax(row, &via, k));
                rest = tail;
            }
            sync!();
            for &d in dist.iter() {
                changes = changes * 3 + (d < FAR) as u32;
            }
        }
        changes
    }
}

millstream_tests::cases! {
    shortest(&mut (0..36u32).map(|i| if i % 7 == 0 { 0 } else if i * 5 % 4 == 1 { i % 9 + 1 } else { 1_000_000 }).collect::<Vec<_>>());
}
