//! Tasks without children that walk through slices, many side by side: of elements of several sizes, of lengths from none to some hundred, read
//! and written, partly written, by helpers, in a table that all have in common, and by halves, which is no walk.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug)]
    pub struct Cell {
        pub tag: u8,
        pub sum: f64,
        pub pair: [i16; 3],
    }

    /// Cuts unevenly until at most `most` elements are left.
    #[task]
    pub fn cut(bytes: &mut [u8], words: &[i16], cells: &mut [Cell], table: &[u32], most: usize) -> u64 {
        let n = bytes.len();
        if n <= most {
            let mut total = 0;
            total += spawn!(mix(bytes, words, cells, table));
            total += spawn!(below(table, n as u32));
            sync!();
            return total;
        }
        let at = n / 3;
        let (b, c) = bytes.split_at_mut(at);
        let (v, w) = words.split_at(at);
        let (x, y) = cells.split_at_mut(at);
        let mut total = 0;
        total += spawn!(cut(b, v, x, table, most));
        total += spawn!(cut(c, w, y, table, most));
        sync!();
        total
    }

    #[task]
    pub fn mix(bytes: &mut [u8], words: &[i16], cells: &mut [Cell], table: &[u32]) -> u64 {
        let mut last = 0u64;
        for i in (0..bytes.len()).rev() {
            let t = table[i % table.len()] as u64;
            last = last.rotate_left(7) ^ t.wrapping_add(bytes[i] as u64 * 31) ^ words[i] as u64;
            // Some are left as they are.
            if i % 3 != 1 {
                bytes[i] = last as u8;
                cells[i].sum += (last % 1000) as f64;
            }
            cells[i].pair[i % 3] = words[words.len() - 1 - i];
        }
        last ^ tags(cells)
    }

    fn tags(cells: &mut [Cell]) -> u64 {
        let mut sum = 0;
        for cell in cells.iter_mut() {
            cell.tag = cell.tag.wrapping_add(1);
            sum += cell.tag as u64;
        }
        sum
    }

    /// How many of a sorted table are less.
    #[task]
    pub fn below(table: &[u32], x: u32) -> u64 {
        let (mut low, mut high) = (0, table.len());
        while low < high {
            let mid = (low + high) / 2;
            if table[mid] < x {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        low as u64
    }
}

fn cells(n: usize) -> Vec<program::Cell> {
    (0..n).map(|i| program::Cell { tag: i as u8, sum: 0.5, pair: [i as i16, -1, 7] }).collect()
}

fn bytes(n: usize) -> Vec<u8> {
    (0..n).map(|i| (i * i) as u8).collect()
}

fn words(n: usize) -> Vec<i16> {
    (0..n).map(|i| i as i16 * 77 - 900).collect()
}

millstream_tests::cases! {
    cut(&mut bytes(190), &words(190), &mut cells(190), &vec![2, 3, 5, 7, 11, 13], 7);
    cut(&mut bytes(300), &words(300), &mut cells(300), &(0..90).collect::<Vec<u32>>(), 30);
    cut(&mut bytes(40), &words(40), &mut cells(40), &vec![1], 2);
    cut(&mut bytes(2500), &words(2500), &mut cells(2500), &vec![9, 10], 40);
    cut(&mut bytes(0), &words(0), &mut cells(0), &vec![4], 5);
}
