//! One iterator behind another, from behind: `chain(..).rev()`, and what is taken from both ends of one that has a name.

#[millstream::program]
pub mod program {
    #[task]
    pub fn turned(n: u32) -> (u32, u32, u32, u32) {
        let (a, b) = ([1, n, 3], [7, 8]);
        let ranges = (0..n).chain(10..12).rev().fold(0, |s, x| s * 7 + x);
        let slices = a.iter().chain(&b).rev().fold(0, |s, x| s * 7 + x);
        let three = (0..n).chain(20..=21).chain(std::iter::once(9)).map(|x| x * 2).filter(|x| x % 3 != 1).rev().fold(0, |s, x| s * 5 + x);
        let mut s = (0..n).rev().next_back().unwrap_or(77);
        for x in (0..n).chain(5..=6).rev() {
            s = s * 3 + x;
        }
        for (i, x) in a.iter().copied().chain(Some(n)).rev().enumerate() {
            s += i as u32 * x;
        }
        (ranges, slices, three, s + a.iter().chain(b.iter()).rfind(|x| **x < 5).unwrap_or(&0))
    }

    #[task]
    pub fn both_ends(n: u32) -> [u32; 8] {
        let mut it = (0..n).rev();
        let mut all = [0; 8];
        all[0] = it.next_back().unwrap_or(77);
        all[1] = it.next().unwrap_or(66);
        let mut it = (0..n).chain(5..7).map(|x| x + 1);
        all[2] = it.next_back().unwrap_or(77);
        all[3] = it.next().unwrap_or(66);
        all[4] = it.next_back().unwrap_or(77);
        all[5] = it.next_back().unwrap_or(77);
        all[6] = it.next().unwrap_or(66);
        all[7] = it.rev().sum();
        all
    }
}

millstream_tests::cases! {
    turned(3);
    turned(0);
    both_ends(4);
    both_ends(1);
    both_ends(0);
}
