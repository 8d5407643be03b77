//! Heat in a plate: each cell becomes the mean of its neighbours, step by step, between two buffers.
//!
//! ```text
//!   heat ──► step: all cells of one buffer from the other ── all ──► step back ── all ──► .. until the steps are done or nothing moves
//! ```

#[millstream::program]
pub mod heat {
    /// One step; the most that a cell changed. Cells at the edge keep their heat.
    fn step(from: &[f32], to: &mut [f32], width: usize) -> f32 {
        let height = from.len() / width;
        let mut most = 0.0f32;
        #[parallel]
        for (y, row) in to.chunks_mut(width).enumerate() {
            #[parallel]
            for (x, cell) in row.iter_mut().enumerate() {
                let at = y * width + x;
                *cell = from[at];
                if x == 0 || y == 0 || x == width - 1 || y == height - 1 {
                    continue;
                }
                let around = from[at - 1] + from[at + 1] + from[at - width] + from[at + width];
                *cell = 0.25 * around;
                most = most.max((*cell - from[at]).abs());
            }
        }
        most
    }

    /// Two steps at a time, until no cell changes by more than `still`, but `pairs` times at most; how many steps it took. What comes
    /// out is in `plate`; `other` is as large.
    #[task]
    pub fn heat(plate: &mut [f32], other: &mut [f32], width: usize, pairs: u32, still: f32) -> u32 {
        for pair in 0..pairs {
            step(plate, other, width);
            if step(other, plate, width) <= still {
                return 2 * (pair + 1);
            }
        }
        2 * pairs
    }
}

fn main() -> Result<(), millstream::Error> {
    let (width, height) = (300, 200);
    // Cold, but for one edge.
    let mut plate = vec![0.0; width * height];
    plate[..width].fill(100.0);
    let mut expected = plate.clone();
    let mut other = vec![0.0; plate.len()];

    let device = millstream::Device::auto()?;
    let call = heat::call::heat(&mut plate, &mut other, width, 50, 1.0e-3);
    let (steps, report) = device.run_with_report(call)?;
    assert_eq!(
        steps,
        heat::heat(&mut expected, &mut other, width, 50, 1.0e-3)
    );
    assert_eq!(plate, expected);
    println!(
        "{steps} steps, {} tasks; below the hot edge {}",
        report.total,
        plate[width + width / 2]
    );
    Ok(())
}
