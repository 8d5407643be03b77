//! How many ways to place n queens: a task per placed queen, and a variant that goes on serially near the leaves.
//!
//! ```text
//!          ┌────────────── spawn, one for each free square of the row ──────────────┐
//!          ▼                                                                        │
//!   [ place entries ] ──► place ──► [ place frames ] ──► after the sync ──► added to the parent's total
//! ```

#[millstream::program]
pub mod queens {
    /// Placements of the rows that are left. `columns`, `left` and `right` have a bit for each square of the next row that a queen
    /// attacks.
    #[task]
    pub fn place(all: u32, columns: u32, left: u32, right: u32) -> u64 {
        if columns == all {
            return 1;
        }
        let mut total = 0;
        let mut free = all & !(columns | left | right);
        while free != 0 {
            let queen = free & free.wrapping_neg();
            free ^= queen;
            total += spawn!(place(
                all,
                columns | queen,
                (left | queen) << 1,
                (right | queen) >> 1
            ));
        }
        sync!();
        total
    }

    /// The same with tasks for the first `rows` rows. A task that is called without `spawn!` is a function: serial code.
    #[task]
    pub fn place_to(rows: u32, all: u32, columns: u32, left: u32, right: u32) -> u64 {
        if rows == 0 {
            return place(all, columns, left, right);
        }
        let mut total = 0;
        let mut free = all & !(columns | left | right);
        while free != 0 {
            let queen = free & free.wrapping_neg();
            free ^= queen;
            total += spawn!(place_to(
                rows - 1,
                all,
                columns | queen,
                (left | queen) << 1,
                (right | queen) >> 1
            ));
        }
        sync!();
        total
    }

    /// All placements on a board of `n` by `n`.
    #[task]
    pub fn queens(n: u32) -> u64 {
        let total = spawn!(place((1 << n) - 1, 0, 0, 0));
        sync!();
        total
    }

    /// All placements, with tasks for the first `rows` rows.
    #[task]
    pub fn queens_to(n: u32, rows: u32) -> u64 {
        let total = spawn!(place_to(rows, (1 << n) - 1, 0, 0, 0));
        sync!();
        total
    }
}

fn main() -> Result<(), millstream::Error> {
    let device = millstream::Device::auto()?;
    let placements = device.run(queens::call::queens(10))?;
    assert_eq!(placements, queens::queens(10));
    assert_eq!(placements, device.run(queens::call::queens_to(10, 4))?);
    println!("queens(10) = {placements}");
    Ok(())
}
