//! Byte strings: references to arrays.

#[millstream::program]
pub mod program {
    const HEX: [u8; 16] = *b"0123456789abcdef";

    fn count(text: &[u8], any_of: &[u8]) -> u32 {
        let mut n = 0;
        for c in text {
            for x in any_of {
                n += (c == x) as u32;
            }
        }
        n
    }

    fn name(n: u32) -> &'static [u8] {
        match n {
            0 => b"none",
            1 => b"one",
            _ => b"",
        }
    }

    #[task]
    pub fn hex(data: &[u8], out: &mut [u8]) -> u32 {
        for (i, b) in data.iter().enumerate() {
            out[2 * i] = HEX[(b >> 4) as usize];
            out[2 * i + 1] = HEX[(b & 15) as usize];
        }
        count(out, b"aeiou\n\x00\"") + b"four".len() as u32 + name(out.len() as u32 / 2)[..].len() as u32 * 100
    }

    #[task]
    pub fn ends(text: &[u8], with: &[u8]) -> bool {
        text.len() >= with.len() && &text[text.len() - with.len()..] == with
    }

    #[task]
    pub fn lent(text: &[u8]) -> (bool, bool, bool) {
        let a = spawn!(ends(text, b"mill"));
        let b = spawn!(ends(b"millstream", b"stream"));
        let c = spawn!(ends(text, b""));
        sync!();
        (a, b && text != b"mills", c)
    }
}

millstream_tests::cases! {
    hex(&[1u8, 255, 171], &mut vec![0u8; 6]);
    hex(&[222u8], &mut vec![0u8; 2]);
    hex(&[0u8; 0], &mut vec![0u8; 0]);
    lent(&b"windmill".to_vec());
    lent(&b"mills".to_vec());
}
