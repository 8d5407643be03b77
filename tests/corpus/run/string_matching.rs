//! Edit distance of two byte strings, by recursion with an early cut.

#[millstream::program]
pub mod program {
    const FAR: u32 = 1000;

    #[task]
    pub fn distance(a: &[u8], b: &[u8], budget: u32) -> u32 {
        if a.is_empty() {
            return b.len() as u32;
        }
        if b.is_empty() {
            return a.len() as u32;
        }
        if a[0] == b[0] {
            let same = spawn!(distance(&a[1..], &b[1..], budget));
            sync!();
            return same;
        }
        if budget == 0 {
            return FAR;
        }
        let mut best = FAR;
        best = best.min(spawn!(distance(&a[1..], b, budget - 1)));
        best = best.min(spawn!(distance(a, &b[1..], budget - 1)));
        best = best.min(spawn!(distance(&a[1..], &b[1..], budget - 1)));
        sync!();
        (best + 1).min(FAR)
    }
}

millstream_tests::cases! {
    distance(&b"kitten".to_vec(), &b"sitting".to_vec(), 4);
    distance(&b"abc".to_vec(), &b"".to_vec(), 4);
}
