//! From an operator's texts to expressions.

use warpfold_num::{DType, Error, Result};

use super::{MOST_FIELDS, Operator, Written};
use crate::text::{Expr, Points, at};
use crate::types::Type;

/// Characters at most of one of the texts.
const LONGEST: usize = 10_000;

impl Operator {
    /// Reads an operator: what it says of its state, of elements, of neighbours, and of the last state.
    ///
    /// # Errors
    /// [`Error::Map`], with the text and the column that are at fault.
    pub fn parse(written: &Written<'_>) -> Result<Self> {
        let Written { state, lift, merge, finish, identity, commutative, tolerance } = *written;
        let fields = fields(state).map_err(|error| of("state", error))?;
        let one_each = |part: &str, text: &str| -> Result<Vec<Expr>> {
            let all = list(text).map_err(|error| of(part, error))?;
            if all.len() != fields.len() {
                return Err(Error::Map {
                    requested: part.into(),
                    obstacle: format!(
                        "it has {} values, and the state {} fields",
                        all.len(),
                        fields.len()
                    ),
                    remedy: "give one for each field, with commas between them".into(),
                });
            }
            Ok(all)
        };
        let (lift, merge) = (one_each("lift", lift)?, one_each("merge", merge)?);
        let identity = identity.map(|text| one_each("identity", text)).transpose()?;
        let finish =
            finish.map(|text| list(text).map_err(|error| of("finish", error))).transpose()?;
        if tolerance.is_nan() || tolerance < 0.0 {
            return Err(Error::Map {
                requested: "tolerance".into(),
                obstacle: format!("{tolerance} is no part of a magnitude"),
                remedy: "give 0 for operators that do not round, or such as 1e-9".into(),
            });
        }
        Ok(Operator { fields, lift, merge, finish, identity, commutative, tolerance })
    }
}

/// An error of one of the texts.
pub(super) fn of(part: &str, error: Error) -> Error {
    match error {
        Error::Map { requested, obstacle, remedy } => {
            let requested = match requested.strip_prefix("map") {
                Some(column) => format!("{part}{column}"),
                None => format!("{part}, {requested}"),
            };
            Error::Map { requested, obstacle, remedy }
        }
        other => other,
    }
}

/// `n: f64, mean: f64`.
fn fields(text: &str) -> Result<Vec<(String, Type)>> {
    let mut fields: Vec<(String, Type)> = Vec::new();
    for (start, piece) in pieces(text)? {
        let column = |byte: usize| text[..start + byte].chars().count() + 1;
        let first = piece.len() - piece.trim_start().len();
        let example = "write it as mean: f64";
        let Some((name, ty)) = piece.split_once(':') else {
            return Err(at(column(first), "a field has a name and a type", example));
        };
        let name = name.trim();
        let begins = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        if !begins || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            return Err(at(
                column(first),
                "a field's name has letters, digits and _ alone",
                example,
            ));
        }
        if fields.iter().any(|(other, _)| other == name) {
            return Err(at(
                column(first),
                format!("`{name}` is there already"),
                "give each field a name of its own",
            ));
        }
        let behind = piece.len() - ty.trim_start().len();
        let known = match ty.trim().parse::<DType>() {
            Ok(DType::F64) => Type::F64,
            Ok(DType::F32) => Type::F32,
            Ok(DType::I64) => Type::I64,
            Ok(DType::U64) => Type::U64,
            _ => {
                let shown: String = ty.trim().chars().take(40).collect();
                let obstacle = format!("`{}` is no type of a field", shown.escape_debug());
                return Err(at(column(behind), obstacle, "fields are of f64, f32, i64 or u64"));
            }
        };
        if fields.len() == MOST_FIELDS {
            let obstacle = format!("a state has {MOST_FIELDS} fields at most");
            return Err(at(column(first), obstacle, "leave out what others say already"));
        }
        fields.push((name.into(), known));
    }
    Ok(fields)
}

/// Expressions with commas between them.
fn list(text: &str) -> Result<Vec<Expr>> {
    let pieces = pieces(text)?;
    if pieces.len() > MOST_FIELDS {
        let column = text[..pieces[MOST_FIELDS].0].chars().count() + 1;
        let obstacle = format!("there are {} values, and {MOST_FIELDS} at most", pieces.len());
        return Err(at(column, obstacle, "leave out some"));
    }
    // Blanks stand for what is before, so that columns are those of the whole text.
    let parse = |(start, piece): (usize, &str)| {
        Expr::read(&format!("{}{piece}", " ".repeat(text[..start].chars().count())), Points::Join)
    };
    pieces.into_iter().map(parse).collect()
}

/// What stands between the commas that are in no brackets and no quotes, and where each begins.
fn pieces(text: &str) -> Result<Vec<(usize, &str)>> {
    let characters = text.chars().count();
    if characters > LONGEST {
        let obstacle = format!("the text has {characters} characters, and {LONGEST} are read");
        return Err(at(LONGEST + 1, obstacle, "say it in fewer"));
    }
    let (mut all, mut start, mut depth, mut quote) = (Vec::new(), 0, 0usize, None);
    for (index, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '`') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                all.push((start, &text[start..index]));
                start = index + 1;
            }
            _ => {}
        }
    }
    all.push((start, &text[start..]));
    Ok(all)
}
