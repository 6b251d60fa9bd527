//! The fuzz targets' seeds, and every input that ever broke one, replayed without a fuzzer.

#![allow(unreachable_pub, reason = "the check is shared with the fuzz target")]

use std::path::PathBuf;
use std::{env, fs};

use warpfold::map::{Folded, HostArray, Map};
use warpfold::partial::bytes::{Header, PartialKind};
use warpfold::{AnyPartial, Complex, DType, Op, Policy, Stream, bf16, f16};

#[path = "../../../fuzz/checks/digits.rs"]
mod digits;
#[path = "../../../fuzz/checks/map_partial.rs"]
mod map_partial;
#[path = "../../../fuzz/checks/partial.rs"]
mod partial;

fn corpus(of: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", "fuzz", "corpus", of].iter().collect()
}

/// The saved partials among the seeds that are sums, as digits; and the ways in which digits are wrong.
fn digit_seeds() -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for (name, bytes) in seeds().into_iter().filter(|(name, _)| !name.starts_with("wrong-")) {
        let partial = AnyPartial::from_bytes(&bytes).expect("a valid seed");
        let op = Op::ALL.iter().find(|op| name.split('-').next() == Some(op.name()));
        let Some(digits) = partial.to_digits() else { continue };
        let (&op, dtype) = (op.expect("seeds are named by it"), partial.dtype());
        if !name.ends_with("-compact") {
            all.push((
                format!("three-{name}"),
                digits::bytes(op, dtype, 3, &digits.iter().map(|d| 3 * d).collect::<Vec<_>>()),
            ));
            all.push((name, digits::bytes(op, dtype, 1, &digits)));
        }
    }
    let sum = seed(Op::Sum, &[1.0f32, 2.0])
        .and_then(|bytes| AnyPartial::from_bytes(&bytes).ok()?.to_digits());
    let sum = sum.expect("floats have sums");
    let of_sum =
        |world: u64, digits: &[u64]| digits::bytes(Op::Sum, warpfold::DType::F32, world, digits);
    let changed = |at: usize, to: u64| {
        let mut digits = sum.clone();
        digits[at] = to;
        of_sum(1, &digits)
    };
    let wrong = [
        ("nothing", Vec::new()),
        ("no-world", of_sum(0, &sum)),
        ("short", of_sum(1, &sum[1..])),
        ("long", of_sum(1, &[&sum[..], &[0]].concat())),
        ("digit", changed(0, u64::MAX)),
        ("special", changed(2, u64::MAX)),
        ("too-large", changed(sum.len() - 1, u64::from(u32::MAX >> 2))),
        ("no-sum", digits::bytes(Op::Max, warpfold::DType::F32, 1, &sum)),
    ];
    all.extend(wrong.map(|(name, bytes)| (format!("wrong-{name}"), bytes)));
    all
}

/// A saved partial of a few numbers, specials among them.
fn seed<T: warpfold::Element>(op: Op, x: &[T]) -> Option<Vec<u8>> {
    let mut stream = Stream::new(op, Policy::default()).ok()?;
    match op {
        Op::Dot => stream.push_pair(x, x).ok()?,
        _ => stream.push(x).ok()?,
    }
    stream.partial().map(|partial| partial.to_bytes())
}

/// The compact form of a saved partial.
fn compact(bytes: &[u8]) -> Vec<u8> {
    AnyPartial::from_bytes(bytes).expect("a valid seed").to_compact()
}

/// Valid partials of every kind, and the ways in which bytes are wrong.
fn seeds() -> Vec<(String, Vec<u8>)> {
    let mut seeds = Vec::new();
    use Op::{Count, Dot, L1, Linf, MinMax, Prod, Stats, Sum, Var};
    for op in [Sum, Var, Dot, MinMax, Count, Prod, L1, Linf, Stats] {
        let valid = [
            ("bool", seed(op, &[true, false, true])),
            ("i8", seed(op, &[-128i8, 127, 3])),
            ("i32", seed(op, &[i32::MIN, 5])),
            ("u64", seed(op, &[u64::MAX; 3])),
            ("f16", seed(op, &[f16::MIN_POSITIVE_SUBNORMAL, f16::NEG_INFINITY])),
            ("bf16", seed(op, &[bf16::MAX, bf16::NEG_ZERO])),
            ("f32", seed(op, &[1.5f32, f32::NAN, -7.0])),
            ("f64", seed(op, &[f64::MAX, 5e-324])),
            ("complex64", seed(op, &[Complex::new(1.0f32, -2.0)])),
            ("complex128", seed(op, &[Complex::new(f64::INFINITY, -2.0)])),
            ("empty", seed::<f32>(op, &[])),
        ];
        for (dtype, bytes) in valid {
            let Some(bytes) = bytes else { continue };
            seeds.push((format!("{op}-{dtype}-compact"), compact(&bytes)));
            seeds.push((format!("{op}-{dtype}"), bytes));
        }
    }
    let sum = seed(Op::Sum, &[1.0f32, 2.0]).expect("floats have sums");
    let changed = |at: usize, to: u8| {
        let mut bytes = sum.clone();
        bytes[at] = to;
        bytes
    };
    let wrong = [
        ("nothing", Vec::new()),
        ("magic", changed(0, b'w')),
        ("version", changed(4, 2)),
        ("kind", changed(5, 99)),
        ("dtype", changed(6, 99)),
        ("reserved", changed(7, 1)),
        ("special", changed(16, 8)),
        ("too-large", changed(71, 0x7f)),
        ("short", sum[..40].to_vec()),
        ("long", [&sum[..], &[0]].concat()),
    ];
    seeds.extend(wrong.map(|(name, bytes)| (format!("wrong-{name}"), bytes)));
    // One element more than are kept, and more NaNs than elements.
    let mut stats = seed(Op::Stats, &[1.0f64, 2.0]).expect("floats have stats");
    (stats[8], stats[16]) = (stats[8] + 1, 0xff);
    seeds.push(("wrong-stats-nans".into(), stats));
    // 1 + 2 in the compact form: kind, type, count, three bytes at the byte of 2^-149 that 3 begins in, and these.
    let sum = compact(&sum);
    let changed = |at: usize, to: &[u8]| [&sum[..at], to, &sum[at + 1..]].concat();
    let wrong = [
        ("version", changed(0, &[0xc2])),
        ("kind", changed(1, &[99])),
        ("dtype", changed(2, &[99])),
        ("count", changed(3, &[0x82, 0])),
        ("special", changed(4, &[sum[4] | 3])),
        ("end", changed(5, &[48])),
        ("short", sum[..sum.len() - 1].to_vec()),
        ("long", [&sum[..], &[0]].concat()),
    ];
    seeds.extend(wrong.map(|(name, bytes)| (format!("wrong-compact-{name}"), bytes)));
    seeds
}

/// What a map leaves of three inputs that are alike but for their order.
fn fold(map: &Map, dtype: DType, numbers: &[f64]) -> Option<Folded> {
    macro_rules! fold {
        ($ty:ty) => {{
            let x: Vec<$ty> = numbers.iter().map(|x| *x as $ty).collect();
            let y: Vec<$ty> = x.iter().rev().copied().collect();
            map.fold(&[HostArray::of(&x), HostArray::of(&y), HostArray::of(&x)], 7).ok()
        }};
    }
    match dtype {
        DType::F64 => fold!(f64),
        DType::F32 => fold!(f32),
        _ => fold!(i64),
    }
}

/// What is left of every map of the target, of few numbers and of none; and the ways in which such bytes are wrong.
fn map_partial_seeds() -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for (which, (map, wanted)) in (0u8..).zip(map_partial::maps().iter().zip(&map_partial::WANTED))
    {
        for (name, numbers) in [
            ("none", &[][..]),
            ("few", &[0.0, 3.0, 0.5, 1e9]),
            ("wide", &[1e-300, 1e300, 7.0]),
            ("special", &[f64::INFINITY, 2.0, f64::NAN]),
        ] {
            // Weights are finite, and indices of NaN are not those of integers.
            let Some(left) = fold(map, wanted.2, numbers) else { continue };
            let bytes = [&[which][..], &left.to_bytes()].concat();
            if name == "few" {
                all.push((format!("wrong-{which}-short"), bytes[..bytes.len() - 1].to_vec()));
                all.push((format!("wrong-{which}-long"), [&bytes[..], &[0]].concat()));
                let another = [&[which + 1][..], &bytes[1..]].concat();
                all.push((format!("wrong-{which}-another"), another));
            }
            all.push((format!("{which}-{name}"), bytes));
        }
    }
    let few = all.iter().find(|(name, _)| name == "0-few").expect("sums").1.clone();
    let changed = |at: usize, to: u8| {
        let mut bytes = few.clone();
        bytes[at] = to;
        bytes
    };
    let wrong = [
        ("nothing", Vec::new()),
        ("no-version", vec![0]),
        ("version", changed(1, 2)),
        ("length", changed(5, 0xff)),
    ];
    all.extend(wrong.map(|(name, bytes)| (format!("wrong-{name}"), bytes)));
    all
}

/// Bytes as they come from what is no friend: seeds cut, joined and changed, as many as `WARPFOLD_FUZZ_CASES` says, or 20,000.
#[test]
fn seeds_that_were_changed_are_read_or_refused() {
    let seeds: Vec<Vec<u8>> = map_partial_seeds().into_iter().map(|(_, bytes)| bytes).collect();
    let mut state = 1u64;
    let mut next = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    let cases = env::var("WARPFOLD_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok());
    let mut accepted = 0;
    let cases = cases.unwrap_or(20_000);
    for _ in 0..cases {
        let mut bytes = seeds[next(seeds.len())].clone();
        for _ in 0..=next(3) {
            let at = next(bytes.len());
            match next(6) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at.min(bytes.len()), next(256) as u8),
                2 => {
                    let other = &seeds[next(seeds.len())];
                    bytes.truncate(at);
                    bytes.extend_from_slice(&other[next(other.len()).min(other.len())..]);
                }
                _ => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = if next(2) == 0 { next(256) as u8 } else { *byte ^ (1 << next(8)) };
                    }
                }
            }
        }
        accepted += u32::from(map_partial::check(&bytes));
    }
    assert!(accepted > cases / 100, "{accepted} of {cases} were read");
}

/// A folder of inputs, what must hold of each, and the seeds among them.
type Corpus = (&'static str, fn(&[u8]) -> bool, Vec<(String, Vec<u8>)>);

fn all() -> [Corpus; 3] {
    [
        ("partial", partial::check, seeds()),
        ("digits", digits::check, digit_seeds()),
        ("map_partial", map_partial::check, map_partial_seeds()),
    ]
}

#[test]
fn every_input_of_the_corpus_is_read_or_refused() {
    for (of, check, seeds) in all() {
        let mut replayed = 0;
        for entry in fs::read_dir(corpus(of)).expect("the repository holds a corpus") {
            let path = entry.unwrap().path();
            let accepted = check(&fs::read(&path).unwrap());
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            assert!(
                !(accepted && name.starts_with("wrong-")),
                "{} is not a partial",
                path.display()
            );
            let is_valid = seeds.iter().any(|seed| seed.0 == name) && !name.starts_with("wrong-");
            assert!(accepted || !is_valid, "{} is a partial", path.display());
            replayed += 1;
        }
        assert!(replayed >= seeds.len());
    }
}

/// The seeds are those of this version; those of an earlier one, `version-1-…`, are still read. After a change of the layout: `WARPFOLD_WRITE_SEEDS=1 cargo test --test corpus`.
#[test]
fn seeds_are_current() {
    let write = env::var_os("WARPFOLD_WRITE_SEEDS").is_some();
    for (of, _, seeds) in all() {
        for (name, bytes) in seeds {
            let path = corpus(of).join(&name);
            if write {
                fs::create_dir_all(corpus(of)).unwrap();
                fs::write(&path, &bytes).unwrap();
            }
            assert_eq!(fs::read(&path).ok(), Some(bytes), "seed {name} of {of}");
        }
    }
}

#[test]
fn every_kind_has_a_seed() {
    for &kind in PartialKind::ALL {
        let holds = |bytes: &[u8]| Header::read(bytes).is_ok_and(|header| header.kind == kind);
        let seeds = seeds();
        let mut valid = seeds.iter().filter(|(name, _)| !name.starts_with("wrong-"));
        assert!(valid.any(|(_, bytes)| holds(bytes) && partial::check(bytes)), "{kind:?}");
    }
}
