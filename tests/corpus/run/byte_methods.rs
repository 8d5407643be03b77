//! Methods of bytes, and integers as bytes: words of a text, and a hash that reads them eight bytes at a time.

#[millstream::program]
pub mod program {
    /// The bits of a byte's classes, one for each method.
    fn classes(c: u8) -> u16 {
        let mut bits = c.is_ascii() as u16;
        bits = bits << 1 | c.is_ascii_digit() as u16;
        bits = bits << 1 | c.is_ascii_uppercase() as u16;
        bits = bits << 1 | c.is_ascii_lowercase() as u16;
        bits = bits << 1 | c.is_ascii_alphabetic() as u16;
        bits = bits << 1 | c.is_ascii_alphanumeric() as u16;
        bits = bits << 1 | c.is_ascii_hexdigit() as u16;
        bits = bits << 1 | c.is_ascii_whitespace() as u16;
        bits = bits << 1 | c.is_ascii_punctuation() as u16;
        bits = bits << 1 | c.is_ascii_graphic() as u16;
        bits << 1 | c.is_ascii_control() as u16
    }

    #[task]
    pub fn all_bytes(out: &mut [u16], cases: &mut [[u8; 2]]) {
        for i in 0..256 {
            let c = i as u8;
            out[i] = classes(c);
            cases[i] = [c.to_ascii_lowercase(), u8::to_ascii_uppercase(&c)];
        }
    }

    #[task]
    pub fn words(text: &[u8]) -> u32 {
        let mut count = 0;
        let mut inside = false;
        for c in text {
            let word = c.is_ascii_alphanumeric();
            count += (word && !inside) as u32;
            inside = word;
        }
        count
    }

    #[task]
    pub fn swapped(x: u64, y: i16, z: u8) -> (u64, i16, u8, [u8; 8], [u8; 2]) {
        let (big, small) = (x.to_be_bytes(), y.to_le_bytes());
        let mut mixed = big;
        mixed[0] ^= small[1];
        (u64::from_le_bytes(mixed), i16::from_be_bytes(small), u8::from_be_bytes(z.to_le_bytes()), big, y.to_be_bytes())
    }

    #[task]
    pub fn hash(data: &[u8]) -> u64 {
        if data.len() > 16 {
            let (a, b) = data.split_at(data.len() / 16 * 8);
            let x = spawn!(hash(a));
            let y = spawn!(hash(b));
            sync!();
            return x.rotate_left(7) ^ y;
        }
        let mut h = 0xcbf2_9ce4_8422_2325u64;
        for part in data.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            h = (h ^ u64::from_le_bytes(word)).wrapping_mul(0x100_0000_01b3);
        }
        h
    }

    #[task]
    pub fn floats(x: f32, y: f64) -> (u32, f64, [u8; 4]) {
        let low = u32::from_le_bytes(x.to_le_bytes());
        let back = f64::from_be_bytes(y.to_be_bytes()) + f64::from(f32::from_ne_bytes(x.to_ne_bytes()));
        (low, back, f32::from_le_bytes(low.wrapping_add(1).to_ne_bytes()).to_be_bytes())
    }

    #[task]
    pub fn multiples(n: u32, of: u32) -> (bool, bool, bool) {
        (n.is_multiple_of(of), (n as u64).is_multiple_of(3), (n as u8).is_multiple_of(0))
    }
}

millstream_tests::cases! {
    all_bytes(&mut vec![0; 256], &mut vec![[0; 2]; 256]);
    words(b"");
    words(b" 3 words, no more: 6...");
    swapped(0x0102_0304_0506_07f8, -2, 200);
    swapped(u64::MAX, 0x1234, 0);
    hash(&(0..101).collect::<Vec<u8>>());
    floats(1.5, -2.25);
    floats(-0.0, 1e300);
    multiples(12, 4);
    multiples(13, 4);
    multiples(0, 0);
    multiples(256, 0);
}
