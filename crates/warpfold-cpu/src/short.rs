//! Moments of a short array, of which no partial is made.

use warpfold_exact::exact::round_moments;
use warpfold_num::{DType, Op, Value};

use crate::batch::Read;
use crate::kernels::Kernels;
use crate::read::{CollectOne, Moment, MomentState};

/// Elements of which integers of one grid tell sooner.
const GRID_FIRST: usize = 8;

/// A moment of a short array, rounded to the float type `to`: by what is nearly known of it, or by integers of one grid; `None` where that takes the partial.
pub(crate) fn short_moment<T: Kernels>(op: Op, ddof: u64, to: DType, x: &[T]) -> Option<Value> {
    let near = || T::Approximate::value(Moment::new(op, ddof), to, Short(x));
    let on_grid = || match to {
        DType::F32 => round_moments::<T, f32>(op, ddof, x).map(Value::from),
        DType::F64 => round_moments::<T, f64>(op, ddof, x).map(Value::from),
        _ => None,
    };
    match x.len() {
        ..GRID_FIRST => on_grid().or_else(near),
        _ => near().or_else(on_grid),
    }
}

struct Short<'x, T>(&'x [T]);

impl<T: Kernels> CollectOne<T::Approximate> for Short<'_, T> {
    fn one<D: Read<T::Approximate>>(self, reader: &D) -> Option<D::Result> {
        T::short_moments(self.0, reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpfold_exact::exact::Moments;
    use warpfold_num::random::Words;
    use warpfold_num::{Complex, Float, bf16, f16};
    use warpfold_plan::plan::Isa;

    use crate::isa::has_lanes;

    /// Compares every moment that is known without the partial with what a wide accumulator rounds to, and counts those that double-doubles know.
    fn known<T: Kernels>(x: &[T]) -> usize {
        let mut exact = Moments::<T>::new();
        x.iter().for_each(|&x| exact.add(x));
        let mut known = 0;
        for ddof in [0, 1, x.len() as u64] {
            for op in [Op::Var, Op::Std, Op::L2, Op::Sumsq] {
                let both = [
                    (DType::F32, rounded::<T, f32>(&exact, op, ddof)),
                    (DType::F64, rounded::<T, f64>(&exact, op, ddof)),
                ];
                for (to, expected) in both {
                    let near = T::Approximate::value(Moment::new(op, ddof), to, Short(x));
                    known += usize::from(near.is_some());
                    for found in near.into_iter().chain(short_moment(op, ddof, to, x)) {
                        assert_eq!(Some(found), expected, "{op} of {x:?} as {to}, {ddof} off");
                    }
                }
            }
        }
        known
    }

    fn rounded<T: Kernels, F: Float>(exact: &Moments<T>, op: Op, ddof: u64) -> Option<Value>
    where
        Value: From<F>,
    {
        Some(Value::from(match op {
            Op::Var => exact.var_as::<F>(ddof).ok()?,
            Op::Std => exact.std_as::<F>(ddof).ok()?,
            Op::L2 => exact.l2_as::<F>(),
            _ => exact.sumsq_as::<F>(),
        }))
    }

    /// Moments that are asked for by `known` and exist: of each of 2 types two norms at three ddofs, variances and deviations at two.
    const ALL: usize = 20;

    #[test]
    fn moments_of_short_arrays_are_those_of_wide_accumulators() {
        let has_lanes = has_lanes(Isa::widest());
        let mut words = Words(7);
        for n in [2, 7, 8, 9, 15, 16, 17, 31, 64, 100, 257, 1000, 4096, 4097] {
            // Exponents from close by to all that there are; the widest overflow f32, and underflow.
            for width in [1, 8, 14, 60, 300, 2000] {
                let mut next = || {
                    let word = words.next();
                    let exponent = 1023 - width / 2 + (word >> 52) % width;
                    f64::from_bits(word << 63 | exponent << 52 | words.next() >> 12)
                };
                let x: Vec<f64> = (0..n).map(|_| next()).collect();
                let counts = [
                    known(&x),
                    known(&x.iter().map(|&x| Complex::new(x, next())).collect::<Vec<_>>()),
                    known(&x.iter().map(|&x| x as f32).collect::<Vec<_>>()),
                    known(&x.iter().map(|&x| bf16::from_f64(x)).collect::<Vec<_>>()),
                    known(&x.iter().map(|&x| f16::from_f64(x)).collect::<Vec<_>>()),
                ];
                // What has neither overflowed nor gone below the least number of its type is known, all of it: doubt is one case of 2^28 or more.
                let in_range = [300, 300, 60, 60, 14].map(|most| width <= most);
                for (k, count) in counts.into_iter().enumerate() {
                    match in_range[k] {
                        _ if !has_lanes || n > 4096 => assert_eq!(count, 0),
                        // Sums of squares of f32 may lie right between two f64, those of 16 bits between two f32.
                        true if k < 2 => assert_eq!(count, ALL, "type {k}, {n} within 2^{width}"),
                        true => assert!(count >= 12, "type {k}, {n} within 2^{width}: {count}"),
                        false => {}
                    }
                }
                // A mean far above the deviation.
                known(&x.iter().map(|&x| x + 1e9).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn what_is_in_doubt_is_left() {
        for n in [8, 9, 40] {
            let mut x = vec![1.5; n];
            for special in [f64::NAN, f64::INFINITY, f64::MAX] {
                x[n - 1] = special;
                assert_eq!(known(&x), 0, "{special}");
            }
            // Squares underflow; all that is there is zero.
            for small in [1e-170, f64::from_bits(1), 0.0, -0.0] {
                assert_eq!(known(&vec![small; n]), 0, "{small}");
            }
        }
        // Squares add up to 2^53 + 1, right between two floats.
        let mut x = vec![0.0; 16];
        x[..7].copy_from_slice(&[94_906_265.0, 10_885.0, 86.0, 12.0, 1.0, 1.0, 1.0]);
        let squares = Moment::new(Op::Sumsq, 0);
        let near = <f64 as Kernels>::Approximate::value(squares, DType::F64, Short(&x));
        assert_eq!(near, None);
        known(&x);
    }
}
