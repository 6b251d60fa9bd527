//! Every reduction of every type over worlds of several sizes: partials and results are those of one rank, to the last bit.

mod data;

use data::{Style, with_array};
use warpfold_dist::{Agreement, Comm, Threads, all_merge, share};
use warpfold_engine::{HostArray, Request, check, reduce};
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::Finish;
use warpfold_num::random::Words;
use warpfold_num::{DType, Element, Nan, Op, Policy};

const WORLDS: [usize; 5] = [1, 2, 3, 4, 7];
const N: usize = 700;

/// How elements are shared out: the bounds of each rank's share.
#[derive(Debug, Clone, Copy)]
enum Shares {
    Even,
    /// The first rank has nearly all.
    Uneven,
    /// All but the last rank have nothing.
    Empty,
}

impl Shares {
    fn bounds(self, n: usize, rank: usize, size: usize) -> std::ops::Range<usize> {
        let last = rank + 1 == size;
        match self {
            Shares::Even => {
                let range = share(n as u64, 1, rank, size);
                range.start as usize..range.end as usize
            }
            Shares::Uneven => {
                let start = |rank: usize| if rank == 0 { 0 } else { n - (size - rank).min(n) };
                start(rank)..if last { n } else { start(rank + 1) }
            }
            Shares::Empty => {
                if last {
                    0..n
                } else {
                    0..0
                }
            }
        }
    }
}

fn partial<T: Element + bytemuck::CheckedBitPattern>(
    op: Op,
    x: &[T],
    first: usize,
    policy: Policy,
) -> AnyPartial {
    let array = HostArray::of(x);
    let request = Request::new(op, array).policy(policy).starting_at(first as u64);
    let request = if op == Op::Dot { request.pair(array) } else { request };
    reduce(&request).expect("a reduction that is defined")
}

/// Any and all stop at the first element that decides, so only what they say is compared.
fn compare(op: Op, found: &AnyPartial, expected: &AnyPartial, what: &str) {
    if !matches!(op, Op::Any | Op::All) {
        assert_eq!(found.to_bytes(), expected.to_bytes(), "{what}");
    }
    let read = |partial: &AnyPartial| format!("{:?}", partial.finish(op, Finish::default()));
    assert_eq!(read(found), read(expected), "{what}");
}

#[test]
fn every_world_has_the_bits_of_one_rank() {
    for size in WORLDS {
        Threads::run(size, |comm| {
            for &dtype in DType::ALL {
                for style in Style::ALL {
                    with_array!(dtype, style, N, T, x => every_op::<T>(&comm, &x, style));
                }
            }
        });
    }
}

fn every_op<T: Element + bytemuck::CheckedBitPattern>(comm: &Threads, x: &[T], style: Style) {
    let ops = Op::ALL.iter().copied().filter(|&op| check(op, T::DTYPE).is_ok());
    for op in ops {
        for shares in [Shares::Even, Shares::Uneven, Shares::Empty] {
            for nan in [Nan::Propagate, Nan::Ignore] {
                let policy = Policy { nan, threads: Some(1), ..Policy::default() };
                let range = shares.bounds(x.len(), comm.rank(), comm.size());
                let agreement = Agreement::new(op, T::DTYPE).policy(&policy);
                let mine = partial(op, &x[range.clone()], range.start, policy);
                let what = format!("{op} {} {style:?} {shares:?} {} ranks", T::DTYPE, comm.size());
                let merged = all_merge(comm, &agreement, Ok(&mine));
                compare(op, &merged.unwrap(), &partial(op, x, 0, policy), &what);
            }
        }
    }
}

#[test]
fn products_without_indices_are_refused() {
    use warpfold_exact::partial::{Partial, Product, RealProduct};
    let ordered =
        AnyPartial::from(Partial::Product(Box::new(Product::<f64>::real(RealProduct::ONE))));
    Threads::run(2, |comm| {
        let merged = all_merge(&comm, &Agreement::new(Op::Prod, DType::F64), Ok(&ordered));
        assert!(merged.unwrap_err().to_string().contains("does not know the indices"));
    });
}

#[test]
fn sums_means_and_indices_are_those_of_integers() {
    // Multiples of 2^-30 below 2^30: their sum is an exact i128, which Rust converts to the nearest f64.
    let mut words = Words(11);
    let grid: Vec<i64> = (0..N).map(|_| words.next() as i64 >> 4).collect();
    let x: Vec<f64> = grid.iter().map(|&x| (x >> 7) as f64 * 2f64.powi(-30)).collect();
    let sum: i128 = grid.iter().map(|&x| i128::from(x >> 7)).sum();
    let least = (0..N).min_by_key(|&i| grid[i] >> 7).unwrap();
    for size in WORLDS {
        Threads::run(size, |comm| {
            let range = Shares::Even.bounds(N, comm.rank(), size);
            let merged = |op| {
                let mine = partial(op, &x[range.clone()], range.start, Policy::default());
                let merged = all_merge(&comm, &Agreement::new(op, DType::F64), Ok(&mine)).unwrap();
                format!("{:?}", merged.finish(op, Finish::default()).unwrap())
            };
            assert_eq!(merged(Op::Sum), format!("One(F64({:?}))", sum as f64 * 2f64.powi(-30)));
            assert_eq!(merged(Op::ArgMin), format!("One(U64({least}))"));
        });
    }
}
