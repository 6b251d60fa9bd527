//! Many results at once: over axes, of segments, by keys; compared with plain loops over small integers.

mod axes;
mod bench;
mod device;
mod files;
mod keys;
mod refusals;
mod segments;

use std::fs;
use std::path::Path;

use crate::arrays::{dictionary, npy_header};

/// A `.npy` file of little-endian elements.
pub(crate) fn npy(descr: &str, fortran: bool, shape: &str, elements: &[u8]) -> Vec<u8> {
    let mut bytes = npy_header(1, &dictionary(descr, fortran, shape), 64);
    bytes.extend(elements);
    bytes
}

fn i32s(values: impl IntoIterator<Item = i32>) -> Vec<u8> {
    values.into_iter().flat_map(i32::to_le_bytes).collect()
}

fn f32s(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

/// A one-dimensional array of f32.
fn floats(values: &[f32]) -> Vec<u8> {
    npy("<f4", false, &format!("({},)", values.len()), &f32s(values.iter().copied()))
}

/// A one-dimensional array of i32.
fn integers(values: &[i32]) -> Vec<u8> {
    npy("<i4", false, &format!("({},)", values.len()), &i32s(values.iter().copied()))
}

/// A `.npy` file in two parts: what the header says, and the elements.
fn parted(bytes: &[u8]) -> (String, &[u8]) {
    assert_eq!(bytes[..8], *b"\x93NUMPY\x01\0");
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!(start % 64, 0, "elements are aligned");
    (String::from_utf8(bytes[10..start].to_vec()).expect("ASCII"), &bytes[start..])
}

/// The file that the program wrote, in two parts.
fn written(path: &Path) -> (String, Vec<u8>) {
    let bytes = fs::read(path).expect("the program wrote it");
    let (header, elements) = parted(&bytes);
    (header, elements.to_vec())
}

/// Small integers without order, some of them more than once.
fn sample(n: usize) -> Vec<i32> {
    (0..n as i32).map(|i| (i * 7 + 3) % 13 - 4).collect()
}

/// What one input among many gives, as the program prints it for i32.
fn truth(op: &str, input: &[i32]) -> String {
    let first = |wanted: Option<&i32>| {
        input.iter().position(|x| Some(x) == wanted).map(|at| at.to_string())
    };
    let (least, greatest) = (input.iter().min(), input.iter().max());
    match op {
        "sum" => input.iter().sum::<i32>().to_string(),
        "count" => input.iter().filter(|x| **x != 0).count().to_string(),
        "any" => input.iter().any(|x| *x != 0).to_string(),
        "all" => input.iter().all(|x| *x != 0).to_string(),
        "max" => greatest.expect("not empty").to_string(),
        "minmax" => {
            format!("{} {}", least.expect("not empty"), greatest.expect("not empty"))
        }
        "argmin" => first(least).expect("not empty"),
        "argmax" => first(greatest).expect("not empty"),
        other => unreachable!("{other} has no truth here"),
    }
}

/// The reductions that [`truth`] knows and that one word tells.
const TRUE: [&str; 7] = ["sum", "count", "any", "all", "max", "argmin", "argmax"];
