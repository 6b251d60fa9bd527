//! Tensors summed over ranks: each element is the mathematical sum rounded once, at any number of ranks, over every transport.

use num_bigint::BigInt;
use warpfold_dist::tcp::Options;
use warpfold_dist::{Comm, Error, Tcp, Threads, all_reduce};
use warpfold_num::random::Words;
use warpfold_num::{Complex, bf16, f16};

const WORLDS: [usize; 5] = [1, 2, 3, 4, 7];

/// What a rank holds: random bits with special values among them.
fn numbers(rank: usize, n: usize) -> Vec<f64> {
    let mut words = Words(rank as u64 * 77 + 5);
    (0..n)
        .map(|k| {
            let x = f64::from_bits(words.next());
            match (k % 50, rank) {
                (3, 1) => f64::INFINITY,
                (4, 0) => f64::NAN,
                (5, _) => -0.0,
                (6, 0) => f64::MAX,
                (7, _) => {
                    if rank.is_multiple_of(2) {
                        1e300
                    } else {
                        -1e300
                    }
                }
                _ if x.is_finite() => x,
                _ => 1.0,
            }
        })
        .collect()
}

/// The sum of floats, rounded once to nearest-even: by integers in units of 2^-1074.
fn expected(x: &[f64]) -> f64 {
    let (plus, minus) = (x.contains(&f64::INFINITY), x.contains(&f64::NEG_INFINITY));
    if x.iter().any(|x| x.is_nan()) || plus && minus {
        return f64::NAN;
    }
    if plus || minus {
        return if plus { f64::INFINITY } else { f64::NEG_INFINITY };
    }
    let integer = |x: &f64| {
        let (exponent, mantissa) = (x.to_bits() >> 52 & 0x7ff, x.to_bits() & ((1 << 52) - 1));
        let magnitude = match exponent {
            0 => BigInt::from(mantissa),
            _ => BigInt::from(mantissa | 1 << 52) << (exponent - 1),
        };
        if x.is_sign_negative() { -magnitude } else { magnitude }
    };
    let sum: BigInt = x.iter().map(integer).sum();
    let (negative, magnitude) = (sum < BigInt::ZERO, sum.magnitude().clone());
    let bits = magnitude.bits();
    let encoded = if bits <= 53 {
        // A multiple of the unit that fits.
        u64::try_from(&magnitude).expect("53 bits")
    } else {
        let cut = bits - 53;
        let (top, low) =
            (&magnitude >> cut, &magnitude & ((num_bigint::BigUint::from(1u8) << cut) - 1u8));
        let half = num_bigint::BigUint::from(1u8) << (cut - 1);
        let mut mantissa = u64::try_from(top).expect("53 bits");
        if low > half || low == half && mantissa % 2 == 1 {
            mantissa += 1;
        }
        // The hidden bit adds one to the exponent, and a mantissa that has grown to 2^53 another.
        mantissa + (cut << 52)
    };
    let x = f64::from_bits(encoded.min(f64::INFINITY.to_bits()));
    if negative { -x } else { x }
}

fn check(comm: &impl Comm, n: usize) {
    let size = comm.size();
    let mut x = numbers(comm.rank(), n);
    all_reduce(comm, &mut x, 1).expect("all ranks are there");
    let all: Vec<Vec<f64>> = (0..size).map(|rank| numbers(rank, n)).collect();
    for (k, found) in x.iter().enumerate() {
        let column: Vec<f64> = all.iter().map(|x| x[k]).collect();
        assert_eq!(found.to_bits(), expected(&column).to_bits(), "{k} of {n}: {column:?}");
    }
    // Narrower floats: multiples of one unit, whose sum f64 holds exactly.
    let small = |rank: usize, k: usize| ((k * 37 + rank * 11) % 200) as f64 / 8.0 - 9.0;
    let sum = |k: usize| (0..size).map(|rank| small(rank, k)).sum::<f64>();
    let of = |k: usize| small(comm.rank(), k);
    let mut x: Vec<f16> = (0..n).map(|k| f16::from_f64(of(k))).collect();
    all_reduce(comm, &mut x, 1).unwrap();
    assert!((0..n).all(|k| x[k] == f16::from_f64(sum(k))));
    let mut x: Vec<bf16> = (0..n).map(|k| bf16::from_f64(of(k))).collect();
    all_reduce(comm, &mut x, 2).unwrap();
    let rounded = |k: usize| (0..size).map(|rank| bf16::from_f64(small(rank, k)).to_f64()).sum();
    assert!((0..n).all(|k| x[k] == bf16::from_f64(rounded(k))));
    let mut x: Vec<f32> = (0..n).map(|k| of(k) as f32).collect();
    all_reduce(comm, &mut x, 1).unwrap();
    assert!((0..n).all(|k| x[k] == sum(k) as f32));
    let mut x: Vec<Complex<f64>> = (0..n).map(|k| Complex::new(of(k), -of(k))).collect();
    all_reduce(comm, &mut x, 1).unwrap();
    assert!((0..n).all(|k| x[k] == Complex::new(sum(k), -sum(k))));
}

#[test]
fn every_element_is_rounded_once_in_every_world() {
    for size in WORLDS {
        Threads::run(size, |comm| [0, 1, 6, 7, 1001].iter().for_each(|&n| check(&comm, n)));
    }
}

#[test]
fn long_tensors_go_in_pieces() {
    // More than one piece of 4 MiB, and a last one that is cut short.
    let n = (4 << 20) / 8 + 12_345;
    Threads::run(3, |comm| {
        let mut x: Vec<f64> = (0..n).map(|k| [1e18, 0.5, -1e18][comm.rank()] * k as f64).collect();
        all_reduce(&comm, &mut x, 1).unwrap();
        assert!((0..n).all(|k| x[k] == 0.5 * k as f64));
    });
}

#[test]
fn tensors_go_over_tcp() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address").to_string();
    drop(listener);
    std::thread::scope(|scope| {
        for rank in 0..3 {
            let (address, token) = (address.clone(), "secret".to_string());
            let timeout = std::time::Duration::from_secs(60);
            let options = Options { rank, size: 3, address, bind: None, token, timeout };
            scope.spawn(move || check(&Tcp::enter(&options).unwrap(), 500));
        }
    });
}

#[test]
fn tensors_of_other_lengths_are_named() {
    let found = Threads::run(3, |comm| {
        all_reduce(&comm, &mut vec![0f32; if comm.rank() == 1 { 4 } else { 5 }], 1).unwrap_err()
    });
    for error in found {
        assert!(
            matches!(&error, Error::Differs { rank: 1, theirs, .. } if theirs.contains("tensors of 4")),
            "{error}"
        );
    }
}

/// A world whose gathers after a few fail, as if a rank had been lost there.
struct Failing<C>(C, std::cell::Cell<usize>);

impl<C: Comm> Comm for Failing<C> {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn all_gather(&self, mine: &[u8], all: &mut [u8]) -> Result<(), Error> {
        self.1.set(self.1.get() + 1);
        if self.1.get() > 4 {
            let why = "its machine lost power".into();
            return Err(Error::Lost { rank: 1, size: self.size(), why });
        }
        self.0.all_gather(mine, all)
    }
}

/// Of a long tensor, the first pieces were summed when a rank was lost: the array holds what it held.
#[test]
fn a_lost_rank_leaves_the_array_as_it_was() {
    let n = (4 << 20) / 8 * 3;
    Threads::run(2, |comm| {
        let comm = Failing(comm, std::cell::Cell::new(0));
        let mut x: Vec<f64> = (0..n).map(|k| k as f64 + 1.0).collect();
        let error = all_reduce(&comm, &mut x, 1).unwrap_err();
        assert!(matches!(error, Error::Lost { rank: 1, .. }), "{error}");
        assert!((0..n).all(|k| x[k] == k as f64 + 1.0));
    });
}

/// Columns about ties, whose last bits decide, and those that cancel: what two floats cannot tell is summed exactly.
#[test]
fn ties_and_cancellation_are_rounded_right() {
    let ulp = f64::EPSILON;
    let columns = [
        [1.0, ulp / 2.0, 0.0],
        [1.0 + ulp, ulp / 2.0, 0.0],
        [1.0 + ulp, ulp / 2.0, -1e-300],
        [1.0, ulp / 2.0, 1e-300],
        [1e300, 1e-300, -1e300],
        [1e300, -1e300, -0.0],
        [-0.0, -0.0, -0.0],
        [f64::MAX, f64::MAX, -f64::MAX],
        [f64::MAX, f64::MAX * ulp / 4.0, 1.0],
        [5e-324, -5e-324, 1e-310],
        [f64::INFINITY, 1.0, f64::NEG_INFINITY],
        [f64::INFINITY, f64::MAX, f64::MAX],
    ];
    for repeated in [1, 3000] {
        Threads::run(3, |comm| {
            let mut x: Vec<f64> = columns.iter().map(|column| column[comm.rank()]).collect();
            x = x.repeat(repeated);
            all_reduce(&comm, &mut x, 2).unwrap();
            for (k, found) in x.iter().enumerate() {
                let column = columns[k % columns.len()];
                assert_eq!(found.to_bits(), expected(&column).to_bits(), "{column:?}");
            }
            // The same in f32: rounded once from the exact sum, which f64 holds here, or lies beside.
            for (last, right) in [(0.0, 1.0), (1e-30, 1.0 + f32::EPSILON), (-1e-30, 1.0)] {
                let column = [1.0f32, 2f32.powi(-24), last];
                let mut x = vec![column[comm.rank()]; 7 * repeated];
                all_reduce(&comm, &mut x, 1).unwrap();
                assert!(x.iter().all(|&x| x == right));
            }
        });
    }
}
