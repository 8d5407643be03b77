//! Smaller lists of choices that still fail.

/// Takes out, and sets to zero, pieces of a list as long as `fails` holds, with at most so many tries.
pub fn shrink(list: &[u32], tries: u32, mut fails: impl FnMut(&[u32]) -> bool) -> Vec<u32> {
    let mut best = list.to_vec();
    let mut left = tries;
    let mut attempt = |best: &mut Vec<u32>, new: Vec<u32>| {
        if left == 0 || new == *best {
            return false;
        }
        left -= 1;
        let smaller = fails(&new);
        if smaller {
            *best = new;
        }
        smaller
    };
    let mut size = best.len().next_power_of_two();
    while size > 0 {
        let mut at = 0;
        while at < best.len() {
            let end = (at + size).min(best.len());
            let mut without = best.clone();
            without.drain(at..end);
            if attempt(&mut best, without) {
                continue;
            }
            let mut zeros = best.clone();
            zeros[at..end].fill(0);
            attempt(&mut best, zeros);
            at += size;
        }
        size /= 2;
    }
    for at in 0..best.len() {
        while best.get(at).is_some_and(|&v| v > 0) {
            let mut less = best.clone();
            less[at] /= 2;
            if !attempt(&mut best, less) {
                break;
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_does_not_matter_goes() {
        let list: Vec<u32> = (0..200).collect();
        let small = super::shrink(&list, 10_000, |l| l.iter().any(|&x| x > 90));
        assert_eq!(small.len(), 1);
        assert!(small[0] > 90 && small[0] < 182);
    }
}
