//! Parts of slices as references to arrays, shared and written to, the lesser of two by a function, and comparisons by their names.

#[millstream::program]
pub mod program {
    fn mix(state: &mut [u32; 4], block: &[u8; 8]) {
        for (s, c) in state.iter_mut().zip(block.chunks_exact(2)) {
            *s = s.rotate_left(5) ^ u32::from(u16::from_le_bytes(c.try_into().unwrap()));
        }
    }
    fn digest(text: &[u8]) -> Option<[u32; 4]> {
        let mut state = [1, 2, 3, 4];
        for chunk in text.chunks_exact(8) {
            mix(&mut state, chunk.try_into().unwrap());
        }
        let rest: &[u8; 8] = text.get(..8)?.try_into().ok()?;
        mix(&mut state, rest);
        let last: Option<&[u8; 8]> = text[text.len() - 8..].try_into().ok();
        if let Some(last) = last {
            mix(&mut state, last);
        }
        let no: &[u8; 8] = text[1..].try_into().unwrap_or(rest);
        mix(&mut state, no);
        mix(&mut state, text[2..10].try_into().expect("eight"));
        Some(state)
    }
    #[task]
    pub fn run(text: &[u8]) -> [u32; 4] {
        digest(text).unwrap_or_default()
    }
    fn grow(four: &mut [u32; 4]) {
        for (i, x) in four.iter_mut().enumerate() {
            *x = *x * 10 + i as u32;
        }
    }
    #[task]
    pub fn written(a: &mut [u32], at: usize) -> Result<u32, ()> {
        grow((&mut a[at..at + 4]).try_into().unwrap());
        for part in a.chunks_exact_mut(4) {
            let part: &mut [u32; 4] = part.try_into().map_err(|_| ())?;
            part.reverse();
        }
        let last: &mut [u32; 2] = a.last_chunk_mut().unwrap();
        last[1] += 5;
        if let Some(first) = a.first_chunk_mut::<3>() {
            first[0] += 7;
        }
        let one = <&mut [u32; 1]>::try_from(&mut a[at..=at]).unwrap();
        one[0] ^= 64;
        let copy = <[u32; 2]>::try_from(&a[..2]).unwrap();
        match <&[u32; 3]>::try_from(&a[at..]) {
            Ok(three) => Ok(three[2] + copy[0]),
            Err(_) => Ok(copy[1]),
        }
    }
    #[task]
    pub fn least(a: Option<u32>, b: u64) -> (u64, u32) {
        let pairs = [(None, 3u32), (a, 4), (Some(9), 5)];
        let least = pairs.iter().fold(None, |least, &(x, _)| match (least, x) {
            (Some(l), Some(x)) => Some(std::cmp::min(l, x)),
            (None, x) | (x, None) => x,
        });
        let mut most = None;
        for x in [b, 7] {
            most = Some(most.map_or(x, |m| std::cmp::max::<u64>(m, x)));
        }
        (most.unwrap_or(0), least.unwrap_or(1))
    }
    #[task]
    pub fn ties(a: i32, b: i32) -> [(i32, u8); 4] {
        use std::cmp;
        let (x, y) = ((a, 1u8), (b, 2u8));
        [
            cmp::min_by_key(x, y, |p| p.0.abs()),
            cmp::max_by_key(x, y, |p| p.0.abs()),
            std::cmp::min_by(x, y, |p, q| p.0.cmp(&q.0)),
            cmp::max_by(x, y, |p, q| p.0.cmp(&q.0)),
        ]
    }
    #[task]
    pub fn floats(x: f64, y: f64) -> f64 {
        std::cmp::max_by(x, y, |a, b| a.total_cmp(b)) - std::cmp::min_by(x, y, f64::total_cmp)
    }

    #[task]
    pub fn by_path(x: f64, y: f64) -> f64 {
        let mut a = [x, y, 1.5, -0.5];
        a.sort_by(f64::total_cmp);
        let m = a.iter().copied().max_by(f64::total_cmp).unwrap();
        let n = a.iter().min_by(|a, b| f64::total_cmp(a, b)).unwrap();
        let mut b = [3u32, 1, 2];
        b.sort_by(Ord::cmp);
        b.sort_by(u32::cmp);
        a[0] * 10.0 + m + n + b[0] as f64
    }
}
millstream_tests::cases! {
    run(b"hello, world, how are you?".as_slice());
    run(b"hello".as_slice());
    written(&mut [1, 2, 3, 4, 5, 6, 7, 8, 9], 1);
    written(&mut [1, 2, 3, 4], 0);
    least(Some(12), 4);
    least(None, 40);
    ties(3, -3);
    ties(4, 4);
    ties(-7, 2);
    floats(-7.5, 2.0);
    by_path(3.0, -2.0);
}
