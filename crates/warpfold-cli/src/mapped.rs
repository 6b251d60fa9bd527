//! Reductions of an expression of several inputs, which are read side by side.

mod side;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use warpfold::map::{Expressions, Folded, Map, Measure};
use warpfold::partial::Finish;
use warpfold::{DType, Error, Op, Policy};

use crate::args::{Reduction, Verbosity};
use crate::device::{self, Device, Executor, Work};
use crate::input::text::Column;
use crate::input::{self, Input, Name};
use crate::left_out::{Joined, Texts};
use crate::operator::OperatorFile;
use crate::progress::Progress;
use crate::report::{self, Answer, Report};
use crate::{Failure, deliver, opening};
pub(crate) use side::{Side, is_text, step, types};

/// The name of the inputs themselves.
pub(crate) const X: &str = "x";
/// The name of weights that are a file.
const WEIGHTS: &str = "weights";

/// Runs a reduction of an expression, and prints what comes of it.
pub(crate) fn reduction(args: &Reduction) -> Result<(), Failure> {
    check(args)?;
    opening::check_result_file(args)?;
    let (finish, begun) = (args.finish()?, Instant::now());
    let (wanted, mut sides) = opened(args)?;
    let map = wanted.map(args, &side::types(&sides))?;
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
    // All sides have lost the same rows.
    let joined = sides.first().map(Side::joined).unwrap_or_default();
    let output = wanted.answer(args.op(), (&map, &folded), finish, &joined);
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
    deliver::one(args, &report)
}

/// What folds: the processor, unless another device is asked for by name.
fn executor(args: &Reduction, map: &Map) -> Result<Executor, Failure> {
    executor_of(args, map.dtype())
}

/// The same of elements of a type.
pub(crate) fn executor_of(args: &Reduction, dtype: DType) -> Result<Executor, Failure> {
    let device = match args.device {
        Device::Auto => Device::Cpu,
        named => named,
    };
    let work = Work { op: args.op(), dtype, policy: args.policy(), bytes: None };
    Ok(device::choose(device, work, &args.tuning())?.executor)
}

/// What is asked for, before the inputs' types are known.
pub(crate) enum MapRequest {
    One(Box<Expressions>),
    /// Several results, for which one condition holds.
    Several(Vec<warpfold::map::Reduction>, Option<String>),
}

impl MapRequest {
    /// Every input that is named, once.
    pub(crate) fn names(&self) -> Result<Vec<String>, Failure> {
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
    pub(crate) fn map(&self, args: &Reduction, inputs: &[(&str, DType)]) -> Result<Map, Failure> {
        let made = self.made(args.op(), inputs, args.policy());
        made.map_err(|error| blamed(args, inputs, error))
    }

    /// The same under a policy, with errors as the library has them.
    pub(crate) fn made(
        &self,
        op: Op,
        inputs: &[(&str, DType)],
        policy: Policy,
    ) -> Result<Map, Error> {
        match self {
            MapRequest::One(expressions) => Map::new(op, expressions, inputs, policy),
            MapRequest::Several(all, keep) => Map::all(all, keep.as_deref(), inputs, policy),
        }
    }

    /// The results of what was folded, whose indices count the rows that were left out.
    pub(crate) fn answer(
        &self,
        op: Op,
        (map, folded): (&Map, &Folded),
        finish: Finish,
        joined: &Joined,
    ) -> Result<Answer, Failure> {
        let MapRequest::Several(wanted, _) = self else {
            return Ok(joined.in_data(op, map.finish(folded, finish)?).into());
        };
        let mut all = Vec::new();
        for (reduction, (name, result)) in wanted.iter().zip(map.results(folded, finish).iter()) {
            match result {
                Ok(output) => {
                    let output = match reduction.measure() {
                        Measure::Op(op) => joined.in_data(op, output.clone()),
                        _ => output.clone(),
                    };
                    all.extend(report::fields(&output).into_iter().map(|(part, value)| {
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
    let sides = sides(args, &wanted.names()?, &with)?;
    Ok((wanted, sides))
}

/// The inputs of these names.
pub(crate) fn sides(
    args: &Reduction,
    names: &[String],
    with: &[(String, PathBuf)],
) -> Result<Vec<Side>, Failure> {
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
    if (columns > 1 || !with.is_empty()) && is_text(args) {
        // Each column is read apart, and the names of all are looked at.
        opening::keep_streams(args)?;
    }
    refuse_two_meanings(args, names)?;
    let beside = side::beside(args, with, names)?;
    let open = |name: &String| Side::open(args, with, name, &beside);
    let mut sides = names.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    if sides.is_empty() {
        // A constant is reduced once for each element.
        sides.push(Side::open(args, with, X, &beside)?);
    }
    check_once(&sides)?;
    check_same(&sides)?;
    Ok(sides)
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

/// The inputs that have names.
pub(crate) fn with(args: &Reduction) -> Result<Vec<(String, PathBuf)>, Failure> {
    let with = args.maps.with.clone();
    match (1..with.len()).find(|&k| with[..k].iter().any(|(name, _)| *name == with[k].0)) {
        None => Ok(with),
        Some(again) => Err(Failure::Usage(format!(
            "--with names {} twice; give each input a name of its own",
            with[again].0
        ))),
    }
}

/// What is reduced, and the inputs that have names.
pub(crate) fn wanted(args: &Reduction) -> Result<(MapRequest, Vec<(String, PathBuf)>), Failure> {
    let maps = &args.maps;
    let mut with = with(args)?;
    if !maps.of.is_empty() {
        return Ok((MapRequest::Several(maps.of.clone(), maps.keep.clone()), with));
    }
    let mut expressions = Expressions::value(maps.map.as_deref().unwrap_or(X)).map_err(usage)?;
    if let Some(text) = &maps.keep {
        expressions = expressions.keep(text).map_err(|error| option("--where", error))?;
    }
    if let Some(text) = &maps.weights {
        if let Some(file) = weights_file(args, &with, text)? {
            let name = free_name(args, &with, &expressions);
            expressions = expressions.weights(&name).map_err(usage)?;
            with.push((name, file));
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

/// The file that `--weights` names, if there is one.
///
/// # Errors
/// [`Failure::Usage`] where the same text is a column, or an expression of names that are known.
fn weights_file(
    args: &Reduction,
    with: &[(String, PathBuf)],
    text: &str,
) -> Result<Option<PathBuf>, Failure> {
    let file = PathBuf::from(text);
    if !file.is_file() {
        return Ok(None);
    }
    if is_text(args) {
        opening::keep_streams(args)?;
    }
    let meaning = |name: &str| match name {
        _ if with.iter().any(|(known, _)| known == name) => Some("what --with calls so".into()),
        X if args.text_with(X).is_none() => Some("what x stands for, the inputs themselves".into()),
        _ => {
            let text = args.text_with(name)?.display().to_string();
            Some(format!("a column of {}", text.escape_debug()))
        }
    };
    let as_column = meaning(text).map(|meaning| (meaning, format!("'(\"{text}\")'")));
    let as_expression = || {
        let expression = Expressions::value(text).ok()?;
        let names = expression.names();
        let known: Option<Vec<String>> = names.iter().map(|name| meaning(name)).collect();
        let is_expression = known.is_some_and(|known| !known.is_empty());
        is_expression
            .then(|| ("an expression of names that are known".into(), format!("'({text})'")))
    };
    match as_column.or_else(as_expression) {
        None => Ok(Some(file)),
        Some((meaning, other)) => Err(Failure::Usage(format!(
            "--weights {text} is a file, and {meaning}; say ./{text} for the file, or {other} for the other"
        ))),
    }
}

/// A name for weights that are a file, which nothing else has.
fn free_name(args: &Reduction, with: &[(String, PathBuf)], expressions: &Expressions) -> String {
    let is_taken = |name: &String| {
        with.iter().any(|(known, _)| known == name)
            || expressions.names().contains(&name.as_str())
            || args.text_with(name).is_some()
    };
    let more = (2u64..).map(|k| format!("{WEIGHTS}{k}"));
    let mut names = std::iter::once(WEIGHTS.to_string()).chain(more);
    names.find(|name| !is_taken(name)).unwrap_or_else(|| unreachable!("names have no end"))
}

/// The columns of a text whose missing cells leave rows out of all that an expression names, and out of its keys.
pub(crate) fn beside(args: &Reduction) -> Result<Vec<Column>, Failure> {
    let (names, with) = match &args.maps.operator {
        Some(path) => (OperatorFile::read(path)?.names()?, with(args)?),
        None => {
            let (wanted, with) = wanted(args)?;
            (wanted.names()?, with)
        }
    };
    side::beside(args, &with, &names)
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
    if is_said && args.text_with(X).is_some() {
        return Err(Failure::Usage(
            "x would be the column that --column chooses, and there is a column x; leave --column out and say the columns' names".into(),
        ));
    }
    Ok(())
}

/// Fails where two inputs would read what can be read once.
fn check_once(sides: &[Side]) -> Result<(), Failure> {
    let once = sides.iter().flat_map(|side| &side.inputs).map(Input::name);
    let once: Vec<&Name> = once.filter(|name| input::is_read_once(name)).collect();
    match (1..once.len()).find(|&at| once[..at].contains(&once[at])) {
        None => Ok(()),
        Some(at) => Err(Failure::Usage(format!(
            "{} is read once, and two columns of it are two inputs; save it to a file first",
            once[at]
        ))),
    }
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
    match (error, &args.maps.weights) {
        (Error::Map { requested, obstacle, remedy }, Some(weights)) if requested == "weights" => {
            let converted = remedy.split('`').nth(1).filter(|_| PathBuf::from(weights).is_file());
            let name = |text: &str| text.split(['(', ')']).nth(1).map(str::to_owned);
            let advice = match converted.and_then(|text| Some((text, name(text)?))) {
                Some((text, name)) => format!("say --with {name}={weights} --weights '{text}'"),
                None => remedy,
            };
            Failure::Usage(format!("--weights: {obstacle}; {advice}"))
        }
        (error, _) => usage(error),
    }
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
                let device =
                    if args.device.is_processor() { "" } else { "leave out --device and " };
                Failure::Data(format!(
                    "{output}: {}, or {device}say by --empty what stands for it",
                    why("its", op)
                ))
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
