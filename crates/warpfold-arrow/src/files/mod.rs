//! Columns of Parquet and Arrow files, several of them as one, folded as they are decoded.
//!
//! Of Parquet, threads take row groups; each decodes the columns that are asked for alone, [`ROWS`] rows at a time, so that a thread needs a page, a
//! dictionary and a batch of memory, whatever the files hold. Arrow files are read batch after batch.

mod folders;
mod ipc;
mod names;
mod parquet;
mod pieces;
mod sinks;
mod write;

use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use arrow_schema::{DataType, Schema, SchemaRef};
use rayon::prelude::*;
use warpfold_engine::map::Map;
use warpfold_num::{Op, Policy};

use crate::{ColumnReducer, Dot, Error, Groups, Mapped, MappedGroups, Result};
use folders::{Picked, Source};
use pieces::Piece;
use sinks::{ByKeys, Extremes, MappedByKeys, Sink};

pub use folders::{Folder, folders};
pub use names::{expand, files_in, is_data};
pub use write::{Results, Written};

/// Rows that are decoded at once.
pub const ROWS: usize = 1 << 16;

/// Files of one table, of which columns are folded.
pub struct Files {
    files: Vec<Table>,
    /// Which share of their rows is read, of how many.
    share: (usize, usize),
}

struct Table {
    path: PathBuf,
    schema: SchemaRef,
    /// Columns that the names of its folders are.
    folders: Vec<Folder>,
    kind: FileFormat,
}

enum FileFormat {
    Parquet(Box<parquet::Footer>),
    Ipc(ipc::Batches),
}

/// How reading went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Read {
    /// Row groups that were decoded; record batches of Arrow files.
    pub decoded: u64,
    /// Row groups of which the statistics said all.
    pub skipped: u64,
}

impl Files {
    /// Opens the files, whose footers are read.
    ///
    /// # Errors
    /// [`Error::File`] with the first that is none of these formats, or is damaged.
    pub fn open(paths: &[PathBuf]) -> Result<Files> {
        let mut files: Vec<Table> =
            paths.iter().map(|path| guarded(path, || Table::open(path))).collect::<Result<_>>()?;
        folders::find_types(&mut files);
        Ok(Files { files, share: (0, 1) })
    }

    /// Has one of several shares of the rows read alone, numbered as those of the whole: row groups and record batches one after another, as even in rows
    /// as these allow. Streams of Arrow go to one share as a whole.
    ///
    /// # Panics
    /// If `rank` is none of `size`.
    #[must_use]
    pub fn share(self, rank: usize, size: usize) -> Files {
        assert!(rank < size, "share {rank} of {size}");
        Files { share: (rank, size), ..self }
    }

    /// The rows of all files, whatever share of them is read.
    ///
    /// # Errors
    /// [`Error::File`] where files tell of more than there can be.
    pub fn rows(&self) -> Result<u64> {
        Ok(pieces::all(&self.files)?.last().map_or(0, |piece| piece.rows.end))
    }

    /// How the rows of all files are cut into row groups and batches, of which shares are made: their number, and a sum of where each ends. Whoever shares
    /// out rows with others compares it.
    ///
    /// # Errors
    /// As [`rows`](Self::rows).
    pub fn cuts(&self) -> Result<(usize, u64)> {
        // FNV-1a of the ends.
        const START: u64 = 0xcbf2_9ce4_8422_2325;
        let byte = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        let pieces = pieces::all(&self.files)?;
        let ends = pieces.iter().flat_map(|piece| piece.rows.end.to_le_bytes());
        Ok((pieces.len(), ends.fold(START, byte)))
    }

    /// The schema of the first file.
    pub fn schema(&self) -> SchemaRef {
        self.files.first().map_or_else(|| Schema::empty().into(), |file| file.schema.clone())
    }

    /// The columns that the names of the first file's folders are (`shop=1/`), and it has not itself.
    pub fn folders(&self) -> Vec<String> {
        let Some(first) = self.files.first() else { return Vec::new() };
        let names = first.folders.iter().map(|folder| folder.name.clone());
        names.filter(|name| first.schema.index_of(name).is_err()).collect()
    }

    /// Whether any of the files, or of their folders, has a column.
    pub fn has(&self, name: &str) -> bool {
        let is_its = |file: &Table| {
            let own = file.schema.fields().iter().map(|field| field.name());
            own.chain(file.folders.iter().map(|folder| &folder.name)).any(|known| known == name)
        };
        self.files.iter().any(is_its)
    }

    /// The type of a column, which must be the same in all files. Names of folders (`shop=1/`) are columns of integers, where all are, or of strings; a file's
    /// own column of such a name comes before them.
    ///
    /// # Errors
    /// [`Error::NoColumn`], [`Error::File`].
    pub fn column(&self, name: &str) -> Result<DataType> {
        let mut found: Option<DataType> = None;
        for file in &self.files {
            let dtype = match file.source(name)? {
                Source::File(index) => file.schema.field(index).data_type(),
                Source::Folder(folder) => &folder.dtype,
            };
            match &found {
                Some(before) if before != dtype => {
                    let why = format!(
                        "column {name} is {dtype} here, and {before} in the files before; cast one of them"
                    );
                    return Err(file.failed(why));
                }
                _ => found = Some(dtype.clone()),
            }
        }
        found.ok_or_else(|| Error::File { path: "no file".into(), why: "name at least one".into() })
    }

    /// Folds columns, one reduction each.
    ///
    /// # Errors
    /// [`Error::NoColumn`], [`Error::Type`], [`Error::File`], and what the reduction itself may say.
    pub fn fold(
        &self,
        columns: &[String],
        op: Op,
        policy: Policy,
    ) -> Result<(Vec<ColumnReducer>, Read)> {
        let types = self.types(columns)?;
        let make = |row: u64, policy: Policy| -> Result<Vec<ColumnReducer>> {
            types
                .iter()
                .map(|dtype| Ok(ColumnReducer::new(op, dtype, policy)?.starting_at(row)))
                .collect()
        };
        let are_integers = || types.iter().all(DataType::is_integer);
        // Names of folders have no statistics.
        let are_in_files = || {
            let mut sources =
                self.files.iter().flat_map(|file| columns.iter().map(|name| file.source(name)));
            sources.all(|source| matches!(source, Ok(Source::File(_))))
        };
        let by_statistics =
            matches!(op, Op::Min | Op::Max | Op::MinMax) && are_integers() && are_in_files();
        self.run(columns, policy, by_statistics, make)
    }

    /// The dot product of two columns.
    ///
    /// # Errors
    /// As [`fold`](Self::fold), and [`Error::Inexact`].
    pub fn dot(&self, columns: &[String; 2], policy: Policy) -> Result<(Dot, Read)> {
        let types = (self.column(&columns[0])?, self.column(&columns[1])?);
        let make =
            |row: u64, policy: Policy| Ok(Dot::new(&types.0, &types.1, policy)?.starting_at(row));
        self.run(columns, policy, false, make)
    }

    /// Folds columns by the keys in another, or in several: groups of each.
    ///
    /// # Errors
    /// As [`fold`](Self::fold), and [`Error::Key`].
    ///
    /// # Panics
    /// If there is no key, or no column.
    pub fn group(
        &self,
        columns: &[String],
        keys: &[String],
        op: Op,
        policy: Policy,
    ) -> Result<(Vec<Groups>, Read)> {
        assert!(!columns.is_empty(), "there is a column of values");
        let (key_types, types) = (self.types(keys)?, self.types(columns)?);
        let all: Vec<String> = keys.iter().chain(columns).cloned().collect();
        let make = |row: u64, _: Policy| {
            let groups = types
                .iter()
                .map(|dtype| Ok(Groups::new(op, dtype, &key_types, policy)?.starting_at(row)));
            Ok(ByKeys { keys: keys.len(), groups: groups.collect::<Result<_>>()? })
        };
        let (found, read) = self.run(&all, policy, false, make)?;
        Ok((found.groups, read))
    }

    /// Reduces expressions of columns, by a map that is made for a policy: of inputs of the columns' types, in their order.
    ///
    /// # Errors
    /// As [`fold`](Self::fold), and what the map says of itself and of values.
    pub fn fold_map(
        &self,
        columns: &[String],
        map: impl Fn(Policy) -> warpfold_num::Result<Map> + Sync,
        policy: Policy,
    ) -> Result<(Mapped, Read)> {
        let types = self.types(columns)?;
        let make =
            |row: u64, policy: Policy| Ok(Mapped::new(map(policy)?, &types)?.starting_at(row));
        self.run(columns, policy, false, make)
    }

    /// The same by the keys in another column, or in several, of all rows of the files, which are kept until they are reduced.
    ///
    /// # Errors
    /// As [`fold_map`](Self::fold_map), and [`Error::Key`].
    ///
    /// # Panics
    /// If there is no key.
    pub fn group_map(
        &self,
        columns: &[String],
        keys: &[String],
        map: impl Fn(Policy) -> warpfold_num::Result<Map> + Sync,
        policy: Policy,
    ) -> Result<(MappedGroups, Read)> {
        let (key_types, types) = (self.types(keys)?, self.types(columns)?);
        let all: Vec<String> = keys.iter().chain(columns).cloned().collect();
        let make = |row: u64, _: Policy| {
            let groups = MappedGroups::new(map(policy)?, &types, &key_types)?;
            Ok(MappedByKeys { keys: keys.len(), start: row, groups })
        };
        let (found, read) = self.run(&all, policy, false, make)?;
        Ok((found.groups, read))
    }

    fn types(&self, columns: &[String]) -> Result<Vec<DataType>> {
        columns.iter().map(|name| self.column(name)).collect()
    }

    /// Runs over the pieces of this share: of Parquet alone in parallel, else one after another.
    fn run<S: Sink>(
        &self,
        columns: &[String],
        policy: Policy,
        by_statistics: bool,
        make: impl Fn(u64, Policy) -> Result<S> + Sync,
    ) -> Result<(S, Read)> {
        let pieces = pieces::of_share(&self.files, self.share)?;
        let mut read = Read::default();
        let is_parquet = self.files.iter().all(|file| matches!(file.kind, FileFormat::Parquet(_)));
        if !is_parquet {
            let mut sink = make(pieces.first().map_or(0, |piece| piece.rows.start), policy)?;
            sink.be_first();
            for of_one in pieces.chunk_by(|a, b| std::ptr::eq(a.table, b.table)) {
                let (table, at) = (of_one[0].table, of_one[0].at);
                guarded(&table.path, || match &table.kind {
                    FileFormat::Parquet(footer) => of_one.iter().try_for_each(|piece| {
                        read.decoded += 1;
                        footer.read(table, piece.at, columns, &mut sink)
                    }),
                    FileFormat::Ipc(batches) => {
                        batches.read(table, at..at + of_one.len(), columns, &mut sink, &mut read)
                    }
                })?;
            }
            return Ok((sink, read));
        }
        let each = |piece: &Piece<'_>| {
            guarded(&piece.table.path, || {
                // Threads are shared out by row groups, so none is left for a batch.
                let mut sink = make(piece.rows.start, Policy { threads: Some(1), ..policy })?;
                let (footer, group) = (piece.footer(), piece.at);
                let extremes = if by_statistics {
                    footer.extremes(piece.table, group, columns)?
                } else {
                    None
                };
                let was_skipped = extremes.is_some();
                match extremes {
                    Some(extremes) => sink.take_extremes(&extremes, piece.rows.end)?,
                    None => footer.read(piece.table, group, columns, &mut sink)?,
                }
                Ok((sink, was_skipped))
            })
        };
        let mut all = make(0, policy)?;
        all.be_first();
        if all.takes_any_order() {
            read.decoded = pieces.len() as u64;
            let mut all = in_any_order(&pieces, columns, threads(policy), all, || make(0, policy))?;
            // Each thread ends at a row of its own, and none need be the last.
            all.go_to(pieces.last().map_or(0, |piece| piece.rows.end));
            return Ok((all, read));
        }
        // A window at a time, so that few results wait for those before them.
        for window in pieces.chunks(S::WAITING * threads(policy).max(1)) {
            for part in in_order(window, threads(policy), &each) {
                let (part, was_skipped) = part?;
                read.skipped += u64::from(was_skipped);
                read.decoded += u64::from(!was_skipped);
                all.join(part)?;
            }
        }
        Ok((all, read))
    }
}

fn threads(policy: Policy) -> usize {
    policy.threads.unwrap_or_else(rayon::current_num_threads)
}

/// The results of tasks in their order, computed by threads that take one after another.
fn in_order<T: Sync, R: Send>(
    tasks: &[T],
    threads: usize,
    each: &(impl Fn(&T) -> R + Sync),
) -> Vec<R> {
    if threads <= 1 {
        return tasks.iter().map(each).collect();
    }
    let share =
        if threads >= rayon::current_num_threads() { 1 } else { tasks.len().div_ceil(threads) };
    tasks.par_iter().with_min_len(share).map(each).collect()
}

/// What row groups leave, with as many sinks as threads: each takes in whatever row group is next.
fn in_any_order<S: Sink>(
    pieces: &[Piece<'_>],
    columns: &[String],
    threads: usize,
    first: S,
    make: impl Fn() -> Result<S> + Sync,
) -> Result<S> {
    let idle = Mutex::new(vec![first]);
    let lock = || idle.lock().unwrap_or_else(|poison| poison.into_inner());
    let each = |piece: &Piece<'_>| {
        guarded(&piece.table.path, || {
            let mut sink = lock().pop().map_or_else(&make, Ok)?;
            sink.go_to(piece.rows.start);
            piece.footer().read(piece.table, piece.at, columns, &mut sink)?;
            lock().push(sink);
            Ok(())
        })
    };
    in_order(pieces, threads, &each).into_iter().collect::<Result<()>>()?;
    let mut sinks = idle.into_inner().unwrap_or_else(|poison| poison.into_inner());
    // In pairs, as many at once as there are.
    while sinks.len() > 1 {
        let others = sinks.split_off(sinks.len().div_ceil(2));
        let joins = sinks.par_iter_mut().zip(others).map(|(sink, other)| sink.join(other));
        joins.collect::<Result<()>>()?;
    }
    sinks.pop().map_or_else(make, Ok)
}

impl Table {
    fn open(path: &Path) -> Result<Table> {
        let file = File::open(path).map_err(|error| failed(path, &error))?;
        let (schema, kind) = match names::kind(path, &file).map_err(|error| failed(path, &error))? {
            names::Format::Parquet => {
                let footer = parquet::Footer::read_from(path, &file)?;
                (footer.schema(), FileFormat::Parquet(Box::new(footer)))
            }
            names::Format::Ipc(form) => {
                let (schema, batches) = form.open(path, file)?;
                (schema, FileFormat::Ipc(batches))
            }
        };
        Ok(Table { path: path.to_path_buf(), schema, folders: folders(path), kind })
    }

    /// Where a column is: in the file, or else among its folders' names.
    fn source(&self, name: &str) -> Result<Source<'_>> {
        let own = self.schema.fields().iter().enumerate();
        let own: Vec<_> = own.filter(|(_, field)| field.name() == name).collect();
        let folders: Vec<_> = self.folders.iter().filter(|folder| folder.name == name).collect();
        match (&own[..], &folders[..]) {
            ([(index, _)], _) => Ok(Source::File(*index)),
            ([_, _, ..], _) => {
                Err(self.failed(format!("two columns are called {name}; rename one")))
            }
            ([], [folder]) => Ok(Source::Folder(folder)),
            ([], [_, _, ..]) => {
                Err(self.failed(format!("two of its folders are called {name}=…; rename one")))
            }
            ([], []) => {
                let own = self.schema.fields().iter().map(|field| field.name().as_str());
                let folders = self.folders.iter().map(|folder| folder.name.as_str());
                let names: Vec<&str> = own.chain(folders).collect();
                let shown = names.len().min(20);
                let more = if names.len() > shown {
                    format!(" and {} more", names.len() - shown)
                } else {
                    String::new()
                };
                let columns = format!("{}{more}", names[..shown].join(", "));
                Err(Error::NoColumn {
                    path: self.path.display().to_string(),
                    column: name.into(),
                    columns,
                })
            }
        }
    }

    fn pick(&self, columns: &[String]) -> Result<Picked<'_>> {
        Picked::of(self, columns)
    }

    fn failed(&self, why: impl ToString) -> Error {
        Error::File { path: self.path.display().to_string(), why: one_line(&why.to_string()) }
    }
}

fn failed(path: &Path, error: &io::Error) -> Error {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    Error::File { path: path.display().to_string(), why: format!("cannot be read: {text}") }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a reader of damaged files may panic of is an error like any other.
fn guarded<R>(path: &Path, work: impl FnOnce() -> Result<R>) -> Result<R> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let why = "is damaged: its parts contradict each other; write it again".into();
        Err(Error::File { path: path.display().to_string(), why })
    })
}
