//! Floyd and Warshall's shortest ways by blocks, beside the ordinary ones: vertex by vertex, all ways at a time.

use super::{
    super::{
        elision::floyd,
        nvidia::{Gpu, Param},
    },
    Came, Region,
};
use millstream_aggregator::{Device, RunError, RunReport};
use rayon::{iter::ParallelIterator, slice::ParallelSliceMut};
use std::time::Instant;

/// A graph in which every seventh pair has an edge.
pub(super) struct Floyd {
    source: Vec<u32>,
    ways: Vec<u32>,
    scratch: Vec<u32>,
    vertices: usize,
}

impl Floyd {
    pub(super) fn new(vertices: usize) -> Self {
        let edge = |at: usize| {
            let hash = (at as u32).wrapping_mul(2_654_435_761) >> 16;
            if at % vertices == at / vertices {
                0
            } else if hash.is_multiple_of(7) {
                hash % 100 + 1
            } else {
                u32::MAX
            }
        };
        let source: Vec<u32> = (0..vertices * vertices).map(edge).collect();
        Self {
            ways: source.clone(),
            source,
            scratch: vec![0; floyd::scratch_len(vertices)],
            vertices,
        }
    }
}

impl Region for Floyd {
    fn name(&self) -> String {
        format!("floyd, {} vertices", self.vertices)
    }

    fn reset(&mut self) {
        self.ways.copy_from_slice(&self.source);
    }

    fn ours(&mut self, device: &Device) -> Result<RunReport, RunError> {
        let call = floyd::call::floyd(&mut self.ways, &mut self.scratch, self.vertices);
        device.run_with_report(call).map(|(_, report)| report)
    }

    fn serial(&mut self) {
        floyd::floyd(&mut self.ways, &mut self.scratch, self.vertices);
    }

    fn rayon(&mut self) {
        let n = self.vertices;
        for k in 0..n {
            let on = self.ways[k * n..(k + 1) * n].to_vec();
            self.ways.par_chunks_mut(n).for_each(|row| {
                let first = row[k];
                if first == u32::MAX {
                    return;
                }
                for (way, on) in row.iter_mut().zip(&on) {
                    *way = (*way).min(first.saturating_add(*on));
                }
            });
        }
    }

    fn came(&self) -> Came {
        // How often a way was shortened depends on the order, which is another one by blocks.
        Came::exactly(self.ways.iter().map(|w| u64::from(*w)))
    }

    fn plain(&self) -> Option<&'static str> {
        Some("CUDA, a kernel a vertex")
    }

    fn cuda(&mut self, gpu: &Gpu) -> Result<f64, String> {
        gpu.enter()?;
        let (kernel, n) = (gpu.kernel("by_vertex")?, self.vertices as u32);
        let ways = gpu.words(&self.ways)?;
        let start = Instant::now();
        for k in 0..n {
            let mut params = [Param::Words(ways), Param::Number(n), Param::Number(k)];
            // SAFETY: as `by_vertex` declares them; there are `n * n` ways.
            unsafe { gpu.launch(kernel, n * n, &mut params) }?;
        }
        gpu.wait()?;
        let seconds = start.elapsed().as_secs_f64();
        ways.read(&mut self.ways)?;
        ways.free()?;
        Ok(seconds)
    }
}
