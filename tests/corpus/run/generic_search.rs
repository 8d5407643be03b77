//! A search over a trait of problems, in tasks and helpers.

#[millstream::program]
pub mod program {
    trait Problem {
        type State: Copy;
        const BRANCH: u32;
        fn start(&self) -> Self::State;
        fn step(&self, s: Self::State, i: u32) -> Option<Self::State>;
        fn done(&self, s: &Self::State) -> bool;
        fn cost(&self, s: &Self::State) -> u32 {
            let _ = s;
            1
        }
    }
    #[derive(Clone, Copy)]
    pub struct Sum {
        pub goal: u32,
    }
    #[derive(Clone, Copy)]
    pub struct At {
        pub left: u32,
        pub last: u32,
    }
    impl At {
        fn done(&self) -> bool {
            false
        }
        fn next(self, i: u32) -> At {
            At {
                left: self.left - i,
                last: i,
            }
        }
    }
    impl Problem for Sum {
        type State = At;
        const BRANCH: u32 = 4;
        fn start(&self) -> At {
            At {
                left: self.goal,
                last: 1,
            }
        }
        fn step(&self, s: At, i: u32) -> Option<At> {
            if i < s.last || i > s.left {
                None
            } else {
                Some(s.next(i))
            }
        }
        fn done(&self, s: &At) -> bool {
            s.left == 0 && !s.done()
        }
    }
    struct Count(u32);
    impl Problem for Count {
        type State = u32;
        const BRANCH: u32 = 2;
        fn start(&self) -> u32 {
            0
        }
        fn step(&self, s: u32, i: u32) -> Option<u32> {
            (s + i <= self.0).then_some(s + i)
        }
        fn done(&self, s: &u32) -> bool {
            *s == self.0
        }
        fn cost(&self, s: &Self::State) -> u32 {
            *s
        }
    }
    fn search<P: Problem>(p: &P, s: P::State) -> u32 {
        if p.done(&s) {
            return p.cost(&s);
        }
        let mut all = 0;
        for i in 1..=P::BRANCH {
            if let Some(n) = p.step(s, i) {
                all += search(p, n);
            }
        }
        all
    }
    fn solve<P>(p: P) -> u32
    where
        P: Problem,
        P::State: Copy,
    {
        search(&p, p.start())
    }
    #[task]
    pub fn sums(left: u32, last: u32, depth: u32) -> u32 {
        let p = Sum { goal: left };
        let at = At { left, last };
        if depth == 0 {
            return search(&p, at);
        }
        if p.done(&at) {
            return 1;
        }
        let mut all = 0;
        for i in 1..=Sum::BRANCH {
            if let Some(n) = p.step(at, i) {
                all += spawn!(sums(n.left, n.last, depth - 1));
            }
        }
        sync!();
        all
    }
    #[task]
    pub fn run(n: u32) -> (u32, u32) {
        let a = spawn!(sums(n, 1, 2));
        sync!();
        (a, solve(Sum { goal: n }) + solve(Count(n)))
    }
}

millstream_tests::cases! {
    run(9);
}
