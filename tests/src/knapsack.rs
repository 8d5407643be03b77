//! What the corpus' `branch_and_bound` packs: a search whose first child leads.

/// Arguments of `pack` for so many items and such a knapsack. They are sorted by worth per weight, which nearly is the order in which the best knapsack
/// takes them.
#[must_use]
pub fn args(items: usize, capacity: u64) -> [String; 6] {
    let mut state = 7u64;
    let mut next = |most| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) % most
    };
    let mut items: Vec<_> = (0..items)
        .map(|_| {
            let weight = 1000 + next(1000);
            (weight + 100 + next(20), weight)
        })
        .collect();
    items.sort_by(|a, b| (b.0 * a.1).cmp(&(a.0 * b.1)));
    let (worth, weight): (Vec<u64>, Vec<u64>) = items.into_iter().unzip();
    [
        format!("{worth:?}"),
        format!("{weight:?}"),
        "0".into(),
        capacity.to_string(),
        "0".into(),
        "0".into(),
    ]
}
