//! What may be nothing, asked where it stands: parts of slices, checked arithmetic, and more ends of chains.

#[millstream::program]
pub mod program {
    const TABLE: [u32; 4] = [1, 2, 4, 8];
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct P { pub x: f32, pub y: i32 }
    #[task]
    pub fn slices(a: &[i32], i: usize) -> (i32, i32, i32, i32, usize, u32) {
        let x = a.get(i).copied().unwrap_or(-1);
        let y = a.first().map_or(0, |x| x * 2);
        let z = *a.last().unwrap_or(&7);
        let Some((first, rest)) = a.split_first() else { return (x, y, z, 0, 0, 0) };
        let mut sum = 0;
        let mut left = rest;
        while let Some((last, more)) = left.split_last() {
            sum = sum * 3 + *last;
            left = more;
        }
        (x, y, z, *first + sum, rest.len(), TABLE.get(i).copied().unwrap_or_default())
    }
    #[task]
    pub fn written(a: &mut [i32], i: usize) -> bool {
        if let Some(x) = a.get_mut(i) { *x += 5; }
        if let Some(x) = a.first_mut() { *x *= 3; }
        if let Some((x, rest)) = a.split_last_mut() { *x = rest.len() as i32; if let Some(y) = rest.last_mut() { *y -= 1; } }
        match a.split_first_mut() { Some((x, rest)) => { rest.fill(*x); true } None => false }
    }
    #[task]
    pub fn numbers(x: u32, y: u32, z: i8) -> (u32, bool, i8, u32) {
        let sum = match x.checked_add(y) { Some(s) if s < 100 => s, Some(_) => 100, None => u32::MAX };
        let Some(difference) = x.checked_sub(y) else { return (sum, false, 0, 0) };
        (sum, z.checked_mul(3).is_none(), z.checked_add(1).unwrap_or(i8::MIN), difference)
    }
    #[task]
    pub fn chains(a: &[i32], f: &[f32], ps: &[P], n: usize) -> (i32, i32, i32, i32, f32, f32, usize, P) {
        let first = a.iter().filter(|x| **x > 2).next().copied().unwrap_or(0);
        let last = a.iter().map(|x| x + 1).last().unwrap_or(0);
        let nth = *a.iter().nth(n).unwrap_or(&-1);
        let all = a.iter().copied().reduce(|a, b| a.wrapping_mul(3) + b).unwrap_or_default();
        let least = f.iter().copied().min_by(|a, b| a.total_cmp(b)).unwrap_or(0.0);
        let most = *f.iter().max_by(|a, b| a.partial_cmp(b).unwrap()).unwrap();
        let (at, _) = f.iter().enumerate().min_by(|a, b| b.1.total_cmp(a.1)).unwrap();
        let p = ps.iter().max_by(|p, q| p.x.partial_cmp(&q.x).unwrap()).unwrap();
        (first, last, nth, all, least, most, at, *p)
    }
}

millstream_tests::cases! {
    slices(&[3, 1, 4, 1, 5], 2);
    slices(&[3], 1);
    slices(&[], 2);
    written(&mut [1, 2, 3, 4], 2);
    written(&mut [7], 2);
    written(&mut [], 2);
    numbers(7, 3, 50);
    numbers(3, 7, 127);
    numbers(98, 4294967295, 50);
    chains(&[1, 5, 3], &[1.5, -0.0, 0.0, 1.5], &[program::P { x: 1.0, y: 2 }, program::P { x: 1.0, y: 3 }], 1);
    chains(&[], &[0.0, -0.0, -3.5, -1.5], &[program::P { x: 2.0, y: 2 }, program::P { x: 1.0, y: 3 }], 7);
    chains(&[1], &[f32::NAN], &[program::P { x: 2.0, y: 2 }], 7);
}
