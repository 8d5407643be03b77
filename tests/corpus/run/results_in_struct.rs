//! Results into the fields of a struct, and of structs in an array.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug)]
    pub struct Stats {
        pub low: u32,
        pub high: u32,
        pub extra: [u32; 2],
    }

    #[task]
    pub fn mix(x: u32) -> u32 {
        x * 2654435761 >> 7
    }

    #[task]
    pub fn gather(n: u32) -> (Stats, [Stats; 2]) {
        let mut s = Stats { low: 0, high: 0, extra: [0; 2] };
        let mut all = [s; 2];
        s.low = spawn!(mix(n));
        s.high = spawn!(mix(n + 1));
        s.extra[1] = spawn!(mix(n + 2));
        for i in 0..2 {
            all[i].high = spawn!(mix(i as u32));
        }
        sync!();
        (s, all)
    }
}

millstream_tests::cases! {
    gather(1);
    gather(77);
}
