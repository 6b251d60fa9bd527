//! [`Surface`]: one rung on every device, in every size of block and with few or many elements a thread: what a page can show without a model of its own.

use warpfold_kernels::ladder::Grid;
use warpfold_lab::cuda::report::Temperature;

use super::device::{DEVICES, Device};
use super::predict::{Limit, Prediction, predict_by};
use super::sample::Simulations;
use crate::plan::Case;
use crate::rung::{Rung, Way};
use crate::sweep::{BLOCKS, grids, strides};

/// Predictions of a rung by device, size of block, and elements a thread.
#[derive(Debug, Clone, PartialEq)]
pub struct Surface {
    /// Sizes of block.
    pub blocks: Vec<u32>,
    /// Elements a thread: none for what the rung takes by itself, then those that a grid can give.
    pub items: Vec<Option<u64>>,
    /// For each of [`DEVICES`], each block, each number of elements: the prediction, or why there is none.
    points: Vec<Result<Prediction, String>>,
}

impl Surface {
    /// Predicts all of it; `case.block` is among the blocks.
    pub fn new(rung: &'static Rung, case: Case) -> Surface {
        let mut blocks = BLOCKS.to_vec();
        if let Way::Kernel(kernel) = rung.way {
            blocks.push(case.block);
            let one_block = matches!(kernel.grid, Grid::OneBlock { .. });
            blocks.retain(|block| {
                let compiled = kernel.blocks.is_empty() || kernel.blocks.contains(block);
                if one_block { *block == case.block } else { compiled }
            });
        }
        blocks.sort_unstable();
        blocks.dedup();
        let mut items = vec![None];
        if strides(rung) {
            let first = 16 / case.dtype.size() as u64;
            let count = grids(Case { block: 32, ..case }).len();
            items.extend((0..count).map(|k| Some(first << k)));
        }
        let of_device = |device: &'static Device| {
            let mut simulations = Simulations::new(device);
            let mut found = Vec::with_capacity(blocks.len() * items.len());
            for &block in &blocks {
                let case = Case { block, ..case };
                for &items in &items {
                    let grid = items.map(|k| case.n.div_ceil(k * u64::from(block)).max(1) as u32);
                    let cold = Temperature::Cold;
                    found.push(predict_by(&mut simulations, rung, case, device, cold, grid));
                }
            }
            found
        };
        let points = std::thread::scope(|scope| {
            let devices = DEVICES.each_ref().map(|device| scope.spawn(|| of_device(device)));
            let joined = devices.map(|of| of.join().expect("no prediction panics"));
            joined.into_iter().flatten().collect()
        });
        Surface { blocks, items, points }
    }

    /// One prediction on each device, where block and elements are a plan's own.
    pub fn of_devices(of: impl Fn(&'static Device) -> Result<Prediction, String>) -> Surface {
        let points = DEVICES.iter().map(of).collect();
        Surface { blocks: vec![0], items: vec![None], points }
    }

    /// The prediction at a place: numbers of [`DEVICES`], of `blocks`, of `items`.
    ///
    /// # Errors
    /// Why there is none.
    pub fn at(&self, device: usize, block: usize, items: usize) -> Result<&Prediction, &str> {
        let at = (device * self.blocks.len() + block) * self.items.len() + items;
        self.points[at].as_ref().map_err(String::as_str)
    }

    /// The fastest on a device: numbers of `blocks` and of `items`.
    pub fn fastest(&self, device: usize) -> Option<(usize, usize)> {
        let shapes =
            (0..self.blocks.len()).flat_map(|b| (0..self.items.len()).map(move |k| (b, k)));
        let time = |&(block, items): &(usize, usize)| {
            Some(self.at(device, block, items).ok()?.microseconds)
        };
        shapes
            .filter_map(|shape| Some((shape, time(&shape)?)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(shape, _)| shape)
    }
}

/// Where a kernel stands under the roofs of a device, by warp instructions (N. Ding, S. Williams, *An Instruction Roofline Model for GPUs*, PMBS 2019).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// Warp instructions for each byte of memory.
    pub intensity: f64,
    /// 10^9 warp instructions a second.
    pub rate: f64,
}

impl Standing {
    /// From what the limits take alone: that of memory says how many bytes there are, that of issuing how many instructions.
    pub fn of(prediction: &Prediction, device: &Device) -> Standing {
        let alone = |limit| prediction.share(limit) * prediction.microseconds;
        let instructions = alone(Limit::Issuing) * device.issuing();
        let bytes = alone(Limit::Memory) * device.reading();
        Standing { intensity: instructions / bytes, rate: instructions / prediction.microseconds }
    }
}

impl Device {
    /// 10^9 warp instructions a second that all schedulers issue: the flat roof.
    pub fn issuing(&self) -> f64 {
        f64::from(self.multiprocessors) * self.issue * self.clock
    }
}

#[cfg(test)]
mod tests {
    use warpfold::{DType, Op};

    use super::*;
    use crate::find;
    use crate::model::predict;

    #[test]
    fn every_place_is_the_prediction_of_its_own() {
        let case = Case { op: Op::Sum, dtype: DType::F32, n: 1 << 20, block: 256 };
        let rung = find("15").expect("a rung");
        let surface = Surface::new(rung, case);
        assert_eq!(surface.blocks, BLOCKS);
        assert_eq!(surface.items[..4], [None, Some(4), Some(8), Some(16)]);
        for (device, block, items) in [(0, 0, 0), (2, 3, 1), (6, 5, 4), (4, 3, 8)] {
            let case = Case { block: surface.blocks[block], ..case };
            let grid =
                surface.items[items].map(|k| case.n.div_ceil(k * u64::from(case.block)) as u32);
            let alone = predict(rung, case, &DEVICES[device], Temperature::Cold, grid);
            assert_eq!(surface.at(device, block, items).ok(), alone.as_ref().ok());
            let (b, k) = surface.fastest(device).expect("a place");
            let best = surface.at(device, b, k).expect("a prediction").microseconds;
            assert!(best <= alone.expect("a prediction").microseconds);
        }
    }

    #[test]
    fn no_kernel_stands_above_its_roofs() {
        let case = Case { op: Op::Sum, dtype: DType::F32, n: 1 << 25, block: 256 };
        for (name, device) in [("06", 6), ("15", 6), ("08", 2), ("14", 4)] {
            let device = &DEVICES[device];
            let rung = find(name).expect("a rung");
            let found = predict(rung, case, device, Temperature::Cold, None).expect("a time");
            let Standing { intensity, rate } = Standing::of(&found, device);
            assert!(rate <= device.issuing() && rate <= intensity * device.reading(), "{name}");
            // Rung 06 issues instructions, 15 reads: they stand on either side of the corner.
            let corner = device.issuing() / device.reading();
            assert_eq!(intensity > corner, matches!(name, "06" | "08"), "{name} {intensity}");
        }
    }
}
