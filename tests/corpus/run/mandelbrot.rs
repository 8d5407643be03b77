//! A child per row of the picture.

#[millstream::program]
pub mod program {
    fn escape(cx: f64, cy: f64) -> u8 {
        let (mut x, mut y) = (0.0, 0.0);
        for i in 0..=254u8 {
            let (x2, y2) = (x * x, y * y);
            if x2 + y2 > 4.0 {
                return i;
            }
            y = 2.0 * x * y + cy;
            x = x2 - y2 + cx;
        }
        255
    }

    #[task]
    pub fn row(out: &mut [u8], y: f64) {
        let n = out.len();
        for (i, p) in out.iter_mut().enumerate() {
            *p = escape(i as f64 * 3.0 / n as f64 - 2.0, y);
        }
    }

    #[task]
    pub fn picture(out: &mut [u8], width: usize) {
        let rows = out.len() / width;
        let mut rest = out;
        for i in 0..rows {
            let (line, tail) = rest.split_at_mut(width);
            spawn!(row(line, i as f64 * 2.0 / rows as f64 - 1.0));
            rest = tail;
        }
    }
}

millstream_tests::cases! {
    picture(&mut vec![0; 8 * 16], 16);
}
