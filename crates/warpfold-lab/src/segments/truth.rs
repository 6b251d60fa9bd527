//! What sums of parts must be: numbers of the grid add up as integers, so every part's sum is known exactly.

use warpfold::Accuracy;

use super::cut::{Cut, Keys};
use super::numbers::GRID;

/// One part of an array.
#[derive(Debug, Clone, Copy, Default)]
struct PartSum {
    /// The sum, in units of the grid.
    sum: i64,
    /// The sum of magnitudes, in units of the grid.
    magnitudes: u64,
    elements: u64,
}

/// The exact sums of all parts.
#[derive(Debug, Clone)]
pub struct Truth(Vec<PartSum>);

impl Truth {
    /// Adds every element to its part.
    pub fn of(x: &[f32], cut: &Cut) -> Truth {
        let mut parts = vec![PartSum::default(); cut.parts(x.len())];
        cut.each(x.len(), |part, at| {
            let units = (f64::from(x[at]) * GRID) as i64;
            let PartSum { sum, magnitudes, elements } = &mut parts[part];
            (*sum, *magnitudes) = (*sum + units, *magnitudes + units.unsigned_abs());
            *elements += 1;
        });
        if let Cut::Groups { known_as: Keys::Any, .. } = cut {
            parts.retain(|part| part.elements > 0);
        }
        Truth(parts)
    }

    /// How many parts.
    pub fn parts(&self) -> u64 {
        self.0.len() as u64
    }

    /// The exact sums. Those of up to 2^30 elements of the grid are f64.
    pub fn sums(&self) -> impl Iterator<Item = f64> {
        self.0.iter().map(|part| part.sum as f64 / GRID)
    }

    /// Compares what was found: exact sums are the exact value rounded once; others may be off by what adding in any order may be
    /// (Higham, Accuracy and Stability of Numerical Algorithms, 4.4).
    ///
    /// # Errors
    /// The first part whose sum is wrong.
    pub fn check(&self, found: &[f32], accuracy: Accuracy) -> Result<(), String> {
        if found.len() != self.0.len() {
            return Err(format!("{} results of {} parts", found.len(), self.0.len()));
        }
        for (k, (part, found)) in self.0.iter().zip(found).enumerate() {
            // Of an integer below 2^53 this rounds once.
            let sum = part.sum as f64 / GRID;
            let right = match accuracy {
                Accuracy::Exact => found.to_bits() == (sum as f32).to_bits(),
                Accuracy::Fast => {
                    let additions = part.elements.saturating_sub(1) as f64 * 2f64.powi(-24);
                    let bound =
                        additions / (1.0 - additions).max(0.5) * part.magnitudes as f64 / GRID;
                    (f64::from(*found) - sum).abs() <= bound
                }
            };
            if !right {
                return Err(format!("part {k}, of {} elements: {found}, not {sum}", part.elements));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use warpfold::Layout;

    use super::*;

    #[test]
    fn parts_of_a_small_array() {
        let x = [0.5f32, -0.25, 1.0 - 1.0 / 8.0, 0.125, -1.0, 0.75];
        let sums = |cut| Truth::of(&x, &cut).sums().collect::<Vec<_>>();
        assert_eq!(sums(Cut::Every(4)), [1.25]);
        assert_eq!(sums(Cut::Offsets(vec![0, 0, 2, 6, 6])), [0.0, 0.25, 0.75, 0.0]);
        let layout = Layout::c(&[2, 3]).unwrap();
        assert_eq!(sums(Cut::Axis { layout: layout.clone(), axis: 0 }), [0.625, -1.25, 1.625]);
        assert_eq!(sums(Cut::Axis { layout: layout.transposed(), axis: 0 }), [1.125, -0.125]);
        let groups = |known_as| Cut::Groups { keys: vec![2, 0, 2, 0, 2, 0], groups: 4, known_as };
        assert_eq!(sums(groups(Keys::Dense)), [0.625, 0.0, 0.375, 0.0]);
        assert_eq!(sums(groups(Keys::Any)), [0.625, 0.375]);
    }

    #[test]
    fn what_is_wrong_is_found() {
        let truth = Truth::of(&[0.5, 0.25, 0.125], &Cut::Every(3));
        assert!(truth.check(&[0.875], Accuracy::Exact).is_ok());
        assert!(truth.check(&[0.875f32.next_up()], Accuracy::Exact).is_err());
        assert!(truth.check(&[0.875f32.next_up()], Accuracy::Fast).is_ok());
        assert!(truth.check(&[0.8751], Accuracy::Fast).is_err());
        assert!(truth.check(&[f32::NAN], Accuracy::Fast).is_err());
        assert!(truth.check(&[], Accuracy::Fast).is_err());
    }
}
