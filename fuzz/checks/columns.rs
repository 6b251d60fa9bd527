//! What must hold of any text of which several columns are read in one reading, or words.

use std::io::Cursor;

use warpfold_io::text::{
    Column, Columns, Dialect, Header, Layout, LeftOut, Missing, NoNumbers, SharedNotes,
    SharedWords, TextReader,
};
use warpfold_io::{DType, Name};

/// Reads columns of the bytes after the first two, which choose how. Each of several columns is what it is by itself; numbers of words are those of words
/// that were met. No panic, one line of an error. Returns whether all of it was accepted.
pub fn check(bytes: &[u8]) -> bool {
    let &[first, second, ref text @ ..] = bytes else { return false };
    let [first, second] = [first, second].map(usize::from);
    let dialect = Dialect {
        header: [Header::Auto, Header::Yes, Header::No][first % 3],
        missing: [Missing::Error, Missing::Nan, Missing::Skip][first / 3 % 3],
        comment: [None, Some(b'#')][first / 9 % 2],
        delimiter: [None, Some(b';')][first / 18 % 2],
        ..Dialect::default()
    };
    if let Err(error) = Columns::read(source(text), LAYOUT, dialect) {
        assert!(!error.to_string().contains('\n'), "{error}");
    }
    if second % 2 == 1 {
        return words(text, dialect);
    }
    let chosen = [[1, 2], [2, 1], [3, 1]][second / 2 % 3];
    let no_numbers = [NoNumbers::Fail, NoNumbers::DropAtFirst, NoNumbers::Drop][second / 6 % 3];
    let together = read(text, dialect, &chosen, no_numbers);
    let Some((numbers, dropped)) = together else { return false };
    for (at, &column) in chosen.iter().enumerate().filter(|(at, _)| !dropped.contains(at)) {
        let alone = read(text, dialect, &[column], no_numbers);
        // A first row may be names of one column and none of two.
        let Some((alone, _)) = alone else { continue };
        let of: Vec<u64> = numbers.iter().skip(at).step_by(2).copied().collect();
        if alone.len() == of.len() {
            assert_eq!(alone, of, "column {column} of {:?}", String::from_utf8_lossy(text));
        }
    }
    true
}

const LAYOUT: Layout = Layout::Delimited(b',');

fn source(text: &[u8]) -> Box<Cursor<Vec<u8>>> {
    Box::new(Cursor::new(text.to_vec()))
}

/// The bits of all elements, row after row, and which columns were dropped.
fn read(
    text: &[u8],
    dialect: Dialect,
    columns: &[u64],
    no_numbers: NoNumbers,
) -> Option<(Vec<u64>, Vec<usize>)> {
    let columns = columns.iter().map(|&column| Column::Index(column));
    let reader = TextReader::new(Name::Stdin, source(text), LAYOUT, columns, DType::F64);
    let mut reader = reader
        .dialect(dialect, None)
        .notes(SharedNotes::default(), LeftOut::Kept)
        .no_numbers(no_numbers);
    let (mut number, mut numbers) = ([0; 8], Vec::new());
    loop {
        match reader.next_number(&mut number) {
            Ok(true) => numbers.push(u64::from_ne_bytes(number)),
            Ok(false) => break,
            Err(error) => {
                assert!(!error.to_string().contains('\n'), "{error}");
                return None;
            }
        }
    }
    let dropped = reader.found().dropped.iter().map(|dropped| dropped.column);
    Some((numbers, dropped.collect()))
}

fn words(text: &[u8], dialect: Dialect) -> bool {
    let missing = if dialect.missing == Missing::Nan { Missing::Error } else { dialect.missing };
    let reader = TextReader::new(Name::Stdin, source(text), LAYOUT, [Column::Index(1)], DType::U32);
    let mut reader = reader
        .dialect(Dialect { missing, ..dialect }, None)
        .notes(SharedNotes::default(), LeftOut::Listed)
        .words(SharedWords::default());
    let (mut number, mut met) = ([0; 4], 0);
    loop {
        match reader.next_number(&mut number) {
            Ok(true) => {
                let word = u32::from_ne_bytes(number);
                assert!(word <= met, "word {word} after {met}");
                met = met.max(word + 1);
            }
            Ok(false) => return true,
            Err(error) => {
                assert!(!error.to_string().contains('\n'), "{error}");
                return false;
            }
        }
    }
}
