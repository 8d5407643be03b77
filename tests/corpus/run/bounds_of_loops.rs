//! Loops over arrays whose bounds say nothing of lengths, or too much of them: left before an index is behind the end, not run at all, with
//! indices that wrap and come back, and with lengths that change on the way.

#[millstream::program]
pub mod program {
    /// As many as there are before a number that is not found stands for the end.
    #[task]
    pub fn until(data: &[u32], most: usize, end: u32) -> u32 {
        let mut sum = 0;
        for i in 0..most {
            if i == data.len() || data[i] == end {
                break;
            }
            sum = sum * 3 + data[i];
        }
        sum
    }

    /// Products of matrices in one array, of any shapes that fit.
    #[task]
    pub fn product(c: &mut [u32], a: &[u32], b: &[u32], rows: usize, inner: usize, cols: usize) {
        for i in 0..rows {
            for j in 0..cols {
                let mut sum = 0;
                for k in 0..inner {
                    sum += a[i * inner + k] * b[k * cols + j];
                }
                c[i * cols + j] += sum;
            }
        }
    }

    /// Neighbours, where there are any.
    #[task]
    pub fn around(to: &mut [u32], from: &[u32], width: usize) -> u32 {
        let mut changed = 0;
        for y in 0..from.len() / width {
            for x in 0..width {
                let at = y * width + x;
                let mut sum = from[at];
                if x > 0 {
                    sum += from[at - 1];
                }
                if x + 1 < width {
                    sum += from[at + 1];
                }
                if y > 0 {
                    sum += from[at - width];
                }
                if at + width < from.len() {
                    sum += from[at + width];
                }
                changed += (to[at] != sum) as u32;
                to[at] = sum;
            }
        }
        changed
    }

    /// From both ends, down, in steps and to the last one; what is left of a slice that is taken apart.
    #[task]
    pub fn ways(data: &mut [u32], n: usize, by: usize) -> u32 {
        let mut sum = 0;
        for i in (0..n).rev() {
            sum = sum * 5 + data[i] + data[n - 1 - i];
        }
        for i in (by..n).step_by(2) {
            data[i - by] += data[i];
        }
        if n > 0 {
            for i in 0..=n - 1 {
                sum = sum * 5 + data[i];
            }
        }
        let mut i = n;
        while i >= 3 {
            i -= 3;
            sum += data[i] * data[i + 2];
        }
        let mut rest = &mut data[..];
        while rest.len() > by {
            let (head, tail) = rest.split_at_mut(by);
            for i in 0..by {
                head[i] += tail[0];
                sum += head[i];
            }
            rest = tail;
        }
        // This wraps, and comes back.
        for i in 0..n as u32 {
            let far = i.wrapping_sub(by as u32);
            sum += data[far.wrapping_add(by as u32) as usize];
        }
        sum
    }

    /// In rounds that run side by side.
    #[task]
    pub fn rows(data: &mut [u32], width: usize, from: usize, to: usize) -> u32 {
        let mut sum = 0;
        #[parallel]
        for row in data.chunks_mut(width) {
            for i in from..to.min(row.len()) {
                row[i] += row[i - from] + i as u32;
            }
            sum += row[0];
        }
        sum
    }
}

millstream_tests::cases! {
    until(&[3, 1, 4, 1, 5], 100, 5);
    until(&[3, 1, 4, 1, 5], 18446744073709551615, 9);
    until(&[3, 1, 4, 1, 5], 3, 9);
    until(&[], 7, 9);
    product(&mut [0, 0, 0, 0], &[1, 2, 3, 4, 5, 6], &[1, 0, 2, 1, 3, 1], 2, 3, 2);
    product(&mut [1, 1, 1], &[1, 2, 3], &[7], 3, 1, 1);
    product(&mut [5], &[], &[], 1, 0, 1);
    product(&mut [], &[], &[], 0, 18446744073709551615, 18446744073709551615);
    around(&mut [0, 0, 0, 0, 0, 0], &[1, 2, 3, 4, 5, 6], 3);
    around(&mut [0, 0, 0, 0, 0, 0], &[1, 2, 3, 4, 5, 6], 1);
    around(&mut [0, 0, 0, 0, 0, 0], &[1, 2, 3, 4, 5, 6], 6);
    around(&mut [0, 0, 0], &[], 2);
    ways(&mut [3, 1, 4, 1, 5, 9, 2, 6], 8, 2);
    ways(&mut [3, 1, 4, 1, 5, 9, 2, 6], 5, 3);
    ways(&mut [3, 1], 0, 7);
    rows(&mut [3, 1, 4, 1, 5, 9, 2, 6], 3, 1, 9);
    rows(&mut [3, 1, 4, 1, 5, 9, 2, 6], 8, 0, 4);
    rows(&mut [3, 1, 4, 1, 5, 9, 2, 6], 2, 18446744073709551615, 18446744073709551615);
}
