//! What must hold of any bytes given to the reader of NumPy's archives.

use std::io::Write;

use warpfold_io::text::Column;
use warpfold_io::{Order, Wanted, open};

/// Elements that are read at most: a few bytes may stand for very many.
const PIECES: usize = 2;

/// Opens the bytes after the first, which chooses a column, as an archive and reads that array. No panic, one line of an error. Returns whether it was
/// accepted.
pub fn check(bytes: &[u8]) -> bool {
    let Some((&choice, archive)) = bytes.split_first() else { return false };
    let mut file = tempfile::Builder::new().suffix(".npz").tempfile().expect("a temporary file");
    file.write_all(archive).expect("room for it");
    let columns = [None, Some(Column::Index(1)), Some(Column::Name("x".into()))];
    let columns = columns[usize::from(choice % 3)].clone().into_iter().collect();
    let wanted = Wanted { columns, ..Wanted::default() };
    let read = open(&[file.path().to_path_buf()], &wanted).and_then(|inputs| {
        for input in inputs {
            let size = input.dtype().size();
            let mut pieces = input.pieces(Order::Memory)?;
            for _ in 0..PIECES {
                match pieces.next_piece()? {
                    Some(piece) => assert_eq!(piece.len() % size, 0),
                    None => break,
                }
            }
        }
        Ok(())
    });
    match read {
        Ok(()) => true,
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "{error}");
            false
        }
    }
}
