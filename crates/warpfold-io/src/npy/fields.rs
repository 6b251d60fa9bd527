//! Records, NumPy's structured arrays: one of their fields is read as a `.npy` file of its own.

use std::io::{self, Cursor, Read};

use super::header::{Start, unknown};
use super::literal::Literal;
use super::{Header, NpyError};
use crate::text::Column;
use crate::{Problem, near};

/// Records that are taken apart at once.
const RECORDS: usize = 1024;

/// Names that a message shows.
const SHOWN: usize = 20;

/// A field of records.
#[derive(Debug)]
struct Field {
    name: String,
    /// Its type by NumPy's name, unless it is made of fields itself.
    descr: Option<String>,
    /// Axes that it has in each record.
    axes: Vec<u64>,
    /// Its bytes in each.
    offset: usize,
    width: usize,
}

/// The field of records that a column names, as a stream that begins as `.npy` files do; what holds no records as it was.
///
/// # Errors
/// As [`Header::read`]; [`NpyError::Records`] where there are several fields and none is chosen, [`NpyError::NoField`], [`NpyError::NoRecords`].
pub(crate) fn of(
    mut source: Box<dyn Read + Send>,
    column: Option<&Column>,
) -> Result<Box<dyn Read + Send>, Problem> {
    let start = Start::read(&mut source)?;
    behind(start, source, column)
}

/// The same of a stream of which the beginning was read.
pub(super) fn behind(
    start: Start,
    source: Box<dyn Read + Send>,
    column: Option<&Column>,
) -> Result<Box<dyn Read + Send>, Problem> {
    let Literal::List(all) = start.descr()? else {
        return match column {
            None => Ok(Box::new(Cursor::new(start.bytes).chain(source))),
            Some(_) => Err(NpyError::NoRecords.into()),
        };
    };
    let (fields, width) = fields(&all)?;
    let field = chosen(fields, column)?;
    let Some(descr) = field.descr else { return Err(unknown("a structured type").into()) };
    let (head, left) = start.with(&descr, &field.axes)?;
    // Refused before anything of it is read.
    Header::read(&mut &head[..])?;
    let (offset, field) = (field.offset, field.width);
    let (records, taken) = (Vec::new(), Cursor::default());
    let records = Records { source, width, offset, field, left, records, taken };
    Ok(Box::new(Cursor::new(head).chain(records)))
}

/// The names of the fields, of a file that holds records.
pub(crate) fn names(source: &mut (impl Read + ?Sized)) -> Result<Vec<String>, Problem> {
    let Literal::List(all) = Start::read(source)?.descr()? else { return Ok(Vec::new()) };
    Ok(fields(&all)?.0.into_iter().map(|field| field.name).collect())
}

/// All fields but those that fill gaps, and the width of a record.
fn fields(all: &[Literal]) -> Result<(Vec<Field>, usize), NpyError> {
    let mut fields = Vec::new();
    let mut offset = 0usize;
    for one in all {
        let field = field(one, offset)?;
        offset = offset.checked_add(field.width).ok_or_else(too_wide)?;
        if !field.name.is_empty() {
            fields.push(field);
        }
    }
    match offset {
        0 => Err(unknown("a structured type without a field")),
        width => Ok((fields, width)),
    }
}

fn too_wide() -> NpyError {
    NpyError::Header("its records are wider than memory".into())
}

fn field(one: &Literal, offset: usize) -> Result<Field, NpyError> {
    let wrong = || NpyError::Header("a field of its records is no name with a type".into());
    let Literal::Tuple(parts) = one else { return Err(wrong()) };
    let (name, descr, shape) = match &parts[..] {
        [name, descr] => (name, descr, &[][..]),
        [name, descr, Literal::Tuple(shape)] => (name, descr, &shape[..]),
        _ => return Err(wrong()),
    };
    let name = match name {
        Literal::Text(name) => name,
        // A title before the name.
        Literal::Tuple(both) => match &both[..] {
            [_, Literal::Text(name)] => name,
            _ => return Err(wrong()),
        },
        _ => return Err(wrong()),
    };
    let axis = |axis: &Literal| match axis {
        Literal::Integer(axis) => Ok(*axis),
        _ => Err(wrong()),
    };
    let axes = shape.iter().map(axis).collect::<Result<Vec<u64>, _>>()?;
    let (descr, width) = match descr {
        Literal::Text(descr) => (Some(descr.clone()), width(descr)?),
        Literal::List(inner) => (None, fields(inner)?.1),
        _ => return Err(wrong()),
    };
    let width =
        axes.iter().try_fold(width, |all, &axis| all.checked_mul(usize::try_from(axis).ok()?));
    Ok(Field { name: name.clone(), descr, axes, offset, width: width.ok_or_else(too_wide)? })
}

/// Bytes of a type by its name: `<f8`, `|S5`, `<U5` (of four bytes each), `<M8[ns]`.
fn width(descr: &str) -> Result<usize, NpyError> {
    let code = descr.trim_start_matches(['<', '>', '|', '=']);
    let (kind, rest) = code.split_at_checked(1).unwrap_or(("", code));
    let digits = rest.split('[').next().unwrap_or_default();
    match (kind, digits.parse::<usize>()) {
        ("O", _) => Err(NpyError::Objects),
        ("U", Ok(n)) => n.checked_mul(4).ok_or_else(too_wide),
        ("b" | "i" | "u" | "f" | "c" | "S" | "a" | "V" | "m" | "M", Ok(n)) => Ok(n),
        _ => Err(unknown(&format!("{descr:?}"))),
    }
}

fn chosen(mut fields: Vec<Field>, column: Option<&Column>) -> Result<Field, NpyError> {
    let at = match column {
        None if fields.len() == 1 => Some(0),
        None => return Err(NpyError::Records { fields: shown(&fields) }),
        Some(Column::Index(index)) => {
            usize::try_from(index - 1).ok().filter(|&at| at < fields.len())
        }
        Some(Column::Name(name)) => fields.iter().position(|field| field.name == *name),
    };
    let missing = || {
        let (requested, near) = match column {
            Some(Column::Name(name)) => {
                (format!("{name:?}"), near(name, fields.iter().map(|field| field.name.as_str())))
            }
            Some(Column::Index(index)) => (index.to_string(), None),
            None => (String::new(), None),
        };
        let near = near.map_or_else(String::new, |near| format!("did you mean {near:?}? "));
        NpyError::NoField { requested, near, fields: shown(&fields) }
    };
    let at = at.ok_or_else(missing)?;
    Ok(fields.swap_remove(at))
}

fn shown(fields: &[Field]) -> String {
    let names = fields.iter().take(SHOWN).map(|field| field.name.escape_debug().to_string());
    let more = if fields.len() > SHOWN { ", …" } else { "" };
    names.collect::<Vec<_>>().join(", ") + more
}

/// The bytes of a field, one record after another.
struct Records {
    source: Box<dyn Read + Send>,
    /// Bytes of a record, and where the field lies in it.
    width: usize,
    offset: usize,
    field: usize,
    /// Records that were promised and not read.
    left: u64,
    /// Records as they were read.
    records: Vec<u8>,
    /// What was taken out of them.
    taken: Cursor<Vec<u8>>,
}

impl Records {
    /// Takes the field out of the next records. One that is cut short gives nothing, and what comes behind the last a byte: too little and too much for whoever counts.
    fn refill(&mut self) -> io::Result<()> {
        let next = self.left.min(RECORDS as u64);
        // Where all were read, a byte more is looked for.
        let room = next.saturating_mul(self.width as u64).max(1);
        self.records.clear();
        (&mut self.source).take(room).read_to_end(&mut self.records)?;
        let mut taken = std::mem::take(&mut self.taken).into_inner();
        taken.clear();
        if next == 0 {
            taken.extend_from_slice(&self.records);
        } else {
            for record in self.records.chunks_exact(self.width) {
                taken.extend_from_slice(&record[self.offset..self.offset + self.field]);
            }
            self.left -= (self.records.len() / self.width) as u64;
        }
        self.taken = Cursor::new(taken);
        Ok(())
    }
}

impl Read for Records {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.taken.read(buffer)?;
        if n > 0 || buffer.is_empty() {
            return Ok(n);
        }
        self.refill()?;
        self.taken.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(descr: &str) -> Vec<Literal> {
        let header = format!("{{'descr': {descr}, }}");
        match super::super::literal::dictionary(&header).unwrap().remove(0).1 {
            Literal::List(all) => all,
            other => panic!("{other:?} is no list"),
        }
    }

    #[test]
    fn fields_lie_one_behind_another() {
        let all = text(
            "[('a', '|u1'), ('', '|V3'), ('name', '<U5'), (('title', 'b'), '>f4', (2, 3)), ('when', '<M8[ns]'), ('in', [('x', '<f8'), ('y', '|S3')])]",
        );
        let (fields, width) = fields(&all).unwrap();
        let found: Vec<_> = fields.iter().map(|f| (f.name.as_str(), f.offset, f.width)).collect();
        let expected =
            [("a", 0, 1), ("name", 4, 20), ("b", 24, 24), ("when", 48, 8), ("in", 56, 11)];
        assert_eq!((found, width), (expected.to_vec(), 67));
        assert_eq!(fields[2].axes, [2, 3]);
        for wrong in ["[('a', 5)]", "[('a',)]", "['a']", "[]", "[('a', '|O')]", "[('a', '<q4')]"] {
            assert!(super::fields(&text(wrong)).is_err(), "{wrong}");
        }
    }
}
