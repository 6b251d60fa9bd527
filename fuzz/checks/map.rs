//! What must hold of any text that is given as a map.

use warpfold::map::{Expressions, HostArray, Map, Reduction};
use warpfold::partial::Finish;
use warpfold::{DType, Op, Policy};

const F32: [f32; 5] = [0.0, -1.5, f32::NAN, f32::INFINITY, 3.0e-39];
const I64: [i64; 5] = [0, 1, -7, i64::MIN, i64::MAX];
const BOOL: [bool; 5] = [true, false, true, true, false];

/// Reads the bytes as an expression and reduces it over few numbers; what is refused must be refused in one line. Returns whether there was
/// a result.
pub fn check(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    // The same as a reduction with a name.
    if let Err(error) = text.parse::<Reduction>() {
        assert!(!error.to_string().contains('\n'), "{error}");
    }
    let expressions = match Expressions::value(text) {
        Ok(expressions) => expressions,
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("map, column ") && !message.contains('\n'), "{message:?}");
            return false;
        }
    };
    // The name decides the type, so that texts reach all of them.
    let dtype = |name: &str| match name.as_bytes()[0] % 3 {
        0 => DType::F32,
        1 => DType::I64,
        _ => DType::Bool,
    };
    let names = expressions.names();
    let inputs: Vec<_> = names.iter().map(|name| (*name, dtype(name))).collect();
    let arrays: Vec<_> = inputs
        .iter()
        .map(|(_, dtype)| match dtype {
            DType::F32 => HostArray::of(&F32),
            DType::I64 => HostArray::of(&I64),
            _ => HostArray::of(&BOOL),
        })
        .collect();
    [Op::Sum, Op::ArgMax, Op::Count].into_iter().fold(false, |any, op| {
        let found = Map::new(op, &expressions, &inputs, Policy::default())
            .and_then(|map| map.finish(&map.fold(&arrays, 0)?, Finish::default()));
        if let Err(error) = &found {
            assert!(!error.to_string().contains('\n'), "{error}");
        }
        any | found.is_ok()
    })
}
