//! Arrays of a request as inputs of a program, and what a program holds as arrays.

use warpfold_expr::{Slice, Type};
use warpfold_num::{DType, Result, bf16, f16};
use warpfold_plan::HostArray;

use super::operand::{Each, Operand};
use super::{Map, refused};

/// The arrays' one length.
pub(super) fn length(map: &Map, given: &[(DType, usize)]) -> Result<usize> {
    let given: Vec<_> = given.iter().map(|&(dtype, len)| (dtype, len, Each::Element)).collect();
    length_of(map, &given)
}

/// The one length of those that have a value for each element.
pub(super) fn length_of(map: &Map, given: &[(DType, usize, Each)]) -> Result<usize> {
    let wanted = map.program.inputs();
    let dtypes: Vec<DType> = given.iter().map(|&(dtype, ..)| dtype).collect();
    if dtypes != wanted {
        return Err(refused(
            "map",
            format!("the arrays are of {dtypes:?}, and the map is for {wanted:?}"),
            "give the arrays that it was made for",
        ));
    }
    let is_of_elements = |&(_, _, each): &(DType, usize, Each)| each == Each::Element;
    let Some(first) = given.iter().position(is_of_elements) else {
        if given.is_empty() {
            return Ok(0);
        }
        let obstacle = "no input has a value for each element".into();
        return Err(refused("map", obstacle, "give one that has"));
    };
    let n = given[first].1;
    match given.iter().position(|of| is_of_elements(of) && of.1 != n) {
        None => Ok(n),
        Some(other) => {
            let obstacle = format!(
                "{} has {n} elements and {} has {}",
                map.names[first], map.names[other], given[other].1
            );
            Err(refused("map", obstacle, "give arrays of one length"))
        }
    }
}

/// The types and lengths of operands.
pub(super) fn given_of(inputs: &[Operand<'_>]) -> Vec<(DType, usize, Each)> {
    let given = |input: &Operand<'_>| (input.array.dtype(), input.array.len(), input.each);
    inputs.iter().map(given).collect()
}

/// The types and lengths of arrays.
pub(super) fn given(inputs: &[HostArray<'_>]) -> Vec<(DType, usize)> {
    inputs.iter().map(|input| (input.dtype(), input.len())).collect()
}

/// Some elements of an array.
pub(super) fn part<'a>(array: &HostArray<'a>, range: std::ops::Range<usize>) -> HostArray<'a> {
    warpfold_num::with_element!(array.dtype(), T => {
        let elements: &'a [T] = array.slice().unwrap_or_else(|| unreachable!("an array has its type"));
        HostArray::of(&elements[range])
    })
}

pub(crate) fn slice<'a>(array: &HostArray<'a>) -> Slice<'a> {
    fn of<'a, T: warpfold_num::Element + bytemuck::CheckedBitPattern>(
        array: &HostArray<'a>,
    ) -> &'a [T] {
        array.slice().unwrap_or_else(|| unreachable!("an array has its type"))
    }
    match array.dtype() {
        DType::Bool => Slice::Bool(of(array)),
        DType::I8 => Slice::I8(of(array)),
        DType::I16 => Slice::I16(of(array)),
        DType::I32 => Slice::I32(of(array)),
        DType::I64 => Slice::I64(of(array)),
        DType::U8 => Slice::U8(of(array)),
        DType::U16 => Slice::U16(of(array)),
        DType::U32 => Slice::U32(of(array)),
        DType::U64 => Slice::U64(of(array)),
        DType::F16 => Slice::F16(of::<f16>(array)),
        DType::BF16 => Slice::BF16(of::<bf16>(array)),
        DType::F32 => Slice::F32(of(array)),
        DType::F64 => Slice::F64(of(array)),
        DType::Complex64 | DType::Complex128 => unreachable!("no program takes complex numbers"),
    }
}

/// Values that are held, as an array.
pub(super) fn buffered(ty: Type, bytes: &[u8], n: usize) -> HostArray<'_> {
    match ty {
        Type::Bool => HostArray::of(bytemuck::checked::cast_slice::<u8, bool>(&bytes[..n])),
        Type::I64 => HostArray::of(&bytemuck::cast_slice::<u8, i64>(bytes)[..n]),
        Type::U64 => HostArray::of(&bytemuck::cast_slice::<u8, u64>(bytes)[..n]),
        Type::F32 => HostArray::of(&bytemuck::cast_slice::<u8, f32>(bytes)[..n]),
        Type::F64 => HostArray::of(&bytemuck::cast_slice::<u8, f64>(bytes)[..n]),
    }
}
