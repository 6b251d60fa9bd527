//! What must hold of any bytes given to the `.npy` reader.

use std::io::Cursor;

use warpfold_io::npy::{Array, Descr, Header};
use warpfold_io::{DType, Name, Produce};

/// Reads the bytes as a `.npy` file: exactly the elements that the header promises, or an error. Returns whether it was accepted.
pub fn check(bytes: &[u8]) -> bool {
    let Ok(header) = Header::read(&mut Cursor::new(bytes)) else { return false };
    let (requested, size) = match header.descr {
        Descr::Known(dtype, _) => (None, dtype.size()),
        Descr::TwoBytes => (Some(DType::BF16), 2),
    };
    let source = Box::new(Cursor::new(bytes.to_vec()));
    let array = Array::stream(source, requested).expect("the header was read before");
    assert_eq!(array.header(), &header);
    let promised = header.len * size as u64;
    let found = bytes.len() as u64 - header.data_start;
    // Without the thread that reads ahead, which would take most of the time.
    let mut reader = array.reader(&Name::Stdin).expect("a stream");
    let mut piece = [0; 1024];
    let mut read = 0;
    loop {
        match reader.fill(&mut piece) {
            Ok(filled) => {
                assert_eq!(filled % size, 0);
                read += filled as u64;
                if filled < piece.len() {
                    assert_eq!((read, found), (promised, promised));
                    return true;
                }
            }
            Err(error) => {
                assert_ne!(found, promised, "the bytes are all there");
                assert!(!error.to_string().contains('\n'), "{error}");
                return false;
            }
        }
    }
}
