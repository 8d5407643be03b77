//! Halves of a local array are lent to children.

#[millstream::program]
pub mod program {
    #[task]
    pub fn fill(part: &mut [u32], from: u32) {
        if part.len() <= 2 {
            for (i, x) in part.iter_mut().enumerate() {
                *x = from + i as u32 * 10;
            }
            return;
        }
        let half = part.len() / 2;
        let (a, b) = part.split_at_mut(half);
        spawn!(fill(a, from));
        spawn!(fill(b, from + half as u32));
    }

    #[task]
    pub fn build(from: u32) -> [u32; 11] {
        let mut room = [0; 11];
        let (a, b) = room.split_at_mut(6);
        spawn!(fill(a, from));
        spawn!(fill(b, from * 2));
        sync!();
        room[0] += 1;
        room
    }
}

millstream_tests::cases! {
    build(1);
    build(50);
}
