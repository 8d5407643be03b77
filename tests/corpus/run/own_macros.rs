//! Macros of the program: of expressions, statements, items, blocks of traits and tasks, with repetition, and with names of their own.

#[millstream::program]
pub mod program {
    macro_rules! square {
        ($x:expr) => {
            $x * $x
        };
    }
    macro_rules! max {
        ($x:expr) => { $x };
        ($x:expr, $($rest:expr),+) => {{ let a = $x; let b = max!($($rest),+); if a > b { a } else { b } }};
    }
    macro_rules! swap {
        ($a:expr, $b:expr) => {
            let tmp = $a;
            $a = $b;
            $b = tmp;
        };
    }
    macro_rules! shape {
        ($name:ident { $($field:ident : $t:ty),* $(,)? }) => {
            #[derive(Clone, Copy, Default, PartialEq, Debug)]
            pub struct $name { $(pub $field: $t),* }
            impl $name { fn sum(&self) -> f64 { 0.0 $(+ self.$field as f64)* } }
        };
    }
    shape!(Point { x: f32, y: f64 });
    shape!(Box3 {
        w: u32,
        h: u32,
        d: u32
    });
    trait Zero {
        const ZERO: Self;
        fn half(self) -> Self;
    }
    macro_rules! zero { ($($t:ty => $z:literal),* $(,)?) => { $(impl Zero for $t { const ZERO: $t = $z; fn half(self) -> $t { self / (2 as $t) } })* }; }
    zero!(u32 => 0, f32 => 0.0, i64 => 0);
    macro_rules! ops { ($($name:ident: $op:tt),*) => { $(fn $name(a: i64, b: i64) -> i64 { a $op b })* }; }
    ops!(plus: +, minus: -, times: *);
    macro_rules! hashes { ($h:ident; $($e:expr),*) => { $( $h = ($h ^ ($e as u64)).wrapping_mul(0x100_0000_01b3); )* }; }
    macro_rules! task_sum {
        ($name:ident, $t:ty) => {
            #[task]
            pub fn $name(a: &[$t]) -> $t {
                if a.len() < 4 {
                    return a.iter().sum();
                }
                let (l, r) = a.split_at(a.len() / 2);
                let x = spawn!($name(l));
                let y = spawn!($name(r));
                sync!();
                x + y
            }
        };
    }
    task_sum!(sum_u32, u32);
    task_sum!(sum_f64, f64);
    macro_rules! table { ($($k:literal => $v:expr),*) => { [$(($k, $v)),*] }; }
    const T: [(u8, u32); 3] = table!(b'a' => 1, b'b' => square!(3), b'c' => 4);
    macro_rules! check {
        ($c:expr, $m:literal) => {
            if !$c {
                return Err($m);
            }
        };
    }
    fn checked(n: u32) -> Result<u32, u32> {
        check!(n > 2, 1);
        check!(n < 100, 2);
        Ok(n)
    }
    #[task]
    pub fn uses(n: u32) -> (u32, u32, (u32, u32), f64, f64, i64, u64, u32, u32) {
        let (mut a, mut tmp) = (n, 9);
        swap!(a, tmp);
        let p = Point { x: 1.5, y: 2.0 };
        let b = Box3 { w: 1, h: n, d: 3 };
        let mut h = 0xcbf2_9ce4_8422_2325u64;
        hashes!(h; n, a, tmp + 1);
        assert!(square!(n + 1) >= n, "grows");
        let s: u32 = T.iter().map(|&(k, v)| u32::from(k) * v).sum();
        (
            square!(n + 1),
            max!(n, 3, a, 4),
            (a, tmp),
            p.sum() + f64::from(f32::ZERO) + 3.0f32.half() as f64,
            b.sum(),
            plus(3, times(4, minus(5, n as i64))),
            h,
            s,
            checked(n).unwrap_or_else(|e| e),
        )
    }
    #[derive(Clone, Copy)]
    pub struct Pair {
        x: u32,
        y: u32,
    }
    macro_rules! made {
        ($a:expr) => {{
            let x = $a;
            let p = Pair { x, y: x + 1 };
            total(p)
        }};
    }
    macro_rules! or_else {
        ($o:expr, $d:expr) => {
            match $o {
                Some(v) => v * 100,
                None => $d,
            }
        };
    }
    macro_rules! and {
        ($o:expr, $d:expr) => {
            match $o {
                Some(v) if v > 0 => v * 100 + $d,
                _ => $d,
            }
        };
    }
    macro_rules! bump {
        ($a:ident) => {
            let tmp = $a + 1;
            $a = tmp;
        };
    }
    macro_rules! each {
        ($a:expr, $i:ident => $body:expr) => {
            for $i in $a.iter().copied() {
                $body;
            }
        };
    }
    macro_rules! count { () => { 0u32 }; ($h:tt $($t:tt)*) => { 1u32 + count!($($t)*) }; }
    macro_rules! sum_by {
        ($a:expr, $f:expr) => {
            $a.iter().map(|v| $f(*v)).sum::<u32>()
        };
    }
    macro_rules! local {
        ($n:ident = $e:expr) => {
            let $n = $e;
        };
    }
    fn total(p: Pair) -> u32 {
        p.x * 10 + p.y
    }
    #[task]
    pub fn names(n: u32) -> [u32; 8] {
        let tmp = 7;
        let x = 3;
        let v = n;
        let mut a = 1;
        bump!(a);
        let made = { made!(x + n) };
        let mut all = 0;
        each!([1, 2, 3], k => all += k * v);
        local!(z = x * 2);
        [
            tmp,
            a,
            made,
            or_else!(Some(4), v),
            or_else!(None::<u32>, v),
            and!(Some(2), v),
            all + z,
            count!(a b (c d) 4) * 10 + sum_by!([1, 2, v], |w| w * v),
        ]
    }

    trait Number: Copy {
        fn wide(self) -> f64;
    }

    // What stands behind this `for` is no pattern: `f64` is a type here, and what `$t` may be.
    macro_rules! numbers {
        ($($t:ty),+) => {
            $(impl Number for $t {
                fn wide(self) -> f64 {
                    let twice = self + self;
                    twice as f64
                }
            })+
        };
    }

    numbers!(u32, f32, f64);

    // A name of the macro's own behind the points of a range, beside the program's of that name.
    macro_rules! summed {
        ($e:expr) => {{
            let (mut sum, k) = (0, 2);
            for j in 0..k + 1 {
                sum += $e + j * k;
            }
            for j in 0..=k {
                sum += j;
            }
            sum
        }};
    }

    #[task]
    pub fn ranges(n: u32) -> u32 {
        let k = n;
        summed!(k) + k
    }

    #[task]
    pub fn wide(n: u32, x: f64) -> f64 {
        n.wide() + x.wide() + 0.5f32.wide()
    }
}

millstream_tests::cases! {
    wide(3, 0.25);
    ranges(5);
    uses(5);
    uses(101);
    names(5);
    sum_u32(&[1, 2, 3, 4, 5, 6, 7]);
    sum_f64(&[0.5, 1.5]);
}
