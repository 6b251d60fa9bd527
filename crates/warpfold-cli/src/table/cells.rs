//! [`Cells`]: a column of a table.

use warpfold::{Column, Value};

use super::json::quoted;
use crate::report::{plain, token, type_name};

/// A column of a table.
pub(crate) enum Cells {
    /// Numbers of one type.
    Numbers(Column),
    /// Words, dates, times, decimals, or numbers of several types; `None` where there is none.
    Printed(Vec<Option<Printed>>),
}

/// A cell as it is printed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Printed {
    pub(crate) text: String,
    /// What JSON has for it.
    pub(crate) token: String,
    /// The name of its type.
    pub(crate) dtype: String,
    pub(crate) typed: Typed,
}

/// What a cell is, for files that keep types.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Typed {
    Value(Value),
    /// A string, which is its text.
    Word,
    /// A date, time or decimal.
    #[cfg(feature = "parquet")]
    Cell(warpfold_arrow::Cell),
}

impl Printed {
    /// A string.
    pub(crate) fn word(text: String) -> Printed {
        Printed { token: quoted(&text), text, dtype: "utf8".into(), typed: Typed::Word }
    }
}

impl From<Value> for Printed {
    fn from(value: Value) -> Printed {
        let (text, token) = (plain(value), token(value));
        Printed { text, token, dtype: type_name(value).into(), typed: Typed::Value(value) }
    }
}

impl From<Column> for Cells {
    fn from(column: Column) -> Cells {
        Cells::Numbers(column)
    }
}

impl Cells {
    pub(crate) fn len(&self) -> usize {
        match self {
            Cells::Numbers(column) => column.len(),
            Cells::Printed(cells) => cells.len(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers, if it is these.
    pub(super) fn numbers(&self) -> Option<&Column> {
        match self {
            Cells::Numbers(column) => Some(column),
            Cells::Printed(_) => None,
        }
    }

    /// A column of one of them.
    #[cfg(feature = "parquet")]
    pub(super) fn only(&self, row: usize) -> Cells {
        Cells::Printed(vec![self.cell(row)])
    }

    /// One of them; `None` where there is none.
    pub(crate) fn cell(&self, row: usize) -> Option<Printed> {
        match self {
            Cells::Numbers(column) => Some(column.get(row).into()),
            Cells::Printed(cells) => cells[row].clone(),
        }
    }

    /// One of them as text; nothing where there is none.
    pub(crate) fn text(&self, row: usize) -> String {
        match self {
            Cells::Numbers(column) => plain(column.get(row)),
            Cells::Printed(cells) => {
                cells[row].as_ref().map_or_else(String::new, |cell| cell.text.clone())
            }
        }
    }

    /// The same for readers; `-` where there is none.
    pub(crate) fn shown(&self, row: usize) -> String {
        match self {
            Cells::Printed(cells) if cells[row].is_none() => "-".into(),
            _ => self.text(row),
        }
    }

    /// One of them as JSON.
    pub(super) fn token(&self, row: usize) -> String {
        match self {
            Cells::Numbers(column) => token(column.get(row)),
            Cells::Printed(cells) => {
                cells[row].as_ref().map_or_else(|| "null".into(), |cell| cell.token.clone())
            }
        }
    }

    /// Their type as JSON; a list of one for each where there are several.
    pub(super) fn types(&self) -> String {
        let dtype = |row| self.cell(row).map_or_else(|| "null".into(), |cell| quoted(&cell.dtype));
        let Cells::Printed(cells) = self else { return dtype(0) };
        let mut types: Vec<&str> = cells.iter().flatten().map(|cell| &*cell.dtype).collect();
        types.dedup();
        match types[..] {
            [one] => quoted(one),
            _ => format!("[{}]", (0..cells.len()).map(dtype).collect::<Vec<_>>().join(",")),
        }
    }
}

impl Cells {
    /// Values as a column: numbers where all are there and of one type.
    pub(crate) fn of_values(values: Vec<Option<Value>>) -> Cells {
        let is_one_type = |values: &Vec<Value>| {
            values
                .windows(2)
                .all(|pair| std::mem::discriminant(&pair[0]) == std::mem::discriminant(&pair[1]))
        };
        let all: Option<Vec<Value>> = values.iter().copied().collect();
        match all.filter(|all| !all.is_empty() && is_one_type(all)) {
            Some(all) => Cells::Numbers(warpfold::Column::of_values(all)),
            None => {
                Cells::Printed(values.into_iter().map(|value| value.map(Printed::from)).collect())
            }
        }
    }
}

/// The values of a result, by their names.
type Fields<'a> = Vec<(&'a str, Option<Value>)>;

/// A column under each title, of results that are a row each; of one that does not exist, nothing.
pub(crate) fn columns_of(titles: &[&str], rows: &[Option<Fields<'_>>]) -> Vec<(String, Cells)> {
    let cell = |at: usize| rows.iter().map(|row| row.as_ref()?[at].1).collect();
    let titles = titles.iter().enumerate();
    titles.map(|(at, &title)| (title.into(), Cells::of_values(cell(at)))).collect()
}
