//! `Result`: as results of tasks and helpers, in structs and arrays, with `?`, in patterns, and what its methods make of it.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum Fault {
        Empty,
        Odd(u32),
        Below { what: i32, limit: i32 },
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Report {
        pub last: Result<u32, Fault>,
        pub all: [Result<i32, ()>; 3],
    }

    type Halved = Result<u32, Fault>;

    fn halved(x: u32) -> Halved {
        if x % 2 == 1 {
            return Err(Fault::Odd(x));
        }
        Ok(x / 2)
    }

    fn eighth(x: u32) -> Result<u32, Fault> {
        let x = halved(x)?;
        let x = halved(x)?;
        Ok(halved(x)? + 1)
    }

    fn above(what: i32, limit: i32) -> Result<(), Fault> {
        if what < limit { Err(Fault::Below { what, limit }) } else { Ok(()) }
    }

    fn first_even(a: &[u32]) -> Result<u32, Fault> {
        let first = a.iter().copied().find(|x| x % 2 == 0).ok_or(Fault::Empty)?;
        above(first as i32, 4)?;
        let last = a.last().ok_or_else(|| Fault::Odd(0))?;
        Ok(first * 100 + last)
    }

    fn found(a: &[u32], x: u32) -> Option<u32> {
        let at = a.iter().position(|y| *y == x)?;
        let half = halved(at as u32).ok()?;
        Some(half)
    }

    /// A child's result, and the first error of two.
    #[task]
    pub fn halves(a: &[u32]) -> Result<u64, Fault> {
        if a.is_empty() {
            return Err(Fault::Empty);
        }
        if a.len() == 1 {
            return halved(a[0]).map(|x| x as u64);
        }
        let (low, high) = a.split_at(a.len() / 2);
        let left = spawn!(halves(low));
        let right = spawn!(halves(high));
        sync!();
        Ok(left? + right?)
    }

    #[task]
    pub fn tried(a: &[u32], n: u32) -> (Result<u32, Fault>, Result<u32, Fault>, Option<u32>) {
        (eighth(n), first_even(a), found(a, n))
    }

    fn noted(calls: &mut u32, n: u32) -> u32 {
        *calls += n;
        *calls
    }

    #[task]
    pub fn methods(n: u32) -> ([u32; 16], Result<u8, u32>, [bool; 6]) {
        let mut calls = 0;
        let r = eighth(n);
        let e = r.map_err(|e| match e {
            Fault::Odd(x) => x,
            Fault::Empty => 0,
            Fault::Below { .. } => 1,
        });
        let numbers = [
            r.unwrap_or(7),
            r.unwrap_or_default(),
            r.unwrap_or_else(|e| if e == Fault::Odd(n) { 1 } else { 2 }),
            r.map_or(3, |x| x * 2),
            r.map_or_else(|_| 4, |x| x * 3),
            r.unwrap_or(noted(&mut calls, 5)),
            r.ok().unwrap_or(8),
            r.err().map_or(9, |e| if let Fault::Odd(x) = e { x } else { 0 }),
            e.and_then(|x| if x > 3 { Ok(x) } else { Err(50) }).unwrap_or_else(|e| e + 1),
            e.or_else(|x| if x > 3 { Ok::<u32, ()>(x) } else { Err(()) }).unwrap_or(60),
            e.and(Ok::<u32, u32>(noted(&mut calls, 1))).unwrap_or(70),
            e.or(Err::<u32, ()>(())).unwrap_or(80),
            match r {
                Ok(0) => 100,
                Ok(x @ 1..=9) => x + 100,
                Ok(x) => x + 200,
                Err(Fault::Odd(1 | 3)) => 300,
                Err(Fault::Odd(x)) if x > 100 => 400,
                Err(Fault::Odd(_) | Fault::Empty) => 500,
                Err(Fault::Below { what, .. }) => what as u32,
            },
            if let Err(Fault::Odd(x)) = &r { *x } else { 0 },
            calls,
            if r.is_err() { r.unwrap_err() == Fault::Odd(n) } else { false } as u32,
        ];
        let small = e.map(|x| x as u8);
        let asked = [
            r.is_ok(),
            r.is_err(),
            r.is_ok_and(|x| x > 1),
            r.is_err_and(|e| e == Fault::Empty),
            e == Ok(2),
            r != Err(Fault::Odd(n)),
        ];
        (numbers, small, asked)
    }

    #[task]
    pub fn kept(report: Report, n: u32) -> Report {
        let mut next = report;
        next.last = match report.last {
            Ok(x) => halved(x + n),
            Err(Fault::Below { what, limit }) => above(what + n as i32, limit).map(|_| n),
            Err(_) => Ok(n),
        };
        let mut i = 0;
        while let Ok(x) = next.all[i] {
            next.all[i] = if x > 0 { Err(()) } else { Ok(x + 1) };
            i += 1;
            if i == 3 {
                break;
            }
        }
        let Err(()) = next.all[0] else {
            next.all[1] = Ok(-7);
            return next;
        };
        next
    }

    #[task]
    pub fn surely(n: u32) -> u32 {
        let half = halved(n).expect("an even number");
        let lost: Result<u32, Fault> = Err(Fault::Odd(half));
        half + (lost.expect_err("no number") == Fault::Odd(half)) as u32
    }
}

millstream_tests::cases! {
    halves(&[2, 4, 8, 10, 30]);
    halves(&[2, 4, 7, 10, 31]);
    halves(&[]);
    tried(&[3, 8, 40, 41], 40);
    tried(&[3, 2, 40], 4);
    tried(&[3, 1], 9);
    methods(8);
    methods(80);
    methods(8000);
    methods(6);
    methods(4);
    methods(9);
    methods(1002);
    kept(program::Report { last: Ok(4), all: [Ok(1), Ok(0), Err(())] }, 2);
    kept(program::Report { last: Ok(4), all: [Ok(0), Ok(0), Ok(5)] }, 1);
    kept(program::Report { last: Err(program::Fault::Below { what: -3, limit: 4 }), all: [Err(()), Ok(0), Err(())] }, 2);
    kept(program::Report { last: Err(program::Fault::Below { what: -3, limit: 4 }), all: [Err(()), Ok(0), Err(())] }, 20);
    kept(program::Report { last: Err(program::Fault::Empty), all: [Ok(3), Ok(2), Ok(1)] }, 2);
    surely(6);
}
