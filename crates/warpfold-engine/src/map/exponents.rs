//! Sums of powers of e, of which logsumexp is the logarithm.
//!
//! e^x is e^(512 s) times a number from e^-256 to e^256, where s is the integer next to x / 512. Numbers of one s are summed exactly, after
//! each was rounded to an `f64`. Only the two largest s count: what lies lower is less than e^-512 of the rest. So the sum is the same
//! in whatever order the elements come, and merges.

use warpfold_exact::Exact;
use warpfold_expr::math::double;
use warpfold_num::Result;

use super::bytes::{bad, put, take};

/// How far the exponents of one sum lie from its middle.
pub const HALF: f64 = 256.0;

/// The partial of a sum of powers of e.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Exponents {
    /// The two largest s with their sums, the larger first.
    sums: Vec<(f64, Exact<f64>)>,
    /// Whether an exponent was NaN.
    pub(super) has_nan: bool,
    /// Whether one was infinity.
    has_infinity: bool,
}

impl Exponents {
    /// Of exponents that are no farther than [`HALF`] from zero, from the sum of their powers; and whether there were NaNs and infinities beside them.
    pub fn near(sum: &Exact<f64>, has_nan: bool, has_infinity: bool) -> Self {
        let mut exponents = Exponents { has_nan, has_infinity, ..Exponents::default() };
        // Powers of what is near zero are positive.
        if sum.round_as::<f64>() > 0.0 {
            exponents.add_sum(0.0, sum);
        }
        exponents
    }

    /// Takes in one exponent.
    pub(super) fn add(&mut self, x: f64) {
        if x.is_nan() {
            self.has_nan = true;
        } else if x == f64::INFINITY {
            self.has_infinity = true;
        } else if x > f64::NEG_INFINITY {
            let s = (x / (2.0 * HALF)).round_ties_even();
            if self.counts(s) {
                // Exact: the two are no farther apart than half of 512.
                let mut sum = Exact::new();
                sum.add(double::exp(s.mul_add(-2.0 * HALF, x)));
                self.add_sum(s, &sum);
            }
        }
    }

    /// Whether powers with this s are among those that count, as far as is known.
    fn counts(&self, s: f64) -> bool {
        self.sums.len() < 2 || s >= self.sums[1].0
    }

    /// Takes in powers that were summed.
    pub(super) fn add_sum(&mut self, s: f64, sum: &Exact<f64>) {
        if sum.count() == 0 {
            return;
        }
        match self.sums.iter().position(|(known, _)| *known <= s) {
            Some(position) if self.sums[position].0 == s => self.sums[position].1.merge(sum),
            position => {
                self.sums.insert(position.unwrap_or(self.sums.len()), (s, sum.clone()));
                self.sums.truncate(2);
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.has_nan |= other.has_nan;
        self.has_infinity |= other.has_infinity;
        for (s, sum) in &other.sums {
            self.add_sum(*s, sum);
        }
    }

    /// All of it as bytes, as [`super::bytes`] has them.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![u8::from(self.has_nan) | u8::from(self.has_infinity) << 1];
        for (s, sum) in &self.sums {
            bytes.extend_from_slice(&s.to_le_bytes());
            put(&mut bytes, &sum.to_bytes());
        }
        bytes
    }

    /// The same from bytes of any origin.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (flags, mut rest) = bytes.split_first().ok_or_else(|| bad("a sum has no flags"))?;
        let mut read =
            Exponents { sums: Vec::new(), has_nan: flags & 1 != 0, has_infinity: flags & 2 != 0 };
        while let Some((s, after)) = rest.split_first_chunk() {
            rest = after;
            let (s, sum) = (f64::from_le_bytes(*s), Exact::from_bytes(take(&mut rest)?)?);
            let is_next = read.sums.last().is_none_or(|(before, _)| s < *before);
            if read.sums.len() == 2 || !is_next || s != s.round_ties_even() || sum.count() == 0 {
                return Err(bad("its sums of powers do not descend"));
            }
            read.sums.push((s, sum));
        }
        match (*flags, rest) {
            (..=3, []) => Ok(read),
            _ => Err(bad("it ends within a sum of powers")),
        }
    }

    /// The logarithm of the sum; that of nothing is -∞.
    pub(super) fn logarithm(&self) -> f64 {
        if self.has_nan || self.has_infinity {
            return if self.has_nan { f64::NAN } else { f64::INFINITY };
        }
        let Some((s, sum)) = self.sums.first() else { return f64::NEG_INFINITY };
        let below: f64 = match self.sums.get(1) {
            Some((next, below)) if *next == s - 1.0 => {
                below.round_as::<f64>() * double::exp(-2.0 * HALF)
            }
            _ => 0.0,
        };
        s * (2.0 * HALF) + double::log(sum.round_as::<f64>() + below)
    }
}
