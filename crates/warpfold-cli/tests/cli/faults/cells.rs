//! The cells of the table: a fault, a stage, and the command that meets it there.

/// When a signal is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    /// While it waits for data from a pipe that stays empty.
    Waiting,
    /// A while after it listens: it opens a pipe, computes, or prints to a pipe that nobody reads.
    Busy,
    /// While a call that was stalled does not return.
    Stalled,
}

/// A fault at a stage.
pub(super) struct Cell {
    pub(super) fault: &'static str,
    pub(super) stage: &'static str,
    pub(super) script: String,
    /// Faults of the preloaded library.
    pub(super) preload: Option<String>,
    pub(super) signal: Option<Signal>,
}

/// The fault that takes another end of standard output.
pub(super) const NO_READER: &str = "reader of standard output gone";

/// One result, printed.
pub(super) const ONE: &str = "warpfold sum input.raw --dtype u8";

/// Many results in a file.
pub(super) fn to_file(input: &str) -> String {
    format!("warpfold sum {input} --dtype u8 --every 1 --out result.csv")
}

impl Cell {
    pub(super) fn plain(script: &str) -> Cell {
        Cell { fault: "", stage: "", script: script.into(), preload: None, signal: None }
    }

    pub(super) fn name(&self) -> String {
        format!("{} | {} | {}", self.shown_fault(), self.stage, self.script)
    }

    pub(super) fn writes_file(&self) -> bool {
        self.script.contains("--out")
    }

    /// Whether standard error cannot be written.
    pub(super) fn is_deaf(&self) -> bool {
        self.script.contains("2>")
    }

    pub(super) fn shown_fault(&self) -> String {
        match (self.signal, &self.preload) {
            (None, _) => self.fault.to_owned(),
            (Some(_), Some(faults)) if faults.contains("no-tmpfile") => {
                format!("SIG{}, no files without names", &self.fault[1..])
            }
            (Some(_), _) => format!("SIG{}", &self.fault[1..]),
        }
    }

    pub(super) fn shown_script(&self) -> String {
        self.script.replace('|', "\\|")
    }
}

/// All cells.
pub(super) fn all() -> Vec<Cell> {
    let mut cells = Vec::new();
    streams(&mut cells);
    limits(&mut cells);
    result_files(&mut cells);
    signals(&mut cells);
    calls(&mut cells);
    memory(&mut cells);
    super::changes::changes(&mut cells);
    cells
}

fn add(cells: &mut Vec<Cell>, fault: &'static str, stage: &'static str, script: impl Into<String>) {
    cells.push(Cell { fault, stage, script: script.into(), preload: None, signal: None });
}

fn streams(cells: &mut Vec<Cell>) {
    for kind in ["--dtype u8", "--input npy", "--input text"] {
        add(cells, "standard input closed", "reading", format!("warpfold sum - {kind} <&-"));
        add(
            cells,
            "standard input for writing",
            "reading",
            format!("warpfold sum - {kind} 0>>printed"),
        );
    }
    for (script, stage) in
        [(ONE.to_owned(), "printing"), (to_file("input.raw"), "printing the summary")]
    {
        add(cells, "standard output closed", stage, format!("{script} >&-"));
        add(cells, "standard output for reading", stage, format!("{script} 1<input.raw"));
        add(cells, "standard output full", stage, format!("{script} >/dev/full"));
    }
    for format in ["text", "csv", "json"] {
        let many = format!("warpfold sum input.raw --dtype u8 --every 1 --format {format}");
        add(cells, "standard output full", "printing", format!("{many} >/dev/full"));
    }
    for script in
        [ONE, "warpfold sum input.raw --dtype u8 --every 1 --format csv", "warpfold --help"]
    {
        add(cells, NO_READER, "printing", script);
    }
    for deaf in ["2>&-", "2>/dev/full"] {
        let fault =
            if deaf.contains("full") { "standard error full" } else { "standard error closed" };
        add(cells, fault, "telling the plan", format!("{ONE} --verbose {deaf}"));
        add(cells, fault, "telling an error", format!("warpfold sum input.none --dtype u8 {deaf}"));
    }
}

fn limits(cells: &mut Vec<Cell>) {
    let size = "ulimit -f 4";
    add(
        cells,
        "file size limited",
        "writing the file",
        format!("{size}; {}", to_file("input.raw")),
    );
    let many = "warpfold sum input.raw --dtype u8 --every 1 --format csv >printed";
    add(cells, "file size limited", "printing", format!("{size}; {many}"));
    add(
        cells,
        "memory limited",
        "reading as a whole",
        "ulimit -v 400000; warpfold sum - --dtype u8 --every 4 <input.big",
    );
    add(
        cells,
        "memory limited",
        "starting threads",
        format!("ulimit -v 300000; {ONE} --threads 4096"),
    );
}

fn result_files(cells: &mut Vec<Cell>) {
    let to = |file: &str| to_file("input.raw").replace("result.csv", file);
    add(cells, "folder missing", "before any work", to("none/result.csv"));
    add(
        cells,
        "folder in its place",
        "before any work",
        "mkdir printed.csv; ".to_owned() + &to("printed.csv"),
    );
    add(
        cells,
        "pipe in its place",
        "before any work",
        "mv input.fifo printed.csv; ".to_owned() + &to("printed.csv"),
    );
    add(
        cells,
        "read-only file",
        "before any work",
        "chmod 444 result.csv; ".to_owned() + &to("result.csv"),
    );
    add(
        cells,
        "link to itself",
        "before any work",
        "ln -s printed.csv printed.csv; ".to_owned() + &to("printed.csv"),
    );
    add(
        cells,
        "link to an input",
        "before any work",
        "ln -s input.raw printed.csv; ".to_owned() + &to("printed.csv"),
    );
    add(
        cells,
        "hard link to an input",
        "before any work",
        "ln input.raw printed.csv; ".to_owned() + &to("printed.csv"),
    );
}

fn signals(cells: &mut Vec<Cell>) {
    let mut add = |fault, stage, script: &str, signal, preload: Option<&str>| {
        let preload = preload.map(str::to_owned);
        cells.push(Cell { fault, stage, script: script.into(), preload, signal: Some(signal) });
    };
    let file = to_file("input.raw");
    for fault in ["-INT", "-TERM", "-HUP", "-QUIT"] {
        add(fault, "opening a pipe", "warpfold sum input.fifo --dtype u8", Signal::Busy, None);
        add(fault, "waiting for data", &to_file("-"), Signal::Waiting, None);
        add(fault, "computing", "warpfold sum --random 1e12", Signal::Busy, None);
        add(
            fault,
            "printing, and nobody reads",
            "warpfold sum --random 1e5 --every 1 --format csv",
            Signal::Busy,
            None,
        );
        for (stage, with, without) in [
            ("writing the file", "write-stall", "no-tmpfile,write-stall"),
            ("waiting for the disk", "fsync-stall", "no-tmpfile,fsync-stall"),
            ("naming the file", "rename-stall", "no-tmpfile,rename-stall"),
        ] {
            add(fault, stage, &file, Signal::Stalled, Some(with));
            add(fault, stage, &file, Signal::Stalled, Some(without));
        }
    }
}

fn calls(cells: &mut Vec<Cell>) {
    let mut add = |fault, stage, script: &str, preload: &str| {
        cells.push(Cell {
            fault,
            stage,
            script: script.into(),
            preload: Some(preload.to_owned()),
            signal: None,
        });
    };
    for input in ["input.raw", "input.txt", "input.csv", "input.npy", "- <input.raw"] {
        let dtype = if input.ends_with("npy") { "" } else { "--dtype u8" };
        let script = match input.strip_prefix("- ") {
            Some(from) => format!("warpfold sum - {dtype} {from}"),
            None => format!("warpfold sum {input} {dtype}"),
        };
        let script = script.trim_end();
        add("short reads", "reading", script, "read-short");
        add("interrupted reads (EINTR)", "reading", script, "read-eintr");
        add("a read fails (EIO)", "reading", script, "read-eio");
        if !input.ends_with("npy") {
            add("a later read fails (EIO)", "reading", script, "read-eio-later");
        }
    }
    let print = "warpfold sum input.raw --dtype u8 --every 1 --format csv >printed";
    for (fault, preload) in
        [("a write fails (ENOSPC)", "write-enospc"), ("a write fails (EIO)", "write-eio")]
    {
        add(fault, "writing the file", &to_file("input.raw"), preload);
        add(fault, "printing", print, preload);
    }
    for (fault, preload) in [
        ("short writes", "write-short"),
        ("interrupted writes (EINTR)", "write-eintr"),
        ("no files without names", "no-tmpfile"),
    ] {
        add(fault, "writing the file", &to_file("input.raw"), preload);
    }
    add("the disk fails (EIO)", "waiting for the disk", &to_file("input.raw"), "fsync-eio");
    add("no renaming (EACCES)", "naming the file", &to_file("input.raw"), "rename-eacces");
    add(
        "no renaming (EACCES), no files without names",
        "naming the file",
        &to_file("input.raw"),
        "no-tmpfile,rename-eacces",
    );
}

fn memory(cells: &mut Vec<Cell>) {
    let mut add = |fault, stage, script: &str, preload: &str| {
        cells.push(Cell {
            fault,
            stage,
            script: script.into(),
            preload: Some(preload.to_owned()),
            signal: None,
        });
    };
    let stdin = "warpfold sum - --dtype u8 <input.raw";
    add("no maps of files", "opening", "warpfold sum input.npy", "no-maps-of-files");
    add("no large allocation", "making buffers", stdin, "no-memory");
    add("one large allocation too few", "making buffers", stdin, "no-memory-second");
    add(
        "no large allocation",
        "making results",
        "warpfold sum --random 1e6 --every 1 --out result.csv",
        "no-memory",
    );
    add("no thread", "starting threads", ONE, "no-threads");
    add("one thread", "starting threads", ONE, "one-thread");
    add("one thread", "starting threads", "warpfold sum input.txt --dtype u8", "one-thread");
}
