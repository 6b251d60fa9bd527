//! [`Data`]: what the arrays of the CUDA benchmark hold.

use serde::{Deserialize, Serialize};

/// A kind of data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Data {
    /// Floats: uniform in [-1, 1). Integers: over their whole range.
    #[default]
    Uniform,
    /// Floats: standard normal.
    Normal,
    /// Floats: uniform in [0, 1).
    Positive,
    /// Floats of either sign whose exponents are uniform over the type's whole range, subnormal numbers among them.
    Wide,
    /// Floats by turns huge and tiny, 200 binades apart (f64: 1800), of either sign.
    Alternating,
    /// Floats: subnormal, of either sign.
    Subnormal,
    /// Floats: powers of two, each a digit of an exact accumulator further than the one before: 16 binades (f64: 53).
    Limbs,
}

impl Data {
    /// What exact sums must bear beside what everyone measures.
    pub const ADVERSARIAL: [Data; 4] =
        [Data::Wide, Data::Alternating, Data::Subnormal, Data::Limbs];

    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Data::Uniform => "uniform",
            Data::Normal => "normal",
            Data::Positive => "positive",
            Data::Wide => "wide",
            Data::Alternating => "alternating",
            Data::Subnormal => "subnormal",
            Data::Limbs => "limbs",
        }
    }
}
