//! Loops in loops that spawn: few rows may have very many columns, so that both are shared out.

#[millstream::program]
pub mod program {
    #[task]
    pub fn cell(x: usize, y: usize) -> u32 {
        (x * 31 + y * 7) as u32 % 10
    }

    #[task]
    pub fn score(a: &[u8; 4], b: [u8; 4]) -> u32 {
        a[0].abs_diff(b[1]) as u32 + a[3].abs_diff(b[2]) as u32
    }

    #[task]
    pub fn picture(out: &mut [u32], width: usize) {
        for y in 0..out.len() / width {
            for x in 0..width {
                out[y * width + x] = spawn!(cell(x, y));
            }
        }
    }

    /// Each pair of two, and three loops, the innermost of which may be left.
    #[task]
    pub fn pairs(n: usize, width: usize) -> (u32, u32) {
        let mut sum = 1;
        for i in 0..n {
            for j in i + 1..n {
                sum += spawn!(cell(i, j));
            }
        }
        sync!();
        let mut most = 0;
        for i in 0..3 {
            if i != 1 {
                for j in 0..width {
                    let from = i + j;
                    for k in from..from + 9 {
                        if k > from + 2 {
                            break;
                        }
                        most = most.max(spawn!(cell(from, k)));
                    }
                }
            } else {
                most = most.max(spawn!(cell(1, i)));
            }
        }
        sync!();
        (sum, most)
    }

    /// Rows as slices, with what a round computes for its children.
    #[task]
    pub fn rows(data: &[u32], width: usize) -> u32 {
        let mut sum = 0;
        for (y, row) in data.chunks(width).enumerate() {
            let twice = y * 2;
            for x in row.iter() {
                sum += spawn!(cell(*x as usize, twice));
            }
        }
        sync!();
        sum
    }

    /// An array of a round's own is the next round's too: its children are given copies where the loop stands.
    #[task]
    pub fn copies(letters: &[[u8; 4]], n: u32) -> u32 {
        let mut sum = 0;
        for i in 0..n {
            let own = [i as u8, 2, i as u8 + 3, 4];
            let part = &own[1..];
            for a in letters {
                sum += spawn!(score(a, own));
            }
            for k in 0..letters.len() {
                sum += spawn!(cell(part[k % 3] as usize, k));
            }
        }
        sync!();
        sum
    }
}

fn letters(n: u32) -> Vec<[u8; 4]> {
    (0..n).map(|i| (i * 0x0101_0703).to_le_bytes()).collect()
}

millstream_tests::cases! {
    picture(&mut [0; 12], 4);
    picture(&mut vec![0; 20 * 300], 300);
    picture(&mut vec![0; 300 * 20], 20);
    pairs(5, 2);
    pairs(30, 300);
    rows(&(0..100).collect::<Vec<u32>>(), 10);
    rows(&(0..1500).collect::<Vec<u32>>(), 300);
    copies(&letters(3), 4);
    copies(&letters(300), 20);
}
