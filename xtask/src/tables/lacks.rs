//! The table of what kernels do not fold yet, asked of their plans.

use warpfold::kernel::{AnyBuffer, AnyReduce, AnyReduceBatched, AnySegments};
use warpfold::shape::Layout;
use warpfold::simt::Device;
use warpfold::{DType, Error, Op, Result};

use super::Table;

/// Which types each reduction is refused for: of whole arrays, over axes, of segments and groups.
pub(super) fn table() -> String {
    let head = ["reduction", "of whole arrays", "over axes", "of segments and groups"];
    let mut table = Table::new(head.map(str::to_owned));
    for &op in Op::ALL.iter().filter(|&&op| op != Op::Dot) {
        let mut refused = [const { Vec::new() }; 3];
        let mut defined = 0;
        for &dtype in DType::ALL {
            let answers = answers(op, dtype);
            if let [Err(Error::Undefined { .. }), ..] = answers {
                continue;
            }
            defined += 1;
            for (refused, answer) in refused.iter_mut().zip(answers) {
                if answer.is_err() {
                    refused.push(dtype.name());
                }
            }
        }
        if refused.iter().all(Vec::is_empty) {
            continue;
        }
        let reported = refused.map(|types| match types.len() {
            0 => String::new(),
            all if all == defined => "every type".into(),
            _ => in_words(types),
        });
        table.lines.push([&[op.name().to_owned()], &reported[..]].concat());
    }
    match table.lines.is_empty() {
        true => "Kernels fold every type by every reduction, of whole arrays, over axes, of segments and of groups.\n".into(),
        false => table.markdown(),
    }
}

/// Types by the words for kinds of them, as far as there are any.
fn in_words(mut types: Vec<&'static str>) -> String {
    const NARROW: &[&str] = &["bool", "i8", "i16", "u8", "u16"];
    const WIDE: &[&str] = &["i32", "i64", "u32", "u64"];
    let kinds = [
        ("integers", [NARROW, WIDE].concat()),
        ("integers of up to 16 bits", NARROW.to_vec()),
        ("complex numbers", vec!["complex64", "complex128"]),
    ];
    let mut words = Vec::new();
    for (word, kind) in kinds {
        if kind.iter().all(|name| types.contains(name)) {
            types.retain(|name| !kind.contains(name));
            words.push(word);
        }
    }
    [types, words].concat().join(", ")
}

/// Whether an op is planned for each of the ways to part an array.
fn answers(op: Op, dtype: DType) -> [Result<()>; 3] {
    let device = Device::new();
    let known = "a few elements find room";
    let x = AnyBuffer::upload(&device, dtype, &vec![0; 6 * dtype.size()]).expect(known);
    let offsets = device.upload(&[0u32, 2, 6]).expect(known);
    let layout = Layout::c(&[2, 3]).expect(known);
    let over_axis = AnyReduceBatched::axes(&device, x.view(), &layout, &[0]).expect(known);
    let cut = AnySegments::Offsets(offsets.untyped().view());
    [
        AnyReduce::new(&device, x.view()).plan(op).map(|_| ()),
        over_axis.plans(op).map(|_| ()),
        AnyReduceBatched::segments(&device, x.view(), cut).plans(op).map(|_| ()),
    ]
}
