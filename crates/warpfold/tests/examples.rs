//! Every example runs, and its assertions hold.

#![allow(unreachable_pub, reason = "the examples' main functions are called from here")]

/// Makes a test of an example: its file, the name of the test.
macro_rules! examples {
    ($($file:literal $name:ident,)+) => {
        $(#[path = $file]
        mod $name;)+

        mod runs {
            use super::Outcome;

            $(#[test]
            fn $name() {
                let outcome = super::$name::main();
                assert!(outcome.finished());
            })+
        }

        /// Every file of the folder is listed above.
        #[test]
        fn all_are_listed() {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
            let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name());
            let mut files: Vec<String> = files.map(|name| format!("../examples/{}", name.display())).collect();
            // The numbered ones are lessons; others are tools that need hardware.
            files.retain(|file| file.starts_with("../examples/0") || file.starts_with("../examples/1"));
            files.sort();
            assert_eq!(files, [$($file,)+]);
        }
    };
}
examples! {
    "../examples/01_first_sum.rs" first_sum,
    "../examples/02_builder.rs" builder,
    "../examples/03_reproducible.rs" reproducible,
    "../examples/04_variance_of_large_offsets.rs" variance_of_large_offsets,
    "../examples/05_merge_across_processes.rs" merge_across_processes,
    "../examples/06_stream_a_file.rs" stream_a_file,
    "../examples/07_nan_and_overflow.rs" nan_and_overflow,
    "../examples/08_dot_ill_conditioned.rs" dot_ill_conditioned,
    "../examples/09_argmax_and_minmax.rs" argmax_and_minmax,
    "../examples/10_dtype_at_run_time.rs" dtype_at_run_time,
    "../examples/11_axes_segments_groups.rs" axes_segments_groups,
    "../examples/12_maps.rs" maps,
}

/// What a main function may return.
trait Outcome {
    fn finished(self) -> bool;
}

impl Outcome for () {
    fn finished(self) -> bool {
        true
    }
}

impl<E: std::fmt::Debug> Outcome for Result<(), E> {
    fn finished(self) -> bool {
        self.inspect_err(|error| eprintln!("{error:?}")).is_ok()
    }
}
