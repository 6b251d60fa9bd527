//! Numbered names of PTX, such as `%rd12` and `$L__BB0_3`, by how long ago each was used and not by its number.
//!
//! The compiler numbers registers and labels through a whole kernel, so that the same code has other numbers wherever it stands, and nothing that
//! compresses text finds it again. Told by recency it is the same everywhere: a name that was used before by its place among the names of its class, last
//! used first, a new one by its distance from the newest. That halves what compressed PTX takes.
//!
//! PTX is ASCII, so a byte beyond that, in place of a number, begins what stands for it.

use std::collections::HashMap;

/// New, and the number after the newest one's.
const NEXT: u8 = 0x80;
/// Used before: this and the place among the last used, from 1 on.
const LAST_USED: u8 = 0x80;
/// The places that are bytes.
const NEAR: usize = 0x7c;
/// Used before, the place in decimal digits.
const USED: u8 = 0xfd;
/// New, the distance from the newest one in decimal digits, with a sign if it lies before.
const NEW: u8 = 0xfe;

/// The names of one class, `%rd` or `$L__BB0_`.
#[derive(Default)]
struct Class {
    /// Their numbers, last used last.
    used: Vec<i64>,
    newest: i64,
}

impl Class {
    /// Takes the name at a place among the last used to the front.
    fn reuse(&mut self, index: usize) -> i64 {
        let number = self.used.remove(self.used.len() - index);
        self.used.push(number);
        number
    }

    fn first(&mut self, number: i64) {
        self.used.push(number);
        self.newest = number;
    }
}

/// Where the first name of a text begins, ends, and how long its class is.
fn first_name(text: &[u8]) -> Option<(usize, usize)> {
    let begin = text.iter().position(|byte| matches!(byte, b'%' | b'$'))?;
    let in_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    Some((begin, begin + 1 + text[begin + 1..].iter().take_while(in_name).count()))
}

/// The digits at the end of a text, or at its beginning.
fn digits<'a>(bytes: impl Iterator<Item = &'a u8>) -> usize {
    bytes.take_while(|byte| byte.is_ascii_digit()).count()
}

/// PTX with short names, as the task that makes the pack wants it.
pub fn shorten(ptx: &str) -> Vec<u8> {
    let mut classes: HashMap<&[u8], Class> = HashMap::new();
    let (mut short, mut rest) = (Vec::with_capacity(ptx.len()), ptx.as_bytes());
    while let Some((begin, end)) = first_name(rest) {
        let number = end - digits(rest[begin..end].iter().rev());
        short.extend_from_slice(&rest[..number]);
        let (class, written) = (&rest[begin..number], &rest[number..end]);
        rest = &rest[end..];
        let Some(number) = plain_number(written) else {
            short.extend_from_slice(written);
            continue;
        };
        let class = classes.entry(class).or_default();
        match class.used.iter().rposition(|&used| used == number) {
            Some(at) => {
                let index = class.used.len() - at;
                class.reuse(index);
                match index {
                    ..=NEAR => short.push(LAST_USED + index as u8),
                    _ => short.extend_from_slice(&[&[USED], index.to_string().as_bytes()].concat()),
                }
            }
            None => {
                match number - class.newest {
                    1 => short.push(NEXT),
                    by => short.extend_from_slice(&[&[NEW], by.to_string().as_bytes()].concat()),
                }
                class.first(number);
            }
        }
    }
    short.extend_from_slice(rest);
    short
}

/// A number as it is printed, so that it can be printed again.
fn plain_number(written: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(written).ok()?;
    text.parse::<u32>().ok().filter(|number| number.to_string() == text).map(i64::from)
}

/// The PTX that was shortened.
pub fn restore(short: &[u8]) -> String {
    let mut classes: HashMap<&[u8], Class> = HashMap::new();
    let (mut ptx, mut rest) = (String::with_capacity(short.len() * 5 / 4), short);
    let ascii = |bytes| std::str::from_utf8(bytes).expect("the pack holds ASCII text");
    while let Some((begin, end)) = first_name(rest) {
        let (before, class) = (&rest[..end], &rest[begin..end]);
        ptx.push_str(ascii(before));
        rest = &rest[end..];
        let Some(&code) = rest.first().filter(|byte| !byte.is_ascii()) else { continue };
        rest = &rest[1..];
        let mut decimal = || {
            let sign = usize::from(rest.first() == Some(&b'-'));
            let (number, after) = rest.split_at(sign + digits(rest[sign..].iter()));
            rest = after;
            ascii(number).parse::<i64>().expect("a number was shortened to a number")
        };
        let class = classes.entry(class).or_default();
        let number = match code {
            NEXT => None,
            USED => Some(class.reuse(decimal() as usize)),
            NEW => {
                class.newest += decimal() - 1;
                None
            }
            near => Some(class.reuse(usize::from(near - LAST_USED))),
        };
        let number = number.unwrap_or_else(|| {
            class.first(class.newest + 1);
            class.newest
        });
        ptx.push_str(&number.to_string());
    }
    ptx.push_str(ascii(rest));
    ptx
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_by_recency_and_restored() {
        let ptx = "\tadd.s64 \t%rd13, %rd12, %rd7;\n\t@%p1 bra \t$L__BB0_12;\nmov.u32 %r05, %tid.x;\n.reg .b64 %rd<838>; %rd12%rd13 a$ %";
        let short = shorten(ptx);
        assert!(short.starts_with(
            b"\tadd.s64 \t%rd\xfe13, %rd\xfe-1, %rd\xfe-5;\n\t@%p\x80 bra \t$L__BB0_\xfe12;\n"
        ));
        assert!(
            short.ends_with(b"%r05, %tid.x;\n.reg .b64 %rd<838>; %rd\x82%rd\x83 a$ %"),
            "{short:?}"
        );
        assert_eq!(restore(&short), ptx);
    }

    #[test]
    fn names_of_long_ago_are_restored() {
        let many: String = (0..300).chain([0, 299, 7]).map(|k| format!("%r{k};")).collect();
        assert_eq!(restore(&shorten(&many)), many);
    }
}
