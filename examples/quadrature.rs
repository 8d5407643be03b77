//! Adaptive quadrature: an interval is halved until two estimates of its integral agree.
//!
//! ```text
//!   [ integrate ] ──► integrate ──► two [ integrate ] where the curve bends ──► after the sync: their sum
//! ```

#[millstream::program]
pub mod quadrature {
    /// A curve with a narrow peak: most of the work is there.
    fn curve(x: f64) -> f64 {
        let d = x - 0.3;
        1.0 / (d * d + 1.0e-6) + (x * 3.0).sqrt()
    }

    /// An interval, and the curve at its start, middle and end.
    #[derive(Clone, Copy, Debug)]
    pub struct Part {
        a: f64,
        b: f64,
        fa: f64,
        fm: f64,
        fb: f64,
    }

    /// Simpson's estimate of the area.
    fn simpson(p: Part) -> f64 {
        (p.b - p.a) / 6.0 * (p.fa + 4.0 * p.fm + p.fb)
    }

    /// The area over a part, in halves unless their estimates and that of the whole agree.
    #[task]
    pub fn integrate(p: Part, tolerance: f64, depth: u32) -> f64 {
        let m = 0.5 * (p.a + p.b);
        let left = Part {
            a: p.a,
            b: m,
            fa: p.fa,
            fm: curve(0.5 * (p.a + m)),
            fb: p.fm,
        };
        let right = Part {
            a: m,
            b: p.b,
            fa: p.fm,
            fm: curve(0.5 * (m + p.b)),
            fb: p.fb,
        };
        let halves = simpson(left) + simpson(right);
        let error = halves - simpson(p);
        if depth == 0 || error.abs() <= 15.0 * tolerance {
            return halves + error / 15.0;
        }
        let x = spawn!(integrate(left, 0.5 * tolerance, depth - 1));
        let y = spawn!(integrate(right, 0.5 * tolerance, depth - 1));
        sync!();
        x + y
    }

    /// The area from `a` to `b`.
    #[task]
    pub fn quadrature(a: f64, b: f64, tolerance: f64) -> f64 {
        let all = Part {
            a,
            b,
            fa: curve(a),
            fm: curve(0.5 * (a + b)),
            fb: curve(b),
        };
        let total = spawn!(integrate(all, tolerance, 50));
        sync!();
        total
    }
}

fn main() -> Result<(), millstream::Error> {
    let device = millstream::Device::auto()?;
    let (area, report) = device.run_with_report(quadrature::call::quadrature(0.0, 1.0, 1.0e-9))?;
    // The sums are taken in the order of the tree, so the bits are those of the recursion.
    assert_eq!(area, quadrature::quadrature(0.0, 1.0, 1.0e-9));
    let exact =
        1000.0 * ((0.7f64 * 1000.0).atan() + (0.3f64 * 1000.0).atan()) + 2.0 / 3.0 * 3.0f64.sqrt();
    assert!((area - exact).abs() < 1.0e-6, "{area} is not {exact}");
    println!("area = {area}, {} tasks", report.total);
    Ok(())
}
