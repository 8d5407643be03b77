//! Matrix chain order by memo table, plus knapsack by closures.
#[millstream::program]
pub mod program {
    fn chain<const N: usize>(dims: &[u32]) -> u32 {
        let n = dims.len() - 1;
        let mut best = [[0u32; N]; N];
        for len in 2..=n {
            for i in 0..=n - len {
                let j = i + len - 1;
                best[i][j] = (i..j)
                    .map(|k| best[i][k] + best[k + 1][j] + dims[i] * dims[k + 1] * dims[j + 1])
                    .min()
                    .unwrap();
            }
        }
        best[0][n - 1]
    }

    fn knapsack(items: &[(u32, u32)], capacity: usize) -> u32 {
        let mut dp = [0u32; 128];
        for &(weight, value) in items {
            for c in (weight as usize..=capacity).rev() {
                dp[c] = dp[c].max(dp[c - weight as usize] + value);
            }
        }
        dp[capacity]
    }

    fn coins(coins: &[usize], target: usize) -> Option<u32> {
        let mut fewest = [None::<u32>; 128];
        fewest[0] = Some(0);
        for t in 1..=target {
            fewest[t] = coins
                .iter()
                .filter(|&&c| c <= t)
                .filter_map(|&c| fewest[t - c])
                .min()
                .map(|m| m + 1);
        }
        fewest[target]
    }

    #[task]
    pub fn order(dims: &[u32]) -> u32 {
        chain::<16>(dims)
    }

    #[task]
    pub fn pack(weights: &[u32], values: &[u32], capacity: usize) -> u32 {
        let mut items = [(0, 0); 8];
        for i in 0..weights.len() {
            items[i] = (weights[i], values[i]);
        }
        knapsack(&items[..weights.len()], capacity)
    }

    #[task]
    pub fn change(target: usize) -> (u32, u32) {
        let a = coins(&[1, 5, 10, 25], target).expect("always");
        let b = coins(&[6, 9, 20], target).unwrap_or(u32::MAX);
        (a, b)
    }

    #[task]
    pub fn all(dims: &[u32], target: usize) -> u32 {
        let a = spawn!(order(dims));
        let b = spawn!(pack(dims, dims, target));
        let (c, d) = spawn!(change(target));
        sync!();
        a ^ b ^ c ^ d
    }
}
millstream_tests::cases! {
    all(&[10, 20, 30, 40, 30], 43);
}
