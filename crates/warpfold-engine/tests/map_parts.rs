//! Maps of parts against the same map of each part's elements, gathered one by one.

use warpfold_engine::map::{Map, Reduction};
use warpfold_engine::{HostArray, Indices, Parts, group_dense, segments};
use warpfold_exact::partial::{Finish, Output};
use warpfold_num::{Column, DType, Empty, Error, Op, Policy, Value};
use warpfold_plan::segment::Segments;
use warpfold_plan::shape::{Folding, Layout};

const TEXTS: [&str; 9] = [
    "sum(abs(x - y))",
    "sum(x * y)",
    "mean(x, weights=abs(y))",
    "std(x, weights=abs(y))",
    "argmax(x + y)",
    "logsumexp(x)",
    "rmse(x, y)",
    "count(x > y)",
    "minmax(x)",
];

fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    (0..n)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        })
        .collect()
}

/// The columns of a map by parts, and the values of each part by itself, told by the elements' indices.
fn check(parts: &Parts<'_>, members: &[Vec<usize>], keep: Option<&str>, n: usize) {
    let (x, y) = (numbers(n, 3), numbers(n, 4));
    let types = [("x", DType::F64), ("y", DType::F64)];
    let reductions: Vec<Reduction> = TEXTS.map(|text| text.parse().expect(text)).into();
    let map = Map::all(&reductions, keep, &types, Policy::default()).expect("they suit");
    let inputs = [HostArray::of(&x), HostArray::of(&y)];
    let found = map
        .columns(&inputs, parts, Indices::OfInput, Finish::default())
        .expect("every part has values");
    let mut expected: Vec<Vec<Vec<Value>>> = vec![vec![Vec::new(); 2]; TEXTS.len()];
    for members in members {
        let of = |values: &[f64]| members.iter().map(|&at| values[at]).collect::<Vec<_>>();
        let (x, y) = (of(&x), of(&y));
        let folded = map.fold(&[HostArray::of(&x), HostArray::of(&y)], 0).expect("values");
        for (all, (_, result)) in
            expected.iter_mut().zip(map.results(&folded, Finish::default()).iter())
        {
            match result.clone().expect("every part has values") {
                Output::One(value) => all[0].push(value),
                Output::Pair(least, greatest) => {
                    all[0].push(least);
                    all[1].push(greatest);
                }
                Output::Summary(_) => panic!("nobody asked for stats"),
            }
        }
    }
    for ((name, columns), expected) in found.iter().zip(expected) {
        for ((_, column), expected) in columns.iter().zip(expected) {
            assert_eq!(*column, Column::of_values(expected), "{name}");
        }
    }
}

fn axes(shape: &[u64], folded: &[i64]) -> Parts<'static> {
    let folding = Folding::of(Layout::c(shape).expect("it fits"), folded).expect("axes");
    Parts::Axes(folding.form().expect("it fits"), folding)
}

#[test]
fn rows_columns_and_axes() {
    // Rows that are short, and rows and columns longer than what is mapped at once.
    for [rows, columns] in [[70, 5], [3, 1500], [40_000, 2], [1, 1], [61, 1030]] {
        let n = rows * columns;
        let of_rows: Vec<Vec<usize>> =
            (0..rows).map(|row| (row * columns..(row + 1) * columns).collect()).collect();
        let of_columns: Vec<Vec<usize>> =
            (0..columns).map(|column| (column..n).step_by(columns).collect()).collect();
        let shape = [rows as u64, columns as u64];
        if rows < 40_000 {
            check(&axes(&shape, &[1]), &of_rows, None, n);
        }
        check(&axes(&shape, &[0]), &of_columns, None, n);
        if rows > 60 {
            check(&axes(&shape, &[0]), &of_columns, Some("x < y"), n);
        }
    }
    let middle: Vec<Vec<usize>> = (0..4)
        .flat_map(|a| (0..6).map(move |c| (0..5).map(|b| (a * 5 + b) * 6 + c).collect()))
        .collect();
    check(&axes(&[4, 5, 6], &[1]), &middle, None, 120);
    let ends: Vec<Vec<usize>> = (0..5)
        .map(|b| (0..4).flat_map(|a| (0..6).map(move |c| (a * 5 + b) * 6 + c)).collect())
        .collect();
    check(&axes(&[4, 5, 6], &[0, 2]), &ends, None, 120);
}

#[test]
fn segments_and_groups() {
    let bounds = [0u64, 3, 4, 2000, 300_000, 300_017];
    let parts = segments(Segments::Offsets(bounds[..].into()), 300_017, Policy::default());
    let members: Vec<Vec<usize>> =
        bounds.windows(2).map(|pair| (pair[0] as usize..pair[1] as usize).collect()).collect();
    check(&parts.expect("they ascend"), &members, None, 300_017);
    let keys: Vec<u16> = (0..70_000u64).map(|k| (k * k % 11) as u16).collect();
    let groups = [0u16, 1, 3, 4, 5, 9];
    let dense: Vec<u8> = keys
        .iter()
        .map(|key| groups.iter().position(|known| known == key).expect("a square") as u8)
        .collect();
    let members: Vec<Vec<usize>> =
        (0..6u8).map(|group| (0..keys.len()).filter(|&at| dense[at] == group).collect()).collect();
    let parts = group_dense(&dense, 6, dense.len(), Policy::default()).expect("numbers of groups");
    check(&parts, &members, None, dense.len());
    check(&parts, &members, Some("abs(x) > 0.25"), dense.len());
}

#[test]
fn outputs_without_a_value_are_named() {
    let x = [1.0, -2.0, 3.0, -4.0];
    let of = |text: &str, keep: Option<&str>, indices, parts: &Parts<'_>| {
        let reduction: Reduction = text.parse()?;
        let map = Map::all(&[reduction], keep, &[("x", DType::F64)], Policy::default())?;
        map.columns(&[HostArray::of(&x)], parts, indices, Finish::default())
    };
    let rows = axes(&[2, 2], &[1]);
    let error = of("max(x)", Some("x < -3"), Indices::OfInput, &rows).expect_err("row 0 is empty");
    assert!(error.to_string().starts_with("output [0]: max"), "{error}");
    let error = of("sum(1 // i64(x - 3))", None, Indices::OfInput, &rows).expect_err("division");
    assert!(error.to_string().starts_with("output [1]: `1 // i64(x - 3)` at index 0"), "{error}");
    let found = of("argmin(x)", None, Indices::OfArray, &rows).expect("values");
    assert_eq!(found[0].1, [("argmin", Column::U64(vec![1, 3]))]);
    let columns = axes(&[2, 2], &[0]);
    let found = of("argmin(x)", None, Indices::OfArray, &columns).expect("values");
    assert_eq!(found[0].1, [("argmin", Column::U64(vec![0, 3]))]);
    let found = of("sum(x)", Some("x > 0"), Indices::OfInput, &columns).expect("values");
    assert_eq!(found[0].1, [("sum", Column::F64(vec![4.0, 0.0]))]);
    let none = of("sum(x)", None, Indices::OfInput, &axes(&[4, 2], &[1]));
    assert!(matches!(none, Err(Error::Map { .. })), "{none:?}");
    let map =
        Map::all(&["argmax(x)".parse().unwrap()], None, &[("x", DType::F32)], Policy::default());
    let empty: [f32; 0] = [];
    let found = map.unwrap().columns(
        &[HostArray::of(&empty)],
        &axes(&[0, 3], &[1]),
        Indices::OfInput,
        Finish::default(),
    );
    assert_eq!(found.unwrap()[0].1, [(Op::ArgMax.name(), Column::U64(vec![]))]);
}

/// Outputs without a value are NaN where their type has one, or told; the others are what they are.
#[test]
fn outputs_without_a_value_may_be_no_error() {
    let x = [1.0, -2.0, 3.0, -4.0, 7.0, 8.0];
    let rows = axes(&[3, 2], &[1]);
    let of = |text: &str, indices, empty| {
        let reduction: Reduction = text.parse()?;
        let map = Map::all(&[reduction], Some("x > 0"), &[("x", DType::F64)], Policy::default())?;
        let arrays = [HostArray::of(&x).into()];
        let mut all = map.columns_and_gaps(
            &arrays,
            &rows,
            indices,
            empty,
            Finish { ddof: 1, ..Finish::default() },
        )?;
        Ok::<_, Error>(all.remove(0))
    };
    let of_input = |text, empty| of(text, Indices::OfInput, empty);
    let gaps = of_input("var(x)", Empty::None).expect("some have a value");
    assert_eq!((gaps.gaps, gaps.columns[0].1.get(2)), (vec![0, 1], Value::F64(0.5)));
    let nan = of_input("var(x)", Empty::Nan).expect("a float");
    assert!(nan.gaps.is_empty() && matches!(nan.columns[0].1.get(1), Value::F64(x) if x.is_nan()));
    let flat = of("argmin(-x)", Indices::OfArray, Empty::None).expect("a value each");
    assert_eq!(flat.columns, [("argmin", Column::U64(vec![0, 2, 5]))]);
    assert!(flat.gaps.is_empty());
    // Indices and integers have no NaN; what has a value is none the wiser.
    let map = |text: &str, empty| {
        let map =
            Map::all(&[text.parse()?], Some("x > 7"), &[("x", DType::F64)], Policy::default())?;
        map.columns_and_gaps(
            &[HostArray::of(&x).into()],
            &rows,
            Indices::OfArray,
            empty,
            Finish::default(),
        )
    };
    assert!(matches!(map("argmax(x)", Empty::Nan), Err(Error::Output { .. })));
    let found = map("argmax(x)", Empty::None).expect("gaps").remove(0);
    assert_eq!((found.gaps, found.columns[0].1.get(2)), (vec![0, 1], Value::U64(5)));
    let found = map("minmax(i64(x))", Empty::None).expect("gaps").remove(0);
    assert_eq!((found.gaps, found.columns[1].1.get(2)), (vec![0, 1], Value::I64(8)));
    assert!(matches!(map("max(x)", Empty::Error), Err(Error::Output { .. })));
}

/// Inputs with one value for each column or row, against the same values repeated, in plain Rust.
fn check_operands(rows: usize, length: usize) {
    let whole = |n: usize, seed: u64| -> Vec<f64> {
        numbers(n, seed).into_iter().map(|x| (x * 64.0).round()).collect()
    };
    let (x, w, m) = (whole(rows * length, 1), whole(length, 2), whole(rows, 3));
    let types = ["x", "w", "m"].map(|name| (name, DType::F64));
    let inputs = [
        HostArray::of(&x).into(),
        warpfold_engine::map::Operand::of_columns(&w),
        warpfold_engine::map::Operand::of_rows(&m),
    ];
    let texts = ["sum((x * w)**2)", "argmax(x - m)", "sum(x * w)", "mean(m)"];
    let reductions: Vec<Reduction> = texts.map(|text| text.parse().expect(text)).into();
    let map = Map::all(&reductions, None, &types, Policy::default()).expect("they suit");
    let every =
        |length: u64| segments(Segments::every(length), x.len() as u64, Policy::default()).unwrap();
    let found = map
        .columns_of(&inputs, &every(length as u64), Indices::OfInput, Finish::default())
        .expect("every row has values");
    for row in 0..rows {
        let x = &x[row * length..][..length];
        // Whole numbers: nothing is rounded below 2^53.
        let squares: f64 = x.iter().zip(&w).map(|(x, w)| (x * w) * (x * w)).sum();
        let products: f64 = x.iter().zip(&w).map(|(x, w)| x * w).sum();
        let first = (0..length).fold(0, |best, k| if x[k] > x[best] { k } else { best });
        let values: Vec<Value> = found.iter().map(|(_, columns)| columns[0].1.get(row)).collect();
        let expected = [squares.into(), (first as u64).into(), products.into(), m[row].into()];
        assert_eq!(values, expected, "row {row}");
    }
    let refused = |parts: &Parts<'_>| {
        let found = map.columns_of(&inputs, parts, Indices::OfInput, Finish::default());
        found.expect_err("it does not fit").to_string()
    };
    let half = length as u64 / 2;
    let said = format!("w has {length} elements, and there are {half} columns");
    assert!(refused(&every(half)).contains(&said));
    let layout = Layout::c(&[rows as u64, length as u64]).unwrap();
    let folding = Folding::of(layout, &[0]).unwrap();
    let columns = Parts::Axes(folding.form().unwrap(), folding);
    assert!(refused(&columns).contains("these parts are no rows"));
}

#[test]
fn columns_and_rows_have_values_of_their_own() {
    check_operands(7, 130);
    // Rows that are folded a part at a time, as a value for all of a row is repeated for a part alone.
    check_operands(2, (1 << 20) + 78);
}

/// Stats are their reductions, a column each, with indices in the array; NaN where there is no variance, and no extremes of nothing.
#[test]
fn stats_have_the_columns_of_their_reductions() {
    let mut x = numbers(60, 9);
    x[17] = f64::NAN;
    let types = [("x", DType::F64)];
    let columns = |text: &str, parts: &Parts<'_>, finish| {
        let reductions = [text.parse::<Reduction>().expect(text)];
        let map = Map::all(&reductions, None, &types, Policy::default()).expect("they suit");
        let found = map.columns(&[HostArray::of(&x)], parts, Indices::OfArray, finish);
        found.map(|all| all.into_iter().next().expect("one is wanted").1)
    };
    let bits = |column: &Column| match column {
        Column::F64(values) => values.iter().map(|x| x.to_bits()).collect(),
        Column::U64(values) => values.clone(),
        other => panic!("{other:?}"),
    };
    let layout = Layout::c(&[3, 20]).unwrap();
    let folding = Folding::of(layout, &[0]).unwrap();
    let of_columns = Parts::Axes(folding.form().unwrap(), folding);
    let every = segments(Segments::every(12), 60, Policy::default()).unwrap();
    let finish = Finish { ddof: 1, ..Finish::default() };
    for parts in [of_columns, every] {
        let found = columns("stats(x - 2)", &parts, finish).unwrap();
        let named: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
        let ops: Vec<Op> = Op::of_stats(DType::F64).collect();
        let of_ops = ops.iter().map(|op| op.name());
        assert_eq!(named, ["count", "nan_count"].into_iter().chain(of_ops).collect::<Vec<_>>());
        let nans: u64 = bits(&found[1].1).into_iter().sum();
        assert_eq!((bits(&found[0].1)[0] * found[0].1.len() as u64, nans), (60, 1));
        for (op, (_, column)) in ops.iter().zip(&found[2..]) {
            let alone = columns(&format!("{op}(x - 2)"), &parts, finish).unwrap();
            assert_eq!(bits(column), bits(&alone[0].1), "{op}");
        }
    }
    let singles = segments(Segments::every(1), 60, Policy::default()).unwrap();
    let found = columns("stats(x)", &singles, finish).unwrap();
    let Column::F64(vars) = &found[4].1 else { panic!("variances are f64") };
    assert!(vars.iter().all(|var| var.is_nan()));
    let ends = [0u32, 3, 3, 60];
    let some = segments(Segments::offsets(&ends), 60, Policy::default()).unwrap();
    let nothing = columns("stats(x)", &some, finish).unwrap_err().to_string();
    assert!(nothing.contains("segment 1"), "{nothing}");
    // With gaps, of which each column has its own.
    let stats: Reduction = "stats(x)".parse().unwrap();
    let map = Map::all(&[stats], None, &types, Policy::default()).unwrap();
    let inputs = [HostArray::of(&x).into()];
    let refused = map.columns_and_gaps(&inputs, &some, Indices::OfArray, Empty::None, finish);
    assert!(refused.unwrap_err().to_string().contains("one by one"));
}
