//! Several generations, rows as children, a sync between generations.

#[millstream::program]
pub mod program {
    const W: usize = 8;

    #[task]
    pub fn row(old: &[u8], new: &mut [u8], y: usize) {
        let h = old.len() / W;
        for x in 0..W {
            let mut near = 0;
            for dy in [h - 1, 0, 1] {
                for dx in [W - 1, 0, 1] {
                    if dx != 0 || dy != 0 {
                        near += old[(y + dy) % h * W + (x + dx) % W];
                    }
                }
            }
            new[x] = match (old[y * W + x], near) {
                (1, 2 | 3) | (0, 3) => 1,
                _ => 0,
            };
        }
    }

    #[task]
    pub fn live(cells: &mut [u8], room: &mut [u8], generations: u32) -> u32 {
        for _ in 0..generations {
            let mut rest = &mut room[..];
            for y in 0..cells.len() / W {
                let (line, tail) = rest.split_at_mut(W);
                spawn!(row(cells, line, y));
                rest = tail;
            }
            sync!();
            cells.copy_from_slice(room);
        }
        let mut alive = 0;
        for &c in cells.iter() {
            alive += c as u32;
        }
        alive
    }
}

millstream_tests::cases! {
    live(&mut (0..64usize).map(|i| ([1, 10, 16, 17, 18, 35, 36, 37].contains(&i)) as u8).collect::<Vec<_>>(), &mut vec![0; 64], 5);
}
