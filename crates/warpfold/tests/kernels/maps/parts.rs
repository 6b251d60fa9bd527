//! Maps of segments of several lengths, of columns and of keys: the processor's columns, and exact integers.

use warpfold::kernel::{AnyMap, AnyMapBatched, MapGroups, MapParts};
use warpfold::map::{Expressions, HostArray, Map};
use warpfold::partial::Finish;
use warpfold::shape::{Folding, Layout};
use warpfold::{Column, Element, Error, Nan, Op, Policy, Result, Value, bf16, f16};
use warpfold_engine::{self as engine, Indices, Parts};

use super::exact_sum;
use super::rows::{Columns, KERNELS, same};
use crate::data::{Contents, Random, array};
use crate::machine;

/// What is mapped, and how.
#[derive(Clone, Copy)]
struct MapCase<'t> {
    value: &'t str,
    keep: Option<&'t str>,
    weights: Option<&'t str>,
    nan: Nan,
}

impl<'t> MapCase<'t> {
    const fn of(value: &'t str) -> Self {
        MapCase { value, keep: None, weights: None, nan: Nan::Propagate }
    }

    fn on_processor<T: Element>(
        &self,
        op: Op,
        [x, y]: [&[T]; 2],
        parts: &Parts<'_>,
    ) -> Result<Columns> {
        let mut expressions = Expressions::value(self.value)?;
        if let Some(keep) = self.keep {
            expressions = expressions.keep(keep)?;
        }
        if let Some(weights) = self.weights {
            expressions = expressions.weights(weights)?;
        }
        let policy = Policy { nan: self.nan, ..Policy::default() };
        let map = Map::new(op, &expressions, &[("x", T::DTYPE), ("y", T::DTYPE)], policy)?;
        let inputs = [HostArray::of(x), HostArray::of(y)];
        let found = map.columns(&inputs, parts, Indices::OfInput, Finish::default())?;
        Ok(found.into_iter().next().unwrap().1)
    }

    fn on_machine<'a>(&self, map: AnyMap<'a>, parts: MapParts<'a>) -> AnyMapBatched<'a> {
        let mut map = map.nan(self.nan);
        if let Some(keep) = self.keep {
            map = map.where_(keep);
        }
        if let Some(weights) = self.weights {
            map = map.weights(weights);
        }
        map.parts(parts)
    }
}

/// How arrays are parted, on the processor and on a machine.
enum Cut {
    Offsets(Vec<u32>),
    Wide(Vec<u64>),
    Axes(Vec<u64>, Vec<i64>),
    Keys(Vec<i16>),
    Runs(Vec<i16>),
    Dense(Vec<u8>, u64),
}

/// Compares reductions of two arrays; how many of them took a kernel of parts.
fn compare<T: Element>(case: MapCase<'_>, cut: &Cut, ops: &[Op], both: [&[T]; 2]) -> usize {
    let Some(machine) = machine(2, 3) else { return ops.len() };
    let [x, y] = both.map(|x| machine.upload(x).unwrap());
    let (n, policy) = (both[0].len(), Policy::default());
    let (narrow, wide, groups);
    let (here, there) = match cut {
        Cut::Offsets(offsets) => {
            narrow = machine.upload(offsets).unwrap();
            let here = engine::segments(warpfold::Segments::offsets(offsets), n as u64, policy);
            (here, MapParts::segments((&narrow).into()))
        }
        Cut::Wide(offsets) => {
            wide = machine.upload(offsets).unwrap();
            let here = engine::segments(warpfold::Segments::offsets(offsets), n as u64, policy);
            (here, MapParts::segments((&wide).into()))
        }
        Cut::Axes(shape, axes) => {
            let folding = Folding::of(Layout::c(shape).unwrap(), axes).unwrap();
            let here = Ok(Parts::Axes(folding.form().unwrap(), folding));
            (here, MapParts::axes(shape, axes))
        }
        Cut::Keys(keys) => {
            groups = MapGroups::by(&machine, &machine.upload(keys).unwrap()).unwrap();
            (engine::group_by(keys, n, policy), Ok(groups.parts()))
        }
        Cut::Runs(keys) => {
            groups = MapGroups::runs(&machine, &machine.upload(keys).unwrap()).unwrap();
            (engine::runs_by_key(keys, n, policy), Ok(groups.parts()))
        }
        Cut::Dense(keys, count) => {
            groups = MapGroups::dense(&machine, &machine.upload(keys).unwrap(), *count).unwrap();
            (engine::group_dense(keys, *count, n, policy), Ok(groups.parts()))
        }
    };
    let (here, there) = (here.unwrap(), there.unwrap());
    let mut by_kernel = 0;
    for &op in ops {
        let expected = case.on_processor(op, both, &here);
        let map = machine.map(case.value, [("x", &x), ("y", &y)]);
        let parted = case.on_machine(map, there.clone());
        by_kernel += usize::from(matches!(parted.launch(op, 0), Ok(Some(_))));
        let found = parted.columns(op, Finish::default());
        let MapCase { value, keep, weights, .. } = case;
        assert!(
            same(&found, &expected),
            "{op} of `{value}` where {keep:?} with {weights:?}, {} {}: {found:?}, and here {expected:?}",
            both[0].len(),
            T::DTYPE
        );
    }
    by_kernel
}

/// Offsets of segments of such lengths, from one on.
fn offsets(first: u32, lengths: &[u32]) -> Vec<u32> {
    let mut all = vec![first];
    for length in lengths {
        all.push(all.last().unwrap() + length);
    }
    all
}

/// Two arrays of a kind.
fn pair<T: Element>(kind: Contents, n: usize, random: &mut Random) -> [Vec<T>; 2] {
    [array(kind, n, random), array(kind, n, random)]
}

/// Those that have a result of nothing.
const OF_NOTHING: &[Op] = &[Op::Sum, Op::L1, Op::L2, Op::Sumsq, Op::Linf];
/// Those that no kernel of parts does.
const OTHERS: &[Op] =
    &[Op::ArgMin, Op::ArgMax, Op::Count, Op::MinMax, Op::Prod, Op::Any, Op::All, Op::Stats];
const SUMS: &[Op] = &[Op::Sum, Op::Mean];

fn all_ways<T: Element>(cut: impl Fn(usize) -> Cut, sizes: &[usize]) {
    let mut random = Random(53);
    for &n in sizes {
        let [x, y] = pair::<T>(Contents::Plain, n, &mut random);
        let (both, cut) = ([&x[..], &y[..]], cut(n));
        assert_eq!(compare(MapCase::of("x - y"), &cut, KERNELS, both), KERNELS.len());
        compare(MapCase::of("abs(x) + y"), &cut, OTHERS, both);
        compare(MapCase::of("x * y"), &cut, SUMS, both);
        compare(MapCase { keep: Some("x > y"), ..MapCase::of("x") }, &cut, OF_NOTHING, both);
        let kept = MapCase { keep: Some("x > -9"), ..MapCase::of("x + y") };
        compare(kept, &cut, &[Op::Mean, Op::Max, Op::Count], both);
        let weighted = MapCase { weights: Some("abs(y)"), ..MapCase::of("x") };
        compare(weighted, &cut, &[Op::Sum, Op::Mean, Op::Var], both);
    }
    let n = sizes[0];
    // Each type has half of these.
    let kinds =
        [Contents::Specials, Contents::Ties, Contents::Wide, Contents::Zeros, Contents::Lowest];
    for kind in kinds.into_iter().skip(T::DTYPE as usize % 2).step_by(2) {
        let [x, y] = pair::<T>(kind, n, &mut random);
        let (both, cut) = ([&x[..], &y[..]], cut(n));
        compare(MapCase::of("x - y"), &cut, KERNELS, both);
        compare(MapCase::of("x * y"), &cut, SUMS, both);
        let ignoring = MapCase { nan: Nan::Ignore, ..MapCase::of("x - y") };
        compare(ignoring, &cut, &[Op::Sum], both);
    }
}

fn segments<T: Element>() {
    let lengths = |n: usize| {
        let mut lengths = vec![1, 2, 7, 8, 9, 3, 40, 33, 64, 5, 17];
        let sum: u32 = lengths.iter().sum();
        lengths.push(n as u32 - sum - 6);
        offsets(3, &lengths)
    };
    all_ways::<T>(|n| Cut::Offsets(lengths(n)), &[300]);
    let mut random = Random(59);
    let [x, y] = pair::<T>(Contents::Plain, 90, &mut random);
    let both = [&x[..], &y[..]];
    // Segments of nothing, all of nothing, and none.
    for some in [&[0, 30, 0, 0, 60][..], &[0, 0, 0], &[]] {
        let cut = Cut::Wide(offsets(0, some).iter().map(|&at| at.into()).collect());
        compare(MapCase::of("x - y"), &cut, KERNELS, both);
        compare(MapCase::of("x * y"), &cut, &[Op::Sum, Op::Count, Op::Mean], both);
    }
    // Many short ones, of which lanes share few or none.
    let short: Vec<u32> = (0..700).map(|k| k % 5 % 3 + 1).collect();
    let cut = Cut::Offsets(offsets(0, &short));
    let [x, y] = pair::<T>(Contents::Plain, short.iter().sum::<u32>() as usize, &mut random);
    compare(MapCase::of("x - y"), &cut, &[Op::Sum, Op::Max, Op::Std], [&x, &y]);
}

#[test]
fn segments_have_the_bits_of_the_processor() {
    segments::<f32>();
    segments::<f64>();
}

#[test]
fn segments_of_narrow_floats_have_the_bits_of_the_processor() {
    segments::<f16>();
    segments::<bf16>();
}

fn columns<T: Element>() {
    let axes = |shape: &'static [u64], axes: &'static [i64]| {
        move |_| Cut::Axes(shape.to_vec(), axes.to_vec())
    };
    all_ways::<T>(axes(&[41, 7], &[0]), &[287]);
    all_ways::<T>(axes(&[2, 33, 3], &[1]), &[198]);
    all_ways::<T>(axes(&[2, 130, 2, 1], &[0, 1]), &[520]);
    all_ways::<T>(axes(&[5, 41], &[-1]), &[205]);
    all_ways::<T>(axes(&[4, 9, 3], &[0, 1, 2]), &[108]);
    all_ways::<T>(axes(&[1, 3, 2], &[0]), &[6]);
    let mut random = Random(61);
    // Columns enough for lanes of their own, and few long ones.
    for shape in [[9, 300], [1100, 3]] {
        let [x, y] = pair::<T>(Contents::Plain, (shape[0] * shape[1]) as usize, &mut random);
        let cut = Cut::Axes(shape.to_vec(), vec![0]);
        assert_eq!(compare(MapCase::of("x - y"), &cut, KERNELS, [&x, &y]), KERNELS.len());
    }
    // Of no elements, and no results.
    for (shape, axis) in [([0, 3], 0), ([3, 0], 0), ([0, 3], 1)] {
        let cut = Cut::Axes(shape.to_vec(), vec![axis]);
        compare::<T>(MapCase::of("x - y"), &cut, &[Op::Sum, Op::Max, Op::Count], [&[], &[]]);
    }
}

#[test]
fn columns_have_the_bits_of_the_processor() {
    columns::<f32>();
    columns::<f64>();
}

#[test]
fn columns_of_narrow_floats_have_the_bits_of_the_processor() {
    columns::<f16>();
    columns::<bf16>();
}

fn keys(n: usize, most: u64) -> Vec<i16> {
    let mut random = Random(67);
    (0..n).map(|_| (random.next() % most) as i16 * 7 - 9).collect()
}

fn groups<T: Element>() {
    all_ways::<T>(|n| Cut::Keys(keys(n, 9)), &[300]);
    all_ways::<T>(|n| Cut::Keys(vec![4; n]), &[50]);
    all_ways::<T>(|n| Cut::Runs((0..n).map(|k| (k / 13) as i16 % 3).collect()), &[100]);
    let mut random = Random(71);
    let [x, y] = pair::<T>(Contents::Plain, 130, &mut random);
    let both = [&x[..], &y[..]];
    let numbers: Vec<u8> = (0..130u32).map(|k| (k * 5 % 13) as u8).collect();
    // Numbers that no element has.
    let cut = Cut::Dense(numbers, 17);
    compare(MapCase::of("x - y"), &cut, KERNELS, both);
    compare(MapCase::of("x - y"), &cut, &[Op::Count, Op::Any, Op::Prod, Op::Stats], both);
    compare::<T>(MapCase::of("x"), &Cut::Keys(Vec::new()), &[Op::Sum, Op::Max], [&[], &[]]);
}

#[test]
fn groups_have_the_bits_of_the_processor() {
    groups::<f32>();
    groups::<f64>();
}

#[test]
fn groups_of_narrow_floats_have_the_bits_of_the_processor() {
    groups::<f16>();
    groups::<bf16>();
}

#[test]
fn integers_of_all_parts_have_the_bits_of_the_processor() {
    const OPS: &[Op] = &[Op::Sum, Op::Mean, Op::Max, Op::Var, Op::L1, Op::ArgMin, Op::Prod];
    let mut random = Random(73);
    let [x, y] = pair::<i32>(Contents::Ties, 120, &mut random);
    let both = [&x[..], &y[..]];
    for cut in [
        Cut::Offsets(offsets(0, &[7, 0, 40, 73])),
        Cut::Axes(vec![4, 10, 3], vec![1]),
        Cut::Keys(keys(120, 5)),
    ] {
        compare(MapCase::of("x + y"), &cut, OPS, both);
        compare(MapCase::of("x // 3"), &cut, OPS, both);
        compare(MapCase { keep: Some("x != y"), ..MapCase::of("x % 7") }, &cut, &[Op::Sum], both);
        // Operations without a value: in parts reduced one by one, and in kernels of parts.
        compare(MapCase::of("x // y"), &cut, &[Op::Sum, Op::Max], both);
        compare(MapCase::of("f32(x // (y % 3))"), &cut, &[Op::Sum, Op::Max], both);
    }
}

/// Sums of bf16 by keys, whose exact sums an f64 holds, so that they are rounded once.
#[test]
fn sums_of_parts_are_those_of_exact_integers() {
    let Some(machine) = machine(2, 3) else { return };
    let mut random = Random(79);
    let n = 700;
    let [x, y] = pair::<bf16>(Contents::Plain, n, &mut random);
    let keys = keys(n, 4);
    let groups = MapGroups::by(&machine, &machine.upload(&keys).unwrap()).unwrap();
    let (on, other) = (machine.upload(&x).unwrap(), machine.upload(&y).unwrap());
    let map = || machine.map("x * y", [("x", &on), ("y", &other)]);
    let by_key = map().groups(&groups).sum().unwrap();
    let Some(Column::I16(found)) = groups.keys().unwrap() else { panic!("keys are i16") };
    let product = |k: usize| x[k].to_f64() * y[k].to_f64();
    for (group, key) in found.iter().enumerate() {
        let sum = exact_sum((0..n).filter(|&k| keys[k] == *key).map(product));
        assert_eq!(by_key.get(group), Value::F32(sum as f32), "key {key}");
    }
    let columns = map().axes(&[100, 7], &[0]).unwrap().sum().unwrap();
    for column in 0..7 {
        let sum = exact_sum((0..100).map(|row| product(7 * row + column)));
        assert_eq!(columns.get(column), Value::F32(sum as f32), "column {column}");
    }
}

/// One value for each column, of axes that are not the last too, and one for each segment or key: as if each element had it.
#[test]
fn values_of_parts_are_those_of_their_elements() {
    let Some(machine) = machine(2, 3) else { return };
    let mut random = Random(83);
    let [x, _] = pair::<f32>(Contents::Plain, 60, &mut random);
    let m = array::<f32>(Contents::Plain, 6, &mut random);
    let (on, of_parts) = (machine.upload(&x).unwrap(), machine.upload(&m).unwrap());
    let keys: Vec<u8> = (0..60u32).map(|k| (k * 7 % 6) as u8).collect();
    let groups = MapGroups::by(&machine, &machine.upload(&keys).unwrap()).unwrap();
    let segment = machine.upload(&[0u32, 1, 8, 9, 30, 30, 60]).unwrap();
    let part_of = |k: usize| [0, 1, 8, 9, 30].iter().rposition(|&at| at <= k).unwrap();
    let part_of = |k: usize| if k >= 30 { 5 } else { part_of(k) };
    let cases: [(MapParts<'_>, Vec<f32>); 3] = [
        (MapParts::axes(&[10, 6], &[0]).unwrap(), (0..60).map(|k| m[k % 6]).collect()),
        (MapParts::segments((&segment).into()).unwrap(), (0..60).map(|k| m[part_of(k)]).collect()),
        (groups.parts(), keys.iter().map(|&key| m[usize::from(key)]).collect()),
    ];
    for (parts, repeated) in cases {
        let repeated = machine.upload(&repeated).unwrap();
        for op in [Op::Sum, Op::L2, Op::Count] {
            let all = machine.map("(x - m)**2", [("x", &on), ("m", &repeated)]);
            let all = all.parts(parts.clone()).columns(op, Finish::default());
            let one = machine.map("(x - m)**2", [("x", &on), ("m", &of_parts)]);
            let one = one.parts(parts.clone()).per_row("m").columns(op, Finish::default());
            assert!(all.is_ok() && same(&one, &all), "{op}: {one:?}, and of elements {all:?}");
        }
    }
    let w = array::<f32>(Contents::Plain, 10, &mut random);
    let repeated: Vec<f32> = (0..60).map(|k| w[k / 6]).collect();
    let (w, repeated) = (machine.upload(&w).unwrap(), machine.upload(&repeated).unwrap());
    let columns = || MapParts::axes(&[10, 6], &[0]).unwrap();
    let all = machine.map("x * w", [("x", &on), ("w", &repeated)]).parts(columns()).sum();
    let one = machine.map("x * w", [("x", &on), ("w", &w)]).parts(columns()).per_column("w").sum();
    assert_eq!(one, all);
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let Some(machine) = machine(2, 3) else { return };
    let x = machine.upload(&[1.0f32; 12]).unwrap();
    let map = || machine.map("x + 1", [("x", &x)]);
    let error = |result: Result<Column>| result.unwrap_err().to_string();
    for wrong in [&[0u32, 5, 3, 12][..], &[0, 13]] {
        let offsets = machine.upload(wrong).unwrap();
        let segments = || map().segments(&offsets).unwrap();
        assert!(error(segments().sum()).contains("descend, or reach beyond the array"));
        let argmax = segments().columns(Op::ArgMax, Finish::default());
        assert!(matches!(argmax, Err(Error::Segments { .. })), "{argmax:?}");
    }
    let bytes = machine.upload(&[0u8, 5]).unwrap();
    assert!(matches!(map().segments(&bytes), Err(Error::Segments { .. })));
    let none = machine.upload::<u32>(&[]).unwrap();
    assert!(matches!(map().segments(&none), Err(Error::Segments { .. })));
    let apart = map().axes(&[2, 3, 2], &[0, 2]).map(drop).unwrap_err().to_string();
    assert!(apart.contains("others between them"), "{apart}");
    assert!(error(map().axes(&[3, 5], &[0]).unwrap().sum()).contains("of 15 elements"));
    let groups = MapGroups::by(&machine, &machine.upload(&[1u8, 2, 1]).unwrap()).unwrap();
    assert!(matches!(map().groups(&groups).sum(), Err(Error::Keys { .. })));
    let offsets = machine.upload(&[0u32, 5, 12]).unwrap();
    let w = machine.upload(&[1.0f32; 2]).unwrap();
    let two = machine.map("x + w", [("x", &x), ("w", &w)]).segments(&offsets).unwrap();
    assert!(error(two.clone().per_column("w").sum()).contains("have no columns"));
    assert!(error(two.per_row("v").sum()).contains("no input is called v"));
}

/// Eight inputs are as many as a kernel reads, and one fewer where it is told where the elements of a single column lie.
#[test]
fn the_most_inputs() {
    let Some(machine) = machine(2, 3) else { return };
    let x = machine.upload(&[0.5f64; 12]).unwrap();
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let map = |n: usize| {
        let inputs = names[..n].iter().map(|&name| (name, &x));
        machine.map(&names[..n].join(" + "), inputs)
    };
    assert_eq!(map(8).rows(6).sum(), Ok(Column::F64(vec![24.0; 2])));
    let columns = |n| map(n).axes(&[2, 6], &[0]).unwrap();
    assert_eq!(columns(8).sum(), Ok(Column::F64(vec![8.0; 6])));
    let places = |n| columns(n).columns(Op::ArgMax, Finish::default());
    assert_eq!(places(7).unwrap()[0].1, Column::U64(vec![0; 6]));
    let refused = places(8).unwrap_err().to_string();
    assert!(refused.contains("reads 8 inputs, and a kernel of those reads 7"), "{refused}");
}
