//! Reductions of an expression of several inputs, which are read side by side.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use warpfold::map::{Expressions, Folded, HostArray, Map};
use warpfold::partial::Finish;
use warpfold::{DType, Error, Op};

use crate::args::{Reduction, Verbosity};
use crate::device::{self, Device, Executor, Work};
use crate::input::text::{Column, Missing, TextError};
use crate::input::{self, Input, Kind, Name, Order, Pieces, Problem, Wanted, Whole};
use crate::left_out::Texts;
use crate::progress::Progress;
use crate::report::{self, Answer, Format, Report};
use crate::{Failure, run, streams};

/// The name of the inputs themselves.
const X: &str = "x";
/// The name of weights that are a file.
const WEIGHTS: &str = "weights";

/// Runs a reduction of an expression, and prints what comes of it.
pub(crate) fn reduction(asked: &Reduction) -> Result<(), Failure> {
    check(asked)?;
    let (finish, begun) = (asked.finish()?, Instant::now());
    let (wanted, mut sides) = opened(asked)?;
    let map = wanted.map(asked, &sides)?;
    let executor = executor(asked, &map)?;
    if asked.verbosity() == Verbosity::Verbose {
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
    let mut progress = Progress::start(asked.progress(), total);
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
    let output = wanted.answer(&map, &folded, finish)?;
    folding += start.elapsed();
    let report = Report {
        op: asked.op(),
        dtype: map.dtype(),
        n,
        output,
        accuracy: asked.accuracy,
        device: executor.device(),
        seconds: begun.elapsed().as_secs_f64(),
        fold_seconds: folding.as_secs_f64(),
        texts: texts.found(asked.verbosity() == Verbosity::Verbose),
    };
    if asked.verbosity() == Verbosity::Verbose {
        crate::say!("time: {}", report.timing());
    }
    if let Some((path, format)) = &asked.out {
        report::replace_file(path, *format, &report)?;
    }
    streams::print(&asked.format.unwrap_or(Format::Text).bytes(&report)?)
}

/// What folds: the processor, unless another device is asked for by name.
fn executor(asked: &Reduction, map: &Map) -> Result<Executor, Failure> {
    let device = match asked.device {
        Device::Auto => Device::Cpu,
        named => named,
    };
    let work = Work { op: asked.op(), dtype: map.dtype(), policy: asked.policy(), bytes: None };
    Ok(device::choose(device, work, &asked.tuning())?.executor)
}

/// What is asked for, before the inputs' types are known.
pub(crate) enum Asked {
    One(Box<Expressions>),
    /// Several results, for which one condition holds.
    Several(Vec<warpfold::map::Reduction>, Option<String>),
}

impl Asked {
    fn names(&self) -> Result<Vec<String>, Failure> {
        match self {
            Asked::One(expressions) => {
                Ok(expressions.names().into_iter().map(str::to_owned).collect())
            }
            Asked::Several(all, keep) => {
                Map::names(all, keep.as_deref()).map_err(|error| option("--where", error))
            }
        }
    }

    /// The same for inputs of known types.
    pub(crate) fn map(&self, asked: &Reduction, sides: &[Side]) -> Result<Map, Failure> {
        let inputs: Vec<(&str, DType)> =
            sides.iter().map(|side| (side.name.as_str(), side.dtype)).collect();
        match self {
            Asked::One(expressions) => Map::new(asked.op(), expressions, &inputs, asked.policy()),
            Asked::Several(all, keep) => Map::all(all, keep.as_deref(), &inputs, asked.policy()),
        }
        .map_err(usage)
    }

    fn answer(&self, map: &Map, folded: &Folded, finish: Finish) -> Result<Answer, Failure> {
        if let Asked::One(_) = self {
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
pub(crate) fn opened(asked: &Reduction) -> Result<(Asked, Vec<Side>), Failure> {
    let (wanted, with) = wanted(asked)?;
    let names = wanted.names()?;
    if let Some((name, _)) = with.iter().find(|(name, _)| !names.contains(name)) {
        return Err(Failure::Usage(format!(
            "--with names {name}, which no expression uses; use it or leave it out"
        )));
    }
    let is_with = |name: &str| with.iter().any(|(known, _)| known == name);
    if let Some(unused) = asked.inputs.first()
        && !names.is_empty()
        && names.iter().all(|name| is_with(name))
    {
        let unused = unused.display();
        return Err(Failure::Usage(format!(
            "{unused} is read by no expression, as --with has all of their names; leave it out, or say x for it, or name its columns"
        )));
    }
    let mut sides =
        names.iter().map(|name| Side::open(asked, &with, name)).collect::<Result<Vec<_>, _>>()?;
    if sides.is_empty() {
        // A constant is reduced once for each element.
        sides.push(Side::open(asked, &with, X)?);
    }
    check_rows(asked, &sides)?;
    check_same(&sides)?;
    Ok((wanted, sides))
}

/// Fails for what expressions do not go with.
pub(crate) fn check(asked: &Reduction) -> Result<(), Failure> {
    if !asked.maps.of.is_empty() && asked.op() != Op::Stats {
        return Err(Failure::Usage(format!(
            "--of says which results stats prints, and {} prints its own; say warpfold stats --of …",
            asked.op()
        )));
    }
    let names: Vec<&str> = asked.maps.of.iter().map(|reduction| reduction.name()).collect();
    if let Some(again) = (1..names.len()).find(|&k| names[..k].contains(&names[k])) {
        return Err(Failure::Usage(format!(
            "--of asks for {} twice; give each result a name of its own, as in 'far = count(x > 3)'",
            names[again]
        )));
    }
    if asked.op() == Op::Dot {
        return Err(Failure::Usage("dot takes two inputs and no --map; say warpfold sum --map 'x * y', whose products are not rounded".into()));
    }
    if let Some((_, format)) = &asked.out
        && !asked.parts.any()
    {
        format.check_one()?;
    }
    run::check_result_file(asked)
}

/// What is reduced, and the inputs that have names.
fn wanted(asked: &Reduction) -> Result<(Asked, Vec<(String, PathBuf)>), Failure> {
    let maps = &asked.maps;
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
        return Ok((Asked::Several(maps.of.clone(), maps.keep.clone()), with));
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
    Ok((Asked::One(Box::new(expressions)), with))
}

/// Rows that are left out would part the inputs.
fn check_rows(asked: &Reduction, sides: &[Side]) -> Result<(), Failure> {
    let skips = asked.written.dialect(false).missing == Missing::Skip;
    if skips && matches!(asked.op(), Op::ArgMin | Op::ArgMax | Op::Stats) {
        return Err(Failure::Usage("--missing skip leaves rows out, and the indices of an expression would not count them; take --missing nan and --where 'not isnan(…)'".into()));
    }
    if skips && sides.len() > 1 {
        return Err(Failure::Usage("--missing skip leaves rows out of one input and not of the others; take --missing nan and --where 'not isnan(…)'".into()));
    }
    let standard = |side: &Side| side.inputs.iter().any(|input| *input.name() == Name::Stdin);
    if sides.iter().filter(|side| standard(side)).count() > 1 {
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
            before.watch().check_same(&input.watch())?;
        }
    }
    Ok(())
}

/// An expression that is wrong is a wrong use of the program.
fn usage(error: warpfold::Error) -> Failure {
    match error {
        error @ warpfold::Error::Map { .. } => Failure::Usage(error.to_string()),
        other => other.into(),
    }
}

/// The same for an option that is no map.
fn option(name: &str, error: warpfold::Error) -> Failure {
    match error {
        warpfold::Error::Map { asked, obstacle, remedy } => {
            Failure::Usage(format!("{}: {obstacle}; {remedy}", asked.replacen("map", name, 1)))
        }
        other => other.into(),
    }
}

/// One input of the expression: files that are one array.
pub(crate) struct Side {
    name: String,
    dtype: DType,
    /// Files that have not begun.
    inputs: VecDeque<Input>,
    /// Whether it stands for all cells of a text.
    is_all: bool,
    /// The same files as a whole, for a name that may be a column or the input itself.
    otherwise: Option<VecDeque<Input>>,
    pieces: Option<(Name, Pieces)>,
    /// Elements that were read and not folded yet.
    rest: Rest,
}

/// Bytes of elements, aligned for any type.
#[derive(Default)]
struct Rest {
    words: Vec<u64>,
    /// Bytes that are there.
    end: usize,
    /// Bytes that were folded.
    taken: usize,
}

impl Rest {
    fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[self.taken..self.end]
    }

    fn set(&mut self, bytes: &[u8]) {
        self.words.resize(bytes.len().div_ceil(8), 0);
        bytemuck::cast_slice_mut::<u64, u8>(&mut self.words)[..bytes.len()].copy_from_slice(bytes);
        (self.end, self.taken) = (bytes.len(), 0);
    }
}

impl Side {
    fn open(asked: &Reduction, with: &[(String, PathBuf)], name: &str) -> Result<Side, Failure> {
        let dialect = asked.written.dialect(asked.verbosity() == Verbosity::Verbose);
        let wanted = |column| Wanted {
            dtype: asked.dtype,
            kind: asked.input,
            column,
            dialect,
            ..Wanted::default()
        };
        let mut otherwise = None;
        let kind =
            |path: &PathBuf| asked.input.unwrap_or_else(|| Kind::of(&Name::of(path.clone())));
        let is_text =
            !asked.inputs.is_empty() && asked.inputs.iter().all(|path| kind(path) == Kind::Text);
        let inputs = if let Some((_, file)) = with.iter().find(|(known, _)| known == name) {
            if input::is_columns(file) {
                return Err(Failure::Usage(format!(
                    "--with {name}={}: Parquet and Arrow files are not read side by side yet; write the column as a .npy file first",
                    file.display()
                )));
            }
            input::open(std::slice::from_ref(file), &Wanted { kind: None, ..wanted(None) })?
        } else if name == X && (!asked.column.is_empty() || !is_text) {
            run::open(asked)?
        } else if is_text {
            if name == X && !asked.inputs.iter().any(|path| path.as_os_str() == "-") {
                otherwise = Some(input::open(&asked.inputs, &wanted(None))?.into());
            } else if name == X {
                return Ok(Side::of(name, run::open(asked)?, None));
            }
            input::open(&asked.inputs, &wanted(Some(Column::Name(name.into()))))?
        } else {
            return Err(Failure::Usage(format!(
                "`{name}` is no input; add --with {name}=FILE, or say x for the inputs themselves"
            )));
        };
        Ok(Side::of(name, inputs, otherwise))
    }

    fn of(name: &str, inputs: Vec<Input>, otherwise: Option<VecDeque<Input>>) -> Side {
        let dtype = inputs.first().map_or(DType::F64, Input::dtype);
        Side {
            name: name.into(),
            is_all: false,
            dtype,
            inputs: inputs.into(),
            otherwise,
            pieces: None,
            rest: Rest::default(),
        }
    }

    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.inputs.iter()
    }

    /// The whole of its one file.
    pub(crate) fn whole(mut self, op: Op) -> Result<Whole, Failure> {
        if self.inputs.len() > 1 {
            return Err(Failure::Usage(format!(
                "{op} by axes, segments or keys takes one file for {}, not {}; join the files first",
                self.name,
                self.inputs.len()
            )));
        }
        let files = [self.inputs.pop_front(), self.otherwise.and_then(|mut all| all.pop_front())];
        let mut found = None;
        for file in files.into_iter().flatten() {
            match file.whole(Order::C) {
                Err(error) if found.is_none() && is_no_column(&error) => found = Some(error),
                whole => return Ok(whole?),
            }
        }
        Err(found
            .map_or_else(|| Failure::Usage(format!("{} is no file", self.name)), Failure::from))
    }

    /// The next piece of the files; empty at the end of the last.
    fn refill(&mut self) -> Result<(), Failure> {
        loop {
            if let Some((_, pieces)) = &mut self.pieces {
                match pieces.next_piece() {
                    Ok(Some(piece)) => {
                        self.rest.set(piece);
                        self.otherwise = None;
                        return Ok(());
                    }
                    Ok(None) => self.pieces = None,
                    Err(error) if is_no_column(&error) && self.otherwise.is_some() => {
                        self.inputs = self.otherwise.take().unwrap_or_default();
                        self.is_all = true;
                        self.pieces = None;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            let Some(input) = self.inputs.pop_front() else {
                self.rest.set(&[]);
                return Ok(());
            };
            self.pieces = Some((input.name().clone(), input.pieces(Order::C)?));
        }
    }
}

fn is_no_column(error: &warpfold_io::Error) -> bool {
    matches!(error.problem(), Some(Problem::Text(TextError::NoColumn { .. })))
}

/// Folds as many elements as every side has; how many, and their bytes, or `None` at the end.
fn step(
    sides: &mut [Side],
    first: u64,
    fold: impl FnOnce(&[HostArray<'_>]) -> Result<(), Failure>,
) -> Result<Option<(u64, u64)>, Failure> {
    for side in sides.iter_mut() {
        if side.rest.bytes().is_empty() {
            side.refill()?;
        }
    }
    let elements = |side: &Side| side.rest.bytes().len() / side.dtype.size();
    let count = sides.iter().map(elements).min().unwrap_or(0);
    if count == 0 {
        let longer = sides.iter().find(|side| elements(side) > 0);
        return match longer {
            None => Ok(None),
            Some(longer) => {
                let shorter =
                    sides.iter().find(|side| elements(side) == 0).map_or("", |side| &side.name);
                let remedy = match longer.is_all {
                    true => {
                        "x stands for all cells of the text: choose its column by --column, or name columns in --map"
                    }
                    false => "give inputs of one length",
                };
                Err(Failure::Usage(format!(
                    "{shorter} has {first} elements and {} has more; {remedy}",
                    longer.name
                )))
            }
        };
    }
    let mut arrays = Vec::with_capacity(sides.len());
    for side in sides.iter() {
        let bytes = &side.rest.bytes()[..count * side.dtype.size()];
        let name = Name::of(PathBuf::from(&side.name));
        let name = side.pieces.as_ref().map_or(&name, |(name, _)| name);
        let array = input::array(side.dtype, bytes, first);
        arrays.push(array.map_err(|problem| Failure::input(name, problem))?);
    }
    fold(&arrays)?;
    drop(arrays);
    let mut bytes = 0;
    for side in sides.iter_mut() {
        let taken = count * side.dtype.size();
        side.rest.taken += taken;
        bytes += taken as u64;
    }
    Ok(Some((count as u64, bytes)))
}
