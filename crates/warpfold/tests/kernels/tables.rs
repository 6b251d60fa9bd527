//! Sums by keys in tables on a machine: every type of values and of keys, groups about every size of a table, every block's share, against the CPU's results.

use warpfold::kernel::Executor;
use warpfold::partial::Finish;
use warpfold::{Column, DType, Element, Error, Key, Nan, Op, Ordered, bf16, f16, group_dense};

use crate::data::{Contents, Random, array};
use crate::{SCALE, machine};

/// What is reduced and where it begins.
#[derive(Debug, Clone, Copy)]
struct Case {
    op: Op,
    nan: Nan,
    kind: Contents,
    groups: u64,
    n: usize,
    /// The first element, so that vectors are not aligned.
    from: usize,
    /// Elements of 2 that one group has, at its best.
    often: bool,
}

fn check<K: Key + Ordered, T: Element>(case: Case, multiprocessors: u32, random: &mut Random) {
    let Case { op, nan, kind, groups, n, from, often } = case;
    let Some(device) = machine(multiprocessors, random.next()) else { return };
    let most = (0..groups).rev().find(|&id| K::from_id(id).is_some()).unwrap();
    let mut id = || if often && random.below(2) == 0 { most / 2 } else { random.below(most + 1) };
    let keys: Vec<K> = (0..from + n).map(|_| K::from_id(id()).unwrap()).collect();
    let x = array::<T>(kind, from + n, random);
    let cpu = group_dense(&keys[from..], groups, &x[from..]).unwrap().nan(nan);
    let expected = cpu.columns(op, Finish::default()).unwrap();
    let (on_device, values) = (device.upload(&keys).unwrap(), device.upload(&x).unwrap());
    let reduce = device.reduce_dense(on_device.slice(from..), groups, values.slice(from..));
    let (found, plan) = reduce.nan(nan).columns(op, Finish::default()).unwrap();
    let what = format!("{case:?}: {} by {}: {plan}", T::DTYPE, <K as Key>::DTYPE);
    assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{what}");
    assert!(n == 0 || plan.contains("in tables"), "{what}");
}

const PLAIN: Case = Case {
    op: Op::Sum,
    nan: Nan::Propagate,
    kind: Contents::Plain,
    groups: 300,
    n: 3000,
    from: 0,
    often: false,
};

fn of_values<T: Element>() {
    let mut random = Random(T::DTYPE as u64 + 700);
    let kinds = [Contents::Plain, Contents::Specials, Contents::Wide];
    for (at, kind) in kinds.into_iter().enumerate() {
        // Of other types one kind each: they take seconds in a simulator.
        if SCALE == 1 && T::DTYPE != DType::F32 && at != T::DTYPE as usize % kinds.len() {
            continue;
        }
        let nan = [Nan::Propagate, Nan::Ignore][at % 2];
        let case = Case { kind, nan, from: at, ..PLAIN };
        check::<u32, T>(case, 1, &mut random);
        // Several blocks, whose tables are added.
        let long = Case { n: 18_000 * SCALE + at, often: at == 2, ..case };
        check::<u16, T>(long, 2, &mut random);
        // Several ranges, of which blocks have some whole and some in part.
        check::<u32, T>(Case { groups: 20_000, ..long }, 2, &mut random);
        if T::DTYPE.is_float() {
            check::<u8, T>(Case { op: Op::L1, ..case }, 1, &mut random);
        }
    }
}

macro_rules! for_each_type {
    ($($name:ident: $ty:ty;)+) => {$(
        #[test]
        fn $name() {
            of_values::<$ty>();
        }
    )+};
}
for_each_type! {
    tables_of_f32: f32;
    tables_of_f16: f16;
    tables_of_bf16: bf16;
    tables_of_bool: bool;
    tables_of_i8: i8;
    tables_of_u16: u16;
    tables_of_i32: i32;
    tables_of_u32: u32;
}

#[test]
fn keys_of_every_type_and_groups_of_every_number() {
    let mut random = Random(701);
    for (at, n) in [0, 1, 5, 4097].into_iter().enumerate() {
        for groups in [1, 31, 32, 33, 4096, 4097] {
            check::<u32, f32>(Case { groups, n, from: at % 3, ..PLAIN }, 1, &mut random);
        }
        let case = Case { n, from: at, ..PLAIN };
        check::<u64, f32>(case, 1, &mut random);
        check::<i64, i16>(Case { groups: 9000, ..case }, 2, &mut random);
        check::<i8, f32>(case, 1, &mut random);
        check::<bool, u8>(Case { groups: 2, ..case }, 1, &mut random);
        check::<i16, bf16>(Case { groups: 40_000, ..case }, 1, &mut random);
        check::<u16, f32>(Case { groups: 70_000, ..case }, 2, &mut random);
    }
    // Two passes bring ranges together.
    check::<u32, f32>(Case { groups: (1 << 20) + 5, n: 17_000, ..PLAIN }, 2, &mut random);
}

#[test]
fn limbs_wrap_and_carry() {
    let Some(device) = machine(2, 7) else { return };
    // Numbers of one sign, all bits of which are set, to few groups: every limb goes round again and again.
    for sign in [1.0f32, -1.0] {
        let x: Vec<f32> =
            (0..20_000).map(|at| sign * f32::from_bits(0x3fff_ffff + ((at % 26) << 23))).collect();
        let keys: Vec<u8> = (0..20_000).map(|at| (at / 7 % 3) as u8).collect();
        let expected = group_dense(&keys, 3, &x).unwrap().sum().unwrap();
        let (keys, x) = (device.upload(&keys).unwrap(), device.upload(&x).unwrap());
        assert_eq!(device.reduce_dense(&keys, 3, &x).sum().unwrap(), expected);
    }
    let x = vec![i32::MIN; 20_000];
    let keys = vec![0u32; 20_000];
    let (keys, x) = (device.upload(&keys).unwrap(), device.upload(&x).unwrap());
    assert_eq!(device.reduce_dense(&keys, 1, &x).sum().unwrap(), [i64::from(i32::MIN) * 20_000]);
}

#[test]
fn sums_that_tables_have_no_room_for_are_found_by_sorting() {
    let Some(device) = machine(1, 8) else { return };
    // A limb of a block's table wraps beyond the last after 2^18 of the greatest.
    let mut x = vec![f32::MAX; 270_000];
    x.push(1.5);
    let mut keys = vec![1u16; 270_000];
    keys.push(2);
    let (keys, x) = (device.upload(&keys).unwrap(), device.upload(&x).unwrap());
    let reduce = device.reduce_dense(&keys, 3, &x);
    if SCALE == 1 {
        assert!(reduce.tables(Op::Sum).unwrap().unwrap().run::<f32>().unwrap().is_none());
    }
    let sums = [0.0, f32::INFINITY, 1.5];
    assert_eq!(reduce.sum().unwrap(), sums);
    let (columns, plan) = reduce.columns(Op::Sum, Finish::default()).unwrap();
    assert_eq!(columns, [("sum", Column::F32(sums.to_vec()))]);
    assert!(SCALE > 1 || plan.contains("sorted by"), "{plan}");
}

#[test]
fn sums_round_once_at_every_boundary() {
    let Some(device) = machine(1, 9) else { return };
    let tiny = f32::from_bits(1);
    let half = 2f32.powi(-24);
    // A group each: ties to even, what is just above one, the least number, overflow and what just does not.
    let groups: [&[f32]; 9] = [
        &[1.0, half],
        &[1.0, half, tiny],
        &[1.0 + 2.0 * half, half],
        &[-1.0, -half, -tiny],
        &[tiny, tiny, tiny],
        &[f32::MAX, 2f32.powi(103)],
        &[f32::MAX, 2f32.powi(102)],
        &[f32::MAX, 2f32.powi(103), -tiny],
        &[f32::MIN_POSITIVE, -tiny],
    ];
    let (mut keys, mut x) = (Vec::new(), Vec::new());
    for (group, numbers) in groups.iter().enumerate() {
        keys.extend(numbers.iter().map(|_| group as u32));
        x.extend_from_slice(numbers);
    }
    let expected = group_dense(&keys, 10, &x).unwrap().sum().unwrap();
    assert_eq!(expected[5..8], [f32::INFINITY, f32::MAX, f32::MAX]);
    let (keys, x) = (device.upload(&keys).unwrap(), device.upload(&x).unwrap());
    let found = device.reduce_dense(&keys, 10, &x).sum().unwrap();
    assert_eq!(found.map_bits(), expected.map_bits());
}

trait MapBits {
    fn map_bits(&self) -> Vec<u32>;
}

impl MapBits for Vec<f32> {
    fn map_bits(&self) -> Vec<u32> {
        self.iter().map(|x| x.to_bits()).collect()
    }
}

#[test]
fn keys_of_no_group_are_named_as_on_the_cpu() {
    fn check<K: Key + Ordered>(groups: u64, bad: K) {
        let Some(device) = machine(2, 5) else { return };
        let mut keys = vec![K::from_id(0).unwrap(); 18_000];
        (keys[17_077], keys[17_999]) = (bad, bad);
        let x = vec![1.0f32; keys.len()];
        let expected = group_dense(&keys, groups, &x).unwrap_err();
        let (keys, x) = (device.upload(&keys).unwrap(), device.upload(&x).unwrap());
        assert_eq!(device.reduce_dense(&keys, groups, &x).sum().err(), Some(expected));
    }
    check(1, 1u8);
    check(0, 0u32);
    check(300, -1i8);
    check(33_000, i16::MIN);
    check(5, 1u64 << 32);
    check(5000, u32::MAX);
    // Of a second block's share no key is a group's.
    let Some(device) = machine(2, 6) else { return };
    let mut keys = vec![4999u32; 40_000];
    keys[20_001..].fill(5000);
    let x = vec![1.0f32; keys.len()];
    let expected = group_dense(&keys, 5000, &x).unwrap_err();
    let (keys, x) = (device.upload(&keys).unwrap(), device.upload(&x).unwrap());
    assert_eq!(device.reduce_dense(&keys, 5000, &x).sum().err(), Some(expected));
    let Some(device) = machine(1, 1) else { return };
    let (keys, x) = (device.upload(&[1u32; 5]).unwrap(), device.upload(&[1.0f32; 6]).unwrap());
    assert!(matches!(device.reduce_dense(&keys, 9, &x).sum(), Err(Error::Keys { .. })));
}

#[test]
fn ranges_without_elements_are_zeros_and_launches_do_it_again() {
    let Some(device) = machine(2, 10) else { return };
    // Of 13 ranges of 4096 all have elements, then but two, among which blocks meet.
    let groups = 13 * 4096;
    let all: Vec<u32> = (0..40_000).map(|at| at % groups).collect();
    let two = |at: u32| if at < 20_000 { 2 * 4096 + at % 50 } else { 9 * 4096 + at % 70 };
    let x: Vec<f32> = (0..40_000).map(|at| at as f32 / 3.0).collect();
    let values = device.upload(&x).unwrap();
    for host in [all, (0..40_000).map(two).collect()] {
        let keys = device.upload(&host).unwrap();
        let tables = device.reduce_dense(&keys, groups.into(), &values).tables(Op::Sum).unwrap();
        let tables = tables.unwrap();
        let expected = group_dense(&host, groups.into(), &x).unwrap().sum().unwrap();
        Executor::run_batched(&device, tables.launches(), &[]).unwrap();
        assert_eq!(tables.run::<f32>().unwrap().unwrap().download().unwrap(), expected);
    }
}

#[test]
fn what_tables_do_not_do_is_done_by_sorting() {
    let Some(device) = machine(1, 4) else { return };
    let (keys, x) = ([3u8, 0, 3, 1], [1.5f32, -2.0, 7.0, 4.0]);
    let (on_device, values) = (device.upload(&keys).unwrap(), device.upload(&x).unwrap());
    let reduce = device.reduce_dense(&on_device, 4, &values);
    assert_eq!(reduce.on_device::<u64>(Op::Count).unwrap().download().unwrap(), [1, 1, 0, 2]);
    assert!(reduce.plan(Op::Count).is_none());
    let (columns, plan) = reduce.columns(Op::Count, Finish::default()).unwrap();
    let expected = group_dense(&keys, 4, &x).unwrap().columns(Op::Count, Finish::default());
    assert_eq!(format!("{columns:?}"), format!("{:?}", expected.unwrap()));
    assert!(plan.contains("sorted by"), "{plan}");
}

/// Every kernel of tables once or twice: what `compute-sanitizer` runs.
#[test]
fn tables_for_the_sanitizer() {
    let mut random = Random(702);
    let case = Case { n: 17_001, often: true, ..PLAIN };
    check::<u32, f32>(Case { kind: Contents::Specials, ..case }, 2, &mut random);
    check::<u8, i16>(case, 2, &mut random);
    check::<u32, bf16>(Case { groups: 9000, ..case }, 2, &mut random);
}
