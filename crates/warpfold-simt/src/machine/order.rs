//! Seeded choices: the order of blocks, whose turn it is, for how long.

/// SplitMix64 (Steele, Lea and Flood, 2014): small, and good enough to shuffle schedules.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64, stream: u64) -> Dice {
        Dice(seed ^ stream.wrapping_mul(0xd134_2543_de82_ef95))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `end`, which is not zero.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }
}

/// The order in which blocks start: as numbered for seed zero, shuffled for any other.
pub(crate) fn block_order(blocks: u32, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..blocks).collect();
    if seed != 0 {
        let mut dice = Dice::new(seed, u64::MAX);
        for i in (1..order.len()).rev() {
            order.swap(i, dice.below(i + 1));
        }
    }
    order
}
