//! `try_from` and `try_into` of integers, and of slices that become arrays.

#[millstream::program]
pub mod program {
    fn word(bytes: &[u8], at: usize) -> Option<u32> {
        let word: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_le_bytes(word))
    }

    fn narrow(x: i64) -> Result<u8, u32> {
        let y: u8 = x.try_into().map_err(|_| 5u32)?;
        Ok(y)
    }

    #[task]
    pub fn integers(x: i32, y: u64) -> (Option<u8>, bool, u8, u32, Result<u8, u32>) {
        let small: u8 = x.try_into().unwrap_or(255);
        let wide = u32::try_from(-x).unwrap_or(77) + u16::try_from(y).map_or(5, u32::from);
        (u8::try_from(x * 100).ok(), i8::try_from(y).is_err(), small, wide, narrow(y as i64))
    }

    #[task]
    pub fn index(x: i32) -> usize {
        if let Ok(i) = usize::try_from(x - 5) {
            return i;
        }
        let Ok(j) = usize::try_from(x) else { return 99 };
        match u8::try_from(j * 200) {
            Ok(v) => v as usize,
            Err(_) => j + 1000,
        }
    }

    #[task]
    pub fn bytes(b: &[u8], n: usize) -> (u64, Option<u32>, [u8; 3]) {
        let x = u32::from_le_bytes(b[n..n + 4].try_into().unwrap());
        let y = u64::from_be_bytes(b[..8].try_into().expect("eight"));
        let z: [u8; 3] = b[n..].try_into().unwrap_or([7; 3]);
        (x as u64 + y, word(b, n), z)
    }
}

millstream_tests::cases! {
    integers(3, 200);
    integers(-3, 100_000);
    integers(0, u64::MAX);
    index(-1);
    index(0);
    index(4);
    index(8);
    bytes(&[1, 2, 3, 4, 5, 6, 7, 8, 9], 5);
    bytes(&[1, 2, 3, 4, 5, 6, 7, 8], 4);
}
