//! Prefix sums by blocks of blocks, beside those by a block for each thread, or on a GPU each block of threads.

use super::{
    super::{
        elision::prefix_sum,
        nvidia::{Gpu, Param, Words},
    },
    Came, Region,
};
use millstream_aggregator::{Device, RunError, RunReport};
use rayon::{
    iter::{IndexedParallelIterator, ParallelIterator},
    slice::{ParallelSlice, ParallelSliceMut},
};
use std::time::Instant;

/// Numbers of a block of the plain kernel: four for each of its threads.
const BLOCK: u32 = 1024;

/// Numbers that are small and different.
pub(super) struct PrefixSum {
    source: Vec<u64>,
    data: Vec<u64>,
    scratch: Vec<u64>,
    total: u64,
}

impl PrefixSum {
    pub(super) fn new(count: u64) -> Self {
        let source: Vec<u64> = (0..count).map(|i| i * i % 1009).collect();
        Self {
            data: source.clone(),
            scratch: vec![0; prefix_sum::scratch_len(source.len())],
            source,
            total: 0,
        }
    }
}

impl Region for PrefixSum {
    fn name(&self) -> String {
        format!("prefix sums of {}", self.source.len())
    }

    fn reset(&mut self) {
        self.data.copy_from_slice(&self.source);
        self.total = 0;
    }

    fn ours(&mut self, device: &Device) -> Result<RunReport, RunError> {
        let call = prefix_sum::call::prefix_sum(&mut self.data, &mut self.scratch);
        let (total, report) = device.run_with_report(call)?;
        self.total = total;
        Ok(report)
    }

    fn serial(&mut self) {
        self.total = prefix_sum::prefix_sum(&mut self.data, &mut self.scratch);
    }

    fn rayon(&mut self) {
        let threads = rayon::current_num_threads();
        let each = self.data.len().div_ceil(4 * threads).max(1);
        let sums = self.data.par_chunks(each).map(|part| part.iter().sum());
        let sums: Vec<u64> = sums.collect();
        let starts = sums.iter().scan(0, |sum, part| {
            *sum += part;
            Some(*sum - part)
        });
        let starts: Vec<u64> = starts.collect();
        let parts = self.data.par_chunks_mut(each).enumerate();
        parts.for_each(|(i, part)| {
            let mut sum = starts[i];
            for x in part {
                sum += *x;
                *x = sum;
            }
        });
        self.total = sums.iter().sum();
    }

    fn came(&self) -> Came {
        Came::exactly(self.data.iter().copied().chain([self.total]))
    }

    fn plain(&self) -> Option<&'static str> {
        Some("CUDA, scans of blocks")
    }

    fn cuda(&mut self, gpu: &Gpu) -> Result<f64, String> {
        gpu.enter()?;
        let (scan, add) = (gpu.kernel("scan")?, gpu.kernel("add")?);
        let words: &[u32] = bytemuck::cast_slice(&self.data);
        // The numbers, the sums of their blocks, the sums of these in blocks, until there is one.
        let mut levels: Vec<(Words, u32)> = vec![(gpu.words(words)?, self.data.len() as u32)];
        while let Some((_, count)) = levels.last()
            && *count > 1
        {
            let blocks = count.div_ceil(BLOCK);
            levels.push((gpu.words(&vec![0; 2 * blocks as usize])?, blocks));
        }
        let start = Instant::now();
        for pair in levels.windows(2) {
            let [(numbers, count), (sums, blocks)] = [pair[0], pair[1]];
            let mut params = [
                Param::Words(numbers),
                Param::Number(count),
                Param::Words(sums),
            ];
            // SAFETY: as `scan` declares them, with a sum for each block.
            unsafe { gpu.launch(scan, blocks * (BLOCK / 4), &mut params) }?;
        }
        for pair in levels.windows(2).rev() {
            let [(numbers, count), (sums, blocks)] = [pair[0], pair[1]];
            if blocks > 1 {
                let mut params = [
                    Param::Words(numbers),
                    Param::Number(count),
                    Param::Words(sums),
                ];
                // SAFETY: as `add` declares them.
                unsafe { gpu.launch(add, blocks * (BLOCK / 4), &mut params) }?;
            }
        }
        gpu.wait()?;
        let seconds = start.elapsed().as_secs_f64();
        levels[0].0.read(bytemuck::cast_slice_mut(&mut self.data))?;
        self.total = self.data.last().copied().unwrap_or(0);
        for (memory, _) in levels {
            memory.free()?;
        }
        Ok(seconds)
    }
}
