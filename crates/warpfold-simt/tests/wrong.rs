//! What tutorials get wrong, caught under every schedule, with lines, threads and address.

mod bench;

use bench::{Bench, load, text};
use warpfold_simt::{Argument, Fault, Memory, Settings, Site, Thread};

const SEEDS: std::ops::Range<u64> = 0..12;

fn settings(seed: u64) -> Settings {
    Settings { seed, budget: 200_000, ..Settings::default() }
}

/// The CUDA line that holds `snippet`.
fn cuda_line(snippet: &str) -> u64 {
    let path = format!("{}/tests/kernels/wrong.cu", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(path).expect("the source lies beside the PTX");
    let at = source.lines().position(|line| line.contains(snippet)).expect("the snippet is there");
    at as u64 + 1
}

/// Checks that a site names the CUDA line of `snippet` and a PTX line that holds its instruction.
fn stands_at(site: &Site, snippet: &str) {
    let location = site.location.as_ref().expect("compiled with -lineinfo");
    assert_eq!(site.file.as_deref(), Some("wrong.cu"));
    assert_eq!(location.line, cuda_line(snippet), "{site}");
    reads_as_the_file(site);
}

/// Checks that a site's text is what stands on its PTX line.
fn reads_as_the_file(site: &Site) {
    let text = text("wrong");
    let line = text.lines().nth(site.line.0 as usize - 1).expect("the line exists");
    let opcode =
        site.text.split_whitespace().find(|word| !word.starts_with('@')).expect("an opcode");
    assert!(line.contains(opcode.trim_end_matches(';')), "{site}: the file says {line}");
}

fn race(fault: Fault) -> (Site, Thread, Site, Thread, u64) {
    match fault {
        Fault::Race { first, second, address, .. } => {
            (first.site, first.thread, second.site, second.thread, address)
        }
        other => panic!("expected a race: {other}"),
    }
}

#[test]
fn volatile_warp_tail() {
    let program = load("wrong");
    for seed in SEEDS {
        let mut memory = Memory::new();
        let input = memory.upload(&[1f32; 128]);
        let out = memory.allocate(4);
        let bench = Bench::new("volatile_tail", 1, 128).arguments([input.into(), out.into()]);
        let fault = bench.fault(&program, &mut memory, &settings(seed));
        let message = fault.to_string();
        let (first, by, second, then, address) = race(fault);
        let location = |site: &Site| site.location.as_ref().expect("line info").line;
        let (from, to) = (cuda_line("v[t] += v[t + 32]"), cuda_line("v[t] += v[t + 1];"));
        assert!(
            (from..=to).contains(&location(&first)) && (from..=to).contains(&location(&second)),
            "{message}"
        );
        assert!(by.thread[0] < 32 && then.thread[0] < 32 && by != then, "{message}");
        assert!(address < 512 && message.contains("bank"), "{message}");
        assert!(message.contains(&format!("PTX line {}", first.line)), "{message}");
        assert!(message.contains(&format!("PTX line {}", second.line)), "{message}");
        reads_as_the_file(&first);
        reads_as_the_file(&second);
    }
}

#[test]
fn global_tree_without_its_barrier() {
    let program = load("wrong");
    for seed in SEEDS {
        let mut memory = Memory::new();
        let data = memory.upload(&[1i32; 256]);
        let bench =
            Bench::new("global_without_barrier", 1, 128).arguments([data.into(), 256u32.into()]);
        let (first, by, second, then, _) =
            race(bench.fault(&program, &mut memory, &settings(seed)));
        stands_at(&first, "if (t < s) data[t] += data[t + s];");
        stands_at(&second, "if (t < s) data[t] += data[t + s];");
        assert_ne!(by, then);
    }
}

#[test]
fn second_pass_in_place_across_blocks() {
    let program = load("wrong");
    for seed in SEEDS {
        for threads in [1, 2] {
            let mut memory = Memory::new();
            let data = memory.upload(&[1f32; 640]);
            let bench = Bench::new("in_place_across_blocks", 10, 64)
                .arguments([Argument::from(data), 640u64.into()]);
            let settings = Settings { threads, ..settings(seed) };
            let (first, by, second, then, _) = race(bench.fault(&program, &mut memory, &settings));
            let lines =
                ["data[blockIdx.x] = sd[0]", "sd[t] = i < n ? data[i] : 0.f;"].map(cuda_line);
            for site in [&first, &second] {
                let line = site.location.as_ref().expect("line info").line;
                assert!(lines.contains(&line), "{site}");
            }
            assert_ne!(by.block, then.block);
        }
    }
}

#[test]
fn faults_do_not_depend_on_host_threads() {
    let program = load("wrong");
    let fault = |threads| {
        let mut memory = Memory::new();
        let data = memory.upload(&[1f32; 640]);
        let bench = Bench::new("in_place_across_blocks", 10, 64)
            .arguments([Argument::from(data), 640u64.into()]);
        bench.fault(&program, &mut memory, &Settings { seed: 3, threads, ..Settings::default() })
    };
    assert_eq!(fault(1), fault(2));
    assert_eq!(fault(1), fault(7));
}

#[test]
fn ticket_without_its_fence() {
    let program = load("wrong");
    for seed in SEEDS {
        let mut memory = Memory::new();
        let input = memory.upload(&[1f32; 6]);
        let partial = memory.allocate(24);
        let ticket = memory.upload(&[0u32]);
        let out = memory.allocate(4);
        let bench = Bench::new("ticket_without_fence", 6, 32).arguments([
            input.into(),
            partial.into(),
            ticket.into(),
            out.into(),
        ]);
        let (first, by, second, then, _) =
            race(bench.fault(&program, &mut memory, &settings(seed)));
        stands_at(&first, "partial[blockIdx.x] = in[blockIdx.x];");
        stands_at(&second, "t += __ldcg(&partial[k]);");
        assert_ne!(by.block, then.block);
    }
}

#[test]
fn buffer_refilled_while_others_read() {
    let program = load("bulk");
    let mut caught = 0;
    for seed in SEEDS {
        let mut memory = Memory::new();
        let input = memory.upload(&[1f32; 512 * 12]);
        let out = memory.allocate(4);
        let bench = Bench::new("bulk_copy_refills_early", 1, 128).shared(3 * 2048).arguments([
            Argument::from(input),
            out.into(),
            (512u64 * 12).into(),
        ]);
        let fault = bench.fault(&program, &mut memory, &Settings { seed, ..Settings::default() });
        if let Fault::Race { first, second, .. } = &fault {
            // Thread 0 issues every copy; another reads what it overwrites.
            let copier = if first.site.text.starts_with("cp.async") { first } else { second };
            assert_eq!(copier.thread.thread, [0, 0, 0], "{fault}");
            caught += 1;
        }
    }
    assert_eq!(caught, 12);
}

#[test]
fn barrier_in_a_divergent_guard() {
    let program = load("wrong");
    for seed in SEEDS {
        let mut memory = Memory::new();
        let data = memory.upload(&[1f32; 64]);
        let bench = Bench::new("barrier_in_guard", 1, 64).arguments([data.into()]);
        match bench.fault(&program, &mut memory, &settings(seed)) {
            Fault::BarrierDivergence { site, lanes, others, .. } => {
                let line = site.location.as_ref().map(|location| location.line);
                assert_eq!(line, Some(cuda_line("if (t < 48) {") + 1), "{site}");
                reads_as_the_file(&site);
                assert_eq!((lanes, others), (16, 16));
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn barriers_of_different_warps() {
    let program = load("wrong");
    for seed in SEEDS {
        let mut memory = Memory::new();
        let data = memory.upload(&[1f32; 64]);
        let bench = Bench::new("barrier_by_warp", 1, 64).arguments([data.into()]);
        let fault = bench.fault(&program, &mut memory, &settings(seed));
        // The reads that the barrier should have ordered may be met first.
        assert!(
            matches!(
                fault,
                Fault::BarrierMismatch { .. } | Fault::Race { .. } | Fault::Uninitialised { .. }
            ),
            "{fault}"
        );
    }
}

#[test]
fn shared_memory_read_before_it_is_written() {
    let program = load("wrong");
    let mut memory = Memory::new();
    let input = memory.upload(&[1f32; 40]);
    let out = memory.allocate(4);
    let bench = Bench::new("reads_unwritten", 1, 64).shared(256).arguments([
        Argument::from(input),
        out.into(),
        40u32.into(),
    ]);
    match bench.fault(&program, &mut memory, &settings(0)) {
        Fault::Uninitialised { site, thread, address, .. } => {
            reads_as_the_file(&site);
            assert_eq!((address, thread.thread[0]), (160, 8));
        }
        other => panic!("{other}"),
    }
}

#[test]
fn global_memory_read_before_it_is_written() {
    let program = load("wrong");
    let mut memory = Memory::new();
    let input = memory.allocate(4 * 33);
    let out = memory.allocate(4 * 32);
    let bench = Bench::new("past_the_end", 1, 32).arguments([input.into(), out.into()]);
    assert!(matches!(
        bench.fault(&program, &mut memory, &settings(0)),
        Fault::Uninitialised { .. }
    ));
}

#[test]
fn out_of_bounds() {
    let program = load("wrong");
    let mut memory = Memory::new();
    let input = memory.upload(&[1f32; 32]);
    let out = memory.allocate(4 * 32);
    let bench = Bench::new("past_the_end", 1, 32).arguments([input.into(), out.into()]);
    match bench.fault(&program, &mut memory, &settings(0)) {
        Fault::OutOfBounds { site, thread, address, bytes, location, .. } => {
            stands_at(&site, "past_the_end");
            assert_eq!((thread.thread[0], bytes, address), (31, 4, input.address() + 128));
            assert!(location.contains("byte 128") && location.contains("128 bytes"), "{location}");
        }
        other => panic!("{other}"),
    }
}

#[test]
fn freed_memory() {
    let program = load("wrong");
    let mut memory = Memory::new();
    let input = memory.upload(&[1f32; 33]);
    let out = memory.allocate(4 * 32);
    memory.free(input);
    let bench = Bench::new("past_the_end", 1, 32).arguments([input.into(), out.into()]);
    assert!(matches!(bench.fault(&program, &mut memory, &settings(0)), Fault::OutOfBounds { .. }));
}

#[test]
fn misaligned_vector_load() {
    let program = load("wrong");
    let mut memory = Memory::new();
    let input = memory.upload(&[1f32; 64]);
    let out = memory.allocate(16 * 32);
    let bench = Bench::new("misaligned", 1, 32).arguments([input.into(), out.into()]);
    match bench.fault(&program, &mut memory, &settings(0)) {
        Fault::Misaligned { site, address, bytes, .. } => {
            stands_at(&site, "*(const float4*)(in + 1");
            assert_eq!((address % 16, bytes), (4, 16));
        }
        other => panic!("{other}"),
    }
}

#[test]
fn endless_loop() {
    let program = load("wrong");
    let mut memory = Memory::new();
    let flag = memory.upload(&[0i32]);
    let bench = Bench::new("endless", 1, 32).arguments([flag.into()]);
    match bench.fault(&program, &mut memory, &settings(0)) {
        Fault::Budget { site, budget, .. } => {
            stands_at(&site, "while (*flag == 0) {}");
            assert_eq!(budget, 200_000);
        }
        other => panic!("{other}"),
    }
}

#[test]
fn lanes_that_wait_for_ever() {
    let program = load("wrong");
    for seed in SEEDS {
        let mut memory = Memory::new();
        let out = memory.allocate(4 * 32);
        let bench = Bench::new("waits_for_ever", 1, 32).arguments([out.into()]);
        let fault = bench.fault(&program, &mut memory, &settings(seed));
        assert!(
            matches!(fault, Fault::Deadlock { .. } | Fault::BarrierDivergence { .. }),
            "{fault}"
        );
    }
}

#[test]
fn lanes_that_write_one_place() {
    let program = load("wrong");
    let mut memory = Memory::new();
    let out = memory.allocate(4);
    let differing = Bench::new("one_place", 1, 32).arguments([out.into()]);
    assert!(matches!(differing.fault(&program, &mut memory, &settings(0)), Fault::Race { .. }));
    let same = Bench::new("one_place_one_value", 1, 32).arguments([out.into()]);
    same.run(&program, &mut memory, &settings(0));
    assert_eq!(memory.read::<i32>(out), Ok(vec![7]));
}
