//! What must hold of any bytes given to the readers of compressed files.

use std::io::{Cursor, Read};

use warpfold_io::Packing;

/// Bytes that are unpacked at most: a few may stand for very many.
const MOST: u64 = 1 << 20;

/// Unpacks the bytes after the first, which chooses gzip or Zstandard and how many come at once. No panic, one line of an error, and the same however the
/// bytes arrive. Returns whether all of it was accepted.
pub fn check(bytes: &[u8]) -> bool {
    let Some((&choice, packed)) = bytes.split_first() else { return false };
    let packing = [Packing::Gzip, Packing::Zstandard][usize::from(choice % 2)];
    let step = [1, 7, 4096][usize::from(choice / 2 % 3)];
    let whole = unpacked(packing, packed, packed.len().max(1));
    let slow = unpacked(packing, packed, step);
    assert_eq!(whole.0, slow.0, "{packing:?} by {step}");
    assert_eq!(whole.1.is_some(), slow.1.is_some(), "{packing:?} by {step}: {whole:?} {slow:?}");
    whole.1.is_none()
}

/// What comes of them, and what is wrong.
fn unpacked(packing: Packing, packed: &[u8], step: usize) -> (Vec<u8>, Option<String>) {
    let source = Box::new(Steps(Cursor::new(packed.to_vec()), step));
    let (mut source, mut all) = (packing.unpack(source).take(MOST), Vec::new());
    let mut piece = [0; 4096];
    loop {
        match source.read(&mut piece) {
            Ok(0) => return (all, None),
            Ok(n) => all.extend_from_slice(&piece[..n]),
            Err(error) => {
                let error = error.to_string();
                assert!(!error.contains('\n'), "{error}");
                // How much came before an error depends on how the bytes came.
                return (Vec::new(), Some(error));
            }
        }
    }
}

/// Gives a few bytes at a time.
struct Steps(Cursor<Vec<u8>>, usize);

impl Read for Steps {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let most = self.1.min(buffer.len());
        self.0.read(&mut buffer[..most])
    }
}
