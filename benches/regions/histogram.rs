//! A histogram by tables of parts, beside one that folds them.

use super::{
    super::{
        elision::histogram,
        nvidia::{Gpu, Param},
    },
    Came, Region,
};
use millstream::MatMut;
use millstream_aggregator::{Device, RunError, RunReport};
use rayon::{iter::ParallelIterator, slice::ParallelSlice};
use std::time::Instant;

/// Bytes that one of rayon's threads counts at a time.
const CHUNK: usize = 1 << 14;
/// Most threads of the plain kernel: of a GPU as many as there are at a time, more or less, so that tables are added up as seldom.
const THREADS: u32 = 1 << 18;

/// Bytes of which small ones are more frequent, and a table for each of so many parts.
pub(super) struct Histogram {
    data: Vec<u8>,
    parts: usize,
    tables: Vec<u32>,
    counts: Vec<u32>,
    most: u32,
}

impl Histogram {
    /// Of so many bytes, whole words.
    pub(super) fn new(bytes: usize, parts: usize) -> Self {
        let random = |i: u32| (i.wrapping_mul(2_654_435_761) >> 16) as u8;
        let bytes = bytes.next_multiple_of(4) as u32;
        Self {
            data: (0..bytes).map(|i| random(i) & random(!i)).collect(),
            parts,
            tables: vec![0; parts * 256],
            counts: vec![0; 256],
            most: 0,
        }
    }
}

impl Region for Histogram {
    fn name(&self) -> String {
        format!("histogram of {} bytes", self.data.len())
    }

    fn reset(&mut self) {
        self.counts.fill(0);
        self.most = 0;
    }

    fn ours(&mut self, device: &Device) -> Result<RunReport, RunError> {
        let tables = MatMut::new(&mut self.tables, self.parts, 256);
        let call = histogram::call::apart(&self.data, tables, &mut self.counts);
        let (most, report) = device.run_with_report(call)?;
        self.most = most;
        Ok(report)
    }

    fn serial(&mut self) {
        let tables = MatMut::new(&mut self.tables, self.parts, 256);
        self.most = histogram::apart(&self.data, tables, &mut self.counts);
    }

    fn rayon(&mut self) {
        let none = || [0u32; 256];
        let tables = self.data.par_chunks(CHUNK).fold(none, |mut table, bytes| {
            for byte in bytes {
                table[usize::from(*byte)] += 1;
            }
            table
        });
        let counts = tables.reduce(none, |mut sum, table| {
            sum.iter_mut().zip(table).for_each(|(sum, n)| *sum += n);
            sum
        });
        self.most = counts.iter().copied().max().unwrap_or(0);
        self.counts.copy_from_slice(&counts);
    }

    fn came(&self) -> Came {
        let counts = self.counts.iter().chain([&self.most]);
        Came::exactly(counts.map(|n| u64::from(*n)))
    }

    fn plain(&self) -> Option<&'static str> {
        Some("CUDA, a table a block")
    }

    fn cuda(&mut self, gpu: &Gpu) -> Result<f64, String> {
        gpu.enter()?;
        let (histogram, greatest) = (gpu.kernel("histogram")?, gpu.kernel("greatest")?);
        let bytes = self.data.chunks_exact(4);
        let words = bytes.map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let words: Vec<u32> = words.collect();
        let (data, count) = (gpu.words(&words)?, words.len() as u32);
        let (counts, most) = (gpu.words(&[0; 256])?, gpu.words(&[0])?);
        let start = Instant::now();
        let mut of_data = [
            Param::Words(data),
            Param::Number(count),
            Param::Words(counts),
        ];
        let mut of_counts = [Param::Words(counts), Param::Words(most)];
        // SAFETY: as the kernels declare them; both have tables of 256.
        unsafe {
            gpu.launch(histogram, count.min(THREADS), &mut of_data)?;
            gpu.launch(greatest, 256, &mut of_counts)?;
        }
        gpu.wait()?;
        let seconds = start.elapsed().as_secs_f64();
        counts.read(&mut self.counts)?;
        most.read(std::slice::from_mut(&mut self.most))?;
        for memory in [data, counts, most] {
            memory.free()?;
        }
        Ok(seconds)
    }
}
