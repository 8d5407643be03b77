//! Tasks that are called: next to each other, in expressions, in loops that gather; with cut-offs, and where nothing may run side by side.

#[millstream::program]
pub mod program {
    #[task]
    pub fn fib(n: u32, cut: u32) -> u64 {
        if n < 2 {
            return n as u64;
        }
        if n <= cut {
            return fib(n - 1, cut) + fib(n - 2, cut);
        }
        let x = spawn!(fib(n - 1, cut));
        let y = spawn!(fib(n - 2, cut));
        sync!();
        x + y
    }

    /// By `let`, and the value of a branch.
    #[task]
    pub fn leaves(n: u32, cut: u32) -> u64 {
        if n < 2 {
            1
        } else if n < cut {
            let x = leaves(n - 1, cut);
            let y = leaves(n - 2, cut);
            let z = leaves(n / 2, cut);
            let both = x * 3 + y;
            both + z
        } else if n == cut {
            let x = leaves(n - 1, cut);
            let y = leaves(n - 2, cut);
            x + y
        } else {
            2 * leaves(n - 1, cut) - leaves(n - 2, cut)
        }
    }

    #[task]
    pub fn queens(n: u32, tasks: u32, row: u32, cols: u32, left: u32, right: u32) -> u64 {
        if row == n {
            return 1;
        }
        let mut total = 0;
        let mut free = !(cols | left | right) & ((1 << n) - 1);
        while free != 0 {
            let bit = free & free.wrapping_neg();
            free ^= bit;
            let (c, l, r) = (cols | bit, (left | bit) << 1, (right | bit) >> 1);
            if row < tasks {
                total += spawn!(queens(n, tasks, row + 1, c, l, r));
            }
        }
        sync!();
        if row >= tasks {
            let mut free = !(cols | left | right) & ((1 << n) - 1);
            while free != 0 {
                let bit = free & free.wrapping_neg();
                free ^= bit;
                total += queens(n, tasks, row + 1, cols | bit, (left | bit) << 1, (right | bit) >> 1);
            }
        }
        total
    }

    /// A board by value, which the loop changes between the calls; the deepest and the number.
    #[task]
    pub fn fill(board: [u8; 6], at: usize, sizes: &[u8]) -> u32 {
        if at == 6 {
            let mut sum = 0;
            for (i, x) in board.iter().enumerate() {
                sum += (*x as u32) << i;
            }
            return sum;
        }
        let (mut most, mut next) = (0, board);
        for i in 0..sizes.len() {
            next[at] = sizes[i];
            most = most.max(fill(next, at + 1, sizes));
            next[at] = 0;
        }
        most
    }

    /// What is written between the calls: these stay calls.
    #[task]
    pub fn count(data: &mut [u32], n: u32) -> u32 {
        if n == 0 {
            data[0] += 1;
            return data[0];
        }
        let x = count(data, n - 1);
        let y = count(data, n - 1);
        x * 2 + y
    }

    /// A loop that looks at what it gathers.
    #[task]
    pub fn until(n: u32, most: u32) -> u32 {
        if n == 0 {
            return 1;
        }
        let mut sum = 0;
        for i in 0..n {
            if sum > most {
                break;
            }
            sum += until(i, most);
        }
        let mut others = 0;
        for i in 0..n {
            if i == 3 {
                continue;
            }
            others ^= until(i / 2, most);
        }
        sum + others
    }

    /// Gathered in two ways, one after the other: their order shows.
    #[task]
    pub fn two_ways(n: u32) -> u32 {
        if n == 0 {
            return 3;
        }
        let mut total = 1;
        for i in 0..n {
            total += two_ways(i);
        }
        for i in 0..n {
            total |= spawn!(two_ways(i / 2));
        }
        sync!();
        total
    }

    #[task]
    pub fn floats(n: u32) -> f32 {
        if n < 2 {
            return 0.1;
        }
        let mut sum = 0.3;
        for i in 1..n {
            sum += floats(i / 2);
        }
        let (a, b) = (floats(n - 2), floats(n / 3));
        sum + a / b
    }
}

millstream_tests::cases! {
    fib(12, 6);
    fib(10, 20);
    leaves(9, 5);
    leaves(12, 20);
    queens(6, 2, 0, 0, 0, 0);
    queens(6, 0, 0, 0, 0, 0);
    fill([0; 6], 3, &[3, 1, 4]);
    count(&mut [7], 4);
    until(6, 10);
    two_ways(5);
    floats(7);
}
