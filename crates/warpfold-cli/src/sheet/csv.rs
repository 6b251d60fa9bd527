//! Tables for programs: without titles and remarks if there is one; each line with its table's title if there are several.

use super::{Render, Sheet};

pub(super) struct Csv;

impl Render for Csv {
    fn render(sheets: &[Sheet]) -> String {
        let tables: Vec<&Sheet> = sheets.iter().filter(|sheet| !sheet.lines.is_empty()).collect();
        let mut writer = ::csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
        for sheet in &tables {
            let title = |name: &str| (tables.len() > 1).then(|| name.to_owned());
            let head = title("table").into_iter().chain(sheet.head.iter().cloned());
            let lines = sheet.lines.iter().map(|line| {
                title(&sheet.title).into_iter().chain(line.iter().cloned()).collect::<Vec<_>>()
            });
            for line in std::iter::once(head.collect::<Vec<_>>()).chain(lines) {
                writer.write_record(line).expect("a vector takes every byte");
            }
        }
        let bytes = writer.into_inner().expect("a vector takes every byte");
        String::from_utf8(bytes).expect("cells are text")
    }
}
