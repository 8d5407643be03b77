//! Variables of every kind that live across syncs: scalars, structs, arrays, slices, references.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug)]
    pub struct State {
        pub sum: i64,
        pub best: (i32, bool),
        pub last: [u8; 3],
    }

    #[task]
    pub fn look(data: &[i32], at: usize) -> i32 {
        data[at % data.len()] * 2
    }

    #[task]
    pub fn run(data: &[i32], out: &mut [i32], start: State) -> State {
        let mut s = start;
        let (head, tail) = out.split_at_mut(1);
        let first = spawn!(look(data, 0));
        sync!();
        s.sum += first as i64;
        head[0] = first;
        let middle = &data[1..];
        for i in 0..tail.len() {
            tail[i] = spawn!(look(middle, i));
            s.last[i % 3] += i as u8;
            if i % 2 == 1 {
                sync!();
                s.best = if tail[i] > s.best.0 { (tail[i], true) } else { s.best };
            }
        }
        sync!();
        for &x in tail.iter() {
            s.sum = s.sum * 2 + x as i64;
        }
        s
    }
}

millstream_tests::cases! {
    run(&[4, -2, 9], &mut [0; 6], program::State { sum: 1, best: (3, false), last: [9, 8, 7] });
}
