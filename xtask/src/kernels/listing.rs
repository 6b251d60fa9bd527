//! PTX made with `-lineinfo`, parted: the PTX as it would be without, and a small table of the lines it came from.
//!
//! Kept in the PTX, the lines would double it, for every user of the library. The table names the source files on its first line; each line
//! after it says how many PTX lines further on the code of another source line begins, the file's number and the source line (0: none).

use std::collections::HashMap;
use std::fmt::Write as _;

/// The PTX, and its table.
pub(super) fn part(ptx: &str) -> (String, String) {
    let named = files(ptx);
    let (mut text, mut table) = (String::with_capacity(ptx.len()), String::new());
    let mut order: Vec<&str> = Vec::new();
    let (mut lines, mut written_at, mut last, mut here) = (0, 0, None, None);
    for line in ptx.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some(".section") => break,
            Some(".file") => continue,
            Some(".loc") => {
                let file =
                    words.next().and_then(|index| Some(named.iter().find(|f| f.0 == index)?.1));
                // What the compiler's own header does is done for the line that asks for it.
                if file.is_none_or(|name| !name.contains("nvrtc_builtin")) {
                    here = file.zip(words.next());
                }
                continue;
            }
            _ => {}
        }
        text += line;
        text.push('\n');
        lines += 1;
        if let (Some((file, number)), true) = (here, here != last) {
            let at = order.iter().position(|name| *name == file).unwrap_or_else(|| {
                order.push(file);
                order.len() - 1
            });
            writeln!(table, "{} {} {number}", lines - written_at, at + 1)
                .expect("strings take text");
            (written_at, last) = (lines, here);
        }
    }
    (text, order.join(" ") + "\n" + &table)
}

/// Without the constants that no instruction reads: NVRTC writes out every `constexpr` that it has met, a tenth of each module.
pub(super) fn without_unread_constants(ptx: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let mut met = HashMap::<&str, u32>::new();
    ptx.split(|c| !is_name(c)).for_each(|name| *met.entry(name).or_default() += 1);
    let unread = |line: &str| {
        let declared =
            line.strip_prefix(".global ").and_then(|rest| rest.split([';', '=', '[']).next());
        declared.and_then(|rest| rest.split_whitespace().last()).is_some_and(|name| met[name] == 1)
    };
    let kept = ptx.lines().filter(|line| !unread(line));
    kept.fold(String::with_capacity(ptx.len()), |text, line| text + line + "\n")
}

/// The PTX, lines included, without what depends on the folder it was made in and the constants of `nv::target` that nothing uses.
pub(super) fn without_paths(ptx: &str) -> String {
    let kept =
        ptx.lines().filter(|line| !(line.starts_with(".global") && line.contains("2nv6target")));
    kept.fold(String::with_capacity(ptx.len()), |text, line| {
        let line = match line.trim_start().strip_prefix(".file") {
            Some(rest) => match (rest.find('"'), rest.rfind('/')) {
                (Some(open), Some(slash)) => {
                    format!("\t.file{}{}", &rest[..=open], &rest[slash + 1..])
                }
                _ => line.to_owned(),
            },
            None => line.to_owned(),
        };
        text + &line + "\n"
    })
}

/// The source files by the number that `.loc` calls them, without their folders.
fn files(ptx: &str) -> Vec<(&str, &str)> {
    let directives = ptx.lines().filter_map(|line| line.trim_start().strip_prefix(".file"));
    directives
        .filter_map(|rest| {
            let (index, name) = rest.trim().split_once(char::is_whitespace)?;
            let name = name.trim().trim_matches('"');
            Some((index, name.rsplit('/').next().unwrap_or(name)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "\
.visible .entry f()
{
\t.loc\t2 7 1
\tmov.u32 %r1, 0;
\tmov.u32 %r2, 0;
\t.loc\t1 0 5
\tret;
}
\t.file\t1 \"/somewhere/a.cuh\"
\t.file\t2 \"/somewhere/b.cu\"
\t.section\t.debug_str
";

    #[test]
    fn lines_go_to_the_table_and_the_rest_stays() {
        let (text, table) = part(PTX);
        assert_eq!(
            text,
            ".visible .entry f()\n{\n\tmov.u32 %r1, 0;\n\tmov.u32 %r2, 0;\n\tret;\n}\n"
        );
        assert_eq!(table, "b.cu a.cuh\n3 1 7\n2 2 0\n");
    }

    #[test]
    fn constants_stay_where_something_reads_them() {
        let ptx = "\
.global .align 4 .u32 COUNT = 4;
.global .align 4 .b8 table[8] = {1, 2};
.global .align 4 .u32 COUNT2 = 5;
mov.u64 %rd1, table;
";
        let kept = without_unread_constants(ptx);
        assert_eq!(kept.lines().count(), 2, "{kept}");
        assert!(kept.starts_with(".global .align 4 .b8 table[8]"), "{kept}");
    }

    #[test]
    fn folders_are_cut() {
        assert!(without_paths(PTX).contains("\t.file\t1 \"a.cuh\"\n"));
    }
}
