//! Conversions that no `impl From` says, and variants of other types than are written behind their names.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy)]
    pub struct P(i64);
    impl From<(i32, i32)> for P {
        fn from(of: (i32, i32)) -> P {
            P(of.0 as i64)
        }
    }
    impl From<i32> for P {
        fn from(of: i32) -> P {
            P(of as i64)
        }
    }
    #[derive(Clone, Copy)]
    pub struct Q(i64);

    fn given(n: i64) -> P {
        let p: P = n.into();
        let q: Q = n.into();
        let r: P = 1.5.into();
        P(p.0 + q.0 + r.0)
    }

    #[task]
    pub fn run(n: i64, a: &[u32]) -> i64 {
        let e = None::<u32, u8>;
        let f = Ok::<u32>(3);
        let g: Option<u64> = None::<u32>;
        let h = Some::<u8>(a[0]);
        let at = (0..5).rposition(|x| x == n);
        let r = 0..=n;
        let s: i64 = r.map(|x| x + 1).sum();
        given(n).0 + P::from(n).0 + s
    }
}

//~ 21:22: there is no `impl From<i64> for P`
//~   help: there is `impl From<(i32, i32)> for P`, `impl From<i32> for P`: make one of these first, or write `impl From<i64> for P { .. }`
//~ 22:22: there is no `impl From<i64> for Q`
//~   help: write `impl From<i64> for Q { .. }`
//~ 23:24: there is no `impl From<f64> for P`
//~   help: there is `impl From<(i32, i32)> for P`, `impl From<i32> for P`: make one of these first, or write `impl From<f64> for P { .. }`
//~ 29:21: 2 parameters where there are 1
//~ 30:19: 1 parameters where there are 2
//~ 31:30: expected `Option<u64>`, found `Option<u32>`
//~ 32:28: expected `u8`, found `u32`
//~   help: convert it: `.. as u8`
//~ 33:25: `rposition` of what is no slice's `iter`
//~   help: run over the numbers from behind: `(0..n).rev().find(..)`
//~ 36:25: there is no `impl From<i64> for P`
//~   help: there is `impl From<(i32, i32)> for P`, `impl From<i32> for P`: make one of these first, or write `impl From<i64> for P { .. }`
