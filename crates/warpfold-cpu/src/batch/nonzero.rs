//! How many elements are not zero, many counts at a time.

use super::lanes::{LaneOperation, N, Positions};

/// Unsigned words that elements are counted as.
pub(crate) trait Bits:
    Copy + Ord + Default + Send + Sync + std::ops::BitAnd<Output = Self>
{
}
impl<W: Copy + Ord + Default + Send + Sync + std::ops::BitAnd<Output = Self>> Bits for W {}

/// Counts of elements of `PARTS` words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Nonzero<W, const PARTS: usize> {
    /// The bits that make a word nonzero: all but the sign of a float.
    pub(crate) mask: W,
    /// The greatest magnitude that is no NaN's, where NaNs are to be ignored: they are left to the kernels for one array.
    pub(crate) infinite: Option<W>,
}

/// A number of elements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tally(pub(crate) u64);

impl<W: Bits, const PARTS: usize> LaneOperation for Nonzero<W, PARTS> {
    type Element = [W; PARTS];
    /// Whether there is a NaN to be ignored.
    type Range = bool;
    type ExponentRange = ();
    /// In which lanes there is one.
    type Monitor = [bool; N];
    type Lanes = [u64; N];
    type Small = Tally;
    const NOTHING: Tally = Tally(0);

    #[inline(always)]
    fn filler(self, _: [W; PARTS]) -> [W; PARTS] {
        [W::default(); PARTS]
    }

    #[inline(always)]
    fn survey(self, x: &[[W; PARTS]]) -> bool {
        let Some(infinite) = self.infinite else { return false };
        x.as_flattened().iter().fold(false, |any, &word| any | (word & self.mask > infinite))
    }

    #[inline(always)]
    fn join(one: bool, other: bool) -> bool {
        one | other
    }

    #[inline(always)]
    fn exponents(self, any_nan: bool, _: u64) -> Option<()> {
        (!any_nan).then_some(())
    }

    #[inline(always)]
    fn monitor(self) -> [bool; N] {
        [false; N]
    }

    #[inline(always)]
    fn is_monitoring(self) -> bool {
        self.infinite.is_some()
    }

    #[inline(always)]
    fn observe(self, monitor: &mut [bool; N], x: &[[W; PARTS]; N]) {
        if let Some(infinite) = self.infinite {
            for l in 0..N {
                for part in 0..PARTS {
                    monitor[l] |= x[l][part] & self.mask > infinite;
                }
            }
        }
    }

    #[inline(always)]
    fn keeps(self, (): (), monitor: &[bool; N]) -> bool {
        monitor.iter().fold(true, |all, &any_nan| all & !any_nan)
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> [u64; N] {
        [0; N]
    }

    #[inline(always)]
    fn add(self, lanes: &mut [u64; N], x: &[[W; PARTS]; N], _: Positions) {
        for l in 0..N {
            let mut any = false;
            for part in 0..PARTS {
                any |= x[l][part] & self.mask != W::default();
            }
            lanes[l] += u64::from(any);
        }
    }

    #[inline(always)]
    fn lane(self, lanes: &[u64; N], lane: usize) -> Tally {
        Tally(lanes[lane])
    }

    #[inline(always)]
    fn total(self, lanes: &[u64; N]) -> Tally {
        Tally(lanes.iter().sum())
    }

    const PUTS: bool = true;

    #[inline(always)]
    fn put(self, small: &mut Tally, x: [W; PARTS]) -> bool {
        let mut any = false;
        for word in x {
            any |= word & self.mask != W::default();
        }
        let is_within = !self.survey(&[x]);
        small.0 += u64::from(any & is_within);
        is_within
    }

    const MERGES: bool = true;

    #[inline(always)]
    fn merge(self, small: &mut Tally, other: &Tally) -> bool {
        small.0 += other.0;
        true
    }
}
