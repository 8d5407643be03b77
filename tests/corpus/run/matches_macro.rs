//! `matches!` with ranges and alternatives.

#[millstream::program]
pub mod program {
    #[task]
    pub fn vowels(text: &[u8]) -> u32 {
        let mut n = 0;
        for &c in text {
            if matches!(c, b'a' | b'e' | b'i' | b'o' | b'u') {
                n += 1;
            }
            if !matches!(c, b'a'..=b'z') {
                n += 100;
            }
            if matches!(c, b'm'..=b'z' if n > 300) {
                n += 1000;
            }
        }
        n
    }
}

millstream_tests::cases! {
    vowels(&b"a stream of mills".to_vec());
}
