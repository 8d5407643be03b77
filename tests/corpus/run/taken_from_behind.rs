//! Iterators that are taken from behind where adaptors stand before: `rev` of `zip`, `skip` and `take`, and `next_back` of what has a name.
#[millstream::program]
pub mod program {
    use std::ops::Mul;

    /// Of digits, the last of which weighs least.
    fn sum(a: &[u32], b: &[u32], out: &mut [u32]) -> u32 {
        let mut carry = 0;
        for ((x, y), digit) in a.iter().zip(b).zip(out.iter_mut()).rev() {
            carry += x + y;
            *digit = carry % 10;
            carry /= 10;
        }
        carry
    }

    fn is_palindrome(text: &[u8]) -> bool {
        let mut letters = text.iter().filter(|b| b.is_ascii_alphabetic());
        let _ = letters.next();
        let mut it = text.iter();
        while let (Some(a), Some(b)) = (it.next(), it.next_back()) {
            if a != b {
                return false;
            }
        }
        true
    }

    #[task]
    pub fn digits(a: &[u32], b: &[u32], out: &mut [u32]) -> (u32, u32) {
        let carry = sum(a, b, out);
        // Of different lengths: the longer one is cut first.
        let weighed = out.iter().zip(&a[1..]).rev().fold(0, |all, (x, y)| all * 7 + x * y);
        (carry, weighed)
    }

    #[task]
    pub fn cut(a: &mut [u32], from: usize) -> [u32; 6] {
        for (i, x) in a.iter_mut().take(3).rev().enumerate() {
            *x += 10 * i as u32;
        }
        let numbers = |all: u32, x: u32| all * 3 + x;
        [
            a.iter().skip(from).rev().fold(0, |all, x| numbers(all, *x)),
            a.iter().take(from).map(|x| x + 1).rev().fold(0, numbers),
            a.iter().copied().enumerate().skip(from).rev().map(|(i, x)| i as u32 * x).fold(0, numbers),
            a.chunks(2).skip(1).rev().map(|c| c[0]).fold(0, numbers),
            a.windows(2).zip(a.iter().skip(2)).rev().map(|(w, x)| w[0] * x).fold(0, numbers),
            a.iter().zip(a.iter().rev()).rev().take_while(|(x, y)| x >= y).count() as u32,
        ]
    }

    #[task]
    pub fn ends(a: &[u32]) -> (u32, u32, bool, bool) {
        let mut it = a.iter().copied().map(|x| x * 2).enumerate();
        let (last, first) = (it.next_back().unwrap(), it.next().unwrap());
        let between: u32 = it.map(|(i, x)| i as u32 * x).sum();
        let mut other = a.iter();
        let found = other.rfind(|x| **x < 9).copied().unwrap_or(0);
        let behind = other.next_back().map_or(0, |x| *x);
        let turned = other.rev().fold(0, |all, x| all * 2 + x);
        let mut range = 0..a.len() as u32;
        let outer = range.next_back().unwrap_or(0) * 10 + range.next().unwrap_or(0);
        let all = last.1 * 1000 + first.1 + between + found * 7 + behind * 3 + turned;
        (all, outer + range.sum::<u32>(), is_palindrome(b"abcba"), is_palindrome(b"abca"))
    }

    #[derive(Clone, Copy)]
    struct Matrix<const R: usize, const C: usize>([[u64; C]; R]);

    impl<const R: usize, const K: usize, const C: usize> Mul<Matrix<K, C>> for Matrix<R, K> {
        type Output = Matrix<R, C>;

        fn mul(self, other: Matrix<K, C>) -> Matrix<R, C> {
            let mut out = [[0; C]; R];
            for (row, left) in out.iter_mut().zip(&self.0) {
                for (x, right) in left.iter().zip(&other.0) {
                    row.iter_mut().zip(right).for_each(|(sum, y)| *sum += x * y);
                }
            }
            Matrix(out)
        }
    }

    /// What is made on the right of an operator need not be of the left side's type.
    #[task]
    pub fn product(n: u64) -> u64 {
        let square = Matrix([[1, n], [n, 1]]);
        let column = square * square * Matrix([[1], [n]]);
        (Matrix([[n, 2]]) * column).0[0][0]
    }
}
millstream_tests::cases! {
    digits(&vec![9, 2, 3], &vec![1, 8, 7], &mut vec![0; 3]);
    digits(&vec![1, 2, 3, 4], &vec![1, 8], &mut vec![0; 4]);
    cut(&mut vec![1, 2, 3, 4, 5], 2);
    cut(&mut vec![5, 1, 2], 3);
    cut(&mut vec![], 1);
    ends(&vec![4, 9, 2, 8, 11]);
    product(3);
}
