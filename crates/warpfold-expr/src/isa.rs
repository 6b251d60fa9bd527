//! The one door to code compiled for wider instructions than every machine of the kind has.

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
    match x86::found() {
        // SAFETY: the machine has every feature that the function enables, as was found.
        x86::Found::Avx512 => return unsafe { x86::avx512(job) },
        // SAFETY: as above.
        x86::Found::Avx2 => return unsafe { x86::avx2(job) },
        x86::Found::Neither => {}
    }
    job.run::<false>()
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::sync::OnceLock;

    use super::Job;

    #[derive(Clone, Copy)]
    pub(super) enum Found {
        Avx512,
        Avx2,
        Neither,
    }

    /// What the machine has, asked once.
    pub(super) fn found() -> Found {
        static FOUND: OnceLock<Found> = OnceLock::new();
        *FOUND.get_or_init(|| {
            macro_rules! has {
                ($($feature:tt),+) => { $(is_x86_feature_detected!($feature))&&+ };
            }
            let avx2 = has!("avx2", "fma", "f16c", "bmi1", "bmi2", "lzcnt", "popcnt");
            let avx512 = has!("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl");
            match (avx2, avx512) {
                (true, true) => Found::Avx512,
                (true, false) => Found::Avx2,
                (false, _) => Found::Neither,
            }
        })
    }

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
