//! What a task makes of its children's results to return it, in the ways in which it is written. Most of it can be left to the children.
#[millstream::program]
pub mod program {
    #[task]
    pub fn sum_by_if(n: u32) -> u64 {
        if n < 2 {
            n as u64
        } else {
            let x = spawn!(sum_by_if(n - 1));
            let y = spawn!(sum_by_if(n - 2));
            sync!();
            x + y
        }
    }

    #[task]
    pub fn sum_by_match(n: u32) -> u64 {
        match n {
            0 => 1,
            1 => 1,
            _ => {
                let x = spawn!(sum_by_match(n - 1));
                let y = spawn!(sum_by_match(n - 2));
                sync!();
                x + y
            }
        }
    }

    #[task]
    pub fn nested(n: u32) -> u64 {
        let r = if n < 2 {
            1
        } else if n % 3 == 0 {
            let x = spawn!(nested(n - 1));
            sync!();
            x + 1
        } else {
            let x = spawn!(nested(n - 1));
            let y = spawn!(nested(n - 2));
            sync!();
            x + y
        };
        r
    }

    #[task]
    pub fn any_of(n: u32) -> bool {
        if n < 2 {
            return n == 1;
        }
        let x = spawn!(any_of(n - 1));
        let y = spawn!(any_of(n - 2));
        sync!();
        x || y
    }

    #[task]
    pub fn every(n: u32) -> bool {
        if n < 2 {
            return n == 1;
        }
        let x = spawn!(every(n - 1));
        let y = spawn!(every(n - 2));
        sync!();
        x && y
    }

    #[task]
    pub fn counted(n: u32) -> u64 {
        if n < 2 {
            return 1;
        }
        let x = spawn!(counted(n - 1));
        let y = spawn!(counted(n - 2));
        sync!();
        1 + x + y
    }

    #[task]
    pub fn greatest(n: u32) -> u64 {
        if n < 2 {
            return n as u64;
        }
        let x = spawn!(greatest(n - 1));
        let y = spawn!(greatest(n - 2));
        sync!();
        x.max(y)
    }

    #[task]
    pub fn greatest_by_if(n: u32) -> u64 {
        if n < 2 {
            return n as u64;
        }
        let x = spawn!(greatest_by_if(n - 1));
        let y = spawn!(greatest_by_if(n - 2));
        sync!();
        if x > y { x } else { y }
    }

    #[task]
    pub fn greatest_of_three(n: u32) -> u64 {
        if n < 2 {
            n as u64
        } else {
            let x = spawn!(greatest_of_three(n - 1));
            let y = spawn!(greatest_of_three(n - 2));
            sync!();
            std::cmp::max(x, y).max(n as u64)
        }
    }

    #[task]
    pub fn array(n: u32) -> u64 {
        if n < 2 {
            return 1;
        }
        let mut r = [0u64; 2];
        for i in 0..2 {
            r[i] = spawn!(array(n - 1 - i as u32));
        }
        sync!();
        r.iter().sum()
    }

    #[task]
    pub fn looped(n: u32) -> u64 {
        if n < 2 {
            1
        } else {
            let mut s = 0;
            for i in 0..n / 2 {
                s += spawn!(looped(i));
            }
            sync!();
            s
        }
    }

    #[task]
    pub fn least_of_loop(n: u32) -> u64 {
        let mut best = u64::MAX;
        if n < 2 {
            best = n as u64;
        } else {
            for i in 0..n / 2 {
                best = best.min(spawn!(least_of_loop(i)));
            }
        }
        sync!();
        best
    }

    #[task]
    pub fn mutable(n: u32) -> u64 {
        let mut total = 1;
        if n > 0 {
            total += spawn!(mutable(n - 1));
            if n > 1 {
                total += spawn!(mutable(n - 2));
            }
            sync!();
        }
        total
    }

    #[task]
    pub fn parity(n: u32) -> u64 {
        if n < 2 {
            return n as u64;
        }
        let (x, y) = (spawn!(parity(n - 1)), spawn!(parity(n - 2)));
        sync!();
        x ^ y ^ n as u64
    }

    #[task]
    pub fn wrapping(n: u32) -> u64 {
        if n < 2 {
            return n as u64;
        }
        let (x, y) = (spawn!(wrapping(n - 1)), spawn!(wrapping(n - 2)));
        sync!();
        x.wrapping_add(y).wrapping_add(3)
    }

    #[task]
    pub fn named(n: u32) -> u64 {
        if n < 2 {
            return n as u64;
        }
        let a = spawn!(named(n - 1));
        let b = spawn!(named(n - 2));
        sync!();
        let total = a + b;
        total
    }

    #[task]
    pub fn perhaps(n: u32) -> u64 {
        if n < 2 {
            return n as u64;
        }
        let a = spawn!(perhaps(n - 1));
        let b = if n % 2 == 0 { spawn!(perhaps(n - 2)) } else { 0 };
        sync!();
        a + b
    }

    #[task]
    pub fn early(n: u32) -> u64 {
        if n == 0 {
            return 0;
        }
        if n == 1 {
            return 1;
        }
        let x = spawn!(early(n - 1));
        if n < 5 {
            sync!();
            return x;
        }
        let y = spawn!(early(n - 2));
        sync!();
        x + y
    }

    #[task]
    pub fn left_and_right(n: u32) -> u64 {
        if n == 0 {
            return 1;
        }
        let mut l = 0;
        let mut r = 0;
        if n % 3 != 0 {
            l = spawn!(left_and_right(n - 1));
        }
        if n % 2 == 0 && n > 1 {
            r = spawn!(left_and_right(n - 2));
        }
        sync!();
        l + r
    }

    #[task]
    pub fn each_perhaps(n: u32) -> u64 {
        if n == 0 {
            return 1;
        }
        let l = if n % 3 != 0 { spawn!(each_perhaps(n - 1)) } else { 0 };
        let r = if n > 1 { spawn!(each_perhaps(n - 2)) } else { 0 };
        sync!();
        l + r + 1
    }

    #[task]
    pub fn not_nothing(n: u32) -> u64 {
        if n == 0 {
            return 1;
        }
        let mut l = 1;
        if n % 3 != 0 {
            l = spawn!(not_nothing(n - 1));
        }
        let r = spawn!(not_nothing(n / 2));
        sync!();
        l + r
    }

    #[task]
    pub fn one_then_other(n: u32) -> u64 {
        if n == 0 {
            return 1;
        }
        let mut l = 0;
        if n % 3 != 0 {
            l = spawn!(one_then_other(n - 1));
            sync!();
        }
        let r = spawn!(one_then_other(n / 2));
        sync!();
        l + r
    }

    #[task]
    pub fn forgotten(n: u32) -> u64 {
        if n == 0 {
            return 1;
        }
        let mut l = 0;
        if n % 3 == 1 {
            l = spawn!(forgotten(n - 1));
            sync!();
            l &= 0;
        }
        let r = spawn!(forgotten(n / 2));
        sync!();
        l + r
    }

    #[task]
    pub fn mixed(n: u32) -> bool {
        if n < 3 {
            n == 2
        } else {
            let a = spawn!(mixed(n - 1));
            let b = spawn!(mixed(n - 2));
            let c = spawn!(mixed(n - 3));
            sync!();
            a || b || c && n > 4
        }
    }

    #[task]
    pub fn any_by_return(n: u32) -> bool {
        if n < 3 {
            return n == 2;
        }
        let a = spawn!(any_by_return(n - 1));
        let b = spawn!(any_by_return(n - 2));
        sync!();
        if a {
            return true;
        }
        b
    }

    #[task]
    pub fn not_every(n: u32) -> bool {
        if n < 3 {
            return n == 2;
        }
        let a = spawn!(not_every(n - 1));
        let b = spawn!(not_every(n - 2));
        sync!();
        !(a && b)
    }

    #[task]
    pub fn least_by_if(n: u32) -> i32 {
        if n < 3 {
            return 5 - n as i32;
        }
        let a = spawn!(least_by_if(n - 1));
        let b = spawn!(least_by_if(n - 2));
        sync!();
        if b < a { b } else { a }
    }

    #[task]
    pub fn not_least(n: u32) -> i32 {
        if n < 3 {
            return 5 - n as i32;
        }
        let a = spawn!(not_least(n - 1));
        let b = spawn!(not_least(n - 2));
        sync!();
        if b < a { b - 1 } else { a }
    }

    #[task]
    pub fn game(n: u32, me: bool) -> i32 {
        if n < 3 {
            return if me { n as i32 } else { 3 - n as i32 };
        }
        let a = spawn!(game(n - 1, !me));
        let b = spawn!(game(n - 2, !me));
        sync!();
        if me { a.max(b) } else { a.min(b) }
    }
}
millstream_tests::cases! {
    sum_by_if(3);
    sum_by_if(11);
    sum_by_match(3);
    sum_by_match(11);
    nested(3);
    nested(11);
    any_of(3);
    any_of(11);
    every(3);
    every(11);
    counted(3);
    counted(11);
    greatest(3);
    greatest(11);
    greatest_by_if(3);
    greatest_by_if(11);
    greatest_of_three(3);
    greatest_of_three(11);
    array(3);
    array(11);
    looped(3);
    looped(11);
    least_of_loop(3);
    least_of_loop(11);
    mutable(3);
    mutable(11);
    parity(3);
    parity(11);
    wrapping(3);
    wrapping(11);
    named(3);
    named(11);
    perhaps(3);
    perhaps(11);
    early(3);
    early(11);
    left_and_right(3);
    left_and_right(11);
    each_perhaps(3);
    each_perhaps(11);
    not_nothing(3);
    not_nothing(11);
    one_then_other(3);
    one_then_other(11);
    forgotten(3);
    forgotten(11);
    mixed(3);
    mixed(11);
    any_by_return(3);
    any_by_return(11);
    not_every(3);
    not_every(11);
    least_by_if(3);
    least_by_if(11);
    not_least(3);
    not_least(11);
    game(9, true);
    game(10, false);
}
