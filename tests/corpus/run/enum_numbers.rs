//! Enums that do not say which integer holds their numbers: one that these fit.

#[millstream::program]
pub mod program {
    #[derive(PartialEq, Eq, Debug)]
    pub enum Dir {
        L = -1,
        N = 0,
        R = 1,
    }

    #[derive(PartialEq)]
    pub enum Level {
        None,
        Low = 255,
        Next,
        High = 70_000,
    }

    fn turned(d: Dir) -> Dir {
        match d {
            Dir::L => Dir::R,
            Dir::N => Dir::N,
            Dir::R => Dir::L,
        }
    }

    #[task]
    pub fn steps(n: i64) -> (i64, u32, u8) {
        let d = if n < 0 { Dir::L } else if n == 0 { Dir::N } else { Dir::R };
        let way = turned(d) as i64;
        (n + way, turned(d) as u32, d as u8)
    }

    #[task]
    pub fn levels(out: &mut [u64]) -> u64 {
        let all = [Level::None, Level::Low, Level::Next, Level::High];
        for (x, l) in out.iter_mut().zip(all) {
            *x = l as u64;
        }
        (all[3] as isize as u64) << 20 | all[2] as u8 as u64
    }
}

millstream_tests::cases! {
    steps(-5);
    steps(0);
    steps(7);
    levels(&mut [9, 9, 9, 9]);
}
