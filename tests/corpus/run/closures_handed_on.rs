//! Functions that call themselves and hand on the closures that they take: walks through trees, searches, permutations, quadrature.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy)]
    pub struct Node {
        left: u32,
        right: u32,
        value: i32,
    }

    fn walk(tree: &[Node], at: u32, f: &mut impl FnMut(i32)) {
        if at == 0 {
            return;
        }
        let n = tree[at as usize];
        walk(tree, n.left, f);
        f(n.value);
        walk(tree, n.right, f);
    }
    fn visit<F: FnMut(usize, i32)>(tree: &[Node], at: u32, depth: usize, f: &mut F) {
        if at == 0 {
            return;
        }
        f(depth, tree[at as usize].value);
        visit(tree, tree[at as usize].left, depth + 1, f);
        visit(tree, tree[at as usize].right, depth + 1, &mut *f);
    }
    fn find(tree: &[Node], at: u32, p: &impl Fn(i32) -> bool) -> Option<i32> {
        if at == 0 {
            return None;
        }
        let n = tree[at as usize];
        if p(n.value) {
            return Some(n.value);
        }
        find(tree, n.left, p).or_else(|| find(tree, n.right, p))
    }
    fn permute<const N: usize>(a: &mut [u32; N], k: usize, f: &mut impl FnMut(&[u32; N])) {
        if k == N {
            f(a);
            return;
        }
        for i in k..N {
            a.swap(k, i);
            permute(a, k + 1, f);
            a.swap(k, i);
        }
    }
    fn integrate<F: Fn(f64) -> f64 + Copy>(f: F, a: f64, b: f64, eps: f64) -> f64 {
        let m = (a + b) / 2.0;
        let whole = (f(a) + 4.0 * f(m) + f(b)) * (b - a) / 6.0;
        let l = (f(a) + 4.0 * f((a + m) / 2.0) + f(m)) * (m - a) / 6.0;
        let r = (f(m) + 4.0 * f((m + b) / 2.0) + f(b)) * (b - m) / 6.0;
        if (l + r - whole).abs() < eps {
            l + r
        } else {
            integrate(f, a, m, eps / 2.0) + integrate(f, m, b, eps / 2.0)
        }
    }
    fn even(n: u32, f: &mut dyn FnMut(u32)) {
        f(n);
        if n > 0 {
            odd(n - 1, f);
        }
    }
    fn odd(n: u32, f: &mut dyn FnMut(u32)) {
        f(n * 100);
        if n > 0 {
            even(n - 1, f);
        }
    }
    fn fold_tree<T: Copy>(tree: &[Node], at: u32, init: T, f: &impl Fn(T, i32) -> T) -> T {
        if at == 0 {
            return init;
        }
        let n = &tree[at as usize];
        let l = fold_tree(tree, n.left, init, f);
        fold_tree(tree, n.right, f(l, n.value), f)
    }
    struct Tree<'a> {
        nodes: &'a [Node],
    }
    impl<'a> Tree<'a> {
        fn each(&self, at: u32, f: &mut impl FnMut(&Node)) {
            if at == 0 {
                return;
            }
            let n = &self.nodes[at as usize];
            self.each(n.left, f);
            f(n);
            self.each(n.right, f);
        }
    }
    #[task]
    pub fn trees(n: u32) -> (i64, usize, Option<i32>, u64, f64, u64, i64, i32) {
        let mut tree = [Node {
            left: 0,
            right: 0,
            value: 0,
        }; 16];
        for i in 1..16u32 {
            tree[i as usize] = Node {
                left: if 2 * i < 16 { 2 * i } else { 0 },
                right: if 2 * i + 1 < 16 { 2 * i + 1 } else { 0 },
                value: (i * n % 17) as i32,
            };
        }
        let mut sum = 0i64;
        let mut k = 1;
        walk(&tree, 1, &mut |x| {
            sum = sum * 3 % 1_000_003 + x as i64 * k;
            k += 1;
        });
        let mut deepest = 0;
        visit(&tree, 1, 0, &mut |d, v| {
            if v > 5 {
                deepest = deepest.max(d * 10 + v as usize)
            }
        });
        let found = find(&tree, 1, &|x| x > 3 && x % n as i32 == 1);
        let mut count = 0;
        permute(&mut [1, 2, 3, 4], 0, &mut |p| {
            if p[0] < p[3] {
                count += p[1] as u64
            }
        });
        let a = n as f64;
        let area = integrate(|x| x * a / (1.0 + x * x * a), 0.0, 2.0, 1e-6);
        let mut all = 0;
        even(n, &mut |x| all = all * 7 + x as u64);
        let folded = fold_tree(&tree, 1, 1i64, &|acc, x| (acc * 31 + x as i64) % 10_007);
        let t = Tree { nodes: &tree };
        let mut last = 0;
        let mut bad = 0;
        t.each(1, &mut |node| {
            if node.value < last {
                bad += 1;
            }
            last = node.value;
        });
        (sum, deepest, found, count, area, all, folded, bad)
    }
    fn subsets(items: &[u32], at: usize, sum: u32, f: &mut impl FnMut(u32) -> bool) -> bool {
        if at == items.len() {
            return f(sum);
        }
        subsets(items, at + 1, sum, f) && subsets(items, at + 1, sum + items[at], f)
    }
    fn quad(
        x: u32,
        y: u32,
        size: u32,
        inside: &impl Fn(u32, u32) -> bool,
        emit: &mut impl FnMut(u32, u32, u32),
    ) {
        let mut all = true;
        let mut none = true;
        for dy in 0..size {
            for dx in 0..size {
                if inside(x + dx, y + dy) {
                    none = false
                } else {
                    all = false
                }
            }
        }
        if all {
            emit(x, y, size);
        } else if !none {
            let h = size / 2;
            for (dx, dy) in [(0, 0), (h, 0), (0, h), (h, h)] {
                quad(x + dx, y + dy, h, inside, emit);
            }
        }
    }
    fn sort_by<T: Copy>(a: &mut [T], less: &impl Fn(&T, &T) -> bool) {
        if a.len() < 2 {
            return;
        }
        let mid = a.len() / 2;
        a.swap(0, mid);
        let pivot = a[0];
        let mut i = 0;
        for j in 1..a.len() {
            if less(&a[j], &pivot) {
                i += 1;
                a.swap(i, j);
            }
        }
        a.swap(0, i);
        let (l, r) = a.split_at_mut(i);
        sort_by(l, less);
        sort_by(&mut r[1..], less);
    }
    fn memo(n: usize, table: &mut [u64], f: &impl Fn(u64, u64) -> u64) -> u64 {
        if table[n] != 0 {
            return table[n];
        }
        let v = f(memo(n - 1, table, f), memo(n - 2, table, f));
        table[n] = v;
        v
    }
    fn twice(f: impl Fn(u32) -> u32, x: u32) -> u32 {
        f(f(x))
    }
    fn times(n: u32, f: impl Fn(u32) -> u32 + Copy, x: u32) -> u32 {
        if n == 0 { x } else { times(n - 1, f, f(x)) }
    }
    fn generic<T: Copy + PartialOrd>(a: &[T], limit: T) -> usize {
        let mut count = 0;
        each(a, &mut |x| {
            if *x < limit {
                count += 1
            }
        });
        count
    }
    fn each<T>(a: &[T], f: &mut impl FnMut(&T)) {
        match a {
            [] => {}
            [x] => f(x),
            _ => {
                let (l, r) = a.split_at(a.len() / 2);
                each(l, f);
                each(r, f);
            }
        }
    }
    #[task]
    pub fn searches(n: u32) -> ([u32; 6], u64, usize, usize, [u32; 64]) {
        let mut out = [0; 64];
        let items = [3, 34, 4, 12, 5, 2];
        let target = n;
        let mut tried = 0;
        let found = !subsets(&items, 0, 0, &mut |s| {
            tried += 1;
            s != target
        });
        let mut len = 0;
        let r2 = n * n;
        let centre = 8;
        quad(
            0,
            0,
            16,
            &|x, y| (x as i32 - centre).pow(2) + (y as i32 - centre).pow(2) < r2 as i32,
            &mut |x, y, s| {
                if len < out.len() {
                    out[len] = x * 10000 + y * 100 + s;
                    len += 1;
                }
            },
        );
        let keys = [5u32, 1, 4, 2, 3, 0];
        let mut order = [0usize, 1, 2, 3, 4, 5];
        sort_by(&mut order, &|&a, &b| keys[a] < keys[b]);
        let mut table = [0; 64];
        table[0] = 1;
        table[1] = 1;
        let fib = memo(40, &mut table, &|a, b| (a + b) % 1_000_007);
        let add = |x: u32| x + n;
        let t =
            twice(|x| twice(|y| y * 2 + n, x), 3) + times(5, add, 1) + times(3, |x| add(x) * 2, 1);
        let it = order.iter().map(|&o| o as u32 * 3);
        let s: u32 = it.sum();
        (
            [tried, found as u32, len as u32, order[0] as u32, t, s],
            fib,
            generic(&[1.5, 2.5, 0.5], 2.0),
            generic(&keys, 3),
            out,
        )
    }
}

millstream_tests::cases! {
    trees(5);
    trees(3);
    searches(5);
    searches(6);
}
