//! Reads texts and `.npy` files by this crate's readers, one case a line, and says what came of each: for `fuzz/compare`.
//!
//! A case is a JSON object with its bytes in hexadecimal. The answer is one too: the elements as native bytes, or why there are none.

use std::error::Error;
use std::io::{self, BufRead, Cursor, Seek, Write};

use serde::Deserialize;
use serde_json::{Value, json};
use warpfold_io::npy::Array;
use warpfold_io::text::{
    Column, Dialect, Header, Layout, LeftOut, Missing, SharedNotes, TextReader,
};
use warpfold_io::{DType, Name, Order};
use warpfold_num::with_element;

type Outcome = Result<Value, Box<dyn Error>>;

#[derive(Deserialize)]
struct Case {
    kind: String,
    bytes: String,
    #[serde(default)]
    dtype: String,
    /// As the extension of a file says it; else by what the first line shows.
    #[serde(default)]
    extension: String,
    column: Option<String>,
    delimiter: Option<char>,
    comment: Option<char>,
    #[serde(default)]
    decimal: Option<char>,
    #[serde(default)]
    header: String,
    #[serde(default)]
    missing: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let case: Case = serde_json::from_str(&line?)?;
        let bytes = from_hex(&case.bytes).ok_or("bytes are hexadecimal")?;
        let outcome = match case.kind.as_str() {
            "text" => text(&case, bytes),
            _ => npy(&bytes),
        };
        let answer = outcome.unwrap_or_else(|error| json!({ "error": error.to_string() }));
        writeln!(out, "{answer}")?;
    }
    Ok(out.flush()?)
}

fn text(case: &Case, bytes: Vec<u8>) -> Outcome {
    let is_it = |dtype: &&DType| dtype.aliases().contains(&case.dtype.as_str());
    let dtype = DType::ALL.iter().find(is_it);
    let dtype = *dtype.ok_or("there is no such type")?;
    let byte = |mark: Option<char>| mark.and_then(|mark| u8::try_from(mark).ok());
    let dialect = Dialect {
        delimiter: byte(case.delimiter),
        comment: byte(case.comment),
        decimal: byte(case.decimal).unwrap_or(b'.'),
        header: match case.header.as_str() {
            "yes" => Header::Yes,
            "no" => Header::No,
            _ => Header::Auto,
        },
        missing: match case.missing.as_str() {
            "nan" => Missing::Nan,
            "skip" => Missing::Skip,
            _ => Missing::Error,
        },
        verbose: false,
    };
    let column: Option<Column> = case.column.as_deref().map(str::parse).transpose()?;
    let source = Box::new(Cursor::new(bytes));
    let reader = TextReader::new(Name::Stdin, source, Layout::of(&case.extension), column, dtype);
    let mut reader = reader.dialect(dialect, None).notes(SharedNotes::default(), LeftOut::Listed);
    let (mut number, mut numbers) = (vec![0; dtype.size()], Vec::new());
    while reader.next_number(&mut number)? {
        numbers.extend_from_slice(&number);
    }
    let notes = reader.found();
    let left_out: Vec<u64> = notes.gaps.runs().flatten().collect();
    Ok(
        json!({ "elements": hex(&numbers), "names": notes.names, "rows": notes.rows, "left_out": left_out }),
    )
}

/// In C order, as a file: mapped where it can be.
fn npy(bytes: &[u8]) -> Outcome {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    let array = Array::open(file, None, None)?;
    let (dtype, shape) = (array.dtype(), array.header().shape.clone());
    let mut pieces = array.pieces(&Name::Stdin, Order::C)?;
    let mut elements = Vec::new();
    while let Some(piece) = pieces.next_piece()? {
        with_element!(dtype, T => warpfold_io::elements::<T>(piece, 0).map(drop))?;
        elements.extend_from_slice(piece);
    }
    Ok(
        json!({ "dtype": dtype.name(), "aliases": dtype.aliases(), "shape": shape, "elements": hex(&elements) }),
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let pair = |at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..text.len()).step_by(2).map(pair).collect()
}
