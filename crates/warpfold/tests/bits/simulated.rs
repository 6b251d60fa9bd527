//! The same of the shipped kernels in the simulator: fewer cases, since every instruction is carried out one by one.

use warpfold::kernel::Machine as _;
use warpfold::partial::Finish;
use warpfold::shape::Layout;
use warpfold::simt::Device;
use warpfold::{Accuracy, Nan, Op, Policy};

use crate::data::{Make, array, of_every_type};
use crate::ledger::{Ledger, hex, outcome};
use crate::parts::text;

pub(crate) fn record(ledger: &mut Ledger) {
    let device = Device::new();
    of_every_type!(of_type(ledger, &device));
}

fn of_type<T: Make>(ledger: &mut Ledger, device: &Device) {
    for (kind, n) in [(0, 0), (1, 77), (3, 200)] {
        let (x, y) = (array::<T>(kind, n, 4), array::<T>(kind, n, 5));
        let [on, other] = [&x, &y].map(|x| device.upload(x).expect("there is memory"));
        for (accuracy, nan) in [(Accuracy::Exact, Nan::Propagate), (Accuracy::Fast, Nan::Ignore)] {
            let policy = Policy { accuracy, nan, ..Policy::default() };
            let what = format!("kind {kind}, {n}, {policy:?}");
            for &op in Op::ALL {
                let group = format!("{op} {}", T::DTYPE);
                let reduce = match op {
                    Op::Dot => device.reduce_two(&on, &other).expect("they are of one length"),
                    _ => device.reduce(&on),
                };
                let reduce = reduce.policy(policy);
                let line = outcome(reduce.output(op, Finish::default()));
                ledger.enter(&group, &format!("{what}: {line}"));
                let line = match reduce.partial(op) {
                    Ok(partial) => hex(&partial.to_bytes()),
                    Err(error) => format!("error: {error}"),
                };
                ledger.enter(&format!("partials {group}"), &format!("{what}: {line}"));
            }
            if n != 200 {
                continue;
            }
            let offsets = device.upload(&[0u32, 3, 3, 70, 71, 190]).expect("there is memory");
            let keys: Vec<u32> = (0..n as u32).map(|k| k * 7919 % 17).collect();
            let keys = device.upload(&keys).expect("there is memory");
            let layout = Layout::c(&[10, 20]).expect("it is small");
            let groups = device.group_by(&keys, &on).expect("a key for each");
            for op in [Op::Sum, Op::Mean, Op::Var, Op::L2, Op::Max, Op::ArgMin, Op::Prod, Op::Count]
            {
                let group = format!("parts {op} {}", T::DTYPE);
                let segments = device.reduce_segments(&on, &offsets).policy(policy);
                let rows =
                    device.reduce_axes(&on, &layout, &[1]).expect("it has two axes").policy(policy);
                let columns =
                    device.reduce_axes(&on, &layout, &[0]).expect("it has two axes").policy(policy);
                let of_groups = groups.reduce().policy(policy);
                for (name, batched) in [
                    ("segments", segments),
                    ("rows", rows),
                    ("columns", columns),
                    ("groups", of_groups),
                ] {
                    let line = text(batched.columns(op, Finish::default()));
                    ledger.enter(&group, &format!("{what}, {name}: {line}"));
                }
                let dense = device.reduce_dense(&keys, 19, &on).policy(policy);
                let line = text(dense.columns(op, Finish::default()).map(|(columns, _)| columns));
                ledger.enter(&group, &format!("{what}, dense: {line}"));
            }
        }
    }
}
