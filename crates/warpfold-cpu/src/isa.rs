//! The one door to code compiled for wider instructions than every machine of the kind has.

use warpfold_plan::plan::{CpuFacts, Isa};

/// The facts of the machine this runs on, and of the thread pool that the caller runs in.
pub fn facts() -> CpuFacts {
    CpuFacts { isa: Isa::widest(), threads: rayon::current_num_threads() }
}

/// Proof that the features of [`Isa::Avx512`] are there and allowed: who holds one may call kernels written for them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx512(());

impl Avx512 {
    pub(super) fn found(allowed: Isa) -> Option<Self> {
        (allowed.min(Isa::widest()) == Isa::Avx512).then_some(Avx512(()))
    }
}

/// What code is compiled for, where it asks: a way that is not for these instructions is left out.
pub(super) trait Target {
    /// The instruction set.
    const ISA: Isa;
    /// Whether it has AVX-512.
    const AVX512: bool = matches!(Self::ISA, Isa::Avx512);
    /// Whether vectors are worth their code: on x86-64 from AVX2 on, as older machines have no fused multiply-adds.
    const VECTORS: bool;
}

/// The instructions that every machine of the kind has.
pub(super) enum Common {}

impl Target for Common {
    const ISA: Isa = Isa::Baseline;
    const VECTORS: bool = cfg!(not(target_arch = "x86_64"));
}

/// Work whose body is compiled for an instruction set; `run` must be `#[inline(always)]`.
pub(super) trait Job {
    /// What it returns.
    type Output;

    /// Does it.
    fn run<C: Target>(self) -> Self::Output;
}

/// Runs a job with the widest instructions that `isa` allows and the machine has.
#[inline]
pub(super) fn with_isa<J: Job>(isa: Isa, job: J) -> J::Output {
    #[cfg(target_arch = "x86_64")]
    match isa.min(Isa::widest()) {
        // SAFETY: `Isa::widest` found every feature that the function enables; `min` never goes above what it found.
        Isa::Avx512 => return unsafe { x86::avx512(job) },
        // SAFETY: as above.
        Isa::Avx2 => return unsafe { x86::avx2(job) },
        Isa::Baseline => {}
    }
    let _ = isa;
    job.run::<Common>()
}

/// Runs a job with no wider instructions than AVX2: what moves memory, or takes elements one by one, gains nothing by wider ones.
#[inline]
pub(super) fn with_avx2<J: Job>(isa: Isa, job: J) -> J::Output {
    #[cfg(target_arch = "x86_64")]
    if isa.min(Isa::widest()) >= Isa::Avx2 {
        // SAFETY: `Isa::widest` found every feature that the function enables, or those of `Isa::Avx512`, which are more.
        return unsafe { x86::avx2(job) };
    }
    let _ = isa;
    job.run::<Common>()
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
    match isa.min(Isa::widest()) {
        // SAFETY: as in `with_isa`.
        Isa::Avx512 => unsafe { x86::avx512(job) },
        // SAFETY: as in `with_isa`.
        Isa::Avx2 => unsafe { x86::avx2(job) },
        Isa::Baseline => unreachable!("lanes are not driven without vectors"),
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = isa;
        job.run::<Common>()
    }
}

/// The same by a call that stays one, so that the job's code does not change what becomes of its caller's.
#[inline(always)]
pub(super) fn with_lanes_apart<J: Job>(isa: Isa, job: J) -> J::Output {
    #[cfg(target_arch = "x86_64")]
    match isa.min(Isa::widest()) {
        // SAFETY: as in `with_isa`.
        Isa::Avx512 => unsafe { x86::avx512_apart(job) },
        // SAFETY: as in `with_isa`.
        Isa::Avx2 => unsafe { x86::avx2_apart(job) },
        Isa::Baseline => unreachable!("lanes are not driven without vectors"),
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = isa;
        job.run::<Common>()
    }
}

/// Runs a job of lanes with no wider instructions than AVX2.
#[inline]
pub(super) fn with_short_lanes<J: Job>(isa: Isa, job: J) -> J::Output {
    #[cfg(target_arch = "x86_64")]
    match isa.min(Isa::widest()) {
        Isa::Baseline => unreachable!("lanes are not driven without vectors"),
        // SAFETY: as in `with_avx2`.
        Isa::Avx2 | Isa::Avx512 => unsafe { x86::avx2(job) },
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = isa;
        job.run::<Common>()
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Isa, Job, Target};

    enum Avx2 {}

    impl Target for Avx2 {
        const ISA: Isa = Isa::Avx2;
        const VECTORS: bool = true;
    }

    enum Avx512 {}

    impl Target for Avx512 {
        const ISA: Isa = Isa::Avx512;
        const VECTORS: bool = true;
    }

    #[target_feature(
        enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,fma,f16c,bmi1,bmi2,lzcnt,popcnt"
    )]
    pub(super) fn avx512<J: Job>(job: J) -> J::Output {
        job.run::<Avx512>()
    }

    #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn avx2<J: Job>(job: J) -> J::Output {
        job.run::<Avx2>()
    }

    #[inline(never)]
    #[target_feature(
        enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,fma,f16c,bmi1,bmi2,lzcnt,popcnt"
    )]
    pub(super) fn avx512_apart<J: Job>(job: J) -> J::Output {
        job.run::<Avx512>()
    }

    #[inline(never)]
    #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn avx2_apart<J: Job>(job: J) -> J::Output {
        job.run::<Avx2>()
    }
}
