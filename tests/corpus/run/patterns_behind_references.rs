//! Patterns of tuples, structs and arrays where there is a reference to one: the parts are references then.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Place(pub i32, pub [u8; 2]);

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Item {
        pub at: Place,
        pub weight: f32,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Pair(pub u32, pub [Item; 2]);

    fn norm(&(x, y): &(i32, i32)) -> i32 {
        x * x + y * y
    }

    fn heavier(Pair(n, [a, b]): &Pair) -> bool {
        let Item { weight, .. } = a;
        *n > 0 && *weight > b.weight
    }

    fn lift(Pair(n, items): &mut Pair) {
        *n += 1;
        let [Item { at: Place(x, bytes), .. }, second] = items;
        *x -= 1;
        bytes[1] = 7;
        second.at.1 = *bytes;
    }

    #[task]
    pub fn sums(list: &[[i32; 2]]) -> (i32, i32, i32) {
        let (mut a, mut b, mut c) = (0, 0, 0);
        for [x, y] in list {
            a += x * y;
        }
        for (i, &[x, _]) in list.iter().enumerate() {
            b += x * i as i32;
        }
        for &[x, y] in list.iter().rev() {
            c = c * 3 + norm(&(x, y));
        }
        (a, b, c)
    }

    #[task]
    pub fn change(pairs: &mut [Pair]) -> u32 {
        let mut count = 0;
        for Pair(n, [first, _]) in pairs.iter_mut() {
            *n *= 2;
            first.weight += *n as f32;
        }
        for p in pairs.iter_mut() {
            lift(p);
            count += heavier(p) as u32;
        }
        let &Item { at: Place(x, [_, b]), weight } = &pairs[0].1[0];
        let &mut Pair(ref_less, _) = &mut pairs[0];
        count + x as u32 + b as u32 + weight as u32 + ref_less
    }

    #[task]
    pub fn numbered(data: &[u16]) -> (usize, usize) {
        let (mut forward, mut backward) = (0, 0);
        for (i, x) in data.iter().enumerate().rev() {
            forward = forward * 7 + i * *x as usize;
        }
        for (i, &x) in data.iter().rev().enumerate() {
            backward = backward * 7 + i * x as usize;
        }
        (forward, backward)
    }
}

millstream_tests::cases! {
    sums(&[[1, 2], [3, -4], [5, 6]]);
    sums(&[[0i32; 2]; 0]);
    change(&mut vec![
        program::Pair(1, [program::Item { at: program::Place(3, [1, 2]), weight: 0.5 }, program::Item { at: program::Place(4, [5, 6]), weight: 9.0 }]),
        program::Pair(4, [program::Item { at: program::Place(30, [1, 2]), weight: 2.5 }, program::Item { at: program::Place(40, [5, 6]), weight: 1.0 }]),
    ]);
    numbered(&[3u16, 1, 4, 1, 5]);
    numbered(&[7u16]);
}
