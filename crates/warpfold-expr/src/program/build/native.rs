//! Expressions that were written in Rust, among the inputs of a program.

use warpfold_num::{DType, Error, Result};

use crate::native_loop::Native;
use crate::text::Expr;

/// The loop of an expression that was written in Rust, and the places of the inputs that it reads.
pub(super) fn indices(expr: &Expr, inputs: &[(&str, DType)]) -> Result<Option<(Native, Vec<u8>)>> {
    let Some(native) = expr.native else { return Ok(None) };
    let form_index = |(name, dtype): (&&str, &DType)| {
        let form_index = inputs.iter().position(|(known, _)| known == name).unwrap_or_default();
        let given = inputs[form_index].1;
        if given == *dtype {
            return Ok(form_index as u8);
        }
        Err(Error::Map {
            requested: format!("map!, `{}`", expr.text()),
            obstacle: format!("`{name}` is {given}, and the body takes {dtype}"),
            remedy: format!("give an array of {dtype}, or write the body for {given}"),
        })
    };
    let indices: Result<Vec<u8>> = native.names.iter().zip(native.dtypes).map(form_index).collect();
    Ok(Some((native, indices?)))
}
