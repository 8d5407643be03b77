//! Slices of structs, read and written by field.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug)]
    pub struct Item {
        pub weight: u32,
        pub value: f32,
        pub taken: bool,
    }

    #[task]
    pub fn take_light(items: &mut [Item], limit: u32) -> f32 {
        let mut sum = 0.0;
        for item in items.iter_mut() {
            if item.weight <= limit {
                item.taken = true;
                sum += item.value;
            }
        }
        items[0].value = -1.0;
        let last = items[items.len() - 1];
        sum + last.value
    }
}

millstream_tests::cases! {
    take_light(&mut vec![program::Item { weight: 3, value: 1.5, taken: false }, program::Item { weight: 9, value: 4.0, taken: false }], 5);
}
