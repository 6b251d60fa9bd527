//! Numbers that a generator makes, the same in each run.

pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below another.
    pub(crate) fn below(&mut self, below: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}
