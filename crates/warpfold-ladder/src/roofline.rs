//! The roofline of a device, and where the rungs stand beneath it.
//!
//! A reduction reads each element and does an operation for it. It can be no faster than either alone, nor than a launch that does nothing: the
//! longest of the three is the bound (S. Williams, A. Waterman, D. Patterson, *Roofline*, 2009).

use serde::{Deserialize, Serialize};
use warpfold::{DType, Result};

use crate::found::{Device, Peak};
use crate::{Ladder, LadderRequest, Stage};

/// The layout of the file; a reader refuses others.
pub const SCHEMA: u32 = 1;

/// What was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Roofline {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The library's version.
    pub warpfold: String,
    /// When it began, in UTC (RFC 3339).
    pub date: String,
    /// The device.
    pub device: Device,
    /// The element type.
    pub dtype: DType,
    /// Elements.
    pub n: u64,
    /// The fastest reading.
    pub read: Peak,
    /// Additions of elements per second that touch no memory, and how.
    pub adds_per_second: f64,
    /// How they were done.
    pub adds_how: String,
    /// Microseconds of a launch that does nothing; none where there are no launches.
    pub launch: Option<f64>,
    /// The rungs.
    pub ladder: Ladder,
}

/// Measures a stage's limits, and climbs beneath them; `None` in the simulator, where time says nothing.
///
/// # Errors
/// As those of [`Stage::climb`].
pub fn roofline(
    stage: &mut dyn Stage,
    request: &LadderRequest,
    progress: &mut dyn FnMut(&str),
) -> Result<Option<Roofline>> {
    progress("the fastest reading");
    let Some(read) = stage.reading()? else { return Ok(None) };
    progress("additions");
    let dtype = request.case.dtype;
    let Some((adds_per_second, adds_how)) = stage.adding(dtype)? else { return Ok(None) };
    let launch = stage.launch()?;
    progress("the rungs");
    let ladder = stage.climb(request, &mut ())?;
    Ok(Some(Roofline {
        schema: SCHEMA,
        warpfold: crate::VERSION.to_owned(),
        date: ladder.date.clone(),
        device: stage.device(),
        dtype,
        n: request.case.n,
        read,
        adds_per_second,
        adds_how,
        launch,
        ladder,
    }))
}

/// What bounds a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// Reading the array.
    Reading,
    /// Its additions.
    Adding,
    /// A launch.
    Launching,
}

impl Bound {
    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Bound::Reading => "reading",
            Bound::Adding => "adding",
            Bound::Launching => "launching",
        }
    }
}

impl Roofline {
    /// Microseconds of reading so many elements.
    pub fn reading(&self, n: u64) -> f64 {
        n as f64 * self.dtype.size() as f64 / self.read.bytes_per_second * 1e6
    }

    /// Microseconds of adding them.
    pub fn adding(&self, n: u64) -> f64 {
        n.saturating_sub(1) as f64 / self.adds_per_second * 1e6
    }

    /// Microseconds that a reduction of so many elements takes at least, and why.
    pub fn bound(&self, n: u64) -> (f64, Bound) {
        let candidates = [
            (self.reading(n), Bound::Reading),
            (self.adding(n), Bound::Adding),
            (self.launch.unwrap_or(0.0), Bound::Launching),
        ];
        candidates.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).expect("there are three")
    }

    /// Additions for each byte at which reading and adding take equally long; a sum does one an element.
    pub fn ridge(&self) -> f64 {
        self.adds_per_second / self.read.bytes_per_second
    }
}

#[cfg(test)]
mod tests {
    use warpfold::Op;

    use super::*;
    use crate::{Case, Runs, Simulated, find};

    #[test]
    fn the_longest_of_three_is_the_bound() {
        let case = Case { op: Op::Sum, dtype: DType::F32, n: 64, block: 32 };
        let request = LadderRequest {
            case,
            rungs: vec![find("13").expect("a rung")],
            data: warpfold_lab::array::Data::Ones,
            runs: Runs::Exactly(1),
            temperature: warpfold_lab::cuda::report::Temperature::Cold,
            grid: None,
        };
        let ladder = Simulated::default().climb(&request, &mut ()).expect("it climbs");
        let read = Peak { bytes_per_second: 4e12, how: String::new() };
        let mut roof = Roofline {
            schema: SCHEMA,
            warpfold: String::new(),
            date: String::new(),
            device: ladder.device.clone(),
            dtype: DType::F32,
            n: 1 << 30,
            read,
            adds_per_second: 1e13,
            adds_how: String::new(),
            launch: Some(3.0),
            ladder,
        };
        assert_eq!(roof.bound(1_000_000_000), (1000.0, Bound::Reading));
        assert_eq!(roof.bound(1000), (3.0, Bound::Launching));
        assert_eq!(roof.ridge(), 2.5);
        roof.adds_per_second = 1e11;
        assert_eq!(roof.bound(1_000_000_001), (10_000.0, Bound::Adding));
    }
}
