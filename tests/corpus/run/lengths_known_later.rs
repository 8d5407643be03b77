//! `std::array::from_fn` whose array is as long as what it is used as says.

#[millstream::program]
pub mod program {
    struct Table {
        all: [u32; 3],
    }

    fn sum(a: [u32; 4]) -> u32 {
        a.iter().sum()
    }

    fn fill(a: &mut [u64; 2]) -> u64 {
        a[0] += 5;
        a[0] * a[1]
    }

    #[task]
    pub fn lengths(n: u32) -> ([u32; 5], u32, u64) {
        let a = std::array::from_fn(|i| i as u32 * n);
        let mut b = std::array::from_fn(|i| i as u32 + n);
        b[1] = 30;
        let table = Table { all: b };
        let mut c = std::array::from_fn(|i| 7 + i as u64);
        let filled = fill(&mut c);
        let all = std::array::from_fn(|i| table.all[i % 3] + n);
        (all, sum(a) + table.all[1], filled + c[0])
    }
}

millstream_tests::cases! {
    lengths(3);
    lengths(0);
}
