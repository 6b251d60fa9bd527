//! Scratch.
use warpfold::*;
#[test]
fn quick() {
    let x = [false, true, true, false, true];
    let r = group_dense(&[0u16, 1, 1, 3, 3], 4, &x).unwrap();
    println!("{:?}", r.count());
    println!("{:?}", r.max());
    println!("{:?}", r.min());
    println!("{:?}", reduce_segments(&x, Segments::offsets(&[0u32, 1, 3, 5])).unwrap().max());
    println!("{:?}", reduce_segments(&x, Segments::offsets(&[0u32, 1, 3, 5])).unwrap().min());
    println!("{:?}", reduce_segments(&x, Segments::offsets(&[0u32, 1, 3, 5])).unwrap().minmax());
    println!("{:?}", reduce_segments(&x, Segments::offsets(&[0u32, 1, 3, 5])).unwrap().argmin());
}
