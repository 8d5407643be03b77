//! Methods of slices.
//!
//! What `_sort` does is stable and needs no memory: runs of 20 by insertion, which are merged in place by rotations (Kim and Kutzner, "Stable
//! Minimum Storage Merging by Symmetric Comparisons", 2004). The pairs that are left to merge halve each time, so that 64 of them are enough. `_quick` is
//! faster and keeps no order of what is equal: a quicksort with the median of three, the smaller part first, so that fewer than 32 parts wait; if they are
//! cut badly too often, those that are left are sorted by a heap. Whatever `less` says, both end, and touch nothing outside.

/// All of them.
pub(super) const SLICES: &str = "
    const fn starts_with<T>(a: &[T], b: &[T]) -> bool { a.len() >= b.len() && &a[..b.len()] == b }
    const fn ends_with<T>(a: &[T], b: &[T]) -> bool { a.len() >= b.len() && &a[a.len() - b.len()..] == b }
    fn strip_prefix<T>(a: &[T], b: &[T]) -> Option<&[T]> {
        if a.starts_with(b) { Some(&a[b.len()..]) } else { None }
    }
    fn strip_suffix<T>(a: &[T], b: &[T]) -> Option<&[T]> {
        if a.ends_with(b) { Some(&a[..a.len() - b.len()]) } else { None }
    }
    fn get_disjoint_mut<T, const N: usize>(a: &mut [T], at: [usize; N]) -> Result<[&mut T; N], ()> {
        let mut out: [&mut T; N] = zeroed();
        for i in 0..N {
            if at[i] >= a.len() { return Err(()); }
            for j in 0..i { if at[i] == at[j] { return Err(()); } }
        }
        for i in 0..N { out[i] = &mut a[at[i]]; }
        Ok(out)
    }
    fn split_at_checked<T>(a: &[T], at: usize) -> Option<(&[T], &[T])> {
        if at <= a.len() { Some(a.split_at(at)) } else { None }
    }
    fn eq_ignore_ascii_case<T>(a: &[T], b: &[T]) -> bool {
        if a.len() != b.len() { return false; }
        for i in 0..a.len() {
            if a[i].to_ascii_lowercase() != b[i].to_ascii_lowercase() { return false; }
        }
        true
    }
    fn trim_ascii_start<T>(a: &[T]) -> &[T] {
        let mut first = 0;
        while first < a.len() && a[first].is_ascii_whitespace() { first += 1; }
        &a[first..]
    }
    fn trim_ascii_end<T>(a: &[T]) -> &[T] {
        let mut end = a.len();
        while end > 0 && a[end - 1].is_ascii_whitespace() { end -= 1; }
        &a[..end]
    }
    fn trim_ascii<T>(a: &[T]) -> &[T] { a.trim_ascii_start().trim_ascii_end() }
    const fn eq<T>(a: &[T], b: &[T]) -> bool {
        if a.len() != b.len() { return false; }
        let mut i = 0;
        while i < a.len() {
            if a[i] != b[i] { return false; }
            i += 1;
        }
        true
    }
    const fn cmp<T>(a: &[T], b: &[T]) -> Ordering {
        let mut i = 0;
        while i < a.len() && i < b.len() {
            let order = a[i].cmp(&b[i]);
            if order.is_ne() { return order; }
            i += 1;
        }
        a.len().cmp(&b.len())
    }
    const fn partial_cmp<T>(a: &[T], b: &[T]) -> Option<Ordering> {
        let mut i = 0;
        while i < a.len() && i < b.len() {
            match a[i].partial_cmp(&b[i]) {
                Some(order) if order.is_eq() => {}
                other => return other,
            }
            i += 1;
        }
        a.len().partial_cmp(&b.len())
    }
    const fn lt<T>(a: &[T], b: &[T]) -> bool { match a.partial_cmp(b) { Some(order) => order.is_lt(), None => false } }
    const fn le<T>(a: &[T], b: &[T]) -> bool { match a.partial_cmp(b) { Some(order) => order.is_le(), None => false } }
    const fn gt<T>(a: &[T], b: &[T]) -> bool { match a.partial_cmp(b) { Some(order) => order.is_gt(), None => false } }
    const fn ge<T>(a: &[T], b: &[T]) -> bool { match a.partial_cmp(b) { Some(order) => order.is_ge(), None => false } }
    const fn contains<T>(a: &[T], x: &T) -> bool {
        let mut i = 0;
        while i < a.len() {
            if a[i] == *x { return true; }
            i += 1;
        }
        false
    }
    fn sort<T>(a: &mut [T]) { a._sort(|x, y| *x < *y); }
    fn sort_unstable<T>(a: &mut [T]) { a._quick(|x, y| *x < *y); }
    fn _quick<T, F: Fn(&T, &T) -> bool>(a: &mut [T], less: F) {
        if a.len() <= 20 { return a._insert(|x, y| less(x, y)); }
        let mut run = 1;
        while run < a.len() && !less(&a[run], &a[run - 1]) { run += 1; }
        if run == a.len() { return; }
        if a.len() >> 32 != 0 { return a._heap(|x, y| less(x, y)); }
        let mut work = 4 * a.len() * a.len().ilog2() as usize;
        let mut left = [(0u32, 0u32); 32];
        left[0] = (0, a.len() as u32);
        let mut parts = 1;
        while parts > 0 {
            parts -= 1;
            let (mut low, mut high) = (left[parts].0 as usize, left[parts].1 as usize);
            while high - low > 20 && high - low <= work {
                work -= high - low;
                let (middle, last) = (low + (high - low) / 2, high - 1);
                if less(&a[middle], &a[low]) { a.swap(low, middle); }
                if less(&a[last], &a[middle]) {
                    a.swap(middle, last);
                    if less(&a[middle], &a[low]) { a.swap(low, middle); }
                }
                let pivot = a[middle];
                let (mut i, mut j) = (low, last);
                loop {
                    while i < last && less(&a[i], &pivot) { i += 1; }
                    while j > low && less(&pivot, &a[j]) { j -= 1; }
                    if i >= j { break; }
                    a.swap(i, j);
                    i += 1;
                    j -= 1;
                }
                let cut = if i > low { i } else { low + 1 };
                if cut - low < high - cut {
                    left[parts] = (cut as u32, high as u32);
                    high = cut;
                } else {
                    left[parts] = (low as u32, cut as u32);
                    low = cut;
                }
                parts += 1;
            }
            let part = &mut a[low..high];
            if part.len() <= 20 {
                part._insert(|x, y| less(x, y));
            } else {
                part._heap(|x, y| less(x, y));
            }
        }
    }
    fn _heap<T, F: Fn(&T, &T) -> bool>(a: &mut [T], less: F) {
        let (mut first, mut end) = (a.len() / 2, a.len());
        while end > 1 {
            if first > 0 { first -= 1; } else { end -= 1; a.swap(0, end); }
            let mut root = first;
            loop {
                let mut child = 2 * root + 1;
                if child >= end { break; }
                if child + 1 < end && less(&a[child], &a[child + 1]) { child += 1; }
                if !less(&a[root], &a[child]) { break; }
                a.swap(root, child);
                root = child;
            }
        }
    }
    fn _insert<T, F: Fn(&T, &T) -> bool>(a: &mut [T], less: F) {
        for i in 1..a.len() {
            let x = a[i];
            let mut j = i;
            while j > 0 && less(&x, &a[j - 1]) {
                a[j] = a[j - 1];
                j -= 1;
            }
            a[j] = x;
        }
    }
    fn _sort<T, F: Fn(&T, &T) -> bool>(a: &mut [T], less: F) {
        let mut begin = 0;
        while begin < a.len() {
            let end = if a.len() - begin > 20 { begin + 20 } else { a.len() };
            let part = &mut a[begin..end];
            part._insert(|x, y| less(x, y));
            begin = end;
        }
        let mut run = 20;
        if a.len() <= run { return; }
        let mut left = [(0, 0, 0); 64];
        while run < a.len() {
            let mut first = 0;
            while a.len() - first > run {
                let last = if a.len() - first > 2 * run { first + 2 * run } else { a.len() };
                left[0] = (first, first + run, last);
                let mut pairs = 1;
                while pairs > 0 {
                    pairs -= 1;
                    let (from, middle, to) = left[pairs];
                    if !less(&a[middle], &a[middle - 1]) { continue; }
                    let all = from + (to - from) / 2;
                    let both = all + middle;
                    let (mut low, mut high) = if middle > all { (both - to, all) } else { (from, middle) };
                    while low < high {
                        let x = low + (high - low) / 2;
                        if less(&a[both - 1 - x], &a[x]) { high = x; } else { low = x + 1; }
                    }
                    let end = both - low;
                    if low < middle && middle < end { a[low..end].rotate_left(middle - low); }
                    if from < low && low < all {
                        left[pairs] = (from, low, all);
                        pairs += 1;
                    }
                    if all < end && end < to {
                        left[pairs] = (all, end, to);
                        pairs += 1;
                    }
                }
                first = last;
            }
            run *= 2;
        }
    }
    const fn is_sorted<T>(a: &[T]) -> bool {
        let mut i = 1;
        while i < a.len() {
            if !(a[i - 1] <= a[i]) { return false; }
            i += 1;
        }
        true
    }
    fn is_sorted_by_key<T, K, F: Fn(&T) -> K>(a: &[T], f: F) -> bool {
        for i in 1..a.len() {
            if !(f(&a[i - 1]) <= f(&a[i])) { return false; }
        }
        true
    }
    fn fill_with<T, F: Fn() -> T>(a: &mut [T], f: F) {
        for x in a.iter_mut() { *x = f(); }
    }
    fn swap_with_slice<T>(a: &mut [T], b: &mut [T]) {
        assert!(a.len() == b.len());
        for i in 0..a.len() {
            let x = a[i];
            a[i] = b[i];
            b[i] = x;
        }
    }
    fn is_sorted_by<T, F: Fn(&T, &T) -> bool>(a: &[T], f: F) -> bool {
        for i in 1..a.len() {
            if !f(&a[i - 1], &a[i]) { return false; }
        }
        true
    }
    fn copy_within<T>(a: &mut [T], from: Range<usize>, to: usize) {
        assert!(from.start <= from.end && from.end <= a.len());
        let count = from.end - from.start;
        assert!(to <= a.len() - count);
        if to <= from.start {
            for i in 0..count { a[to + i] = a[from.start + i]; }
        } else {
            for i in (0..count).rev() { a[to + i] = a[from.start + i]; }
        }
    }
    fn _copy_behind<T>(a: &mut [T], from: usize, to: usize) {
        let end = a.len();
        a.copy_within(from..end, to);
    }
    fn _copy_through<T>(a: &mut [T], from: RangeInclusive<usize>, to: usize) {
        assert!(*from.end() < a.len());
        a.copy_within(*from.start()..*from.end() + 1, to);
    }
    const fn binary_search<T>(a: &[T], x: &T) -> Result<usize, usize> {
        if a.len() == 0 { return Err(0); }
        let (mut base, mut size) = (0, a.len());
        while size > 1 {
            let half = size / 2;
            base = std::hint::select_unpredictable(a[base + half].cmp(x).is_gt(), base, base + half);
            size -= half;
        }
        let order = a[base].cmp(x);
        if order.is_eq() { Ok(base) } else if order.is_lt() { Err(base + 1) } else { Err(base) }
    }
    fn binary_search_by<T, O, F: Fn(&T) -> O>(a: &[T], f: F) -> Result<usize, usize> {
        if a.len() == 0 { return Err(0); }
        let (mut base, mut size) = (0, a.len());
        while size > 1 {
            let half = size / 2;
            base = std::hint::select_unpredictable(f(&a[base + half]).is_gt(), base, base + half);
            size -= half;
        }
        let order = f(&a[base]);
        if order.is_eq() { Ok(base) } else if order.is_lt() { Err(base + 1) } else { Err(base) }
    }
    fn binary_search_by_key<T, K, F: Fn(&T) -> K>(a: &[T], x: &K, f: F) -> Result<usize, usize> {
        if a.len() == 0 { return Err(0); }
        let (mut base, mut size) = (0, a.len());
        while size > 1 {
            let half = size / 2;
            base = std::hint::select_unpredictable(f(&a[base + half]).cmp(x).is_gt(), base, base + half);
            size -= half;
        }
        let order = f(&a[base]).cmp(x);
        if order.is_eq() { Ok(base) } else if order.is_lt() { Err(base + 1) } else { Err(base) }
    }
    fn _select<T, F: Fn(&T, &T) -> bool>(a: &mut [T], n: usize, less: F) -> (&mut [T], &mut T, &mut [T]) {
        assert!(n < a.len());
        let (mut low, mut high, mut left) = (0, a.len(), 2 * a.len().ilog2() + 8);
        while high - low > 16 && left > 0 {
            left -= 1;
            let middle = low + (high - low) / 2;
            if less(&a[middle], &a[low]) { a.swap(middle, low); }
            if less(&a[high - 1], &a[middle]) { a.swap(middle, high - 1); }
            if less(&a[middle], &a[low]) { a.swap(middle, low); }
            let pivot = a[middle];
            let (mut smaller, mut at, mut larger) = (low, low, high);
            while at < larger {
                if less(&a[at], &pivot) {
                    a.swap(at, smaller);
                    smaller += 1;
                    at += 1;
                } else if less(&pivot, &a[at]) {
                    larger -= 1;
                    a.swap(at, larger);
                } else {
                    at += 1;
                }
            }
            if n < smaller { high = smaller; } else if n >= larger { low = larger; } else { high = low; }
        }
        let part = &mut a[low..high];
        part._sort(|x, y| less(x, y));
        let (smaller, rest) = a.split_at_mut(n);
        let (one, larger) = rest.split_at_mut(1);
        (smaller, &mut one[0], larger)
    }
    fn select_nth_unstable<T>(a: &mut [T], n: usize) -> (&mut [T], &mut T, &mut [T]) { a._select(n, |x, y| *x < *y) }
    fn select_nth_unstable_by<T, O, F: Fn(&T, &T) -> O>(a: &mut [T], n: usize, f: F) -> (&mut [T], &mut T, &mut [T]) {
        a._select(n, |x, y| f(x, y).is_lt())
    }
    fn select_nth_unstable_by_key<T, K, F: Fn(&T) -> K>(a: &mut [T], n: usize, f: F) -> (&mut [T], &mut T, &mut [T]) {
        a._select(n, |x, y| f(x) < f(y))
    }
    fn sort_by<T, O, F: Fn(&T, &T) -> O>(a: &mut [T], f: F) { a._sort(|x, y| f(x, y).is_lt()); }
    fn sort_by_key<T, K, F: Fn(&T) -> K>(a: &mut [T], f: F) { a._sort(|x, y| f(x) < f(y)); }
    fn sort_unstable_by<T, O, F: Fn(&T, &T) -> O>(a: &mut [T], f: F) { a._quick(|x, y| f(x, y).is_lt()); }
    fn sort_unstable_by_key<T, K, F: Fn(&T) -> K>(a: &mut [T], f: F) { a._quick(|x, y| f(x) < f(y)); }
";
