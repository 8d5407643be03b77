//! Arguments of every type are copied into the element.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug)]
    pub struct Config {
        pub scale: f32,
        pub table: [u16; 5],
        pub flags: (bool, u8),
    }

    #[task]
    pub fn work(n: u8, c: Config, pos: (i64, i64), grid: [[i32; 2]; 2], data: &[i32], on: bool) -> i64 {
        if n == 0 {
            return pos.0 * pos.1 + c.table[3] as i64 + grid[1][0] as i64 + data[0] as i64 + (c.scale * 4.0) as i64;
        }
        let mut next = c;
        next.table[3] += n as u16;
        next.scale *= 1.5;
        next.flags.1 += 1;
        let mut g = grid;
        g[1][0] -= n as i32;
        let a = spawn!(work(n - 1, next, (pos.0 + 1, pos.1), g, &data[1..], !on));
        let b = spawn!(work(n / 2, c, (pos.1, pos.0 - n as i64), grid, data, on));
        sync!();
        if on { a - b } else { a + b + next.flags.1 as i64 }
    }

    #[task]
    pub fn start(n: u8) -> i64 {
        let data = [5, 4, 3, 2, 1, 0, -1, -2];
        let c = Config { scale: 0.5, table: [1, 2, 3, 4, 5], flags: (true, 0) };
        let r = spawn!(work(n, c, (2, -3), [[1, 2], [3, 4]], &data, true));
        sync!();
        r
    }
}

millstream_tests::cases! {
    start(0);
    start(5);
}
