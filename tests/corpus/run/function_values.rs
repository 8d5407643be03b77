//! Functions as values: in variables, arrays, constants, fields, enums and `Option`s, given by functions, and taken by those that call themselves.

#[millstream::program]
pub mod program {
    use std::cmp::Ordering;

    fn double(x: u32) -> u32 {
        x * 2
    }

    fn triple(x: u32) -> u32 {
        x * 3
    }

    #[task]
    pub fn variables(n: u32) -> (u32, u32, u32) {
        let one: fn(u32) -> u32 = double;
        let other: fn(u32) -> u32 = if n > 3 { triple } else { double };
        let both: [fn(u32) -> u32; 3] = [one, other, |x| x ^ 5];
        let mut x = n;
        for f in both {
            x = f(x);
        }
        for f in &both {
            x = x % 1000 + f(x);
        }
        let open = [double, triple];
        let chosen = match n % 3 {
            0 => double,
            1 => triple,
            _ => |x| x + 100,
        };
        (x, both.iter().fold(1, |x, f| f(x)) + both[1](n), open.iter().map(|f| f(n)).sum::<u32>() + chosen(7))
    }

    fn add(a: i64, b: i64) -> i64 {
        a + b
    }

    fn sub(a: i64, b: i64) -> i64 {
        a - b
    }

    const TABLE: [fn(i64, i64) -> i64; 3] = [add, sub, |a, b| a * b];
    static NAMED: &[(u8, fn(i64, i64) -> i64)] = &[(b'+', add), (b'-', sub), (b'/', |a, b| a / b), (b'm', i64::max)];

    fn named(name: u8) -> Option<fn(i64, i64) -> i64> {
        NAMED.iter().find(|entry| entry.0 == name).map(|entry| entry.1)
    }

    fn chosen(by: usize) -> fn(i64, i64) -> i64 {
        match by {
            0 => |a, b| a % b,
            1 => sub,
            _ => i64::wrapping_add,
        }
    }

    #[task]
    pub fn constants(text: &[u8], a: i64, by: usize) -> (i64, i64, i64) {
        let mut x = a;
        for &name in text {
            if let Some(f) = named(name) {
                x = f(x, 3);
            }
        }
        (x, TABLE[by](a, 7), chosen(by)(a, 5) + NAMED[1].1(3, 9))
    }

    #[derive(Clone, Copy)]
    struct Step {
        apply: fn(u32) -> u32,
        on: Option<fn(u32) -> bool>,
        times: u32,
    }

    impl Step {
        const fn new(apply: fn(u32) -> u32, times: u32) -> Self {
            Step { apply, on: None, times }
        }

        fn run(&self, mut x: u32) -> u32 {
            for _ in 0..self.times {
                if self.on.is_none_or(|test| test(x)) {
                    x = (self.apply)(x);
                }
            }
            x
        }
    }

    fn given(f: impl Fn(u32) -> u32, x: u32) -> u32 {
        f(x) + 1
    }

    #[task]
    pub fn fields(n: u32) -> (u32, u32) {
        let steps = [
            Step::new(double, 2),
            Step { apply: |x| x + 1, on: Some(|x| x % 4 == 0), times: 3 },
            Step { on: Some(|x| x > 9), ..Step::new(triple, 1) },
        ];
        let run = steps.iter().fold(n, |x, step| step.run(x));
        (run, given(steps[2].apply, n) + steps.iter().map(|s| (s.apply)(1)).sum::<u32>())
    }

    #[derive(Clone, Copy)]
    enum Node {
        Leaf(f64),
        One(fn(f64) -> f64, usize),
        Two(fn(f64, f64) -> f64, usize, usize),
    }

    fn value(nodes: &[Node], at: usize) -> f64 {
        match nodes[at] {
            Node::Leaf(x) => x,
            Node::One(f, a) => f(value(nodes, a)),
            Node::Two(f, a, b) => f(value(nodes, a), value(nodes, b)),
        }
    }

    fn simpson(f: fn(f64) -> f64, a: f64, b: f64) -> f64 {
        (b - a) / 6.0 * (f(a) + 4.0 * f((a + b) / 2.0) + f(b))
    }

    fn adaptive(f: fn(f64) -> f64, a: f64, b: f64, whole: f64) -> f64 {
        let middle = (a + b) / 2.0;
        let (left, right) = (simpson(f, a, middle), simpson(f, middle, b));
        match (left + right - whole).abs() < 1e-4 {
            true => left + right,
            false => adaptive(f, a, middle, left) + adaptive(f, middle, b, right),
        }
    }

    #[task]
    pub fn trees(n: f64) -> (f64, f64) {
        let nodes = [Node::Two(|a, b| a + b, 1, 2), Node::Leaf(n), Node::One(f64::sqrt, 3), Node::Two(|a, b| a * b, 1, 1)];
        let f: fn(f64) -> f64 = |x| x * x * x * x - 2.0 * x;
        (value(&nodes, 0), adaptive(f, 0.0, n, simpson(f, 0.0, n)))
    }

    struct Machine {
        sum: i64,
        at: usize,
        halted: bool,
    }

    type Handler = fn(&mut Machine, i64);

    const HANDLERS: [Handler; 4] = [
        |m, x| m.sum += x,
        |m, x| m.at = x as usize,
        |m, _| m.halted = true,
        back,
    ];

    fn back(m: &mut Machine, x: i64) {
        if m.sum < x {
            m.at = 0;
        }
    }

    #[task]
    pub fn machine(x: i64) -> (i64, usize) {
        let code = [(0, x), (0, 1), (3, 40), (0, 500), (1, 6), (0, 9000), (2, 0)];
        let mut m = Machine { sum: 0, at: 0, halted: false };
        while !m.halted {
            let (handler, x) = code[m.at];
            m.at += 1;
            HANDLERS[handler](&mut m, x);
        }
        (m.sum, m.at)
    }

    fn sorted(a: &mut [i32], by: fn(&i32, &i32) -> Ordering) {
        if a.len() < 2 {
            return;
        }
        let (last, mut at) = (a.len() - 1, 0);
        for i in 0..last {
            if by(&a[i], &a[last]).is_lt() {
                a.swap(i, at);
                at += 1;
            }
        }
        a.swap(at, last);
        let (low, high) = a.split_at_mut(at);
        sorted(low, by);
        sorted(&mut high[1..], by);
    }

    #[task]
    pub fn sorts(a: &mut [i32], falls: bool) -> i32 {
        let by: fn(&i32, &i32) -> Ordering = if falls { |a, b| b.cmp(a) } else { i32::cmp };
        sorted(a, by);
        a.sort_by(by);
        a[0]
    }

    #[task]
    pub fn child(count: u32, n: u32) -> u32 {
        let mut f: fn(u32) -> u32 = double;
        let mut x = n;
        for i in 0..count {
            x = f(x) % 1009;
            f = if i % 2 == 0 { triple } else { double };
        }
        x
    }

    #[task]
    pub fn children(n: u32) -> u32 {
        let mut sum = 0;
        for i in 0..n {
            sum += spawn!(child(i, n));
        }
        sync!();
        sum
    }
}

millstream_tests::cases! {
    variables(3);
    variables(4);
    variables(8);
    constants(b"+-x/m", 20, 0);
    constants(b"m-", 1, 2);
    constants(b"", 9, 1);
    fields(1);
    fields(4);
    trees(2.0);
    machine(5);
    machine(50);
    sorts(&mut [3, 1, 2, 9, 4], true);
    sorts(&mut [3, 1, 2, 9, 4], false);
    children(6);
}
