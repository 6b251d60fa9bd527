//! Rows that are read many at a time are those that are read number by number, errors and notes among them.

use std::io::{self, Read};

use warpfold_io::text::{
    Column, Dialect, Header, Layout, LeftOut, Missing, Notes, SharedNotes, SharedWords, TextReader,
};
use warpfold_io::{DType, Name, Produce};

/// A source that gives a few bytes at a time.
struct Drops(Vec<u8>, usize, usize);

impl Read for Drops {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.2.min(buffer.len()).min(self.0.len() - self.1);
        buffer[..n].copy_from_slice(&self.0[self.1..self.1 + n]);
        self.1 += n;
        Ok(n)
    }
}

/// How a text is read.
#[derive(Debug, Clone)]
struct How {
    layout: Layout,
    columns: Vec<Column>,
    dialect: Dialect,
    dtype: DType,
    are_words: bool,
    /// Bytes that the source gives at a time.
    at_a_time: usize,
}

/// The elements' bytes, what was found, and the error.
type Elements = (Vec<u8>, Notes, Option<String>);

fn reader(text: &str, how: &How) -> TextReader {
    let source = Box::new(Drops(text.as_bytes().to_vec(), 0, how.at_a_time));
    let name = Name::of("t".into());
    let reader = TextReader::new(name, source, how.layout, how.columns.clone(), how.dtype)
        .dialect(how.dialect, [])
        .notes(SharedNotes::default(), LeftOut::Listed);
    if how.are_words { reader.words(SharedWords::default()) } else { reader }
}

fn at_once(text: &str, how: &How) -> Elements {
    let (mut reader, mut all) = (reader(text, how), Vec::new());
    // So small that rows of a few numbers end in its middle.
    let mut piece = vec![0; how.dtype.size() * 7];
    loop {
        match reader.fill(&mut piece) {
            Ok(0) => return (all, reader.found().clone(), None),
            Ok(n) => all.extend_from_slice(&piece[..n]),
            Err(error) => return (all, reader.found().clone(), Some(error.to_string())),
        }
    }
}

fn one_by_one(text: &str, how: &How) -> Elements {
    let (mut reader, mut all) = (reader(text, how), Vec::new());
    let mut number = vec![0; how.dtype.size()];
    loop {
        match reader.next_number(&mut number) {
            Ok(false) => return (all, reader.found().clone(), None),
            Ok(true) => all.extend_from_slice(&number),
            Err(error) => return (all, reader.found().clone(), Some(format!("t: {error}"))),
        }
    }
}

/// Words by the order in which they occur: what is looked at in vain has a number, too.
fn in_order(words: &[u8]) -> Vec<u8> {
    let mut known: Vec<[u8; 4]> = Vec::new();
    let number = |word: &[u8; 4]| {
        known.iter().position(|one| one == word).unwrap_or_else(|| {
            known.push(*word);
            known.len() - 1
        }) as u8
    };
    words.as_chunks::<4>().0.iter().map(number).collect()
}

fn agree(text: &str, how: &How) -> bool {
    let ((mut found, notes, error), (mut expected, expected_notes, expected_error)) =
        (at_once(text, how), one_by_one(text, how));
    if how.are_words {
        (found, expected) = (in_order(&found), in_order(&expected));
    }
    let what = format!("{text:?} {how:?}");
    assert_eq!(error, expected_error, "{what}");
    // Of an error, what was read in the same piece is not handed on.
    assert!(expected.starts_with(&found), "{what}");
    if error.is_none() {
        assert_eq!(found, expected, "{what}");
        let counts = |notes: &Notes| {
            let Notes { names, rows, rows_left_out, nan_cells, infinite, zero, .. } = notes.clone();
            (names, rows, rows_left_out, nan_cells, infinite, zero)
        };
        assert_eq!(counts(&notes), counts(&expected_notes), "{what}");
    }
    error.is_none()
}

#[test]
fn rows_at_once_are_those_of_one_number_after_another() {
    let mut state = 5u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % below
    };
    let parts: &[&[&str]] = &[
        // Most texts are as most are.
        &["1\n", "2.5\n", "-3e4\n", "0.1234567890123456789\n", "1e400\n", "7\n"],
        &["1 2\n", "2.5 -3\n", "4 5e-400\n", "8 9\n", "1  2\n", "1 2 \n"],
        &["1", "\n", " ", "2.5", "\n", "\t", "#", "x", "NA", "\n", "\x0c", "\"", "9\n", "1 2\n"],
        &["\"a\",b\n", "1,2\n", "\"3\",4\n", "5,\"6\n7\",8\n", "9,1\n", "2,3\n", "\"x\n", "4,NA\n"],
        &["a,\"b, c\"\n", "1,2\n", "3,4\n", "5,6\n", "7,8\n", "\n", "#\"\n", "9,1\n"],
    ];
    let missing = [Missing::Error, Missing::Nan, Missing::Skip];
    let mut whole = 0;
    for case in 0..6000 {
        let parts = parts[case % parts.len()];
        // The last ones are of tables of two columns.
        let is_table = case % 5 > 2;
        let mut text = String::new();
        if is_table && next(2) == 0 {
            text += parts[0];
        }
        text.extend((0..next(30)).map(|_| parts[next(parts.len())]));
        if next(4) == 0 {
            text = text.replace('\n', "\r\n");
        }
        let columns = match next(3) {
            0 if is_table => vec![Column::Index(1 + next(2) as u64)],
            0 => vec![Column::Index(1)],
            _ => Vec::new(),
        };
        let are_words = next(5) == 0 && columns.len() == 1;
        let how = How {
            layout: if is_table { Layout::Delimited(b',') } else { Layout::Words },
            columns,
            dialect: Dialect {
                header: if next(2) == 0 { Header::Auto } else { Header::No },
                missing: missing[next(3)],
                comment: (next(2) == 0).then_some(b'#'),
                ..Dialect::default()
            },
            dtype: if are_words {
                DType::U32
            } else {
                [DType::F64, DType::F32, DType::I64][next(3)]
            },
            are_words,
            at_a_time: [1, 3, 17, 1000][next(4)],
        };
        whole += usize::from(agree(&text, &how));
    }
    assert!(whole > 1500, "{whole}");
}
