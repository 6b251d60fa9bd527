//! Segments and groups of the elements that a mask keeps: those are moved together, and indices are counted among all of them again.

use std::sync::Arc;

use pyo3::prelude::*;
use warpfold_engine::{self as engine, Columns, Names, Parts, Request};
use warpfold_num::{Column, Op, Policy, Result};
use warpfold_plan::group::for_each;
use warpfold_plan::segment::{Numbers, Segments};

use crate::convert::Wanted;
use crate::errors::raised;
use crate::reduce::{Call, columns_of};
use crate::run::run;
use crate::take::{Input, Views};

/// How a caller says where segments lie.
pub(crate) struct Where<'a, 'py> {
    pub(crate) offsets: Option<&'a Bound<'py, PyAny>>,
    pub(crate) lengths: Option<&'a Bound<'py, PyAny>>,
    pub(crate) every: Option<u64>,
    /// Which elements count.
    pub(crate) mask: Option<&'a Bound<'py, PyAny>>,
}

/// The results of all parts of an array of one axis; where there is a mask, of the elements that it keeps.
pub(crate) fn columns(
    py: Python<'_>,
    call: &Call<'_, '_>,
    input: &Input,
    mask: Option<&Input>,
    parts: &Arc<Parts<'_>>,
    wanted: &Wanted,
) -> PyResult<Columns> {
    let Some(mask) = mask else {
        let x = input.run("an array in segments or groups")?;
        let request = Request::new(call.op, x).policy(call.policy).parts(parts.clone());
        return crate::reduce::columns(py, input.bytes(), &request, wanted, true);
    };
    let views = Views::new(&input.shape, &[true], &[("x", input), ("where", mask)])?;
    let (op, policy) = (call.op, call.policy);
    let columns = run(py, views.bytes(), || kept(op, policy, &views, parts, wanted));
    columns.map_err(|error| raised(&error))
}

fn kept(
    op: Op,
    policy: Policy,
    views: &Views,
    parts: &Arc<Parts<'_>>,
    wanted: &Wanted,
) -> Result<Columns> {
    let n = views.inputs();
    let mut blocks = views.blocks_of(n);
    views.append(&mut blocks, 0, 0, n);
    let [x, mask] = &mut blocks[..] else { unreachable!("an array and its mask") };
    let mask = mask.bytes();
    if op == Op::Prod && x.numbers().dtype().is_float() {
        // What is left out stays a leaf of the canonical tree, as one.
        x.fill_with_ones(mask);
        let parts: Arc<Parts<'_>> = Arc::clone(parts);
        let request = Request::new(op, x.numbers()).policy(policy).parts(parts);
        return columns_of(&request, wanted, true);
    }
    x.keep(mask);
    let x = x.numbers();
    let (offsets, numbers);
    let left = match &**parts {
        Parts::Segments(bounds, _) => {
            let count = |segment: usize| -> u64 {
                mask[bounds.range(segment)].iter().map(|&kept| u64::from(kept)).sum()
            };
            let segments = 0..bounds.count() as usize;
            let mut end = 0;
            let ends = segments.map(|segment| {
                end += count(segment);
                end
            });
            offsets = std::iter::once(0).chain(ends).collect::<Vec<u64>>();
            let stated = Segments::Offsets(Numbers::from(&offsets[..]));
            engine::segments(stated, x.len() as u64, policy)?
        }
        Parts::Groups(grouping, names) => {
            let mut all = Vec::with_capacity(x.len());
            for_each(grouping.numbers(), 0..n, |at, group| {
                if mask[at] != 0 {
                    all.push(group as u32);
                }
            });
            numbers = all;
            match (engine::group_dense(&numbers, grouping.groups(), x.len(), policy)?, names) {
                (Parts::Groups(grouping, _), Names::Keys(keys)) => {
                    Parts::Groups(grouping, Names::Keys(keys.clone()))
                }
                (parts, _) => parts,
            }
        }
        other => unreachable!("parts are segments or groups, not {other:?}"),
    };
    let request = Request::new(op, x).policy(policy).parts(Arc::new(left));
    let mut columns = columns_of(&request, wanted, true)?;
    for (name, column) in &mut columns {
        if let ("argmin" | "argmax", Column::U64(indices)) = (*name, column) {
            among_all(parts, mask, indices);
        }
    }
    Ok(columns)
}

/// Indices among the elements of their parts, from those among the ones that were kept.
fn among_all(parts: &Parts<'_>, mask: &[u8], indices: &mut [u64]) {
    match parts {
        Parts::Segments(bounds, _) => {
            for (segment, index) in indices.iter_mut().enumerate() {
                let kept = mask[bounds.range(segment)].iter().enumerate();
                let mut kept = kept.filter(|(_, kept)| **kept != 0);
                *index = kept.nth(*index as usize).map_or(0, |(at, _)| at as u64);
            }
        }
        Parts::Groups(grouping, _) => {
            let mut seen = vec![0u64; indices.len()];
            let mut left: Vec<Option<u64>> = indices.iter().copied().map(Some).collect();
            for_each(grouping.numbers(), 0..mask.len(), |at, group| {
                if mask[at] != 0 {
                    if left[group] == Some(0) {
                        indices[group] = seen[group];
                    }
                    left[group] = left[group].and_then(|left| left.checked_sub(1));
                }
                seen[group] += 1;
            });
        }
        _ => {}
    }
}
