//! The one door to code compiled for wider instructions than every machine of the kind has.

#[cfg(target_arch = "x86_64")]
use warpfold_num::Isa;

/// Work whose body is compiled for each instruction set; `run` must be `#[inline(always)]`.
pub(crate) trait Job {
    /// What it returns.
    type Output;

    /// Does it; where `AVX512` says so, code for those instructions may be called.
    fn run<const AVX512: bool>(self) -> Self::Output;
}

/// Runs a job with the widest instructions of the machine.
#[inline]
pub(crate) fn widest<J: Job>(job: J) -> J::Output {
    #[cfg(target_arch = "x86_64")]
    match Isa::widest() {
        // SAFETY: `Isa::widest` found every feature that the function enables.
        Isa::Avx512 => return unsafe { x86::avx512(job) },
        // SAFETY: as above.
        Isa::Avx2 => return unsafe { x86::avx2(job) },
        Isa::Baseline => {}
    }
    job.run::<false>()
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Job;

    #[target_feature(
        enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,fma,f16c,bmi1,bmi2,lzcnt,popcnt"
    )]
    pub(super) fn avx512<J: Job>(job: J) -> J::Output {
        job.run::<true>()
    }

    #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn avx2<J: Job>(job: J) -> J::Output {
        job.run::<false>()
    }
}
