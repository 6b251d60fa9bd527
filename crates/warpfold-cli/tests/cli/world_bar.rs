//! One progress bar for all ranks: on rank 0's terminal alone, of the bytes of all of them.

#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::world::commands;

/// A terminal and the side of it that a program writes to.
fn terminal() -> (File, File) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&terminal).and_then(|()| unlockpt(&terminal)).expect("it opens");
    let name = ptsname(&terminal, Vec::new()).expect("a name").into_string().expect("UTF-8");
    let screen = File::options().read(true).write(true).open(name).expect("it opens");
    let size = rustix::termios::Winsize { ws_row: 24, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&screen, size).expect("it has a size");
    (File::from(terminal), screen)
}

/// All that is shown until nobody has the terminal open.
fn shown(mut terminal: File) -> String {
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    while let Ok(n @ 1..) = terminal.read(&mut piece) {
        bytes.extend_from_slice(&piece[..n]);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What a world of two ranks with a terminal each shows of so many random numbers, what rank 0 prints, and how long it took.
fn run(elements: u64, more: &[&str]) -> ([String; 2], String, Duration) {
    let begun = Instant::now();
    let elements = elements.to_string();
    let random = ["--random", &elements, "--dist", "normal", "--dtype", "f64", "--threads", "1"];
    let mut screens = Vec::new();
    let mut ranks = Vec::new();
    for mut command in commands(2, 60) {
        let (terminal, screen) = terminal();
        command.arg("sum").args(random).arg("--world").args(more);
        ranks.push(command.stdout(Stdio::piped()).stderr(screen).spawn().expect("it starts"));
        // The command holds the screen open too.
        drop(command);
        screens.push(std::thread::spawn(move || shown(terminal)));
    }
    let outputs: Vec<_> =
        ranks.into_iter().map(|rank| rank.wait_with_output().expect("it ends")).collect();
    assert!(outputs.iter().all(|output| output.status.success()));
    assert!(outputs[1].stdout.is_empty());
    let mut screens = screens.into_iter().map(|screen| screen.join().expect("it is read"));
    let screens = std::array::from_fn(|_| screens.next().expect("two of them"));
    let out = String::from_utf8_lossy(&outputs[0].stdout).into_owned();
    (screens, out, begun.elapsed())
}

#[test]
fn rank_0_shows_one_bar_of_all_bytes() {
    // More and more, until it takes long enough for a bar.
    let mut elements = 1u64 << 24;
    let (screens, out) = loop {
        let (screens, out, took) = run(elements, &[]);
        if took > Duration::from_secs(3) || elements >= 1 << 32 {
            break (screens, out);
        }
        elements *= 2;
    };
    let [first, second] = screens;
    // "… 12.00 MiB/256.00 MiB …", of both ranks' bytes.
    let total = match elements * 8 {
        bytes if bytes >= 1 << 30 => format!("{}.00 GiB", bytes >> 30),
        bytes => format!("{}.00 MiB", bytes >> 20),
    };
    let most = first
        .split(&format!("/{total}"))
        .filter_map(|before| {
            let words: Vec<&str> = before.split_whitespace().rev().take(2).collect();
            let [unit, number] = words[..] else { return None };
            let number: f64 =
                number.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
            let unit = [("MiB", 20), ("GiB", 30)].iter().find(|(name, _)| *name == unit)?.1;
            Some(number * f64::from(1u32 << unit))
        })
        .fold(0.0, f64::max);
    assert!(most > 0.6 * (elements * 8) as f64, "{most} of {total} in {first:?}");
    assert_eq!(second, "", "other ranks show nothing");
    // The bar is gone, and the result is that of one process.
    let alone = crate::program::run([
        "sum",
        "--random",
        &elements.to_string(),
        "--dist",
        "normal",
        "--dtype",
        "f64",
    ]);
    assert_eq!(out, alone.out);
    let (screens, again, _) = run(elements, &["--no-progress"]);
    assert_eq!((screens, again), ([String::new(), String::new()], out));
}
