//! Reductions whose length lies on the device: the bits of as many elements, whatever the capacity.

use warpfold::partial::Finish;
use warpfold::{Accuracy, Element, Error, Op, Policy, bf16, reduce};

use crate::data::{Contents, Random, array};
use crate::machine;
use crate::on_device::{OnDevice as _, difference};
use crate::ops;

fn lengths_on_the_device<T: Element>() {
    let Some(machine) = machine(2, 3) else { return };
    let mut random = Random(61);
    for kind in [Contents::Plain, Contents::Specials] {
        let x = array::<T>(kind, 3000, &mut random);
        let on = machine.upload(&x).unwrap();
        // The last one is more than there are.
        for n in [0u64, 1, 2, 31, 1025, 3000, 5000] {
            let length = machine.upload(&[n]).unwrap();
            let kept = (n as usize).min(x.len());
            for accuracy in [Accuracy::Exact, Accuracy::Fast] {
                let policy = Policy { accuracy, ..Policy::default() };
                let reduce_there = machine.reduce(&on).policy(policy).len_on_device(&length);
                // Those of several results, and products, whose tree is that of all elements, are refused.
                let refused = |op: &Op| matches!(op, Op::Stats | Op::Prod);
                for op in ops::of_one_array().filter(|op| !refused(op)) {
                    let there = reduce_there.output(op, Finish::default());
                    // Fast sums depend on the launch, which is that of the capacity.
                    if accuracy == Accuracy::Exact {
                        let here = reduce(&x[..kept]).partial(op);
                        let here = here.and_then(|partial| partial.finish(op, Finish::default()));
                        let here = here.map_err(|error| match error {
                            Error::Empty { .. } => Error::Empty { op, ignored: n > 0 },
                            other => other,
                        });
                        assert!(crate::compare::same(&there, &here), "{op} of {n} {}", T::DTYPE);
                    } else if T::DTYPE.is_float() && op.is_rounded() {
                        continue;
                    }
                    let found = difference(&machine, &reduce_there, op, Finish::default(), &there);
                    assert_eq!(found, None, "{op} of {n} {}, {accuracy:?}", T::DTYPE);
                }
            }
        }
    }
}

#[test]
fn a_length_on_the_device_is_that_of_the_array() {
    lengths_on_the_device::<f32>();
    lengths_on_the_device::<bf16>();
    lengths_on_the_device::<f64>();
    lengths_on_the_device::<i32>();
}

/// Launches that were made once read another length each time that they run, as a graph's do.
#[test]
fn a_length_may_change_between_runs() {
    let Some(machine) = machine(2, 3) else { return };
    let x: Vec<f32> = (0..2000).map(|k| k as f32 / 7.0 - 100.0).collect();
    let on = machine.upload(&x).unwrap();
    let mut length = machine.upload(&[0u64]).unwrap();
    for n in [5u64, 2000, 0, 1234] {
        length.write(0, &[n]).unwrap();
        let there = machine.reduce(&on).len_on_device(&length);
        let bytes = machine.on_device(&there, Op::Sum, Finish::default()).unwrap();
        let sum = reduce(&x[..n as usize]).sum().unwrap();
        assert_eq!(bytes, sum.to_le_bytes(), "{n}");
    }
}

#[test]
fn products_and_stats_of_a_length_on_the_device_are_refused() {
    let Some(machine) = machine(2, 3) else { return };
    let (on, length) = (machine.upload(&[1f32, 2.0]).unwrap(), machine.upload(&[1u64]).unwrap());
    let reduce = machine.reduce(&on).len_on_device(&length);
    let refused = machine.on_device(&reduce, Op::Prod, Finish::default());
    assert!(
        matches!(&refused, Err(Error::Unsupported { option: "a length on the device", .. })),
        "{refused:?}"
    );
    // The host reads the length for those.
    assert_eq!(reduce.prod(), Ok(1.0));
}
