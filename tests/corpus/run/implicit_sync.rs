//! A task waits for its children even if it does not say so.

#[millstream::program]
pub mod program {
    #[task]
    pub fn paint(data: &mut [u8], color: u8) {
        if data.len() > 1 {
            let (a, b) = data.split_at_mut(data.len() / 2);
            spawn!(paint(a, color));
            spawn!(paint(b, color + 1));
            return;
        }
        for x in data.iter_mut() {
            *x += color;
        }
    }

    #[task]
    pub fn twice(data: &mut [u8]) -> u32 {
        paint(data, 1);
        spawn!(paint(data, 10));
        sync!();
        let mut sum = 0;
        for &x in data.iter() {
            sum += x as u32;
        }
        sum
    }
}

millstream_tests::cases! {
    paint(&mut vec![0; 9], 3);
    twice(&mut vec![1, 2, 3, 4, 5]);
}
