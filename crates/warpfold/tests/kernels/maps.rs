//! Maps on a machine: the bits of the processor's tiles, of plain Rust with an exact sum, and the same errors.

use num_bigint::BigInt;
use proptest::prelude::*;
use warpfold::kernel::{AnyView, Machine, MapGrid};
use warpfold::map::{Expressions, HostArray, Map, Reduction};
use warpfold::partial::{Finish, Output};
use warpfold::{DType, Element, Nan, Op, Policy, Result, bf16, f16};

use crate::compare::same;
use crate::data::{Contents, Random, array};
use crate::machine;

#[path = "maps/functions.rs"]
mod functions;
#[path = "maps/in_rust.rs"]
mod in_rust;
#[path = "maps/oracle.rs"]
mod oracle;
#[path = "maps/parts.rs"]
mod parts;
#[path = "maps/refused.rs"]
mod refused;
#[path = "maps/rows.rs"]
mod rows;
#[path = "maps/types.rs"]
mod types;
#[path = "maps/whole.rs"]
mod whole;

/// What is mapped, and how.
#[derive(Clone, Copy)]
struct Case<'t> {
    value: &'t str,
    keep: Option<&'t str>,
    weights: Option<&'t str>,
    nan: Nan,
}

impl<'t> Case<'t> {
    const fn of(value: &'t str) -> Self {
        Case { value, keep: None, weights: None, nan: Nan::Propagate }
    }

    const fn keep(self, keep: &'t str) -> Self {
        Case { keep: Some(keep), ..self }
    }

    const fn weights(self, weights: &'t str) -> Self {
        Case { weights: Some(weights), ..self }
    }

    const fn ignoring_nans(self) -> Self {
        Case { nan: Nan::Ignore, ..self }
    }

    fn on_processor(&self, op: Op, inputs: &[(&str, HostArray<'_>)]) -> Result<Output> {
        let mut expressions = Expressions::value(self.value)?;
        if let Some(keep) = self.keep {
            expressions = expressions.keep(keep)?;
        }
        if let Some(weights) = self.weights {
            expressions = expressions.weights(weights)?;
        }
        let names: Vec<_> = inputs.iter().map(|(name, array)| (*name, array.dtype())).collect();
        let arrays: Vec<_> = inputs.iter().map(|(_, array)| *array).collect();
        let policy = Policy { nan: self.nan, ..Policy::default() };
        let map = Map::new(op, &expressions, &names, policy)?;
        map.finish(&map.fold(&arrays, 0)?, Finish::default())
    }

    fn on_machine(
        &self,
        op: Op,
        machine: &impl Machine,
        inputs: &[(&'static str, AnyView<'_>)],
    ) -> Result<Output> {
        // Small blocks, so that there are whole tiles.
        let grid = MapGrid { blocks: 2, threads: 64 };
        let mut map = machine.map(self.value, inputs.iter().copied()).nan(self.nan).grid(grid);
        if let Some(keep) = self.keep {
            map = map.where_(keep);
        }
        if let Some(weights) = self.weights {
            map = map.weights(weights);
        }
        map.output(op, Finish::default())
    }
}

/// Compares reductions of two arrays, from any element on.
fn compare<T: Element>(requested: Case<'_>, ops: &[Op], x: &[T], y: &[T], skip: usize) {
    let Some(machine) = machine(2, 3) else { return };
    let (on, other) = (machine.upload(x).unwrap(), machine.upload(y).unwrap());
    let (x, y) = (&x[skip.min(x.len())..], &y[skip.min(y.len())..]);
    let views = [
        ("x", on.slice(skip.min(on.len())..).into()),
        ("y", other.slice(skip.min(other.len())..).into()),
    ];
    for &op in ops {
        let here = requested.on_processor(op, &[("x", HostArray::of(x)), ("y", HostArray::of(y))]);
        let there = requested.on_machine(op, &machine, &views);
        let Case { value, keep, weights, nan } = requested;
        assert!(
            same(&there, &here),
            "{op} of `{value}` where {keep:?} with {weights:?}, {nan:?}, {} {} from {skip}: {there:?}, and here {here:?}",
            x.len(),
            T::DTYPE
        );
    }
}

/// Two arrays of a kind.
fn pair<T: Element>(kind: Contents, n: usize, random: &mut Random) -> (Vec<T>, Vec<T>) {
    (array(kind, n, random), array(kind, n, random))
}

const FLOATS: &[Op] = &[
    Op::Sum,
    Op::Mean,
    Op::Var,
    Op::Std,
    Op::L1,
    Op::L2,
    Op::Linf,
    Op::Sumsq,
    Op::Prod,
    Op::Stats,
    Op::Min,
    Op::Max,
    Op::MinMax,
    Op::ArgMin,
    Op::ArgMax,
    Op::Count,
    Op::Any,
    Op::All,
];
const WEIGHTED: &[Op] = &[Op::Sum, Op::Mean, Op::Var, Op::Std];
const SUMS: &[Op] = &[Op::Sum, Op::Mean];

fn floats<T: Element>() {
    let mut random = Random(1);
    for n in [0, 1, 31, 32, 1025] {
        let (x, y) = pair::<T>(Contents::Plain, n, &mut random);
        for skip in [0, 1] {
            compare(Case::of("abs(x - y)"), FLOATS, &x, &y, skip);
            compare(Case::of("x * y"), SUMS, &x, &y, skip);
            compare(Case::of("x - y").keep("x > y"), FLOATS, &x, &y, skip);
        }
    }
    let n = 5003;
    for kind in [
        Contents::Plain,
        Contents::Specials,
        Contents::Ties,
        Contents::Zeros,
        Contents::AllNan,
        Contents::Lowest,
        Contents::Wide,
    ] {
        let (x, y) = pair::<T>(kind, n, &mut random);
        compare(Case::of("x - y"), FLOATS, &x, &y, 0);
        compare(Case::of("x - y").ignoring_nans(), FLOATS, &x, &y, 0);
        compare(Case::of("x").keep("y < 0.25"), FLOATS, &x, &y, 1);
        compare(Case::of("x * y").keep("y != x"), SUMS, &x, &y, 0);
        compare(Case::of("x").weights("abs(y)"), WEIGHTED, &x, &y, 0);
        let kept = Case::of("x").weights("abs(y)").keep("y > -0.5").ignoring_nans();
        compare(kept, WEIGHTED, &x, &y, 0);
        compare(Case::of("x").keep("false"), FLOATS, &x, &y, 0);
    }
}

#[test]
fn floats_have_the_bits_of_the_processor() {
    floats::<f32>();
    floats::<f64>();
}

#[test]
fn narrow_floats_have_the_bits_of_the_processor() {
    floats::<f16>();
    floats::<bf16>();
}

#[test]
fn integers_have_the_bits_of_the_processor() {
    fn of<T: Element>() {
        const OPS: &[Op] = &[
            Op::Sum,
            Op::Mean,
            Op::Var,
            Op::L1,
            Op::L2,
            Op::Linf,
            Op::Sumsq,
            Op::Prod,
            Op::Stats,
            Op::Min,
            Op::Max,
            Op::MinMax,
            Op::ArgMin,
            Op::ArgMax,
            Op::Count,
            Op::Any,
        ];
        let mut random = Random(5);
        for n in [0, 1, 31, 1025, 3001] {
            for kind in [Contents::Plain, Contents::Ties, Contents::Lowest] {
                let (x, y) = pair::<T>(kind, n, &mut random);
                compare(Case::of("x"), OPS, &x, &y, 0);
                compare(Case::of("min(x, y)"), OPS, &x, &y, 1);
                compare(Case::of("max(x, y)").keep("x > y"), OPS, &x, &y, 0);
                compare(Case::of("x // 3 - y // 5").keep("x > y"), OPS, &x, &y, 0);
                compare(Case::of("x % 7").weights("y % 3"), SUMS, &x, &y, 0);
                // These overflow, or have no quotient, at some element or other.
                compare(Case::of("x * y * y"), SUMS, &x, &y, 0);
                compare(Case::of("x // y").keep("x != 1"), SUMS, &x, &y, 0);
                compare(Case::of("x - y"), SUMS, &x, &y, 0);
            }
        }
    }
    of::<i8>();
    of::<i16>();
    of::<i32>();
    of::<i64>();
    of::<u8>();
    of::<u16>();
    of::<u32>();
    of::<u64>();
}

#[test]
fn conditions_are_counted_and_summed() {
    let mut random = Random(9);
    for n in [0, 1, 31, 1025, 5000] {
        let (x, y) = pair::<bool>(Contents::Plain, n, &mut random);
        let ops = [Op::Count, Op::Any, Op::All, Op::Sum, Op::Mean];
        compare(Case::of("x and not y"), &ops, &x, &y, 0);
        compare(Case::of("x").keep("y"), &ops, &x, &y, 3);
        let (x, y) = (
            array::<f32>(Contents::Specials, n, &mut random),
            array::<f32>(Contents::Plain, n, &mut random),
        );
        compare(Case::of("x > y"), &ops, &x, &y, 1);
        compare(Case::of("x < 0.5 or isnan(x)").keep("y > 0"), &ops, &x, &y, 0);
    }
}

#[test]
fn several_results_are_those_of_the_processor() {
    fn of<T: Element>(texts: &[&str], kind: Contents) {
        let Some(machine) = machine(2, 3) else { return };
        let mut random = Random(21);
        for n in [1, 1025, 3000] {
            let (x, y) = pair::<T>(kind, n, &mut random);
            let names = [("x", T::DTYPE), ("y", T::DTYPE)];
            let wanted: Vec<Reduction> = texts.iter().map(|text| text.parse().unwrap()).collect();
            let map = Map::all(&wanted, Some("x != y"), &names, Policy::default()).unwrap();
            let here = map
                .fold(&[HostArray::of(&x), HostArray::of(&y)], 0)
                .map(|folded| map.results(&folded, Finish::default()));
            let (on, other) = (machine.upload(&x).unwrap(), machine.upload(&y).unwrap());
            let there = machine.map("x", [("x", &on), ("y", &other)]).where_("x != y");
            let there = there.grid(MapGrid { blocks: 2, threads: 64 }).all(texts);
            let (Ok(here), Ok(there)) = (&here, &there) else { panic!("{here:?}, {there:?}") };
            for ((name, here), (_, there)) in here.iter().zip(there.iter()) {
                assert!(
                    same(here, there),
                    "{name} of {n} {}: {there:?}, and here {here:?}",
                    T::DTYPE
                );
            }
        }
    }
    let floats = [
        "rmse(x, y)",
        "cosine(x, y)",
        "sum(abs(x - y))",
        "far = count(abs(x - y) > 0.5)",
        "max(abs(x - y))",
        "mean(x, weights=abs(y))",
        "std(y, weights=abs(x), ddof=1)",
        "logsumexp(x - y)",
        "prod(x - y)",
    ];
    for kind in [Contents::Plain, Contents::Ties] {
        of::<f32>(&floats, kind);
        of::<f64>(&floats, kind);
    }
    let pairs = ["rmse(x, y)", "cosine(x, y)"];
    for kind in [Contents::Specials, Contents::Wide, Contents::AllNan] {
        of::<f32>(&pairs, kind);
        of::<f64>(&pairs, kind);
    }
    of::<i32>(&["rmse(x, y)", "cosine(x, y)", "var(x)", "argmax(x // 2)"], Contents::Plain);
}

/// An exact sum of finite numbers, rounded to nearest-even: integers in units of 2^-1074.
fn exact_sum(values: impl Iterator<Item = f64>) -> f64 {
    let mut sum = BigInt::ZERO;
    for x in values {
        let bits = x.abs().to_bits();
        let (field, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
        let significand = if field == 0 { fraction } else { fraction | 1 << 52 };
        let term = BigInt::from(significand) << (field.max(1) - 1);
        sum += if x < 0.0 { -term } else { term };
    }
    let (size, negative) = (sum.magnitude().clone(), sum < BigInt::ZERO);
    let shift = size.bits().saturating_sub(53);
    let mut kept = u64::try_from(&size >> shift).unwrap();
    if shift > 0 {
        let rest = &size - (num_bigint::BigUint::from(kept) << shift);
        let half = num_bigint::BigUint::from(1u8) << (shift - 1);
        kept += u64::from(rest > half || rest == half && kept % 2 == 1);
    }
    // A power of two from 2^-1074 on; none of these overflows.
    let power =
        if shift < 52 { f64::from_bits(1 << shift) } else { f64::from_bits((shift - 51) << 52) };
    let value = kept as f64 * power;
    if negative { -value } else { value }
}

#[test]
fn sums_are_those_of_plain_rust_and_exact_integers() {
    let Some(machine) = machine(2, 3) else { return };
    let mut random = Random(77);
    let grid = MapGrid { blocks: 2, threads: 64 };
    for n in [1, 31, 1025, 4000] {
        for kind in [Contents::Plain, Contents::Wide] {
            let (mut x, mut y) =
                (array::<f64>(kind, n, &mut random), array::<f64>(kind, n, &mut random));
            // Nothing overflows.
            for value in x.iter_mut().chain(&mut y) {
                *value = if value.abs() > 1e290 { *value * 2f64.powi(-200) } else { *value };
            }
            let (on, other) = (machine.upload(&x).unwrap(), machine.upload(&y).unwrap());
            let map = |text| machine.map(text, [("x", &on), ("y", &other)]).grid(grid);
            let pairs = || x.iter().zip(&y);
            assert_eq!(
                map("abs(x - y)").sum(),
                Ok(exact_sum(pairs().map(|(x, y)| (x - y).abs())).into())
            );
            let kept = pairs().filter(|(x, y)| x < y).map(|(x, y)| x + y);
            assert_eq!(map("x + y").where_("x < y").sum(), Ok(exact_sum(kept).into()));
            let (a, b) = (
                machine.upload(&x.iter().map(|&x| x as f32).collect::<Vec<_>>()).unwrap(),
                machine.upload(&y.iter().map(|&y| y as f32).collect::<Vec<_>>()).unwrap(),
            );
            if kind == Contents::Plain {
                // Products of f32 are exact in f64.
                let products =
                    exact_sum(pairs().map(|(x, y)| f64::from(*x as f32) * f64::from(*y as f32)));
                assert_eq!(
                    machine.map("a * b", [("a", &a), ("b", &b)]).grid(grid).sum(),
                    Ok((products as f32).into())
                );
            }
            let (least, at) =
                pairs().enumerate().fold((f64::INFINITY, 0), |(least, at), (k, (x, y))| {
                    let value = x * x + y;
                    if value < least { (value, k) } else { (least, at) }
                });
            assert_eq!(
                (map("x * x + y").min(), map("x * x + y").argmin()),
                (Ok(least.into()), Ok(at as u64))
            );
            let far = pairs().filter(|(x, y)| (*x - *y).abs() > 0.5).count();
            assert_eq!(map("abs(x - y) > 0.5").count(), Ok(far as u64));
        }
    }
}

/// A random expression of x and y.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("x".to_string()),
        Just("y".to_string()),
        (-40..40i32).prop_map(|k| format!("({:?} + x * 0)", f64::from(k) / 8.0))
    ];
    leaf.prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            (
                prop_oneof![Just("abs"), Just("sqrt"), Just("floor"), Just("-"), Just("round")],
                inner.clone()
            )
                .prop_map(|(f, a)| format!("{f}({a})")),
            (prop_oneof![Just("+"), Just("-"), Just("*"), Just("/")], inner.clone(), inner.clone())
                .prop_map(|(f, a, b)| format!("({a} {f} {b})")),
            (prop_oneof![Just("min"), Just("max")], inner.clone(), inner.clone())
                .prop_map(|(f, a, b)| format!("{f}({a}, {b})")),
            (inner.clone(), inner.clone(), inner)
                .prop_map(|(a, b, c)| format!("select({a} < {b}, {c}, {b})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn random_expressions_have_the_bits_of_the_processor(
        value in expression(),
        keep in expression(),
        seed in any::<u64>(),
        n in 1..600usize,
        op in prop_oneof![Just(Op::Sum), Just(Op::ArgMax), Just(Op::Var), Just(Op::Min)],
    ) {
        let mut random = Random(seed);
        let (x, y) = (array::<f32>(Contents::Specials, n, &mut random), array::<f32>(Contents::Wide, n, &mut random));
        let value = format!("rounded({value})");
        compare(Case::of(&value).keep(&format!("{keep} < 1")), &[op], &x, &y, seed as usize % 4 % n);
    }
}

#[test]
fn partials_of_pieces_join() {
    let Some(machine) = machine(2, 3) else { return };
    let mut random = Random(3);
    let x = array::<f32>(Contents::Ties, 3000, &mut random);
    let on = machine.upload(&x).unwrap();
    let expressions = Expressions::value("abs(x) + 1").unwrap();
    let map = Map::new(Op::ArgMax, &expressions, &[("x", DType::F32)], Policy::default()).unwrap();
    let mut all = map.empty();
    for (start, end) in [(0, 1111), (1111, 1112), (1112, 3000)] {
        let piece = warpfold::kernel::map::fold(
            &machine,
            &map,
            &[on.slice(start..end).into()],
            start as u64,
        );
        all.merge(&piece.unwrap());
    }
    let whole = map.fold(&[HostArray::of(&x)], 0).unwrap();
    let finish = |folded| map.finish(folded, Finish::default());
    assert_eq!(finish(&all), finish(&whole));
}

#[test]
fn the_planners_grids_give_the_same_bits() {
    let Some(machine) = machine(4, 5) else { return };
    let mut random = Random(13);
    let (x, y) = (
        array::<f32>(Contents::Wide, 20_000, &mut random),
        array::<f32>(Contents::Plain, 20_000, &mut random),
    );
    let (on, other) = (machine.upload(&x).unwrap(), machine.upload(&y).unwrap());
    let names = [("x", DType::F32), ("y", DType::F32)];
    let texts =
        ["sum(x - y)", "cosine(x, y)", "argmin(x)", "mean(x, weights=abs(y))", "count(x > y)"];
    let wanted: Vec<Reduction> = texts.iter().map(|text| text.parse().unwrap()).collect();
    let map = Map::all(&wanted, None, &names, Policy::default()).unwrap();
    let here = map.fold(&[HostArray::of(&x), HostArray::of(&y)], 0).unwrap();
    let there = machine.map("x", [("x", &on), ("y", &other)]).all(&texts).unwrap();
    let here = map.results(&here, Finish::default());
    for ((name, here), (_, there)) in here.iter().zip(there.iter()) {
        assert!(same(here, there), "{name}: {there:?}, and here {here:?}");
    }
}
