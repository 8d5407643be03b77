//! Game of life on tori of any size with rows as tasks, and a hash of the result.
#[millstream::program]
pub mod program {
    mod rules {
        pub const BIRTH: [usize; 1] = [3];

        pub fn next(alive: bool, neighbours: usize) -> bool {
            match (alive, neighbours) {
                (true, 2 | 3) => true,
                (false, n) => BIRTH.contains(&n),
                _ => false,
            }
        }
    }

    #[derive(Clone, Copy)]
    struct Torus<'a> {
        cells: &'a [u8],
        width: usize,
        height: usize,
    }

    impl Torus<'_> {
        fn get(&self, x: isize, y: isize) -> u8 {
            let x = x.rem_euclid(self.width as isize) as usize;
            let y = y.rem_euclid(self.height as isize) as usize;
            self.cells[y * self.width + x]
        }

        fn count(&self, x: usize, y: usize) -> usize {
            let mut n = 0;
            for dy in -1..=1 {
                for dx in -1..=1 {
                    if (dx, dy) != (0, 0) {
                        n += self.get(x as isize + dx, y as isize + dy) as usize;
                    }
                }
            }
            n
        }
    }

    #[task]
    fn row(world: Torus, y: usize, out: &mut [u8]) {
        for x in 0..world.width {
            let alive = world.cells[y * world.width + x] == 1;
            out[x] = rules::next(alive, world.count(x, y)) as u8;
        }
    }

    #[task]
    pub fn generations(cells: &mut [u8], spare: &mut [u8], width: usize, n: u32) -> u64 {
        let height = cells.len() / width;
        let (mut now, mut next) = (cells, spare);
        for _ in 0..n {
            for (y, line) in next.chunks_mut(width).enumerate() {
                spawn!(row(Torus { cells: now, width, height }, y, line));
            }
            sync!();
            std::mem::swap(&mut now, &mut next);
        }
        now.iter().enumerate().map(|(i, &c)| (i as u64 + 1) * c as u64).sum()
    }
}
millstream_tests::cases! {
    generations(&mut vec![0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &mut vec![0; 25], 5, 6);
}
