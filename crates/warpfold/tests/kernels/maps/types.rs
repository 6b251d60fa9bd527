//! Inputs of several types in one map.

use warpfold::kernel::AnyView;
use warpfold::map::HostArray;
use warpfold::{Op, bf16, f16};

use super::Case;
use crate::compare::same;
use crate::data::{Contents, Random, array};
use crate::machine;

#[test]
fn inputs_of_several_types_stand_side_by_side() {
    let Some(machine) = machine(2, 3) else { return };
    let mut random = Random(33);
    let n = 3001;
    let a = array::<f16>(Contents::Plain, n, &mut random);
    let b = array::<f64>(Contents::Plain, n, &mut random);
    let c = array::<i8>(Contents::Plain, n, &mut random);
    let d = array::<bool>(Contents::Plain, n, &mut random);
    let e = array::<u16>(Contents::Plain, n, &mut random);
    let f = array::<bf16>(Contents::Plain, n, &mut random);
    let g = array::<u32>(Contents::Plain, n, &mut random);
    let h = array::<i64>(Contents::Ties, n, &mut random);
    let (da, db, dc, dd) = (
        machine.upload(&a).unwrap(),
        machine.upload(&b).unwrap(),
        machine.upload(&c).unwrap(),
        machine.upload(&d).unwrap(),
    );
    let (de, df, dg, dh) = (
        machine.upload(&e).unwrap(),
        machine.upload(&f).unwrap(),
        machine.upload(&g).unwrap(),
        machine.upload(&h).unwrap(),
    );
    let text = "select(d, f64(a) * b, f64(c) + f64(e) / 3) - f64(f32(f)) + f64(g) * f64(h)";
    let arrays = [
        HostArray::of(&a),
        HostArray::of(&b),
        HostArray::of(&c),
        HostArray::of(&d),
        HostArray::of(&e),
        HostArray::of(&f),
        HostArray::of(&g),
        HostArray::of(&h),
    ];
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let here: Vec<_> = names.into_iter().zip(arrays).collect();
    for skip in [0, 1] {
        let views: Vec<(&'static str, AnyView<'_>)> = vec![
            ("a", da.slice(skip..).into()),
            ("b", db.slice(skip..).into()),
            ("c", dc.slice(skip..).into()),
            ("d", dd.slice(skip..).into()),
            ("e", de.slice(skip..).into()),
            ("f", df.slice(skip..).into()),
            ("g", dg.slice(skip..).into()),
            ("h", dh.slice(skip..).into()),
        ];
        for (keep, op) in
            [(None, Op::Sum), (Some("h > 0"), Op::ArgMax), (Some("not d and c > 3"), Op::Var)]
        {
            let requested = Case { keep, ..Case::of(text) };
            let there = requested.on_machine(op, &machine, &views);
            let cut: Vec<_> = here.iter().map(|&(name, array)| (name, tail(array, skip))).collect();
            let wanted = requested.on_processor(op, &cut);
            assert!(
                same(&there, &wanted),
                "{op} where {keep:?} from {skip}: {there:?}, and here {wanted:?}"
            );
        }
    }
}

fn tail(array: HostArray<'_>, skip: usize) -> HostArray<'_> {
    warpfold::with_element!(array.dtype(), T => HostArray::of(&array.slice::<T>().unwrap()[skip..]))
}
