//! Writes that go to memory which was lent or to an array of the thread, by what the program comes to, and the array is read no more.

#[millstream::program]
pub mod program {
    // An array of the thread's own that is read where it is not known before.
    fn of_array(n: u32) -> u32 {
        let mut some = [0u32; 16];
        for (i, x) in some.iter_mut().enumerate() {
            *x = n * 3 + i as u32;
        }
        some[n as usize % 16]
    }

    // One of two that are lent.
    fn chosen<'a>(first: bool, a: &'a mut [u32], b: &'a mut [u32]) -> &'a mut [u32] {
        if first {
            return a;
        }
        b
    }

    #[task]
    pub fn by_branch(n: u32, out: &mut [u32]) -> u32 {
        let mut other = [0u32; 2];
        let to = if n % 3 == 0 { &mut out[..2] } else { &mut other[..] };
        let mut x = n;
        for i in 0..n {
            x = x * 5 + i;
        }
        to[0] = x;
        to[1] = x / 2;
        of_array(n)
    }

    #[task]
    pub fn by_helper(n: u32, out: &mut [u32]) -> u32 {
        let mut other = [7u32; 4];
        let to = chosen(n % 2 == 0, &mut out[1..], &mut other);
        let mut x = n;
        for i in 0..n {
            x = x * 7 + i;
        }
        to[0] = x;
        to[2] = x + 1;
        of_array(x % 5)
    }

    // The pointer goes on through what it was chosen of.
    #[task]
    pub fn by_steps(n: u32, out: &mut [u32]) -> u32 {
        let mut other = [1u32; 8];
        let mut to = if n > 2 { &mut out[..4] } else { &mut other[2..6] };
        let mut left = n;
        while let Some((first, rest)) = to.split_first_mut() {
            *first = left + 11;
            left *= 2;
            to = rest;
        }
        of_array(left)
    }

    pub struct Both<'a> {
        a: &'a mut [u32],
        b: &'a mut [u32],
    }

    // Fields that are exchanged.
    #[task]
    pub fn by_field(n: u32, out: &mut [u32]) -> u32 {
        let mut other = [0u32; 4];
        let mut both = Both { a: out, b: &mut other };
        if n % 2 == 1 {
            std::mem::swap(&mut both.a, &mut both.b);
        }
        let mut x = n;
        for i in 0..n {
            x = x * 9 + i;
        }
        both.a[3] = x;
        both.a[0] += n;
        of_array(n + 1) + both.b.len() as u32
    }

    // So much that what has it is called rather than written where it is called.
    macro_rules! much {
        ($k:ident: $($n:literal)*) => {
            $(
                $k = ($k * $n) ^ ($k >> 3);
                if $k % ($n + 2) == 1 {
                    $k += $n;
                }
            )*
        };
    }

    // What it is lent becomes something else that it is lent.
    fn other_one<'a>(mut to: &'a mut [u32], out: &'a mut [u32], n: u32) -> u32 {
        let mut k = n;
        much!(k: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22);
        if k % 3 == 0 {
            to = out;
        }
        let mut x = k;
        for i in 0..n {
            x = x * 7 + i;
        }
        to[0] = x | 1;
        of_array(x % 5)
    }

    // A part of it, if at all.
    fn some_part(a: &mut [u32], n: u32) -> Option<&mut [u32]> {
        let mut k = n;
        much!(k: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22);
        if k % 7 == 1 {
            return None;
        }
        Some(&mut a[k as usize % 2..])
    }

    pub struct Held<'a> {
        to: &'a mut [u32],
        n: u32,
    }

    fn hold<'a>(held: &mut Held<'a>, to: &'a mut [u32]) {
        let mut k = held.n;
        much!(k: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22);
        held.n = k;
        held.to = to;
    }

    #[task]
    pub fn by_argument(n: u32, out: &mut [u32]) -> u32 {
        let mut other = [7u32; 4];
        let a = other_one(&mut other, out, n);
        let mut other = [6u32; 5];
        a * 3 + other_one(&mut other, &mut out[2..], n + 1)
    }

    #[task]
    pub fn by_option(n: u32, out: &mut [u32]) -> u32 {
        let mut other = [7u32; 4];
        let mut x = n;
        let to = if n % 3 == 0 { some_part(&mut other, n) } else { some_part(&mut out[1..], n) };
        for i in 0..n {
            x = x * 7 + i;
        }
        if let Some(to) = to {
            to[0] = x | 1;
        }
        of_array(x % 5)
    }

    #[task]
    pub fn by_struct(n: u32, out: &mut [u32]) -> u32 {
        let mut other = [7u32; 4];
        let (a, b) = out.split_at_mut(2);
        let mut held = Held { to: a, n };
        if n % 2 == 1 {
            hold(&mut held, &mut other);
        } else {
            hold(&mut held, b);
        }
        let mut x = n;
        for i in 0..n {
            x = x * 7 + i;
        }
        held.to[1] = x | 1;
        of_array(x % 5) + held.n
    }

    // Many lanes, of which each third or so writes to what it was lent.
    #[task]
    pub fn all(n: u32, out: &mut [u32]) -> u32 {
        if out.len() < 8 {
            return n;
        }
        if out.len() < 16 {
            return by_branch(n, &mut out[..4]) + by_steps(n, &mut out[4..8]);
        }
        let (left, right) = out.split_at_mut(out.len() / 2);
        let a = spawn!(all(n, left));
        let b = spawn!(all(n + 1, right));
        sync!();
        a + b * 3
    }
}

millstream_tests::cases! {
    by_branch(3, &mut [0; 4]);
    by_branch(4, &mut [0; 4]);
    by_helper(4, &mut [1; 4]);
    by_helper(5, &mut [1; 4]);
    by_steps(5, &mut [2; 6]);
    by_steps(1, &mut [2; 6]);
    by_field(6, &mut [3; 5]);
    by_field(7, &mut [3; 5]);
    by_argument(1, &mut [5; 6]);
    by_argument(2, &mut [5; 6]);
    by_argument(3, &mut [5; 6]);
    by_option(3, &mut [5; 6]);
    by_option(4, &mut [5; 6]);
    by_option(5, &mut [5; 6]);
    by_struct(3, &mut [5; 6]);
    by_struct(4, &mut [5; 6]);
    all(0, &mut [4; 1000]);
}
