//! The instruction sets that kernels are compiled for, and the one place that asks which of them this machine has.

use std::fmt;
use std::sync::OnceLock;

/// The instruction set a CPU kernel is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Isa {
    /// What every target of the architecture has: SSE2 on x86-64, NEON on AArch64.
    Baseline,
    /// AVX2 with FMA and F16C.
    Avx2,
    /// AVX-512 F, BW, CD, DQ and VL.
    Avx512,
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Isa::Baseline => "baseline",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        })
    }
}

impl Isa {
    /// The widest that this machine has, asked once: code that is compiled for it, or for one before it, may run here.
    ///
    /// Of x86-64, [`Isa::Avx2`] promises `avx2`, `fma`, `f16c`, `bmi1`, `bmi2`, `lzcnt` and `popcnt`, and [`Isa::Avx512`] beside these
    /// `avx512f`, `avx512bw`, `avx512cd`, `avx512dq` and `avx512vl`.
    pub fn widest() -> Isa {
        static WIDEST: OnceLock<Isa> = OnceLock::new();
        *WIDEST.get_or_init(found)
    }
}

#[cfg(target_arch = "x86_64")]
fn found() -> Isa {
    macro_rules! has {
        ($($feature:tt),+) => { $(is_x86_feature_detected!($feature))&&+ };
    }
    let avx2 = has!("avx2", "fma", "f16c", "bmi1", "bmi2", "lzcnt", "popcnt");
    let avx512 = has!("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl");
    match (avx2, avx512) {
        (true, true) => Isa::Avx512,
        (true, false) => Isa::Avx2,
        (false, _) => Isa::Baseline,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn found() -> Isa {
    Isa::Baseline
}
