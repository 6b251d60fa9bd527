//! The module's functions: keywords in, one [`Call`] out.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use warpfold_num::Op;

use crate::dispatch::dot as reduce_pair;
use crate::parted::Where;
use crate::policy::{correction as ddof_of, policy};
use crate::reduce::{Call, More, When};
use crate::segments::reduce as reduce_segments;

type Any<'py> = Bound<'py, PyAny>;
type Given<'py> = PyResult<Bound<'py, PyAny>>;

/// Functions that round: of whole arrays and over axes, and of segments.
macro_rules! rounded {
    ($($op:ident $name:ident [$($more:ident)*] $doc:literal, $segment:ident $segment_doc:literal;)+) => {$(
        #[pyfunction]
        #[pyo3(signature = (x, /, axis=None, *, dtype=None, out=None, keepdims=false, $($more=None,)* accuracy="exact", nan="propagate", overflow="raise", threads=None, stream=None, **names))]
        #[doc = include_str!($doc)]
        #[allow(clippy::too_many_arguments, reason = "keywords")]
        pub(crate) fn $name<'py>(
            x: &Any<'py>,
            axis: Option<&Any<'py>>,
            dtype: Option<&Any<'py>>,
            out: Option<&Any<'py>>,
            keepdims: bool,
            $($more: Option<&Any<'py>>,)*
            accuracy: &str,
            nan: &str,
            overflow: &str,
            threads: Option<i64>,
            stream: Option<&Any<'py>>,
            names: Option<&Bound<'py, PyDict>>,
        ) -> Given<'py> {
            let more = More { names, ..More::default() };
            $(let more = More { $more, ..more };)*
            let policy = policy(accuracy, nan, overflow, threads)?;
            let when = When::of(overflow);
            Call { axis, dtype, out, keepdims, more, when, stream, ..Call::new(Op::$op, policy) }.reduce(x)
        }

        #[pyfunction]
        #[pyo3(signature = (x, /, offsets=None, *, lengths=None, every=None, r#where=None, dtype=None, out=None, accuracy="exact", nan="propagate", overflow="raise", threads=None, **names))]
        #[doc = $segment_doc]
        #[doc = include_str!("docs/segments.txt")]
        #[allow(clippy::too_many_arguments, reason = "keywords")]
        pub(crate) fn $segment<'py>(
            x: &Any<'py>,
            offsets: Option<&Any<'py>>,
            lengths: Option<&Any<'py>>,
            every: Option<u64>,
            r#where: Option<&Any<'py>>,
            dtype: Option<&Any<'py>>,
            out: Option<&Any<'py>>,
            accuracy: &str,
            nan: &str,
            overflow: &str,
            threads: Option<i64>,
            names: Option<&Bound<'py, PyDict>>,
        ) -> Given<'py> {
            let policy = policy(accuracy, nan, overflow, threads)?;
            let more = More { names, ..More::default() };
            let call = Call { dtype, out, more, ..Call::new(Op::$op, policy) };
            reduce_segments(&call, x, &Where { offsets, lengths, every, mask: r#where })
        }
    )+};
}
rounded! {
    Sum sum [initial r#where weights] "docs/sum.txt", segment_sum "The sum of each segment.";
    Mean mean [r#where weights] "docs/mean.txt", segment_mean "The mean of each segment.";
    L1 l1 [r#where] "docs/l1.txt", segment_l1 "The sum of magnitudes of each segment.";
    L2 l2 [r#where] "docs/l2.txt", segment_l2 "The Euclidean norm of each segment.";
    Sumsq sumsq [r#where] "docs/sumsq.txt", segment_sumsq "The sum of squared magnitudes of each segment.";
    Linf linf [r#where] "docs/linf.txt", segment_linf "The largest magnitude of each segment.";
    Prod prod [initial r#where] "docs/prod.txt", segment_prod "The product of each segment.";
}

/// Functions with degrees of freedom.
macro_rules! moments {
    ($($op:ident $name:ident [$($more:ident)*] $doc:literal, $segment:ident $segment_doc:literal;)+) => {$(
        #[pyfunction]
        #[pyo3(signature = (x, /, axis=None, *, correction=None, ddof=None, dtype=None, out=None, keepdims=false, $($more=None,)* nan="propagate", threads=None, stream=None, **names))]
        #[doc = include_str!($doc)]
        #[allow(clippy::too_many_arguments, reason = "keywords")]
        pub(crate) fn $name<'py>(
            x: &Any<'py>,
            axis: Option<&Any<'py>>,
            correction: Option<f64>,
            ddof: Option<f64>,
            dtype: Option<&Any<'py>>,
            out: Option<&Any<'py>>,
            keepdims: bool,
            $($more: Option<&Any<'py>>,)*
            nan: &str,
            threads: Option<i64>,
            stream: Option<&Any<'py>>,
            names: Option<&Bound<'py, PyDict>>,
        ) -> Given<'py> {
            let more = More { names, ..More::default() };
            $(let more = More { $more, ..more };)*
            let policy = policy("exact", nan, "raise", threads)?;
            let ddof = ddof_of(correction, ddof)?;
            Call { axis, dtype, out, keepdims, ddof, more, stream, ..Call::new(Op::$op, policy) }.reduce(x)
        }

        #[pyfunction]
        #[pyo3(signature = (x, /, offsets=None, *, lengths=None, every=None, r#where=None, correction=None, ddof=None, dtype=None, out=None, nan="propagate", threads=None, **names))]
        #[doc = $segment_doc]
        #[doc = include_str!("docs/segments.txt")]
        #[allow(clippy::too_many_arguments, reason = "keywords")]
        pub(crate) fn $segment<'py>(
            x: &Any<'py>,
            offsets: Option<&Any<'py>>,
            lengths: Option<&Any<'py>>,
            every: Option<u64>,
            r#where: Option<&Any<'py>>,
            correction: Option<f64>,
            ddof: Option<f64>,
            dtype: Option<&Any<'py>>,
            out: Option<&Any<'py>>,
            nan: &str,
            threads: Option<i64>,
            names: Option<&Bound<'py, PyDict>>,
        ) -> Given<'py> {
            let policy = policy("exact", nan, "raise", threads)?;
            let ddof = ddof_of(correction, ddof)?;
            let more = More { names, ..More::default() };
            let call = Call { dtype, out, ddof, more, ..Call::new(Op::$op, policy) };
            reduce_segments(&call, x, &Where { offsets, lengths, every, mask: r#where })
        }
    )+};
}
moments! {
    Var var [r#where weights] "docs/var.txt", segment_var "The variance of each segment.";
    Std std [r#where weights] "docs/std.txt", segment_std "The standard deviation of each segment.";
}

/// Functions whose results are elements, indices, counts or truths.
macro_rules! others {
    ($($op:ident $name:ident [$($more:ident)*] $doc:literal, $segment:ident $segment_doc:literal;)+) => {$(
        #[pyfunction]
        #[pyo3(signature = (x, /, axis=None, *, out=None, keepdims=false, $($more=None,)* nan="propagate", threads=None, stream=None, **names))]
        #[doc = include_str!($doc)]
        #[allow(clippy::too_many_arguments, reason = "keywords")]
        pub(crate) fn $name<'py>(
            x: &Any<'py>,
            axis: Option<&Any<'py>>,
            out: Option<&Any<'py>>,
            keepdims: bool,
            $($more: Option<&Any<'py>>,)*
            nan: &str,
            threads: Option<i64>,
            stream: Option<&Any<'py>>,
            names: Option<&Bound<'py, PyDict>>,
        ) -> Given<'py> {
            let more = More { names, ..More::default() };
            $(let more = More { $more, ..more };)*
            let policy = policy("exact", nan, "raise", threads)?;
            Call { axis, out, keepdims, more, stream, ..Call::new(Op::$op, policy) }.reduce(x)
        }

        #[pyfunction]
        #[pyo3(signature = (x, /, offsets=None, *, lengths=None, every=None, r#where=None, out=None, nan="propagate", threads=None, **names))]
        #[doc = $segment_doc]
        #[doc = include_str!("docs/segments.txt")]
        #[allow(clippy::too_many_arguments, reason = "keywords")]
        pub(crate) fn $segment<'py>(
            x: &Any<'py>,
            offsets: Option<&Any<'py>>,
            lengths: Option<&Any<'py>>,
            every: Option<u64>,
            r#where: Option<&Any<'py>>,
            out: Option<&Any<'py>>,
            nan: &str,
            threads: Option<i64>,
            names: Option<&Bound<'py, PyDict>>,
        ) -> Given<'py> {
            let policy = policy("exact", nan, "raise", threads)?;
            let more = More { names, ..More::default() };
            let call = Call { out, more, ..Call::new(Op::$op, policy) };
            reduce_segments(&call, x, &Where { offsets, lengths, every, mask: r#where })
        }
    )+};
}
others! {
    Min min [initial r#where] "docs/min.txt", segment_min "The smallest element of each segment.";
    Max max [initial r#where] "docs/max.txt", segment_max "The largest element of each segment.";
    ArgMin argmin [r#where] "docs/argmin.txt", segment_argmin "The first index of the smallest element of each segment, from the segment's start.";
    ArgMax argmax [r#where] "docs/argmax.txt", segment_argmax "The first index of the largest element of each segment, from the segment's start.";
    Any any [initial r#where] "docs/any.txt", segment_any "Whether any element of each segment is nonzero.";
    All all [initial r#where] "docs/all.txt", segment_all "Whether all elements of each segment are nonzero.";
    Count count_nonzero [r#where] "docs/count_nonzero.txt", segment_count_nonzero "How many elements of each segment are nonzero.";
}

#[pyfunction]
#[pyo3(signature = (x, /, axis=None, *, keepdims=false, r#where=None, nan="propagate", threads=None, stream=None, **names))]
#[doc = include_str!("docs/minmax.txt")]
#[allow(clippy::too_many_arguments, reason = "keywords")]
pub(crate) fn minmax<'py>(
    x: &Any<'py>,
    axis: Option<&Any<'py>>,
    keepdims: bool,
    r#where: Option<&Any<'py>>,
    nan: &str,
    threads: Option<i64>,
    stream: Option<&Any<'py>>,
    names: Option<&Bound<'py, PyDict>>,
) -> Given<'py> {
    let policy = policy("exact", nan, "raise", threads)?;
    let more = More { r#where, names, ..More::default() };
    Call { axis, keepdims, more, stream, ..Call::new(Op::MinMax, policy) }.reduce(x)
}

#[pyfunction]
#[pyo3(signature = (x, /, offsets=None, *, lengths=None, every=None, r#where=None, nan="propagate", threads=None, **names))]
/// The smallest and the largest element of each segment, as two arrays.
#[doc = include_str!("docs/segments.txt")]
#[allow(clippy::too_many_arguments, reason = "keywords")]
pub(crate) fn segment_minmax<'py>(
    x: &Any<'py>,
    offsets: Option<&Any<'py>>,
    lengths: Option<&Any<'py>>,
    every: Option<u64>,
    r#where: Option<&Any<'py>>,
    nan: &str,
    threads: Option<i64>,
    names: Option<&Bound<'py, PyDict>>,
) -> Given<'py> {
    let policy = policy("exact", nan, "raise", threads)?;
    let call = Call { more: More { names, ..More::default() }, ..Call::new(Op::MinMax, policy) };
    reduce_segments(&call, x, &Where { offsets, lengths, every, mask: r#where })
}

#[pyfunction]
#[pyo3(signature = (x, y, /, *, dtype=None, accuracy="exact", nan="propagate", overflow="raise", threads=None, stream=None))]
#[doc = include_str!("docs/dot.txt")]
#[allow(clippy::too_many_arguments, reason = "keywords")]
pub(crate) fn dot<'py>(
    x: &Any<'py>,
    y: &Any<'py>,
    dtype: Option<&Any<'py>>,
    accuracy: &str,
    nan: &str,
    overflow: &str,
    threads: Option<i64>,
    stream: Option<&Any<'py>>,
) -> Given<'py> {
    let policy = policy(accuracy, nan, overflow, threads)?;
    reduce_pair(&Call { dtype, stream, ..Call::new(Op::Dot, policy) }, x, y)
}

#[pyfunction]
#[pyo3(signature = (x, /, axis=None, *, correction=None, ddof=None, keepdims=false, r#where=None, nan="propagate", overflow="raise", threads=None, stream=None))]
#[doc = include_str!("docs/stats.txt")]
#[allow(clippy::too_many_arguments, reason = "keywords")]
pub(crate) fn stats<'py>(
    x: &Any<'py>,
    axis: Option<&Any<'py>>,
    correction: Option<f64>,
    ddof: Option<f64>,
    keepdims: bool,
    r#where: Option<&Any<'py>>,
    nan: &str,
    overflow: &str,
    threads: Option<i64>,
    stream: Option<&Any<'py>>,
) -> Given<'py> {
    let policy = policy("exact", nan, overflow, threads)?;
    let ddof = ddof_of(correction, ddof)?;
    let more = More { r#where, ..More::default() };
    Call { axis, keepdims, ddof, more, stream, ..Call::new(Op::Stats, policy) }.reduce(x)
}
