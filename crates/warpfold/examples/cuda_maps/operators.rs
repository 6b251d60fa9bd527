//! Operators of one's own on a GPU: a line of JSON for each operator and type, beside reading the same bytes alone.

use warpfold::kernel::AnyView;
use warpfold::kernel::operator::{OperatorGrid, OperatorLaunches, fold};
use warpfold::map::HostArray;
use warpfold::{Element, Policy};
use warpfold_engine::operator::{self as engine, Operator, Written};

use crate::{Bench, Outcome};

/// An operator by its name, how many of the arrays it reads, and the percentage of the read ceiling that is asked of it.
struct Case {
    name: &'static str,
    written: Written<'static>,
    arrays: usize,
    target: Option<u32>,
}

const OF: Written<'_> = Written {
    state: "",
    lift: "",
    merge: "",
    finish: None,
    identity: None,
    commutative: false,
    tolerance: 1e-3,
};

const WELFORD: Written<'_> = Written {
    state: "n: f64, mean: f64, m2: f64",
    lift: "1, f64(x), 0",
    merge: "a.n + b.n,
            a.mean + (b.mean - a.mean) * (b.n / (a.n + b.n)),
            a.m2 + b.m2 + (b.mean - a.mean) * (b.mean - a.mean) * (a.n * b.n / (a.n + b.n))",
    ..OF
};

const CASES: &[Case] = &[
    Case { name: "welford", written: WELFORD, arrays: 1, target: Some(50) },
    Case {
        name: "welford, one quotient",
        written: Written {
            merge: "a.n + b.n,
                    fma(b.mean - a.mean, b.n / (a.n + b.n), a.mean),
                    a.m2 + b.m2 + (b.mean - a.mean) * (b.mean - a.mean) * (a.n * (b.n / (a.n + b.n)))",
            ..WELFORD
        },
        arrays: 1,
        target: Some(50),
    },
    Case {
        name: "welford of f32",
        written: Written {
            state: "n: f32, mean: f32, m2: f32",
            lift: "1, f32(x), 0",
            tolerance: 1.0,
            ..WELFORD
        },
        arrays: 1,
        target: None,
    },
    Case {
        name: "sum",
        written: Written { state: "s: f64", lift: "f64(x)", merge: "a.s + b.s", ..OF },
        arrays: 1,
        target: None,
    },
    Case {
        name: "argmax with payload",
        written: Written {
            state: "most: f64, at: u64, beside: f64",
            lift: "f64(x), index, f64(y)",
            merge: "max(a.most, b.most), select(b.most > a.most, b.at, a.at), select(b.most > a.most, b.beside, a.beside)",
            ..OF
        },
        arrays: 2,
        target: None,
    },
    Case {
        name: "matrices",
        written: Written {
            state: "m00: f64, m01: f64, m10: f64, m11: f64",
            lift: "f64(x), f64(y), f64(y), f64(x)",
            merge: "a.m00 * b.m00 + a.m01 * b.m10, a.m00 * b.m01 + a.m01 * b.m11,
                    a.m10 * b.m00 + a.m11 * b.m10, a.m10 * b.m01 + a.m11 * b.m11",
            ..OF
        },
        arrays: 2,
        target: None,
    },
    Case {
        name: "max-plus",
        written: Written {
            state: "m00: f64, m01: f64, m10: f64, m11: f64",
            lift: "f64(x), f64(y), f64(y), f64(x)",
            merge: "max(a.m00 + b.m00, a.m01 + b.m10), max(a.m00 + b.m01, a.m01 + b.m11),
                    max(a.m10 + b.m00, a.m11 + b.m10), max(a.m10 + b.m01, a.m11 + b.m11)",
            ..OF
        },
        arrays: 2,
        target: None,
    },
    Case {
        name: "log-sum-exp",
        written: Written {
            state: "most: f64, s: f64",
            lift: "f64(x), 1",
            merge: "max(a.most, b.most), a.s * exp(a.most - max(a.most, b.most)) + b.s * exp(b.most - max(a.most, b.most))",
            finish: Some("most + log(s)"),
            ..OF
        },
        arrays: 1,
        target: None,
    },
];

/// Elements whose results are compared with the processor's.
const COMPARED: usize = 1 << 22;

/// Shapes beside the planner's that are timed where they are asked for: blocks of a tile, and how many tiles a warp has.
const SHAPES: [(u32, u64); 6] = [(1, 16), (4, 4), (4, 16), (8, 2), (8, 16), (16, 4)];

impl Bench {
    /// Operators of the halves of an array; `has_shapes` also times other launches than the planner's.
    pub(crate) fn operators<T: Element>(&self, both: &[T], has_shapes: bool) -> Outcome<()> {
        let n = both.len() / 2;
        let on = self.gpu.upload(both)?;
        let views: [AnyView<'_>; 2] = [on.slice(..n).into(), on.slice(n..).into()];
        let out = self.gpu.upload(&[0u64; 64])?;
        for Case { name, written, arrays, target } in CASES {
            let of = &[("x", T::DTYPE), ("y", T::DTYPE)][..*arrays];
            let operator = Operator::parse(written)?.typed(of)?;
            let m = n.min(COMPARED);
            let here = [HostArray::of(&both[..m]), HostArray::of(&both[n..n + m])];
            let here = engine::fold(&operator, &here[..*arrays], Policy::default())?;
            let there = views.map(|view| view.slice(..m));
            let there = fold(&self.gpu, &operator, &there[..*arrays])?;
            let is_same = format!("{here:?}") == format!("{there:?}");
            let bytes = arrays * self.bytes;
            let shapes = SHAPES.iter().filter(|_| has_shapes);
            let shapes = shapes.map(|&(tile, span)| Some(OperatorGrid { tile, span }));
            for grid in std::iter::once(None).chain(shapes) {
                let launches =
                    OperatorLaunches::new(&self.gpu, &operator, &views[..*arrays], grid)?;
                let [read, time] =
                    self.times(bytes, on.address(), out.address(), launches.launches())?;
                let percent = (1000.0 * read / time).round() / 10.0;
                let target = target.map_or("null".into(), |target| target.to_string());
                let shown = grid.map_or("null".into(), |OperatorGrid { tile, span }| {
                    format!("[{tile}, {span}]")
                });
                println!(
                    "{{\"operator\": \"{name}\", \"dtype\": \"{}\", \"bytes\": {bytes}, \"grid\": {shown}, \"has_bits_of_processor\": {is_same}, \
                     \"read_us\": {read:.2}, \"us\": {time:.2}, \"percent\": {percent}, \"asked_percent\": {target}}}",
                    T::DTYPE
                );
            }
            if !is_same {
                eprintln!("{name}: {there:?}, and on the processor {here:?}");
            }
        }
        Ok(())
    }
}
