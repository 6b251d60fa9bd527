//! Keys that note which threads look at them: those that a policy allows, from the keys to the results.

use std::collections::HashSet;
use std::fmt::{self, Display};
use std::sync::Mutex;
use std::thread::{ThreadId, current};

use super::{Key, key::sealed};
use crate::{DType, Policy, Value};

static WHO: Mutex<Option<HashSet<ThreadId>>> = Mutex::new(None);

fn note() {
    WHO.lock().unwrap().get_or_insert_default().insert(current().id());
}

#[derive(Debug, Clone, Copy, PartialOrd, Ord, Eq, Hash)]
#[expect(clippy::derived_hash_with_manual_eq, reason = "it only notes who compares")]
struct Watched(u32);

impl PartialEq for Watched {
    fn eq(&self, other: &Self) -> bool {
        note();
        self.0 == other.0
    }
}

impl Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Watched> for Value {
    fn from(key: Watched) -> Value {
        key.0.into()
    }
}

impl sealed::Sealed for Watched {}
impl Key for Watched {
    const DTYPE: DType = DType::U32;

    fn id(self) -> Option<u64> {
        note();
        self.0.id()
    }

    fn from_id(id: u64) -> Option<Self> {
        u32::from_id(id).map(Watched)
    }

    fn rank(self) -> u64 {
        note();
        self.0.rank()
    }

    fn from_rank(rank: u64) -> Self {
        Watched(u32::from_rank(rank))
    }
}

#[test]
fn a_policy_of_one_thread_is_kept_from_the_keys_to_the_results() {
    const N: u32 = 200_003;
    let x: Vec<u32> = (0..N).collect();
    let keys = |key: fn(u32) -> u32| -> Vec<Watched> { (0..N).map(|k| Watched(key(k))).collect() };
    let close = keys(|k| k.wrapping_mul(2_654_435_761) % 97);
    let scattered = keys(|k| k.wrapping_mul(2_654_435_761) % 9973 * 430_000);
    let ascending = keys(|k| k / 1000);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().expect("threads start");
    let one = Policy { threads: Some(1), ..Policy::default() };
    let check = |name: &str, sums: &(dyn Fn() -> Vec<u64> + Sync)| {
        *WHO.lock().unwrap() = None;
        let (caller, sums) = pool.install(|| (current().id(), sums()));
        assert_eq!(sums.iter().sum::<u64>(), u64::from(N) * u64::from(N - 1) / 2, "{name}");
        let who = WHO.lock().unwrap().take().expect("keys are looked at");
        assert_eq!(who, HashSet::from([caller]), "{name}");
    };
    check("table", &|| one.group_by(&close, &x).unwrap().sum().unwrap().values);
    check("hash", &|| one.group_by(&scattered, &x).unwrap().sum().unwrap().values);
    check("dense", &|| one.group_dense(&close, 97, &x).unwrap().sum().unwrap());
    check("runs", &|| one.reduce_by_key(&ascending, &x).unwrap().sum().unwrap().values);
}
