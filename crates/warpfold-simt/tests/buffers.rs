//! Memory from the host's side.

use warpfold_simt::{BufferError, Memory};

#[test]
fn bytes_and_elements() {
    let mut memory = Memory::new();
    let buffer = memory.upload(&[1u16, 2, 3]);
    assert_eq!(buffer.bytes(), 6);
    assert_eq!(memory.read::<u16>(buffer), Ok(vec![1, 2, 3]));
    assert_eq!(memory.read::<u32>(buffer), Ok(vec![0x0002_0001]), "whole elements only");
    memory.write_bytes(buffer, 1, &[9, 8, 7]).expect("it fits");
    assert_eq!(memory.read_bytes(buffer, 0, 6), Ok(vec![1, 9, 8, 7, 3, 0]));
    assert_eq!(memory.read_bytes(buffer, 3, 2), Ok(vec![7, 3]));
    assert_eq!(memory.write(buffer, &[1u64]), Err(BufferError::TooSmall { has: 6, requested: 8 }));
    assert!(matches!(memory.read_bytes(buffer, u64::MAX, 2), Err(BufferError::TooSmall { .. })));
    let wide = memory.upload(&[u128::MAX - 5, 7]);
    assert_eq!(memory.read::<u128>(wide), Ok(vec![u128::MAX - 5, 7]));
    let empty = memory.upload::<f64>(&[]);
    assert_eq!(memory.read::<f64>(empty), Ok(vec![]));
}

#[test]
fn what_was_never_written_is_not_read() {
    let mut memory = Memory::new();
    let buffer = memory.allocate(64);
    assert_eq!(memory.read::<f32>(buffer), Err(BufferError::Unwritten { offset: 0 }));
    memory.write(buffer, &[1f32; 8]).expect("it fits");
    assert_eq!(memory.read_bytes(buffer, 0, 32).map(|bytes| bytes.len()), Ok(32));
    assert_eq!(memory.read::<f32>(buffer), Err(BufferError::Unwritten { offset: 32 }));
    memory.free(buffer);
    assert_eq!(memory.read::<f32>(buffer), Err(BufferError::Freed));
    assert_eq!(memory.write(buffer, &[1f32]), Err(BufferError::Freed));
}
