//! Groups by keys on a machine: keys of every type, values of every width, lengths about every boundary, against the order of a stable sort and the CPU's results.

use std::collections::BTreeMap;

use warpfold::kernel::{Groups, Machine};
use warpfold::partial::{Finish, Output};
use warpfold::{
    At, Columns, Complex, DType, Element, Error, Key, Nan, Op, Ordered, Result, bf16, f16,
    group_by, group_dense, reduce_by_key,
};

use crate::compare::bits;
use crate::data::{Contents, Random, array};
use crate::sample::Sample;
use crate::{SCALE, machine, truth};

/// Lengths about those of warps, steps, tiles and runs of blocks.
const LENGTHS: &[usize] = &[0, 1, 31, 32, 33, 127, 128, 129, 4096, 4097, 8193];

/// What keys are like.
#[derive(Debug, Clone, Copy)]
enum Like {
    /// All the bits of the type.
    Whole,
    /// A few close together, around zero where the type has negative numbers.
    Few,
    /// One.
    Equal,
    /// Every one another, descending, as far as the type has as many.
    Distinct,
}

const LIKE: [Like; 4] = [Like::Whole, Like::Few, Like::Equal, Like::Distinct];

/// The key of a rank counted from the type's least, or from some 2 below zero.
fn key<K: Key>(like: Like, at: usize, random: &mut Random) -> K {
    let bits = 8 * size_of::<K>() as u32;
    let all = if K::from_id(2).is_none() { 1 } else { u64::MAX >> (64 - bits) };
    let zero = K::from_id(0).unwrap().rank();
    let least = if zero == 0 { 0 } else { zero - (all >> 1) - 1 };
    let rank = match like {
        Like::Whole => random.next() & all,
        Like::Few => zero - least.max(zero.saturating_sub(2)) + random.below(5).min(all),
        Like::Equal => all / 3,
        Like::Distinct => all - (at as u64 & all),
    };
    let from = if let Like::Few = like { least.max(zero.saturating_sub(2)) } else { least };
    K::from_rank(from + (rank & all))
}

fn keys<K: Key>(like: Like, n: usize, random: &mut Random) -> Vec<K> {
    (0..n).map(|at| key(like, at, random)).collect()
}

/// The bytes of values, which tell NaNs apart.
fn bytes<T: Element>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

/// Values in the order of a stable sort, where groups begin, and their keys.
fn sorted<K: Key, T: Element>(keys: &[K], x: &[T]) -> (Vec<T>, Vec<u64>, Vec<K>) {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|&at| keys[at]);
    let (mut offsets, mut labels) = (Vec::new(), Vec::new());
    for (place, &at) in order.iter().enumerate() {
        if labels.last() != Some(&keys[at]) {
            labels.push(keys[at]);
            offsets.push(place as u64);
        }
    }
    offsets.push(keys.len() as u64);
    (order.into_iter().map(|at| x[at]).collect(), offsets, labels)
}

fn check_by<M: Machine, K: Key + Ordered, T: Element>(
    device: &M,
    like: Like,
    n: usize,
    random: &mut Random,
) {
    let from = random.below(5) as usize;
    let (keys, x) =
        (keys::<K>(like, from + n, random), array::<T>(Contents::Plain, n + from, random));
    let (on_device, values) = (device.upload(&keys).unwrap(), device.upload(&x).unwrap());
    let what = format!("{n} {} by {like:?} {} from {from}", T::DTYPE, <K as Key>::DTYPE);
    let found = device.group_by(on_device.slice(from..), values.slice(from..)).unwrap();
    let (values, offsets, labels) = sorted(&keys[from..], &x[from..]);
    assert_eq!(found.keys().unwrap(), labels, "{what}: {}", found.plan());
    assert_eq!(found.offsets().download().unwrap(), offsets, "{what}");
    let moved = found.moved().map_or(x[from..].to_vec(), |moved| moved.download().unwrap());
    assert_eq!(bytes(&moved), bytes(&values), "{what}: {}", found.plan());
}

/// Keys of one type, values of some widths.
fn of_keys<K: Key + Ordered>() {
    let mut random = Random(<K as Key>::DTYPE as u64 + 900);
    for (case, &n) in LENGTHS.iter().enumerate() {
        let Some(device) = machine(1 + case as u32 % 3, random.next()) else { return };
        // Of the long ones one kind each: they take seconds in a simulator.
        for (k, like) in LIKE.into_iter().enumerate() {
            if SCALE > 1 || n < 1000 || (k + case) % 4 == 0 {
                check_by::<_, K, f32>(&device, like, n, &mut random);
            }
        }
        if SCALE > 1 || n < 1000 {
            check_by::<_, K, u8>(&device, LIKE[case % 4], n, &mut random);
        }
    }
    // Many tiles a block, for machines that are fast enough.
    let Some(device) = machine(132, 0).filter(|_| SCALE > 1) else { return };
    for like in LIKE {
        check_by::<_, K, f32>(&device, like, 5_000_017, &mut random);
    }
}

/// Values of one width, keys of some types.
fn of_values<T: Element>() {
    let mut random = Random(T::DTYPE as u64 + 90);
    for (case, n) in [33, 4097, 9001].into_iter().enumerate() {
        let Some(device) = machine(2, random.next()) else { return };
        check_by::<_, i64, T>(&device, LIKE[case % 2], n, &mut random);
        check_by::<_, i16, T>(&device, LIKE[(case + 1) % 2], n, &mut random);
    }
}

macro_rules! for_each_type {
    ($of:ident: $($name:ident: $ty:ty;)+) => {$(
        #[test]
        fn $name() {
            $of::<$ty>();
        }
    )+};
}
for_each_type! { of_keys:
    keys_bool: bool;
    keys_i8: i8;
    keys_i16: i16;
    keys_i32: i32;
    keys_i64: i64;
    keys_u8: u8;
    keys_u16: u16;
    keys_u32: u32;
    keys_u64: u64;
}
for_each_type! { of_values:
    values_bool: bool;
    values_i8: i8;
    values_u16: u16;
    values_f16: f16;
    values_bf16: bf16;
    values_u32: u32;
    values_f64: f64;
    values_i64: i64;
    values_complex64: Complex<f32>;
    values_complex128: Complex<f64>;
}

/// The same columns to the last bit.
fn agree(found: Result<Columns>, expected: Result<Columns>, what: &str) {
    match (found, expected) {
        (Ok(found), Ok(expected)) => {
            assert_eq!(found.len(), expected.len(), "{what}");
            for ((name, found), (other, expected)) in found.iter().zip(&expected) {
                assert_eq!((name, found.len()), (other, expected.len()), "{what}");
                for at in 0..found.len() {
                    let (found, expected) = (found.get(at), expected.get(at));
                    assert_eq!(
                        bits(&found),
                        bits(&expected),
                        "{what}: {at}: {found:?}, {expected:?}"
                    );
                }
            }
        }
        (Err(found), Err(expected)) => assert_eq!(found, expected, "{what}"),
        (found, expected) => panic!("{what}: {found:?}, and the CPU {expected:?}"),
    }
}

const OPS: &[Op] = &[Op::Sum, Op::Mean, Op::Min, Op::ArgMax, Op::Count];

fn reduced<M: Machine, K: Key + Element, T: Element>(
    groups: &Groups<'_, M, K, T>,
    op: Op,
) -> Result<Columns> {
    groups.reduce().columns(op, Finish::default())
}

/// Holds the results of a column, in the order of keys, against the oracle.
fn check_groups<T: Sample>(found: &Result<Columns>, op: Op, keys: &[i32], x: &[T], what: &str) {
    let Ok(columns) = found else { return };
    let mut groups = BTreeMap::<i32, Vec<T>>::new();
    for (key, x) in keys.iter().zip(x) {
        groups.entry(*key).or_default().push(*x);
    }
    for (at, part) in groups.values().enumerate() {
        let found = Ok(Output::One(columns[0].1.get(at)));
        truth::check_output(at, &found, op, Nan::Propagate, part, Finish::default(), what);
    }
}

/// Every way against the CPU's, each reduction on one sort.
fn check_reductions<T: Sample>() {
    let mut random = Random(T::DTYPE as u64 + 9);
    for n in [0, 1, 700, 5000] {
        let Some(device) = machine(2, random.next()) else { return };
        let x = array::<T>(Contents::Plain, n, &mut random);
        let keys: Vec<i32> = (0..n).map(|_| random.below(50) as i32 * 7 - 100).collect();
        let dense: Vec<u16> = (0..n).map(|_| (random.below(60) * 5) as u16).collect();
        let runs: Vec<i8> = (0..n).map(|at| ((at / 9) % 7) as i8 - 3).collect();
        let (values, by) = (device.upload(&x).unwrap(), device.upload(&keys).unwrap());
        let (numbers, in_runs) = (device.upload(&dense).unwrap(), device.upload(&runs).unwrap());
        let by = device.group_by(&by, &values).unwrap();
        let of_runs = device.reduce_by_key(&in_runs, &values).unwrap();
        let of_numbers = device.group_dense(&numbers, 300, &values).unwrap();
        assert_eq!(of_runs.keys().unwrap(), reduce_by_key(&runs, &x).unwrap().keys());
        assert_eq!(of_numbers.keys().unwrap(), (0..300).collect::<Vec<u64>>());
        for &op in OPS {
            let what = format!("{op} of {n} {}", T::DTYPE);
            let cpu = group_by(&keys, &x).unwrap().columns(op, Finish::default());
            let found = reduced(&by, op);
            if op != Op::Sum && op != Op::Mean || !T::DTYPE.is_float() {
                check_groups(&found, op, &keys, &x, &what);
            }
            agree(found, cpu, &what);
            let cpu = reduce_by_key(&runs, &x).unwrap().columns(op, Finish::default());
            agree(reduced(&of_runs, op), cpu, &format!("{what} in runs"));
            let cpu = group_dense(&dense, 300, &x).unwrap().columns(op, Finish::default());
            agree(reduced(&of_numbers, op), cpu, &format!("{what} by numbers"));
        }
    }
}

#[test]
fn reductions_of_groups() {
    check_reductions::<f32>();
    check_reductions::<i32>();
}

#[test]
fn numbers_of_every_count_and_type() {
    fn check<K: Key + Ordered>(groups: u64, n: usize, random: &mut Random) {
        let Some(device) = machine(2, random.next()) else { return };
        let most = (0..groups.min(70_000)).rev().find(|&id| K::from_id(id).is_some());
        let below = most.map_or(1, |most| most + 1);
        let keys: Vec<K> = (0..n).map(|_| K::from_id(random.below(below)).unwrap()).collect();
        let x = array::<f32>(Contents::Wide, n, random);
        let (on_device, values) = (device.upload(&keys).unwrap(), device.upload(&x).unwrap());
        let found = device.group_dense(&on_device, groups, &values).unwrap();
        let (moved, ..) = sorted(&keys, &x);
        let in_order = found.moved().map_or(x.clone(), |moved| moved.download().unwrap());
        assert_eq!(bytes(&in_order), bytes(&moved));
        let counted = |id: u64| keys.iter().filter(|key| key.id() < Some(id)).count() as u64;
        let offsets = found.offsets().download().unwrap();
        assert_eq!(offsets.len() as u64, groups + 1);
        for id in (0..=groups).step_by(1 + groups as usize / 500) {
            assert_eq!(offsets[id as usize], counted(id), "{id} of {groups}");
        }
    }
    let mut random = Random(11);
    for n in [0, 1, 33, 4097] {
        for groups in [1, 2, 3, 255, 256, 257] {
            check::<u32>(groups, n, &mut random);
        }
        check::<i8>(300, n, &mut random);
        check::<bool>(2, n, &mut random);
        check::<u64>(1000, n, &mut random);
        check::<i16>(1000, n, &mut random);
    }
    check::<u32>(70_000, 4097, &mut random);
}

#[test]
fn several_tiles_a_block() {
    let mut random = Random(12);
    let Some(device) = machine(1, random.next()) else { return };
    check_by::<_, u16, f32>(&device, Like::Whole, 25_001, &mut random);
    check_by::<_, i32, f64>(&device, Like::Few, 33_000, &mut random);
}

#[test]
fn keys_that_are_none_are_named_as_on_the_cpu() {
    fn check<K: Key + Ordered>(groups: u64, bad: K) {
        let Some(device) = machine(2, 5) else { return };
        // Many groups take a simulator seconds, whatever the keys.
        let cases = [(1, 0), (5000, 4999), (5000, 77), (9000, 4096)];
        for (n, at) in cases.into_iter().take(if groups > 5000 { 1 } else { 4 }) {
            let mut keys = vec![K::from_id(0).unwrap(); n];
            (keys[at], keys[n - 1]) = (bad, bad);
            let x = vec![1.0f32; n];
            let expected = group_dense(&keys, groups, &x).unwrap_err();
            let (keys, x) = (device.upload(&keys).unwrap(), device.upload(&x).unwrap());
            assert_eq!(device.group_dense(&keys, groups, &x).err(), Some(expected));
        }
    }
    check(1, 1u8);
    check(0, 0u32);
    check(300, -1i8);
    check(33_000, i16::MIN);
    check(5, -1i64);
    check(5, 1u64 << 32);
    check(1000, 1u64 << 40);
    check(1, true);
}

#[test]
fn what_is_no_set_of_keys_is_refused_as_on_the_cpu() {
    let Some(device) = machine(1, 1) else { return };
    let (keys, x) = (vec![1u32; 5], vec![1.0f32; 6]);
    let (on_device, values) = (device.upload(&keys).unwrap(), device.upload(&x).unwrap());
    let reported = |error: Option<Error>| error.unwrap().to_string();
    let by = device.group_by(&on_device, &values);
    assert_eq!(reported(by.err()), reported(group_by(&keys, &x).err()));
    let runs = device.reduce_by_key(&on_device, &values);
    assert_eq!(reported(runs.err()), reported(reduce_by_key(&keys, &x).err()));
    let dense = device.group_dense(&on_device, 9, &values);
    assert_eq!(reported(dense.err()), reported(group_dense(&keys, 9, &x).err()));
    let batched = device.group_dense(&on_device, (1 << 32) + 1, values.slice(1..));
    assert_eq!(reported(batched.err()), reported(group_dense(&keys, (1 << 32) + 1, &x[1..]).err()));
}

#[test]
fn a_group_without_a_result_is_named_by_its_key() {
    let Some(device) = machine(1, 1) else { return };
    let x = [i64::MAX, 1, i64::MAX, 1];
    let (keys, values) = (device.upload(&[-7i8, 9, 3, 3]).unwrap(), device.upload(&x).unwrap());
    let groups = device.group_by(&keys, &values).unwrap();
    let Err(Error::Output { output, .. }) = groups.reduce().sum() else { panic!("no overflow") };
    assert_eq!(output, At::Group("3".into()));
    assert_eq!(groups.reduce().max().unwrap(), [i64::MAX, i64::MAX, 1]);
    assert_eq!(groups.plan().keys, DType::I8);
}

/// Every kernel of groups once or twice: what `compute-sanitizer` runs.
#[test]
fn groups_for_the_sanitizer() {
    let mut random = Random(14);
    let Some(device) = machine(1, 3) else { return };
    check_by::<_, u8, u8>(&device, Like::Whole, 5000, &mut random);
    check_by::<_, i16, f16>(&device, Like::Whole, 5000, &mut random);
    check_by::<_, u32, f32>(&device, Like::Few, 9000, &mut random);
    check_by::<_, i64, Complex<f64>>(&device, Like::Whole, 700, &mut random);
    let x = array::<f64>(Contents::Plain, 700, &mut random);
    let keys: Vec<u64> = (0..700).map(|at| at / 9).collect();
    let (on_device, values) = (device.upload(&keys).unwrap(), device.upload(&x).unwrap());
    let runs = device.reduce_by_key(&on_device, &values).unwrap();
    assert_eq!(runs.keys().unwrap(), (0..78).collect::<Vec<u64>>());
    let dense = device.group_dense(&on_device, 100, &values).unwrap();
    assert_eq!(dense.offsets().download().unwrap()[78..], [700; 23]);
}
