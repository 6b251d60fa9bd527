//! Everything that stats tells of each output, a column each.

use warpfold_exact::partial::{Extremes, Partial};
use warpfold_num::element::{Float, Parts};
use warpfold_num::{Column, Error};
use warpfold_plan::Indices;

use super::{Columns, Outputs};
use crate::Result;
use crate::kernels::Kernels;

/// Everything that stats tells, a column each.
pub(super) fn stats<T: Kernels>(many: &Outputs<'_, T>) -> Result<Columns> {
    let finish = many.finish;
    let of_stats = |partial| match partial {
        Partial::Stats(stats) => *stats,
        other => unreachable!("stats leave stats, not {other:?}"),
    };
    let all: Vec<_> = many.partials().into_iter().map(of_stats).collect();
    let at = |(output, error): (usize, Error)| Error::Output {
        output: many.parts.name(output as u64),
        error: Box::new(error),
    };
    macro_rules! column {
        ($stats:ident => $read:expr) => {
            Column::of(all.iter().map(|$stats| $read).collect::<Vec<_>>())
        };
        (? $stats:ident => $read:expr) => {{
            let values = all.iter().enumerate().map(|(k, $stats)| $read.map_err(|e| at((k, e))));
            Column::of(values.collect::<Result<Vec<_>>>()?)
        }};
    }
    let nan = <T::Round as Float>::NAN;
    let none = T::join(Parts::from_fn(|_| nan));
    let mut columns = vec![
        ("count", column!(s => s.count())),
        ("nan_count", column!(s => s.nan_count())),
        ("sum", column!(? s => s.sum(finish.overflow))),
        ("mean", column!(s => s.mean().unwrap_or(none))),
        ("var", column!(s => s.var(finish.ddof).unwrap_or(nan))),
        ("std", column!(s => s.std(finish.ddof).unwrap_or(nan))),
    ];
    if T::PARTS == 1 {
        columns.push(("min", column!(? s => s.extremes.min().map_err(|e| s.explain(e)))));
        columns.push(("max", column!(? s => s.extremes.max().map_err(|e| s.explain(e)))));
        for (name, index) in
            [("argmin", Extremes::argmin as fn(&_) -> _), ("argmax", Extremes::argmax)]
        {
            let places = all
                .iter()
                .enumerate()
                .map(|(k, s)| index(&s.extremes).map_err(|e| at((k, s.explain(e)))));
            let places = places.collect::<Result<Vec<u64>>>()?;
            columns.push((
                name,
                Column::of(match many.indices {
                    Indices::OfInput => places,
                    Indices::OfArray => many.parts.flat(many.x.len(), places),
                }),
            ));
        }
    }
    columns.push(("l1", column!(s => s.l1())));
    columns.push(("l2", column!(s => s.l2())));
    Ok(columns)
}
