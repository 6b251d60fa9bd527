//! What must hold of any bytes given to the text reader.

use std::io::Cursor;

use warpfold::DType;
use warpfold_cli::input::Name;
use warpfold_cli::input::text::{Column, Layout, TextReader};

/// Reads numbers from the bytes after the first, which chooses element type, layout and column: no panic, and no more numbers
/// than the text has room for. Returns whether all of it was accepted.
pub fn check(bytes: &[u8]) -> bool {
    let Some((&choice, text)) = bytes.split_first() else { return false };
    let choice = usize::from(choice);
    let dtype = DType::ALL[choice % DType::ALL.len()];
    let choice = choice / DType::ALL.len();
    let layouts = [Layout::Sniff, Layout::Words, Layout::Delimited(b','), Layout::Delimited(b'\t')];
    let columns = [None, Some(Column::Index(2)), Some(Column::Name("x".into()))];
    let (layout, column) = (layouts[choice % 4], columns[choice / 4 % 3].clone());
    let source = Box::new(Cursor::new(text.to_vec()));
    let mut reader = TextReader::new(Name::Stdin, source, layout, column, dtype);
    let mut number = vec![0; dtype.size()];
    let mut numbers = 0;
    loop {
        match reader.next_number(&mut number) {
            Ok(true) => numbers += 1,
            // A number takes a byte, and a separator but after the last.
            Ok(false) => {
                assert!(numbers <= text.len().div_ceil(2), "{numbers} in {} bytes", text.len());
                return true;
            }
            Err(error) => {
                assert!(!error.to_string().contains('\n'), "{error}");
                return false;
            }
        }
    }
}
