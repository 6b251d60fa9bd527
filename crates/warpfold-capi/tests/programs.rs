//! The examples of C and C++, compiled by the system's compilers against the installed library, and run.

#![cfg(target_os = "linux")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether a program can be started; says so if not, as the test then tests nothing.
fn have(program: &str) -> bool {
    let there =
        Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success());
    if !there {
        println!("skipped: there is no {program} here");
    }
    there
}

/// Runs a command to its success, and gives what it printed.
#[track_caller]
fn run(command: &mut Command) -> String {
    let out = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let [stdout, stderr] =
        [out.stdout, out.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(out.status.success(), "{command:?}: {}\n{stdout}{stderr}", out.status);
    stdout
}

/// A folder of its own, with the library installed in it.
struct Installed(PathBuf);

impl Installed {
    fn new(test: &str) -> Self {
        let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _ = std::fs::remove_dir_all(&prefix);
        // Cargo leaves the library beside the test.
        let test = std::env::current_exe().expect("this program has a path");
        let libraries = test.parent().expect("it lies in a folder");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("install.sh");
        run(Command::new("sh").arg(script).arg(&prefix).arg(libraries));
        Installed(prefix)
    }

    /// The compiler's and linker's arguments that pkg-config gives, or those that it would if it is not there.
    fn arguments(&self, is_static: bool) -> Vec<String> {
        let prefix = self.0.display();
        let mut command = Command::new("pkg-config");
        command.args(["--cflags", "--libs"]).env("PKG_CONFIG_PATH", self.0.join("lib/pkgconfig"));
        let flags = if is_static {
            let private = run(command.args(["--static", "warpfold"]));
            private.replace("-lwarpfold_c", "-l:libwarpfold_c.a")
        } else if have("pkg-config") {
            run(command.arg("warpfold"))
        } else {
            format!("-I{prefix}/include -L{prefix}/lib -lwarpfold_c")
        };
        flags.split_whitespace().map(str::to_owned).collect()
    }

    fn compile(&self, compiler: &str, flags: &[&str], source: &str, is_static: bool) -> PathBuf {
        let name = format!("{source}-{}", flags.concat()).replace(['=', '/'], "-");
        let program = self.0.join(name);
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples-c").join(source);
        let warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"];
        let mut command = Command::new(compiler);
        command.args(flags).args(warnings).arg(source).args(self.arguments(is_static));
        run(command.args(["-pthread", "-lm", "-ldl", "-o"]).arg(&program));
        program
    }

    fn start(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("LD_LIBRARY_PATH", self.0.join("lib"));
        command
    }
}

fn is_right(output: &str) {
    assert!(output.ends_with("all results are exact\n"), "{output}");
    assert!(output.contains("an error reads like this: "), "{output}");
}

#[test]
fn c_in_three_standards() {
    if !have("cc") {
        return;
    }
    let library = Installed::new("c");
    for standard in ["-std=c99", "-std=c11", "-std=c17"] {
        let program = library.compile("cc", &[standard, "-O1"], "reduce.c", false);
        is_right(&run(&mut library.start(program)));
    }
    // The benchmark needs a release build to say anything; here it compiles.
    library.compile("cc", &["-std=c11"], "call.c", false);
}

#[test]
fn arrays_of_cuda() {
    if !have("cc") {
        return;
    }
    let library = Installed::new("cuda");
    let program = library.compile("cc", &["-std=c11", "-D_GNU_SOURCE"], "cuda.c", false);
    let printed = run(&mut library.start(program));
    if printed.starts_with("skipped: ") {
        print!("{printed}");
    } else {
        is_right(&printed);
    }
}

#[test]
fn cpp_with_and_without_span() {
    if !have("c++") {
        return;
    }
    let library = Installed::new("cpp");
    for standard in ["-std=c++17", "-std=c++20"] {
        let program = library.compile("c++", &[standard], "reduce.cpp", false);
        is_right(&run(&mut library.start(program)));
    }
}

#[test]
fn the_static_library() {
    if !have("cc") || !have("pkg-config") {
        return;
    }
    let library = Installed::new("static");
    let program = library.compile("cc", &["-std=c11"], "reduce.c", true);
    // Without the path of the shared library: it is not looked for.
    is_right(&run(&mut Command::new(program)));
}

#[test]
fn sanitizers_find_nothing() {
    if !have("cc") {
        return;
    }
    let library = Installed::new("sanitizers");
    let flags = ["-std=c11", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let probe = library.0.join("probe.c");
    std::fs::write(&probe, "int main(void) { return 0; }\n").expect("the folder can be written to");
    let mut command = Command::new("cc");
    command.args(flags).arg(&probe).arg("-o").arg(library.0.join("probe"));
    if !command.output().is_ok_and(|out| out.status.success()) {
        println!("skipped: this cc has no sanitizers");
        return;
    }
    let program = library.compile("cc", &flags, "reduce.c", false);
    is_right(&run(library.start(program).env("ASAN_OPTIONS", "detect_leaks=0")));
}

#[test]
fn valgrind_finds_no_leak() {
    if !have("cc") || !have("valgrind") {
        return;
    }
    let library = Installed::new("valgrind");
    let program = library.compile("cc", &["-std=c11", "-g"], "reduce.c", false);
    let mut command = library.start("valgrind");
    command.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]);
    command.args(["--errors-for-leak-kinds=definite", "--show-leak-kinds=definite"]);
    is_right(&run(command.arg(program)));
}

#[test]
fn cmake_finds_it() {
    if !have("cmake") || !have("cc") || !have("c++") {
        return;
    }
    let library = Installed::new("cmake");
    let [source, build] = ["source", "build"].map(|name| library.0.join(name));
    std::fs::create_dir_all(&source).expect("the folder can be written to");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples-c");
    let text = format!(
        "cmake_minimum_required(VERSION 3.13)\nproject(example C CXX)\nset(CMAKE_CXX_STANDARD 17)\n\
         find_package(warpfold 0.1 REQUIRED)\nfind_package(Threads REQUIRED)\n\
         add_executable(shared {0}/reduce.cpp)\ntarget_link_libraries(shared warpfold::warpfold Threads::Threads)\n\
         add_executable(static {0}/reduce.c)\ntarget_link_libraries(static warpfold::static m)\n",
        examples.display()
    );
    std::fs::write(source.join("CMakeLists.txt"), text).expect("the folder can be written to");
    let prefix = format!("-DCMAKE_PREFIX_PATH={}", library.0.display());
    run(Command::new("cmake").arg("-S").arg(&source).arg("-B").arg(&build).arg(prefix));
    run(Command::new("cmake").arg("--build").arg(&build));
    for program in ["shared", "static"] {
        is_right(&run(&mut library.start(build.join(program))));
    }
}

/// The blocks of the manual in a language, each with the block of text that comes next to it, if that is its output.
fn blocks<'m>(manual: &'m str, language: &str) -> Vec<(&'m str, Option<&'m str>)> {
    let all: Vec<(&str, &str)> = manual
        .split("\n```")
        .skip(1)
        .step_by(2)
        .filter_map(|block| block.split_once('\n'))
        .collect();
    let of_language = |(k, &(its, source)): (usize, &(&str, &'m str))| {
        let output = all.get(k + 1).filter(|next| next.0 == "text").map(|next| next.1);
        (its == language).then_some((source, output))
    };
    all.iter().enumerate().filter_map(of_language).collect()
}

#[test]
fn the_manual_is_true() {
    let manual = include_str!("../../../docs/c.md");
    for (language, compiler, flag) in [("c", "cc", "-std=c11"), ("cpp", "c++", "-std=c++20")] {
        let blocks = blocks(manual, language);
        assert!(!blocks.is_empty(), "the manual has examples in {language}");
        if !have(compiler) {
            return;
        }
        let library = Installed::new(&format!("manual-{language}"));
        for (k, (source, output)) in blocks.into_iter().enumerate() {
            let name = library.0.join(format!("{k}.{language}"));
            std::fs::write(&name, format!("{source}\n")).expect("the folder can be written to");
            // Joining an absolute path gives that path.
            let name = name.to_str().expect("paths of builds are UTF-8");
            let program = library.compile(compiler, &[flag], name, false);
            let printed = run(&mut library.start(program));
            // The first one's output is in the prose.
            assert_eq!(printed.trim_end(), output.unwrap_or("1"), "{source}");
        }
    }
}
