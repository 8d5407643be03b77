//! Tuples, structs, arrays and slices are compared as a whole.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Place(pub i16, pub [f32; 2]);

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Key {
        pub letters: [u8; 3],
        pub at: Place,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Entry {
        pub key: Key,
        pub n: u32,
    }

    const NONE: [i32; 4] = [-1; 4];

    #[task]
    pub fn arrays(a: [i32; 4], b: [i32; 4]) -> [bool; 5] {
        [a == b, a != b, a == NONE, [a, b] == [b, a], (a, 1) == (b, 1)]
    }

    #[task]
    pub fn structs(entries: &[Entry], e: Entry) -> u32 {
        let mut found = 0;
        for (i, x) in entries.iter().enumerate() {
            if *x == e {
                found |= 1 << i;
            }
            if x.key == e.key || (x.n, x.key.letters) == (e.n, e.key.letters) {
                found |= 256 << i;
            }
        }
        assert_ne!(e.key.letters, [0; 3]);
        found
    }

    #[task]
    pub fn find(text: &[u8], pattern: &[u8]) -> (u32, bool) {
        let (n, m) = (text.len(), pattern.len());
        if n < m {
            return (0, text == pattern);
        }
        if n == m {
            return ((text == pattern) as u32, *pattern == [b'b'; 2] || text[1..] == [b'b']);
        }
        let here = (&text[..m] == pattern) as u32;
        let rest = spawn!(find(&text[1..], pattern));
        sync!();
        (here + rest.0, text[n - 1..] != pattern[m - 1..])
    }

    #[task]
    pub fn floats(a: [f64; 2], rows: &mut [[f64; 2]]) -> (bool, bool) {
        let (low, high) = rows.split_at_mut(1);
        (a == a, low == high)
    }
}

millstream_tests::cases! {
    arrays([1, 2, 3, 4], [1, 2, 3, 4]);
    arrays([1, 2, 3, 4], [1, 2, 3, 5]);
    arrays([-1; 4], [0, -1, -1, -1]);
    structs(
        &[
            program::Entry { key: program::Key { letters: [1, 2, 3], at: program::Place(1, [0.5, 1.0]) }, n: 4 },
            program::Entry { key: program::Key { letters: [1, 2, 3], at: program::Place(1, [0.5, 2.0]) }, n: 4 },
            program::Entry { key: program::Key { letters: [1, 2, 3], at: program::Place(1, [0.5, 2.0]) }, n: 5 },
            program::Entry { key: program::Key { letters: [1, 2, 4], at: program::Place(1, [0.5, 2.0]) }, n: 5 },
        ],
        program::Entry { key: program::Key { letters: [1, 2, 3], at: program::Place(1, [0.5, 2.0]) }, n: 4 }
    );
    find(&b"abababba".to_vec(), &b"ab".to_vec());
    find(&b"b".to_vec(), &b"ab".to_vec());
    floats([1.0, f64::NAN], &mut vec![[0.0, -0.0], [-0.0, 0.0]]);
    floats([1.0, 2.0], &mut vec![[0.0, 1.0], [0.0, 2.0]]);
}
