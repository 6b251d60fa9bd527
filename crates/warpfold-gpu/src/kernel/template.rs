//! Templates: PTX with pseudo-instructions, in the place of which code is put that is known when a kernel is launched.

use crate::Result;

/// A template whose pseudo-instructions were replaced.
pub(super) struct Replaced {
    text: String,
    /// Which of the template's lines, counted from one, each line stands for.
    lines: Vec<u32>,
    /// Where the body begins: in the text, in its lines, and the template's line before.
    body: (usize, usize, u32),
}

/// Replaces each pseudo-instruction by what `code` makes of it, without `warpfold.` and the end.
///
/// # Panics
/// If the template has no body.
pub(super) fn replace(
    template: &str,
    mut code: impl FnMut(&str) -> Result<String>,
) -> Result<Replaced> {
    let mut text = String::with_capacity(2 * template.len());
    let (mut lines, mut body) = (Vec::new(), None);
    for (number, line) in (1..).zip(template.lines()) {
        let line = line.trim_end();
        let replaced = match line.trim().strip_prefix("warpfold.") {
            Some(marker) => code(marker.trim_end_matches(';'))?,
            None => format!("{line}\n"),
        };
        lines.extend(std::iter::repeat_n(number, replaced.lines().count()));
        text.push_str(&replaced);
        if line == "{" {
            body = body.or(Some((text.len(), lines.len(), number)));
        }
    }
    let body = body.unwrap_or_else(|| unreachable!("a template has a body"));
    Ok(Replaced { text, lines, body })
}

impl Replaced {
    /// The text with what its code takes for granted before all else, and the template's line of each of its lines.
    pub(super) fn declaring(self, declared: &str) -> (String, Vec<u32>) {
        let Replaced { mut text, mut lines, body: (at, line, number) } = self;
        text.insert_str(at, declared);
        lines.splice(line..line, std::iter::repeat_n(number, declared.lines().count()));
        (text, lines)
    }
}
