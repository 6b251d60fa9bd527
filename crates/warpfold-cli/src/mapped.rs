//! Reductions of an expression of several inputs, which are read side by side.

mod side;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use warpfold::map::{Expressions, Folded, Map};
use warpfold::partial::Finish;
use warpfold::{DType, Error, Op};

use crate::args::{Reduction, Verbosity};
use crate::device::{self, Device, Executor, Work};
use crate::input::text::{Column, Missing};
use crate::input::{self, Input, Name};
use crate::left_out::Texts;
use crate::progress::Progress;
use crate::report::{self, Answer, Format, Report};
use crate::{Failure, run, streams};
pub(crate) use side::Side;
use side::beside;
pub(crate) use side::{is_text, step};

/// The name of the inputs themselves.
const X: &str = "x";
/// The name of weights that are a file.
const WEIGHTS: &str = "weights";

/// Runs a reduction of an expression, and prints what comes of it.
pub(crate) fn reduction(args: &Reduction) -> Result<(), Failure> {
    check(args)?;
    run::check_result_file(args)?;
    let (finish, begun) = (args.finish()?, Instant::now());
    let (wanted, mut sides) = opened(args)?;
    let map = wanted.map(args, &sides)?;
    let executor = executor(args, &map)?;
    if args.verbosity() == Verbosity::Verbose {
        for side in &sides {
            for input in &side.inputs {
                crate::say!("input {}: {}: {}", side.name, input.name(), input.describe());
            }
        }
        for line in map.program().to_string().lines() {
            crate::say!("map: {line}");
        }
    }
    let texts = Texts::of(sides.iter().flat_map(|side| &side.inputs));
    let total =
        sides.iter().map(|side| side.inputs.iter().map(Input::bytes).sum::<Option<u64>>()).sum();
    let mut progress = Progress::start(args.progress(), total);
    let mut folding = Duration::ZERO;
    let mut folded = map.empty();
    let (mut n, mut done) = (0, 0);
    while let Some((count, bytes)) = step(&mut sides, n, |arrays| {
        let start = Instant::now();
        folded.merge(&executor.fold_map(&map, arrays, n)?);
        folding += start.elapsed();
        Ok(())
    })? {
        n += count;
        done += bytes;
        progress.set(done);
    }
    let start = Instant::now();
    let output = wanted.answer(&map, &folded, finish);
    let output = output.map_err(|failure| kept_none(args, n, failure))?;
    folding += start.elapsed();
    let report = Report {
        op: args.op(),
        dtype: map.dtype(),
        n,
        output,
        accuracy: args.accuracy,
        device: executor.device(),
        seconds: begun.elapsed().as_secs_f64(),
        fold_seconds: folding.as_secs_f64(),
        texts: texts.found(args.verbosity() == Verbosity::Verbose),
    };
    if args.verbosity() == Verbosity::Verbose {
        crate::say!("time: {}", report.timing());
    }
    if let Some((path, format)) = &args.out {
        report::replace_file(path, *format, &report)?;
    }
    streams::print(&args.format.unwrap_or(Format::Text).bytes(&report)?)
}

/// What folds: the processor, unless another device is asked for by name.
fn executor(args: &Reduction, map: &Map) -> Result<Executor, Failure> {
    let device = match args.device {
        Device::Auto => Device::Cpu,
        named => named,
    };
    let work = Work { op: args.op(), dtype: map.dtype(), policy: args.policy(), bytes: None };
    Ok(device::choose(device, work, &args.tuning())?.executor)
}

/// What is asked for, before the inputs' types are known.
pub(crate) enum MapRequest {
    One(Box<Expressions>),
    /// Several results, for which one condition holds.
    Several(Vec<warpfold::map::Reduction>, Option<String>),
}

impl MapRequest {
    fn names(&self) -> Result<Vec<String>, Failure> {
        match self {
            MapRequest::One(expressions) => {
                Ok(expressions.names().into_iter().map(str::to_owned).collect())
            }
            MapRequest::Several(all, keep) => {
                Map::names(all, keep.as_deref()).map_err(|error| option("--where", error))
            }
        }
    }

    /// The same for inputs of known types.
    pub(crate) fn map(&self, args: &Reduction, sides: &[Side]) -> Result<Map, Failure> {
        let inputs: Vec<(&str, DType)> =
            sides.iter().map(|side| (side.name.as_str(), side.dtype)).collect();
        match self {
            MapRequest::One(expressions) => {
                Map::new(args.op(), expressions, &inputs, args.policy())
            }
            MapRequest::Several(all, keep) => {
                Map::all(all, keep.as_deref(), &inputs, args.policy())
            }
        }
        .map_err(|error| blamed(args, &inputs, error))
    }

    /// The results of what was folded.
    pub(crate) fn answer(
        &self,
        map: &Map,
        folded: &Folded,
        finish: Finish,
    ) -> Result<Answer, Failure> {
        if let MapRequest::One(_) = self {
            return Ok(map.finish(folded, finish)?.into());
        }
        let mut all = Vec::new();
        for (name, result) in map.results(folded, finish).iter() {
            match result {
                Ok(output) => {
                    all.extend(report::fields(output).into_iter().map(|(part, value)| {
                        let name =
                            if part == "value" { name.into() } else { format!("{name} {part}") };
                        (name, value)
                    }))
                }
                // As stats has it: what does not exist leaves the others.
                Err(Error::Empty { .. } | Error::TooFew { .. }) => all.push((name.into(), None)),
                Err(error) => return Err(error.clone().into()),
            }
        }
        Ok(Answer::Named(all))
    }
}

/// What is asked for, and the inputs that it names.
pub(crate) fn opened(args: &Reduction) -> Result<(MapRequest, Vec<Side>), Failure> {
    let (wanted, with) = wanted(args)?;
    let names = wanted.names()?;
    if let Some((name, _)) = with.iter().find(|(name, _)| !names.contains(name)) {
        return Err(Failure::Usage(format!(
            "--with names {name}, which no expression uses; use it or leave it out"
        )));
    }
    let is_with = |name: &str| with.iter().any(|(known, _)| known == name);
    if let Some(unused) = args.inputs.first()
        && !names.is_empty()
        && names.iter().all(|name| is_with(name))
    {
        let unused = unused.display();
        return Err(Failure::Usage(format!(
            "{unused} is read by no expression, as --with has all of their names; leave it out, or say x for it, or name its columns"
        )));
    }
    let columns = names.iter().filter(|name| !is_with(name)).count();
    if columns > 1 && is_text(args) {
        // Each column is read apart.
        run::keep_standard_input(args)?;
    }
    refuse_two_meanings(args, &names)?;
    let beside = beside(args, &with, &names)?;
    let open = |name: &String| Side::open(args, &with, name, &beside);
    let mut sides = names.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    if sides.is_empty() {
        // A constant is reduced once for each element.
        sides.push(Side::open(args, &with, X, &beside)?);
    }
    check_rows(args, &sides)?;
    check_same(&sides)?;
    Ok((wanted, sides))
}

/// Fails for what expressions do not go with.
pub(crate) fn check(args: &Reduction) -> Result<(), Failure> {
    if !args.maps.of.is_empty() && args.op() != Op::Stats {
        return Err(Failure::Usage(format!(
            "--of says which results stats prints, and {} prints its own; say warpfold stats --of …",
            args.op()
        )));
    }
    let names: Vec<&str> = args.maps.of.iter().map(|reduction| reduction.name()).collect();
    if let Some(again) = (1..names.len()).find(|&k| names[..k].contains(&names[k])) {
        return Err(Failure::Usage(format!(
            "--of asks for {} twice; give each result a name of its own, as in 'far = count(x > 3)'",
            names[again]
        )));
    }
    if args.op() == Op::Dot {
        return Err(Failure::Usage("dot takes two inputs and no --map; say warpfold sum --map 'x * y', whose products are not rounded".into()));
    }
    if let Some((_, format)) = &args.out
        && !args.parts.any()
    {
        format.check_one()?;
    }
    Ok(())
}

/// What is reduced, and the inputs that have names.
fn wanted(args: &Reduction) -> Result<(MapRequest, Vec<(String, PathBuf)>), Failure> {
    let maps = &args.maps;
    let mut with = maps.with.clone();
    if let Some(again) =
        (1..with.len()).find(|&k| with[..k].iter().any(|(name, _)| *name == with[k].0))
    {
        return Err(Failure::Usage(format!(
            "--with names {} twice; give each input a name of its own",
            with[again].0
        )));
    }
    if !maps.of.is_empty() {
        return Ok((MapRequest::Several(maps.of.clone(), maps.keep.clone()), with));
    }
    let mut expressions = Expressions::value(maps.map.as_deref().unwrap_or(X)).map_err(usage)?;
    if let Some(text) = &maps.keep {
        expressions = expressions.keep(text).map_err(|error| option("--where", error))?;
    }
    if let Some(text) = &maps.weights {
        let file = PathBuf::from(text);
        if file.is_file() {
            with.push((WEIGHTS.into(), file));
            expressions = expressions.weights(WEIGHTS).map_err(usage)?;
        } else {
            expressions = expressions.weights(text).map_err(|error| {
                let is_name = text.contains(['/', '.']);
                if is_name {
                    Failure::Usage(format!(
                        "--weights: {text} is no file that exists, and no expression; {error}"
                    ))
                } else {
                    option("--weights", error)
                }
            })?;
        }
    }
    Ok((MapRequest::One(Box::new(expressions)), with))
}

/// Fails where x is a column of the text and what --column chooses as well.
fn refuse_two_meanings(args: &Reduction, names: &[String]) -> Result<(), Failure> {
    let is_x = |column: &Column| matches!(column, Column::Name(name) if name == X);
    if args.column.is_empty() || args.column.iter().any(is_x) || !is_text(args) {
        return Ok(());
    }
    // Without --map, x is among the names though nobody said it.
    let maps = &args.maps;
    let says_x = |text: &String| {
        Expressions::value(text).is_ok_and(|expression| expression.names().contains(&X))
    };
    let is_said = match maps.of.is_empty() {
        true => [&maps.map, &maps.keep, &maps.weights].into_iter().flatten().any(says_x),
        false => names.iter().any(|name| name == X),
    };
    let has_x = |path: &PathBuf| {
        let columns = input::text_columns(&Name::of(path.clone()), args.written.dialect(false));
        columns.is_ok_and(|columns| columns.names.iter().any(|name| name == X))
    };
    let may_look = |path: &&PathBuf| path.as_os_str() != "-" || input::standard::is_kept();
    if is_said && args.inputs.iter().filter(may_look).any(has_x) {
        return Err(Failure::Usage(
            "x would be the column that --column chooses, and there is a column x; leave --column out and say the columns' names".into(),
        ));
    }
    Ok(())
}

/// Rows that are left out would part the inputs.
fn check_rows(args: &Reduction, sides: &[Side]) -> Result<(), Failure> {
    let skips = args.written.dialect(false).missing == Missing::Skip;
    if skips && matches!(args.op(), Op::ArgMin | Op::ArgMax | Op::Stats) {
        return Err(Failure::Usage("--missing skip leaves rows out, and the indices of an expression would not count them; take --missing nan and --where 'not isnan(…)'".into()));
    }
    let standard = |side: &Side| side.inputs.iter().any(|input| *input.name() == Name::Stdin);
    let is_kept = input::standard::is_kept();
    if !is_kept && sides.iter().filter(|side| standard(side)).count() > 1 {
        return Err(Failure::Usage("standard input (-) is read once, and two columns of it are two inputs; save it to a file first".into()));
    }
    Ok(())
}

/// Fails where two columns were opened of a file that changed in between.
fn check_same(sides: &[Side]) -> Result<(), Failure> {
    let all =
        || sides.iter().flat_map(|side| side.inputs.iter().chain(side.otherwise.iter().flatten()));
    for (k, input) in all().enumerate() {
        if let Some(before) = all().take(k).find(|before| before.name() == input.name()) {
            before.monitor().check_same(&input.monitor())?;
        }
    }
    Ok(())
}

/// An error of all expressions, by the option that has it by itself.
fn blamed(args: &Reduction, inputs: &[(&str, DType)], error: Error) -> Failure {
    let alone = |text: &String| {
        let expression = Expressions::value(text).ok()?;
        Map::new(Op::Count, &expression, inputs, args.policy()).err()
    };
    let options = [("--where", &args.maps.keep), ("--weights", &args.maps.weights)];
    for (name, text) in options {
        if let Some(error @ Error::Map { .. }) = text.as_ref().and_then(alone) {
            return option(name, error);
        }
    }
    usage(error)
}

/// What has no value as no element met the condition, or none has a weight.
pub(crate) fn kept_none(args: &Reduction, elements: u64, failure: Failure) -> Failure {
    let maps = &args.maps;
    let why = |of: &str, op: &Op| match (&maps.keep, &maps.weights) {
        (Some(_), None) => format!(
            "the condition of --where kept none of {of} elements, and {op} of nothing has no value; give a condition that some of them meet"
        ),
        (None, _) => format!(
            "the weights of {of} elements sum to zero, and {op} of nothing has no value; give weights of which one is above 0"
        ),
        (Some(_), Some(_)) => format!(
            "of {of} elements the condition of --where kept none with a weight above 0, and {op} of nothing has no value; give a condition that some with weights meet"
        ),
    };
    match &failure {
        _ if maps.keep.is_none() && maps.weights.is_none() => failure,
        Failure::Reduction(Error::Empty { op, ignored: false }) if elements > 0 => {
            Failure::Data(why(&elements.to_string(), op))
        }
        Failure::Reduction(Error::Output { output, error }) => match &**error {
            Error::Empty { op, ignored: false } => {
                Failure::Data(format!("{output}: {}", why("its", op)))
            }
            _ => failure,
        },
        _ => failure,
    }
}

/// An expression that is wrong is a wrong use of the program.
fn usage(error: Error) -> Failure {
    match error {
        Error::Map { ref requested, .. } if requested == "where" => option("--where", error),
        error @ Error::Map { .. } => Failure::Usage(error.to_string()),
        other => other.into(),
    }
}

/// The same for an option that is no map.
fn option(name: &str, error: Error) -> Failure {
    match error {
        Error::Map { requested, obstacle, remedy } => {
            let place = requested.trim_start_matches("map").trim_start_matches("where");
            Failure::Usage(format!("{name}{place}: {obstacle}; {remedy}"))
        }
        other => other.into(),
    }
}
