//! How often each byte occurs, in two ways: all count in one table of atomics, or each part of the data in a table of its own, and these are added up.
//!
//! ```text
//!   shared ──► each byte: one more in its bin, by an atomic
//!   apart  ──► each part: a table of its own ── all ──► each bin: the sum over the tables
//! ```

#[millstream::program]
pub mod histogram {
    use std::sync::atomic::{AtomicU32, Ordering};

    /// One table for all. Short; but bytes that are alike wait for each other.
    #[task]
    pub fn shared(data: &[u8], counts: &[AtomicU32]) {
        #[parallel]
        for x in data {
            counts[*x as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A table for each part of the data, a row each; so nobody waits. How often the byte occurs that is the most frequent.
    #[task]
    pub fn apart(data: &[u8], mut tables: MatMut<u32>, counts: &mut [u32]) -> u32 {
        let each = data.len().div_ceil(tables.rows());
        #[parallel]
        for (i, table) in tables.row_iter_mut().enumerate() {
            table.fill(0);
            let from = data.len().min(i * each);
            let to = data.len().min(from + each);
            for x in &data[from..to] {
                table[*x as usize] += 1;
            }
        }
        let mut most = 0;
        #[parallel]
        for (bin, count) in counts.iter_mut().enumerate() {
            let mut sum = 0;
            #[parallel]
            for table in tables.row_iter() {
                sum += table[bin];
            }
            *count = sum;
            most = most.max(sum);
        }
        most
    }
}

fn main() -> Result<(), millstream::Error> {
    use millstream::MatMut;
    use std::sync::atomic::AtomicU32;
    // Small bytes are more frequent.
    let random = |i: u32| (i.wrapping_mul(2_654_435_761) >> 16) as u8;
    let data: Vec<u8> = (0..1_000_000).map(|i| random(i) & random(!i)).collect();
    let mut expected = vec![0; 256];
    for x in &data {
        expected[usize::from(*x)] += 1;
    }

    let device = millstream::Device::auto()?;
    let counts: Vec<AtomicU32> = (0..256).map(|_| AtomicU32::new(0)).collect();
    let (_, shared) = device.run_with_report(histogram::call::shared(&data, &counts))?;
    let counts: Vec<u32> = counts.into_iter().map(AtomicU32::into_inner).collect();
    assert_eq!(counts, expected);

    let (parts, mut counts) = (500, vec![0; 256]);
    let mut tables = vec![0; parts * 256];
    let tables = MatMut::new(&mut tables, parts, 256);
    let call = histogram::call::apart(&data, tables, &mut counts);
    let (most, apart) = device.run_with_report(call)?;
    assert_eq!(counts, expected);
    assert_eq!(expected.iter().max(), Some(&most));
    println!(
        "one byte occurs {most} times; {} tasks shared a table, {} had their own",
        shared.total, apart.total
    );
    Ok(())
}
