//! Partials as bytes: what comes back is what went in, and nothing else comes in.

use proptest::prelude::*;
use warpfold::partial::bytes::{Header, PartialKind};
use warpfold::partial::{Count, Extremes, Finish, Partial};
use warpfold::{Complex, DType, Dot, Error, Exact, Moments, Op, Result, f16};

use crate::backend::{Ask, Backend, Cpu};
use crate::oracle::cells;
use crate::sample::{Sample, Words};

/// A reduction for each kind of partial.
const KINDS: [(Op, PartialKind); 6] = [
    (Op::Sum, PartialKind::Sum),
    (Op::Var, PartialKind::Moments),
    (Op::Dot, PartialKind::Dot),
    (Op::MinMax, PartialKind::Extremes),
    (Op::Count, PartialKind::Count),
    (Op::Prod, PartialKind::Product),
];

const CPU: Cpu = Cpu(warpfold::plan::Isa::Avx512);

fn partial<T: Sample>(op: Op, n: usize, words: &mut Words) -> Result<Partial<T>> {
    let draw = |words: &mut Words| match words.index(9) {
        0 => T::any(words),
        _ => T::finite(words),
    };
    let x: Vec<T> = (0..n).map(|_| draw(words)).collect();
    let y: Vec<T> = (0..n).map(|_| draw(words)).collect();
    CPU.partial(Ask::new(op), &x, &y)
}

/// Reads bytes as a partial of one element type, and saves it again.
type ReadAndSave = fn(&[u8]) -> Result<Vec<u8>>;

/// Runs a body with a partial of every kind and element type.
fn for_every_partial(mut body: impl FnMut(ReadAndSave, Vec<u8>, PartialKind)) {
    fn each<T: Sample, F: FnMut(ReadAndSave, Vec<u8>, PartialKind)>(body: &mut F) {
        let mut words = Words(31);
        for (op, kind) in KINDS {
            for n in [0, 1, 20] {
                if let Ok(partial) = partial::<T>(op, n, &mut words) {
                    let again = |bytes: &[u8]| Ok(Partial::<T>::from_bytes(bytes)?.to_bytes());
                    body(again, partial.to_bytes(), kind);
                }
            }
        }
    }
    for_every_element!(each(&mut body));
}

#[test]
fn bytes_come_back_as_they_went() {
    let mut seen = 0;
    for_every_partial(|again, bytes, kind| {
        assert_eq!(again(&bytes), Ok(bytes.clone()));
        assert_eq!(Header::read(&bytes).unwrap().kind, kind);
        seen += 1;
    });
    assert_eq!(seen, 3 * (6 * 13 + 5 * 2), "complex numbers have no extremes");
}

/// Merging after a round trip equals merging directly, with every reduction that reads the kind.
#[test]
fn merging_after_a_round_trip_is_merging() {
    fn body<T: Sample, B: Backend>(backend: &B) {
        let mut words = Words(32);
        for &op in backend.ops() {
            for (n, m) in [(0, 0), (0, 9), (1, 1), (700, 60), (60, 3000)] {
                let pair = (partial::<T>(op, n, &mut words), partial::<T>(op, m, &mut words));
                let (Ok(mut left), Ok(right)) = pair else { continue };
                let back = |p: &Partial<T>| Partial::<T>::from_bytes(&p.to_bytes()).unwrap();
                let mut merged = back(&left);
                merged.merge(&back(&right));
                left.merge(&right);
                assert_eq!(merged.to_bytes(), left.to_bytes());
                let result = |p: &Partial<T>| p.finish(op, Finish::default()).map(|o| cells(&o));
                assert_eq!(result(&merged), result(&left), "{op} of {}", T::DTYPE);
            }
        }
    }
    for_every_element!(body(&CPU));
}

/// The layout as the documentation has it, byte by byte: a change of it is a new version.
#[test]
fn the_layout_is_the_documented_one() {
    let mut sum = Exact::<f16>::new();
    sum.extend(&[f16::from_f32(-1.0), f16::INFINITY]);
    let mut expected = b"WFPT\x01\x01\x09\x00".to_vec();
    // Two elements, +∞ among them, and -1.0 in units of 2^-24.
    let minus_one = -(1i64 << 24) as u64;
    for word in [2, 2, minus_one, u64::MAX] {
        expected.extend(word.to_le_bytes());
    }
    assert_eq!(sum.to_bytes(), expected);

    let mut extremes = Extremes::<i16>::new();
    extremes.add(-2, 7);
    extremes.add(5, 8);
    let mut expected = b"WFPT\x01\x04\x02\x00".to_vec();
    for word in [2, 1, 0xfffe, 7, 5, 8, 0] {
        expected.extend(u64::to_le_bytes(word));
    }
    assert_eq!(extremes.to_bytes(), expected);

    let bytes = [
        Exact::<Complex<f64>>::new().to_bytes(),
        Moments::<f64>::new().to_bytes(),
        Dot::<Complex<f32>>::new().to_bytes(),
        Count::default().to_bytes(),
    ];
    let words = [2 + 2 * 35, 2 + 35 + 68, 2 + 2 * 11, 3];
    assert_eq!(bytes.map(|bytes| bytes.len()), words.map(|words| 8 * words));
}

#[test]
fn every_truncation_and_extension_is_refused() {
    for_every_partial(|again, mut bytes, _| {
        for n in 0..bytes.len() {
            assert!(again(&bytes[..n]).is_err(), "{n} of {} bytes", bytes.len());
        }
        bytes.push(0);
        assert!(again(&bytes).is_err());
        bytes.extend([0; 7]);
        assert!(again(&bytes).is_err());
    });
}

/// A flipped bit is either refused or another valid partial; in the header, of another kind at most.
#[test]
fn flipped_bits_never_pass_unseen() {
    for_every_partial(|again, bytes, kind| {
        for bit in 0..8 * bytes.len() {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            match again(&flipped) {
                Ok(back) => {
                    assert!(bit >= 64 || bit / 8 == 5, "bit {bit} of the header of {kind:?}");
                    assert_eq!(back, flipped, "what is read is what was written");
                }
                Err(Error::BadPartial { .. }) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
    });
}

fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn refusals_say_what_was_expected_and_found() {
    let bytes = Exact::<f32>::new().to_bytes();
    let save_again = "; save it again with to_bytes of this version";
    for (result, why) in [
        (message(Exact::<f64>::from_bytes(&bytes)), "sum: they hold f32 elements, not f64"),
        (message(Dot::<f32>::from_bytes(&bytes)), "dot: they hold a partial of sum"),
        (message(Exact::<f32>::from_bytes(b"")), "sum: they end too early, after 0 bytes"),
        (
            message(Exact::<f32>::from_bytes(&bytes[..20])),
            "sum: they end too early, after 20 bytes",
        ),
        (message(Header::read(b"RIFFRIFF")), "any reduction: they do not begin with WFPT"),
        (
            message(Header::read(b"WFPT\x03\x06\x0c\x00")),
            "any reduction: they are of version 3, and this is version 2",
        ),
        (
            message(Header::read(b"WFPT\x02\x01\x0c\x00")),
            "any reduction: a partial of sum has no version 2",
        ),
        (
            message(Header::read(b"WFPT\x01\xc8\x0c\x00")),
            "any reduction: no kind of partial has the code 200",
        ),
        (
            message(Header::read(b"WFPT\x01\x01\x63\x00")),
            "any reduction: no element type has the code 99",
        ),
    ] {
        assert_eq!(result, format!("these bytes are not a saved partial of {why}{save_again}"));
    }
}

/// Words that contradict each other are refused, whatever they are.
#[test]
fn impossible_numbers_are_refused() {
    let with = |bytes: Vec<u8>, word: usize, value: u64| {
        let mut bytes = bytes;
        bytes[8 * word..8 * word + 8].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    let moments = |x: &[f32]| {
        let mut moments = Moments::<f32>::new();
        moments.extend(x);
        moments.to_bytes()
    };
    // A sum of nothing, a sum beyond what so many elements reach, squares too small for their sum.
    assert!(Exact::<i8>::from_bytes(&with(Exact::<i8>::new().to_bytes(), 3, 1)).is_err());
    let mut sum = Exact::<i8>::new();
    sum.add(1);
    assert!(Exact::<i8>::from_bytes(&with(sum.to_bytes(), 3, 1000)).is_err());
    let bytes = moments(&[1.0, 1.0]);
    let squares = moments(&[0.5, 0.5])[bytes.len() - 80..].to_vec();
    let mut mixed = bytes.clone();
    mixed[bytes.len() - 80..].copy_from_slice(&squares);
    assert!(Moments::<f32>::from_bytes(&mixed).is_err());
    // More nonzero elements than elements; NaN as a minimum; a minimum above the maximum; true as 2.
    assert!(Count::from_bytes(&with(Count::default().to_bytes(), 2, 1)).is_err());
    let extremes = |low: f32, high: f32| {
        let mut extremes = Extremes::<f32>::new();
        extremes.add(low, 0);
        extremes.add(high, 1);
        extremes.to_bytes()
    };
    let bits = |x: f32| u64::from(x.to_bits());
    assert!(Extremes::<f32>::from_bytes(&with(extremes(1.0, 2.0), 3, bits(1.5))).is_ok());
    assert!(Extremes::<f32>::from_bytes(&with(extremes(1.0, 2.0), 3, bits(3.0))).is_err());
    assert!(Extremes::<f32>::from_bytes(&with(extremes(1.0, 2.0), 3, bits(f32::NAN))).is_err());
    let mut truth = Extremes::<bool>::new();
    truth.add(true, 0);
    assert!(Extremes::<bool>::from_bytes(&with(truth.to_bytes(), 3, 2)).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    /// Whatever follows a good header: refused or read, never a panic, and what is read can be used.
    #[test]
    fn hostile_bytes_never_panic(kind in 0..7u8, dtype in 0..16u8, words in prop::collection::vec(
        prop_oneof![Just(0), Just(1), Just(u64::MAX), any::<u64>()], 0..120)) {
        let mut bytes = vec![b'W', b'F', b'P', b'T', 1, kind, if dtype == 15 { 255 } else { dtype }, 0];
        words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        for &dtype in DType::ALL {
            warpfold::with_element!(dtype, T => if let Ok(partial) = Partial::<T>::from_bytes(&bytes) {
                prop_assert_eq!(&partial.to_bytes(), &bytes);
            });
        }
    }
}

#[cfg(feature = "serde")]
#[test]
fn serde_speaks_bytes_or_hexadecimal() {
    fn body<T: Sample>() {
        let mut words = Words(33);
        for (op, _) in KINDS {
            let Ok(partial) = partial::<T>(op, 50, &mut words) else { continue };
            let json = serde_json::to_string(&partial).unwrap();
            assert!(json.starts_with("\"57465054"), "{json}");
            let back: Partial<T> = serde_json::from_str(&json).unwrap();
            assert_eq!(back.to_bytes(), partial.to_bytes());
            let binary = postcard::to_allocvec(&partial).unwrap();
            assert!(binary.len() < partial.to_bytes().len() + 4, "bytes, not a list of numbers");
            let back: Partial<T> = postcard::from_bytes(&binary).unwrap();
            assert_eq!(back.to_bytes(), partial.to_bytes());
        }
    }
    body::<i32>();
    body::<f64>();
    body::<Complex<f32>>();
    for bad in ["\"5746505\"", "\"zz\"", "\"\"", "[87,70]", "7", "\"é\""] {
        assert!(serde_json::from_str::<Exact<f32>>(bad).is_err(), "{bad}");
    }
    let extremes: Extremes<i8> =
        serde_json::from_str(&serde_json::to_string(&Extremes::<i8>::new()).unwrap()).unwrap();
    assert_eq!(extremes, Extremes::new());
}
