//! An explanation for a terminal.

use std::fmt::Write as _;

use super::explanation::Explanation;
use super::steps::Step;
use super::verdict::counted;

/// All of it but the banks of each access, which the page shows.
pub(crate) fn render(explanation: &Explanation) -> String {
    let mut out = String::new();
    write_all(explanation, &mut out).expect("strings take text");
    out
}

fn write_all(explanation: &Explanation, out: &mut String) -> std::fmt::Result {
    writeln!(
        out,
        "{} (module {}, schedule {})\n",
        explanation.title(),
        explanation.module,
        explanation.seed
    )?;
    if !explanation.note.is_empty() {
        writeln!(out, "{}\n", explanation.note)?;
    }
    if !explanation.next.is_empty() {
        writeln!(out, "{}", explanation.next)?;
    }
    if let Some(predicted) = &explanation.predicted {
        for line in crate::predict::lines(predicted) {
            writeln!(out, "  {line}")?;
        }
        writeln!(out)?;
    }
    writeln!(out, "Costs of the whole launch")?;
    for verdict in &explanation.verdicts {
        writeln!(out, "  {:<4}  {:<14}  {}", verdict.grade.name(), verdict.cost, verdict.sentence)?;
    }
    writeln!(
        out,
        "\nBlock {}, step by step (consecutive instructions of a source line together)",
        explanation.shown_block
    )?;
    writeln!(
        out,
        "  {:>9}  {:<22} {:>5} {:>11}  what happens",
        "steps", "source", "warps", "lanes"
    )?;
    let mut first = 0;
    while first < explanation.steps.len() {
        let place =
            |step: &Step| (explanation.instructions[step.index as usize].source, step.phase);
        let here = place(&explanation.steps[first]);
        let count =
            explanation.steps[first..].iter().take_while(|step| place(step) == here).count();
        stretch(explanation, first, &explanation.steps[first..first + count], out)?;
        first += count;
    }
    if explanation.steps_left_out > 0 {
        writeln!(
            out,
            "  … and {} more steps; take a smaller --n to see all",
            explanation.steps_left_out
        )?;
    }
    for file in &explanation.files {
        writeln!(out, "\n{}\n  {:>6} {:>6}", file.name, "instr.", "lanes")?;
        let mut last = None;
        for line in &file.lines {
            if last.is_some_and(|last| line.number > last + 1) {
                writeln!(out, "  {:>13}      ⋮", "")?;
            }
            last = Some(line.number);
            let text = line.text.trim_end();
            match &line.cost {
                None => writeln!(out, "  {:>13} {:>4}  {text}", "", line.number)?,
                Some(cost) => {
                    let (count, lanes) = (cost.warp_instructions, 100.0 * cost.efficiency());
                    write!(out, "  {count:>6} {lanes:>4.0} % {:>4}  {text}", line.number)?;
                    match cost.remarks() {
                        remarks if remarks.is_empty() => writeln!(out)?,
                        remarks => writeln!(out, "    ← {remarks}")?,
                    }
                }
            }
        }
    }
    Ok(())
}

/// Consecutive steps of one source line.
fn stretch(
    explanation: &Explanation,
    first: usize,
    steps: &[Step],
    out: &mut String,
) -> std::fmt::Result {
    let source = explanation.instructions[steps[0].index as usize].source;
    let source = source
        .map_or("-".to_owned(), |(file, line)| format!("{}:{line}", explanation.files[file].name));
    let numbers = match steps.len() {
        1 => format!("{}", first + 1),
        count => format!("{}-{}", first + 1, first + count),
    };
    let lanes: Vec<u32> = steps.iter().map(Step::lanes).collect();
    let (least, most) =
        (lanes.iter().min().copied().unwrap_or(0), lanes.iter().max().copied().unwrap_or(0));
    let lanes = if least == most { format!("{most}") } else { format!("{least}-{most}") };
    let warps = steps.iter().map(|step| step.warps.len()).max().unwrap_or(0);
    writeln!(
        out,
        "  {numbers:>9}  {source:<22} {warps:>5} {:>11}  {}",
        format!("{lanes}/{}", explanation.block),
        events(steps)
    )
}

/// What is more than arithmetic.
pub(crate) fn events(steps: &[Step]) -> String {
    let mut explanation: Vec<String> = Vec::new();
    for step in steps {
        let mut places: Vec<(String, [u32; 4])> = Vec::new();
        for reach in step.warps.iter().flat_map(|part| &part.touches) {
            let what = format!("{} {}", reach.verb, reach.place);
            let at = places.iter().position(|(name, _)| *name == what).unwrap_or_else(|| {
                places.push((what, [0; 4]));
                places.len() - 1
            });
            let sums = &mut places[at].1;
            let (taken, ideal) = reach.wavefronts.unwrap_or_default();
            *sums = [
                sums[0] + 1,
                sums[1] + taken,
                sums[2] + ideal,
                sums[3] + reach.sectors.unwrap_or(0),
            ];
        }
        for (what, [requests, taken, ideal, sectors]) in places {
            explanation.push(match (taken, sectors) {
                (0, sectors) => {
                    let (requests, sectors) = (u64::from(requests), u64::from(sectors));
                    format!(
                        "{what}: {}, {}",
                        counted(requests, "request"),
                        counted(sectors, "sector")
                    )
                }
                (taken, _) if taken == ideal => {
                    format!("{what}: {}, no conflict", counted(u64::from(taken), "wavefront"))
                }
                (taken, _) => format!("{what}: {taken} wavefronts for {ideal}"),
            });
        }
        match (step.class, step.diverging()) {
            ("block barrier", _) => explanation.push("barrier".into()),
            ("warp exchange", _) => explanation.push("exchange".into()),
            ("fence", _) => explanation.push("fence".into()),
            (_, 0) => {}
            (_, 1) => explanation.push("1 warp splits".into()),
            (_, warps) => explanation.push(format!("{warps} warps split")),
        }
    }
    // The same thing several times in a row is said once.
    let mut out: Vec<(String, usize)> = Vec::new();
    for event in explanation {
        match out.last_mut() {
            Some((last, times)) if *last == event => *times += 1,
            _ => out.push((event, 1)),
        }
    }
    let said = out.into_iter().map(|(event, times)| match times {
        1 => event,
        times => format!("{event} (×{times})"),
    });
    said.collect::<Vec<_>>().join("; ")
}
