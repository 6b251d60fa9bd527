//! Arrays on several machines: every reduction, against the CPU's of the whole array.

use warpfold::kernel::{Devices, Machine, Shards};
use warpfold::partial::Finish;
use warpfold::{Accuracy, Element, Error, Op, Overflow, Policy, bf16, f16, reduce, reduce_pair};

use crate::compare::same;
use crate::data::{Contents, Random, array};
use crate::machine;

fn devices<const N: usize>() -> Option<Devices<impl Machine>> {
    let machines: Option<Vec<_>> = (0..N as u64).map(|seed| machine(2, seed)).collect();
    machines.map(Devices::new)
}

fn agree<T: Element>(kind: Contents) {
    let Some(devices) = devices::<3>() else { return };
    let mut random = Random(7);
    let overflow = Overflow::Wrap;
    for n in [0, 1, 2, 3, 100, 1001] {
        let (x, y) = (array::<T>(kind, n, &mut random), array::<T>(kind, n, &mut random));
        let (on, other) = (devices.upload(&x).unwrap(), devices.upload(&y).unwrap());
        for &op in Op::ALL {
            let finish = Finish { overflow, ..Finish::default() };
            let (here, there) = match op {
                Op::Dot => {
                    let there = devices.reduce_two(&on, &other).unwrap();
                    (reduce_pair(&x, &y).partial(op), there.overflow(overflow).output(op, finish))
                }
                _ => {
                    let there = devices.reduce(&on).overflow(overflow);
                    (reduce(&x).partial(op), there.output(op, finish))
                }
            };
            if let Err(Error::Unsupported { .. } | Error::Undefined { .. }) = there {
                assert!(T::DTYPE.is_complex(), "{op} of {}", T::DTYPE);
                continue;
            }
            let expected = here.and_then(|partial| partial.finish(op, finish));
            let empty = [&there, &expected].map(|r| matches!(r, Err(Error::Empty { .. })));
            let right = same(&there, &expected) || (n == 0 && empty == [true, true]);
            assert!(right, "{op} of {n} {}: {there:?} {expected:?}", T::DTYPE);
        }
    }
}

#[test]
fn several_machines_give_the_bits_of_one() {
    for kind in [Contents::Plain, Contents::Specials, Contents::Ties] {
        agree::<f32>(kind);
        agree::<f64>(kind);
        agree::<f16>(kind);
        agree::<bf16>(kind);
        agree::<i32>(kind);
        agree::<u64>(kind);
        agree::<bool>(kind);
        agree::<warpfold::Complex<f32>>(kind);
    }
}

#[test]
fn parts_may_be_uneven_empty_and_many_on_one_machine() {
    let Some(gpu) = machine(2, 1) else { return };
    let part = |x: &[f64]| (gpu.clone(), Machine::upload(&gpu, x).unwrap());
    let x = Shards::new(vec![part(&[]), part(&[3.0, 1e300]), part(&[]), part(&[-1e300, 9.0, 9.0])]);
    let devices = Devices::new([gpu.clone()]);
    assert_eq!((x.len(), x.is_empty(), x.parts().len()), (5, false, 4));
    assert_eq!(devices.reduce(&x).sum(), Ok(21.0));
    assert_eq!(devices.reduce(&x).argmin(), Ok(2));
    assert_eq!(devices.reduce(&x).argmax(), Ok(1));
    assert_eq!(devices.reduce(&x).policy(Policy::default()).count(), Ok(5));
    let fast = devices.reduce(&x).accuracy(Accuracy::Fast).sum().unwrap();
    assert!(fast.is_finite());
    let nothing = Shards::new(vec![part(&[]), part(&[])]);
    assert_eq!(devices.reduce(&nothing).sum(), Ok(0.0));
    assert_eq!(devices.reduce(&nothing).max(), Err(Error::Empty { op: Op::Max, ignored: false }));
}

#[test]
fn arrays_of_two_lengths_on_several_machines_are_refused() {
    let Some(devices) = devices::<2>() else { return };
    let x = devices.upload(&[1.5f32, 2.0, 3.0]).unwrap();
    let y = devices.upload(&[1.0f32; 4]).unwrap();
    let error = devices.reduce_two(&x, &y).err();
    assert!(matches!(error, Some(Error::LengthMismatch { .. })), "{error:?}");
}
