//! Which instructions this machine has, asked once.

use std::sync::OnceLock;

use crate::plan::{CpuFacts, Isa};

/// The facts of the machine this runs on.
pub fn facts() -> CpuFacts {
    static FACTS: OnceLock<CpuFacts> = OnceLock::new();
    *FACTS.get_or_init(|| CpuFacts { isa: widest(), threads: rayon::current_num_threads() })
}

/// The instruction sets that can run here, narrowest first.
pub fn available() -> impl Iterator<Item = Isa> {
    [Isa::Baseline, Isa::Avx2, Isa::Avx512].into_iter().filter(|&isa| isa <= widest())
}

#[cfg(target_arch = "x86_64")]
fn widest() -> Isa {
    let avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("bmi2");
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    match (avx2, avx512) {
        (true, true) => Isa::Avx512,
        (true, false) => Isa::Avx2,
        (false, _) => Isa::Baseline,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn widest() -> Isa {
    Isa::Baseline
}
