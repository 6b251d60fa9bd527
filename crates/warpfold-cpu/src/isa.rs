//! Which instructions this machine has, and the one door to code compiled for them.

use std::sync::OnceLock;

use warpfold_plan::plan::{CpuFacts, Isa};

/// The facts of the machine this runs on, and of the thread pool that the caller runs in.
pub fn facts() -> CpuFacts {
    CpuFacts { isa: isa(), threads: rayon::current_num_threads() }
}

/// The widest instruction set present, asked once.
fn isa() -> Isa {
    static WIDEST: OnceLock<Isa> = OnceLock::new();
    *WIDEST.get_or_init(widest)
}

/// Proof that the features of [`Isa::Avx512`] are there and allowed: who holds one may call kernels written for them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx512(());

impl Avx512 {
    pub(super) fn found(allowed: Isa) -> Option<Self> {
        (allowed.min(isa()) == Isa::Avx512).then_some(Avx512(()))
    }
}

/// Work whose body is compiled for an instruction set; `run` must be `#[inline(always)]`.
pub(super) trait Job {
    /// What it returns.
    type Output;

    /// Does it.
    fn run(self) -> Self::Output;
}

/// Runs a job with the widest instructions that `isa` allows and the machine has.
#[inline]
pub(super) fn with_isa<J: Job>(isa: Isa, job: J) -> J::Output {
    #[cfg(target_arch = "x86_64")]
    match isa.min(self::isa()) {
        // SAFETY: `facts` found every feature that the function enables; `min` never goes above what it found.
        Isa::Avx512 => return unsafe { x86::avx512(job) },
        // SAFETY: as above.
        Isa::Avx2 => return unsafe { x86::avx2(job) },
        Isa::Baseline => {}
    }
    let _ = isa;
    job.run()
}

/// Whether there are kernels for many outputs at once: on x86-64, those are compiled for AVX2 and AVX-512 alone, because each version costs
/// everybody's build more than machines without either gain; there, every output is folded by the kernels for one array.
pub(super) const fn has_lanes(isa: Isa) -> bool {
    cfg!(not(target_arch = "x86_64")) || !matches!(isa, Isa::Baseline)
}

/// Runs a job of [lanes](has_lanes).
#[inline]
pub(super) fn with_lanes<J: Job>(isa: Isa, job: J) -> J::Output {
    #[cfg(target_arch = "x86_64")]
    match isa.min(self::isa()) {
        // SAFETY: as in `with_isa`.
        Isa::Avx512 => unsafe { x86::avx512(job) },
        // SAFETY: as in `with_isa`.
        Isa::Avx2 => unsafe { x86::avx2(job) },
        Isa::Baseline => unreachable!("lanes are not driven without vectors"),
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = isa;
        job.run()
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Job;

    #[target_feature(
        enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,fma,f16c,bmi1,bmi2,lzcnt,popcnt"
    )]
    pub(super) fn avx512<J: Job>(job: J) -> J::Output {
        job.run()
    }

    #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn avx2<J: Job>(job: J) -> J::Output {
        job.run()
    }
}

#[cfg(target_arch = "x86_64")]
fn widest() -> Isa {
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
fn widest() -> Isa {
    Isa::Baseline
}
