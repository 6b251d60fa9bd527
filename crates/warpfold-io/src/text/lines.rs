//! [`Lines`]: a text cut at line ends, so that several processes read a part each.
//!
//! A cut is a place behind a line end. That is the end of a row wherever no quote is open, so a text with a quote anywhere is not cut at all: whoever
//! cuts has looked at every byte ([`look`]). All parts begin with the text's head, its first two rows, from which follow layout, names and width;
//! what they hold is read again by each part and handed on by the first alone.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use super::{Dialect, Notes};

/// The longest head. Behind it a text is not cut: it is nothing but comments, or one line.
const HEAD: usize = 1 << 20;
/// Bytes that are looked at once.
const AT_ONCE: usize = 1 << 18;

/// A part of a text.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    /// Bytes of the head, for all parts but the first.
    pub head: Arc<Vec<u8>>,
    /// Elements in the head.
    pub elements: u64,
    /// What was found in the head.
    pub notes: Notes,
    /// Bytes of the file.
    pub range: Range<u64>,
    /// Lines of the text before the part, less those of the head.
    pub lines_before: u64,
}

/// What a look at some bytes of a text tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Look {
    /// Line ends: `\n`, `\r\n` and `\r`.
    pub lines: u64,
    /// Quotes.
    pub quotes: u64,
}

/// Where a text's head ends: behind two rows that are neither empty nor comments; `None` if it has no such, or a long one.
pub fn head(file: &mut File, dialect: &Dialect) -> io::Result<Option<Vec<u8>>> {
    let mut start = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.by_ref().take(HEAD as u64).read_to_end(&mut start)?;
    let (mut at, mut rows) = (0, 0);
    while let Some(length) = start[at..].iter().position(|&byte| byte == b'\n') {
        let line = &start[at..at + length];
        let line = if at == 0 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        at += length + 1;
        rows += u32::from(!line.trim_ascii().is_empty() && !dialect.is_comment(line));
        if rows == 2 {
            start.truncate(at);
            return Ok(Some(start));
        }
    }
    Ok(None)
}

/// Where the part of a rank begins in a text of so many bytes: behind the first line end at or after its even share, and behind the head.
pub fn start(file: &mut File, size: u64, head: u64, rank: usize, ranks: usize) -> io::Result<u64> {
    if rank == 0 {
        return Ok(0);
    }
    let even = (u128::from(size) * rank as u128 / ranks as u128) as u64;
    if rank == ranks || even <= head {
        return Ok(if rank == ranks { size } else { head });
    }
    // A line end just before the even share is one.
    let mut at = even - 1;
    let mut some = vec![0; AT_ONCE];
    file.seek(SeekFrom::Start(at))?;
    loop {
        let n = file.read(&mut some)?;
        if n == 0 {
            return Ok(size);
        }
        if let Some(end) = some[..n].iter().position(|&byte| byte == b'\n') {
            return Ok((at + end as u64 + 1).min(size));
        }
        at += n as u64;
    }
}

/// Looks at a part of a text.
pub fn look(file: &mut File, range: Range<u64>) -> io::Result<Look> {
    let mut found = Look::default();
    let mut some = vec![0; AT_ONCE];
    let mut after_return = false;
    file.seek(SeekFrom::Start(range.start))?;
    let mut rest = file.by_ref().take(range.end - range.start);
    loop {
        let n = rest.read(&mut some)?;
        if n == 0 {
            return Ok(found);
        }
        let bytes = &some[..n];
        let count = |which: u8| bytes.iter().filter(|&&byte| byte == which).count() as u64;
        found.quotes += count(b'"');
        found.lines += count(b'\n') + count(b'\r');
        // A pair is one line end.
        let pairs = bytes.windows(2).filter(|pair| pair == b"\r\n").count() as u64;
        found.lines -= pairs + u64::from(after_return && bytes[0] == b'\n');
        after_return = bytes[n - 1] == b'\r';
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &[u8]) -> File {
        let mut file = tempfile::tempfile().expect("a temporary file");
        io::Write::write_all(&mut file, text).expect("it takes bytes");
        file
    }

    #[test]
    fn parts_cover_the_text_and_begin_behind_line_ends() {
        for text in
            ["1\n2\n", "a,b\n1,2\n3,4\n5,6\n77777777777777777777,8\n9,1", "1\n2\n\n\n3\r\n4\n\n5"]
        {
            let mut file = file(text.as_bytes());
            let head =
                head(&mut file, &Dialect::default()).unwrap().expect("two rows").len() as u64;
            let size = text.len() as u64;
            for ranks in 1..9 {
                let mut end = 0;
                let mut lines = 0;
                for rank in 0..ranks {
                    let from = start(&mut file, size, head, rank, ranks).unwrap();
                    let to = start(&mut file, size, head, rank + 1, ranks).unwrap();
                    assert_eq!(from, end, "{text:?} rank {rank} of {ranks}");
                    assert!(
                        rank == 0
                            || from >= head
                                && (from == size || text.as_bytes()[from as usize - 1] == b'\n')
                    );
                    lines += look(&mut file, from..to).unwrap().lines;
                    end = to;
                }
                assert_eq!(end, size);
                assert_eq!(lines, text.replace("\r\n", "\n").matches('\n').count() as u64);
            }
        }
    }

    #[test]
    fn heads_end_behind_two_rows_of_data() {
        let dialect = Dialect { comment: Some(b'#'), ..Dialect::default() };
        let of =
            |text: &str| head(&mut file(text.as_bytes()), &dialect).unwrap().map(|head| head.len());
        assert_eq!(of("x\n1\n2\n"), Some(4));
        assert_eq!(of("\u{feff}#c\n\n x\n#\n1\n2\n"), Some("\u{feff}#c\n\n x\n#\n1\n".len()));
        assert_eq!((of("1\n2"), of(""), of("#\n#\n")), (None, None, None));
    }

    #[test]
    fn line_ends_and_quotes_are_counted_however_they_are_cut() {
        let text = b"a\r\nb\rc\n\"d\"\r\r\n\n";
        assert_eq!(
            look(&mut file(text), 0..text.len() as u64).unwrap(),
            Look { lines: 6, quotes: 2 }
        );
    }
}
