//! Worlds over TCP: what ranks get, and what they are told when one of them is slow, silent, gone or no rank at all.

mod proxy;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use proxy::Fault;
use warpfold_dist::tcp::Options;
use warpfold_dist::{Agreement, Comm, Error, Tcp, all_merge};
use warpfold_exact::{AnyPartial, Exact, Partial};
use warpfold_num::{DType, Op};

const TIMEOUT: Duration = Duration::from_millis(900);

fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").to_string()
}

fn options(rank: usize, size: usize, address: &str) -> Options {
    let (address, token) = (address.to_string(), "secret".to_string());
    Options { rank, size, address, bind: None, token, timeout: TIMEOUT }
}

/// With time enough for a busy machine, where nothing is expected to go wrong.
fn patient(rank: usize, size: usize, address: &str) -> Options {
    Options { timeout: Duration::from_secs(30), ..options(rank, size, address) }
}

/// Runs a function on each rank in a thread of its own.
fn ranks<R: Send>(size: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..size).map(|rank| scope.spawn(move || work(rank))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no rank panics")).collect()
    })
}

fn gather(comm: &Tcp, bytes: usize) -> Result<Vec<u8>, Error> {
    let mut all = vec![0; bytes * comm.size()];
    comm.all_gather(&vec![comm.rank() as u8; bytes], &mut all)?;
    Ok(all)
}

/// Every rank but the last, which comes through a proxy with a fault, says that the last is lost, in time.
fn faulty(fault: Fault) -> Vec<String> {
    let address = free_address();
    let start = Instant::now();
    let found = ranks(3, |rank| {
        let through = if rank == 2 { proxy::start(&address, fault) } else { address.clone() };
        let is_slow = matches!(fault, Fault::Delay(_));
        let chosen = if is_slow { patient } else { options };
        let comm = Tcp::enter(&chosen(rank, 3, &through))?;
        gather(&comm, 5000)?;
        gather(&comm, 5000)
    });
    assert!(start.elapsed() < 25 * TIMEOUT, "{fault:?} took {:?}", start.elapsed());
    let message = |found: &Result<Vec<u8>, Error>| match found {
        Ok(all) => {
            let expected: Vec<u8> = (0..3).flat_map(|rank| [rank; 5000]).collect();
            assert!(*all == expected, "{fault:?}: wrong bytes");
            "ok".to_string()
        }
        Err(error) => error.to_string(),
    };
    found.iter().map(message).collect()
}

#[test]
fn worlds_of_several_sizes_gather_short_and_long_messages() {
    for size in [1, 2, 3, 7] {
        let address = free_address();
        ranks(size, |rank| {
            let comm = Tcp::enter(&patient(rank, size, &address)).unwrap();
            for bytes in [0, 1, 1024, 300_000] {
                let expected: Vec<u8> = (0..size).flat_map(|r| vec![r as u8; bytes]).collect();
                assert_eq!(gather(&comm, bytes).unwrap(), expected);
            }
            let mut sum = Exact::<f64>::new();
            sum.add([1e300, 1.0, -1e300][rank % 3]);
            let mine = AnyPartial::from(Partial::Sum(sum));
            let merged = all_merge(&comm, &Agreement::new(Op::Sum, DType::F64), Ok(&mine)).unwrap();
            let expected = [1e300, 1e300, 1.0][(size - 1).min(2)];
            let expected = if size == 7 { 1e300 } else { expected };
            let AnyPartial::F64(Partial::Sum(sum)) = merged else { panic!("a sum") };
            assert_eq!(sum.round(), expected);
        });
    }
}

#[test]
fn a_slow_connection_is_no_fault() {
    assert_eq!(faulty(Fault::Delay(Duration::from_millis(30))), ["ok", "ok", "ok"]);
}

#[test]
fn a_rank_whose_bytes_are_cut_swallowed_or_changed_is_named_by_all_others() {
    // The first gather is 24 + 5000 bytes; faults come before, within and after it.
    for at in [0, 10, 24, 3000, 5024, 5030, 6000] {
        for fault in [Fault::Cut(at), Fault::Swallow(at)] {
            let found = faulty(fault);
            for error in &found[..2] {
                assert!(error.starts_with("rank 2 of 3 is lost: "), "{fault:?}: {error}");
            }
            assert_ne!(found[2], "ok", "{fault:?}");
        }
    }
    for fault in [Fault::Flip(0), Fault::Flip(4), Fault::Flip(8), Fault::Flip(23), Fault::Swap(24)]
    {
        let found = faulty(fault);
        for error in &found {
            assert!(error.starts_with("rank 2 of 3 is lost: "), "{fault:?}: {error}");
        }
    }
}

#[test]
fn a_rank_that_leaves_is_named_at_once_and_one_that_sleeps_in_time() {
    for leaves in [true, false] {
        let address = free_address();
        let start = Instant::now();
        let found = ranks(3, |rank| {
            let comm = Tcp::enter(&options(rank, 3, &address)).unwrap();
            match rank {
                2 if leaves => None,
                2 => {
                    thread::sleep(TIMEOUT + TIMEOUT / 2);
                    None
                }
                _ => {
                    let first = gather(&comm, 8).unwrap_err().to_string();
                    assert_eq!(gather(&comm, 8).unwrap_err().to_string(), first, "it stays lost");
                    Some((first, start.elapsed()))
                }
            }
        });
        for (error, after) in found.iter().flatten() {
            let why = if leaves { "it closed the connection" } else { "it did not answer within" };
            assert!(error.starts_with(&format!("rank 2 of 3 is lost: {why}")), "{error}");
            assert!(*after < TIMEOUT * 10, "{after:?}");
        }
    }
}

#[test]
fn rank_0_that_leaves_is_named_by_all() {
    let address = free_address();
    let found = ranks(3, |rank| {
        let comm = Tcp::enter(&options(rank, 3, &address)).unwrap();
        (rank > 0).then(|| gather(&comm, 8).unwrap_err().to_string())
    });
    for error in found.iter().flatten() {
        assert!(error.starts_with("rank 0 of 3 is lost: it closed the connection"), "{error}");
    }
}

#[test]
fn ranks_that_bring_other_lengths_are_named() {
    let address = free_address();
    let found = ranks(3, |rank| {
        let comm = Tcp::enter(&options(rank, 3, &address)).unwrap();
        gather(&comm, if rank == 1 { 9 } else { 8 }).unwrap_err().to_string()
    });
    for error in found {
        assert!(error.starts_with("rank 1 of 3 is lost: it came with 9 bytes"), "{error}");
    }
}

#[test]
fn a_wrong_token_is_refused_and_the_missing_rank_named() {
    let address = free_address();
    let found = ranks(3, |rank| {
        let mut options = options(rank, 3, &address);
        if rank == 2 {
            options.token = "guess".into();
        }
        match Tcp::enter(&options) {
            Ok(comm) => gather(&comm, 8).unwrap_err().to_string(),
            Err(error) => error.to_string(),
        }
    });
    assert!(found[2].contains("rank 0 refused: the tokens differ"), "{}", found[2]);
    for error in &found[..2] {
        assert!(error.contains("rank 2 of 3 is lost: it did not come within"), "{error}");
        assert!(error.contains("1 refused, the last because the tokens differ"), "{error}");
    }
}

#[test]
fn other_sizes_and_taken_numbers_are_refused() {
    let address = free_address();
    let found = ranks(3, |k| {
        let (rank, size) = [(0, 2), (1, 3), (0, 2)][k];
        if k == 2 {
            thread::sleep(TIMEOUT / 3);
            return None;
        }
        Some(Tcp::enter(&options(rank, size, &address)).unwrap_err().to_string())
    });
    assert!(found[1].as_ref().unwrap().contains("the sizes of the world differ"), "{found:?}");
    assert!(found[0].as_ref().unwrap().contains("rank 1 of 2 is lost"), "{found:?}");
}

#[test]
fn strangers_who_are_silent_or_talk_nonsense_hold_up_nobody() {
    let address = free_address();
    let sent: [&[u8]; 4] = [b"", b"GET / HTTP/1.1\r\n\r\n", b"WFTCP\0\0\x01", &[0xff; 200]];
    let start = Instant::now();
    let strangers = thread::spawn({
        let address = address.clone();
        move || {
            let connected: Vec<_> = (0..20)
                .filter_map(|k| {
                    let mut stream = (0..200).find_map(|_| {
                        thread::sleep(Duration::from_millis(2));
                        TcpStream::connect(&address).ok()
                    })?;
                    stream.write_all(sent[k % 4]).ok()?;
                    Some(stream)
                })
                .collect();
            thread::sleep(TIMEOUT / 2);
            connected.len()
        }
    });
    let found = ranks(2, |rank| {
        if rank == 1 {
            thread::sleep(TIMEOUT / 3);
        }
        gather(&Tcp::enter(&patient(rank, 2, &address)).unwrap(), 1).unwrap()
    });
    assert_eq!(found, [[0, 1], [0, 1]]);
    // Ten of them are heard for five seconds each, at once.
    assert!(start.elapsed() < Duration::from_secs(25));
    assert!(strangers.join().unwrap() > 0);
}

#[test]
fn a_host_that_does_not_know_the_token_is_not_trusted() {
    // It echoes the greeting of a rank 0, and then claims that the rank is welcome.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let host = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"WFTCP\0\0\x010123456789abcdef").unwrap();
        let mut hello = [0; 64];
        stream.read_exact(&mut hello).unwrap();
        stream.write_all(&[0; 40]).unwrap();
        hello
    });
    let error = Tcp::enter(&options(1, 2, &address)).unwrap_err().to_string();
    assert!(error.contains("does not know the token"), "{error}");
    let hello = host.join().unwrap();
    assert!(!hello.windows(6).any(|window| window == b"secret"), "the token is not sent");
}

/// Reports are messages beside the exchanges: rank 0 knows how far the others are, also while it waits for them, and results are what they are.
#[test]
fn reports_reach_rank_0_beside_exchanges() {
    let address = free_address();
    ranks(3, |rank| {
        let comm = Tcp::enter(&patient(rank, 3, &address)).unwrap();
        // Before anybody watches, nothing is sent.
        comm.report(1 << 40);
        let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let sink = seen.clone();
        comm.while_waiting(Box::new(move |done| sink.lock().unwrap().push(done)));
        if rank > 0 {
            comm.report(5);
            comm.report(10 * rank as u64);
            thread::sleep(Duration::from_millis(600));
            comm.report(100 * rank as u64);
            thread::sleep(Duration::from_millis(400));
        }
        assert_eq!(gather(&comm, 9).unwrap(), [[0; 9], [1; 9], [2; 9]].concat());
        let seen = seen.lock().unwrap().clone();
        match rank {
            0 => {
                assert!(seen.is_sorted() && seen.contains(&30) && seen.contains(&300), "{seen:?}");
                assert_eq!(comm.reported(), 300);
            }
            _ => assert_eq!((seen.len(), comm.reported()), (0, 0)),
        }
        assert_eq!(gather(&comm, 1).unwrap(), [0, 1, 2]);
    });
}

/// A rank that reports and then hangs is lost as any other is: reports are no answer.
#[test]
fn reports_are_no_answer() {
    let address = free_address();
    let start = Instant::now();
    let found = ranks(2, |rank| {
        let comm = Tcp::enter(&options(rank, 2, &address)).unwrap();
        comm.while_waiting(Box::new(|_| {}));
        if rank == 0 {
            return gather(&comm, 3).unwrap_err().to_string();
        }
        for k in 0..20 {
            comm.report(k);
            thread::sleep(TIMEOUT / 10);
        }
        String::new()
    });
    assert!(found[0].starts_with("rank 1 of 2 is lost: it did not answer"), "{}", found[0]);
    assert!(start.elapsed() < 6 * TIMEOUT);
}
