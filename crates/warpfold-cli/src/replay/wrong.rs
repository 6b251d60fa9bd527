//! What a document got wrong: figures by computing them anew, code and statements as they were found.

use warpfold_ladder::replay::{Paper, audit};

use super::beside::digits;
use crate::sheet::Sheet;

/// The list.
pub(super) fn sheet(paper: &Paper) -> Sheet {
    let figures = audit(paper).into_iter().map(|finding| {
        let unit = |number: String| format!("{number} {}", finding.unit).trim_end().to_owned();
        format!(
            "(!) {}, {}: {}, and it is {} ({})",
            finding.place,
            finding.of,
            unit(finding.printed.0.to_owned()),
            unit(digits(finding.should_be)),
            finding.by
        )
    });
    let mistakes = paper
        .mistakes
        .iter()
        .map(|mistake| format!("{}: {} — {}", mistake.place, mistake.says, mistake.truth));
    Sheet {
        title: "What the document got wrong".into(),
        below: figures.chain(mistakes).collect(),
        ..Sheet::default()
    }
}
