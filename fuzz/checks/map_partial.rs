//! What must hold of any bytes that another rank hands over as the partial of an expression.

use std::sync::OnceLock;

use warpfold::map::{Map, Reduction};
use warpfold::partial::Finish;
use warpfold::{DType, Nan, Policy};

/// What the maps are made of: results that share a reading, a condition if there is one, the type of all inputs, and whether NaNs are ignored.
pub type Wanted = (&'static [&'static str], Option<&'static str>, DType, Nan);

pub const WANTED: [Wanted; 8] = [
    (&["sum(x * y)", "mean(x)", "minmax(y)"], None, DType::F64, Nan::Propagate),
    (&["var(x)", "l1(x)", "linf(y)", "prod(y)"], Some("x > y"), DType::F32, Nan::Propagate),
    (&["argmin(x + y)", "count(x > y)", "count(x < 0)"], None, DType::I64, Nan::Propagate),
    (&["mean(x, weights=w)", "var(x, weights=w)"], None, DType::F64, Nan::Propagate),
    (&["var(x, weights=w)", "sum(x, weights=w)"], None, DType::I64, Nan::Propagate),
    (&["rmse(x, y)", "cosine(x, y)"], None, DType::F32, Nan::Propagate),
    (&["logsumexp(x)", "stats(x)"], Some("x < y"), DType::F64, Nan::Propagate),
    (&["max(x)", "std(x)", "sumsq(y)"], None, DType::F64, Nan::Ignore),
];

/// The maps that are read for; the first byte of a text says which.
pub fn maps() -> &'static [Map] {
    static MAPS: OnceLock<Vec<Map>> = OnceLock::new();
    MAPS.get_or_init(|| {
        let map = |(texts, keep, dtype, nan): &Wanted| {
            let wanted: Result<Vec<Reduction>, _> = texts.iter().map(|text| text.parse()).collect();
            let inputs = ["x", "y", "w"].map(|name| (name, *dtype));
            let policy = Policy { nan: *nan, ..Policy::default() };
            Map::all(&wanted.expect("reductions"), *keep, &inputs, policy).expect("a map")
        };
        WANTED.iter().map(map).collect()
    })
}

/// Reads the bytes as the partial of one of the maps; what is accepted is the same once it was saved and read, merges and finishes. Returns whether
/// it was accepted.
pub fn check(bytes: &[u8]) -> bool {
    let Some((which, bytes)) = bytes.split_first() else { return false };
    let map = &maps()[usize::from(*which) % WANTED.len()];
    let left = match map.read(bytes) {
        Ok(left) => left,
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "{error}");
            return false;
        }
    };
    assert_eq!(map.read(&left.to_bytes()).as_ref(), Ok(&left), "what was read is saved as it was");
    let mut all = map.empty();
    all.merge(&left);
    for left in [left.clone().behind(u64::MAX / 3), left] {
        // A refusal is fine (nothing to take the mean of, an integer too large); a panic is not.
        for ddof in [0, 1] {
            let _ = map.results(&all, Finish { ddof, ..Finish::default() });
        }
        all.merge(&left);
    }
    let _ = map.results(&all, Finish { round_to: Some(DType::F32), ..Finish::default() });
    true
}
