//! References to what is written out, which leave the function that they are written in: what they refer to stays, as in Rust.

#[millstream::program]
pub mod program {
    struct Part {
        x: u32,
        y: [u32; 4],
    }

    struct View<'a> {
        part: &'a Part,
        numbers: &'a [u32],
        pairs: Option<&'a [(u32, i8); 2]>,
    }

    // Functions that call themselves stand in no other's place.
    fn made(n: u32) -> View<'static> {
        if n > 100 {
            return made(n - 90);
        }
        View { part: &Part { x: 3, y: [1, 2, 3, 4] }, numbers: &[9, 8, 1 + 2], pairs: Some(&[(1, -2), (3, -4)]) }
    }

    fn put(view: &mut View, n: u32) {
        if n > 100 {
            return put(view, n - 90);
        }
        view.numbers = &[4, 5];
        view.part = if n > 3 { &Part { x: 1, y: [7; 4] } } else { &Part { x: 0, y: [0; 4] } };
    }

    fn part(n: u32) -> &'static Part {
        if n > 100 {
            return part(n - 90);
        }
        if n % 2 == 0 { &Part { x: 5, y: [6; 4] } } else { &Part { x: 1, y: [1, 2, 3, 4] } }
    }

    fn text(n: u32) -> &'static [u8] {
        if n > 100 {
            return text(n - 90);
        }
        match n {
            0 => b"zero",
            1 => b"one",
            2 => &b"hello"[1..],
            _ => &[7, 8, 9],
        }
    }

    /// Writes over the memory of functions that have returned.
    fn spill(n: u32) -> u32 {
        if n == 0 {
            return 0;
        }
        let all = [n * 77; 40];
        all[(n % 9) as usize] + spill(n - 1)
    }

    #[task]
    pub fn kept(n: u32) -> (u32, u32, u32, u32) {
        let (a, b) = (part(n + 200), part(n + 1));
        let mut view = made(n + 300);
        let (one, two) = (text(n % 4), text(180 + n));
        let mut all = spill(n + 9);
        let first = view.part.x + view.numbers[2] * 10 + view.part.y[2] * 100 + view.pairs.map_or(0, |p| p[1].0);
        put(&mut view, n);
        all += spill(n + 5);
        (
            all,
            first + view.part.y[3] + view.numbers[1] * 10,
            a.x * 100 + a.y[2] * 10 + b.x + b.y[3],
            one.iter().chain(two).fold(0, |all, &x| all * 3 + x as u32),
        )
    }
}

millstream_tests::cases! {
    kept(0);
    kept(1);
    kept(2);
    kept(7);
}
