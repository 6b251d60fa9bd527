//! How ranks meet: everyone connects to rank 0, and both sides prove that they know the token before anything else is said.
//!
//! Rank 0 sends `WFTCP`, two zeros, the version (1) and 16 random bytes. The other answers with the same 8 bytes, its rank and the size of
//! the world (4 bytes each), 16 random bytes and a proof of 32. Rank 0 answers with a verdict (1 byte: 0 is welcome), 7 zeros and its own
//! proof. A proof is SHA-256 of the token's hash and the inner hash of token, role, random bytes, rank and size, so the token itself is
//! never sent. The token keeps strangers out; it hides nothing of what is sent afterwards.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::Write;
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::Options;
use super::by::By;
use super::message::fill;
use crate::{Error, Result};

const MAGIC: [u8; 8] = *b"WFTCP\0\0\x01";
/// Strangers who are being heard at once; more are turned away unheard.
const HEARD: usize = 64;
/// How long someone may take to introduce themselves.
const PATIENCE: Duration = Duration::from_secs(5);

const VERDICTS: [&str; 4] = [
    "welcome",
    "the tokens differ; set one WARPFOLD_TOKEN for all ranks",
    "the sizes of the world differ; start all ranks with one size",
    "its number is taken, or none of this world; give each rank a number of its own",
];

type Proof = [u8; 32];

fn proof(token: &str, role: &[u8], nonces: [&[u8; 16]; 2], rank: u32, size: u32) -> Proof {
    let key = Sha256::digest(token.as_bytes());
    let mut inner = Sha256::new();
    inner.update(key);
    inner.update(role);
    nonces.iter().for_each(|nonce| inner.update(nonce));
    inner.update(rank.to_le_bytes());
    inner.update(size.to_le_bytes());
    let mut outer = Sha256::new();
    outer.update(key);
    outer.update(inner.finalize());
    outer.finalize().into()
}

/// Compares in the same time wherever the first difference is.
fn same(a: &Proof, b: &Proof) -> bool {
    a.iter().zip(b).fold(0, |differences, (a, b)| differences | (a ^ b)) == 0
}

/// Bytes that nobody guesses: the standard library's hashers have random keys.
fn nonce() -> [u8; 16] {
    let word = || RandomState::new().build_hasher().finish().to_le_bytes();
    let mut nonce = [0; 16];
    nonce[..8].copy_from_slice(&word());
    nonce[8..].copy_from_slice(&word());
    nonce
}

/// Rank 0: waits for all others, and returns their connections from rank 1 on.
pub(super) fn host(options: &Options, listener: &TcpListener) -> Result<Vec<TcpStream>> {
    let deadline = Instant::now() + options.timeout;
    let size = options.size;
    let failed = |error: std::io::Error| options.error("to wait for ranks", error.to_string());
    listener.set_nonblocking(true).map_err(failed)?;
    let mut ranks: Vec<Option<TcpStream>> = (1..size).map(|_| None).collect();
    let (introduced, introductions) = channel();
    let (mut heard, mut refused) = (0, Refused::default());
    while let Some(missing) = ranks.iter().position(Option::is_none) {
        while let Ok((stream, _)) = listener.accept() {
            if heard < HEARD {
                heard += 1;
                hear(options, stream, introduced.clone());
            }
        }
        heard -= admit(options, &introductions, &mut ranks, &mut refused);
        if Instant::now() >= deadline {
            let why = format!("it did not come within {:?}{refused}", options.timeout);
            for stream in ranks.iter_mut().flatten() {
                let _ = super::message::write_lost(stream, missing + 1, &why);
            }
            return Err(Error::Lost { rank: missing + 1, size, why });
        }
    }
    Ok(ranks.into_iter().flatten().collect())
}

/// Who was turned away, for the message about who is missing.
#[derive(Debug, Default)]
struct Refused {
    count: usize,
    last: String,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.count {
            0 => Ok(()),
            n => write!(f, " ({n} refused, the last because {})", self.last),
        }
    }
}

/// Someone who has said a number and proved to know the token, or why not.
type Introduction = Result<(TcpStream, usize, [u8; 40]), String>;

/// Listens to one connection in a thread of its own, so that nobody's silence holds up the others.
fn hear(options: &Options, stream: TcpStream, introduced: Sender<Introduction>) {
    let (token, size) = (options.token.clone(), options.size as u32);
    let patience = options.timeout.min(PATIENCE);
    std::thread::spawn(move || {
        // Nobody listens any more once all ranks are there.
        let _ = introduced.send(introduce(stream, &token, size, patience));
    });
}

fn introduce(stream: TcpStream, token: &str, size: u32, patience: Duration) -> Introduction {
    let failed = |_| "its connection failed".to_string();
    stream.set_nonblocking(false).map_err(failed)?;
    stream.set_nodelay(true).map_err(failed)?;
    stream.set_write_timeout(Some(patience)).map_err(failed)?;
    let mine = nonce();
    (&stream).write_all(&[&MAGIC[..], &mine].concat()).map_err(failed)?;
    let mut hello = [0; 64];
    fill(&mut By::new(&stream, Instant::now() + patience), &mut hello)?;
    let word = |at: usize| u32::from_le_bytes(hello[at..at + 4].try_into().expect("four bytes"));
    let (rank, their_size) = (word(8), word(12));
    let theirs: &[u8; 16] = hello[16..32].try_into().expect("sixteen bytes");
    let shown: &Proof = hello[32..].try_into().expect("thirty-two bytes");
    if hello[..8] != MAGIC {
        return Err("it is no rank, or one of another version".into());
    }
    let refuse = |verdict: usize| {
        let mut answer = [0; 40];
        answer[0] = verdict as u8;
        let _ = (&stream).write_all(&answer);
        Err(VERDICTS[verdict].to_string())
    };
    if !same(shown, &proof(token, b"rank", [&mine, theirs], rank, their_size)) {
        return refuse(1);
    }
    if their_size != size {
        return refuse(2);
    }
    let mut answer = [0; 40];
    answer[8..].copy_from_slice(&proof(token, b"host", [&mine, theirs], rank, size));
    Ok((stream, rank as usize, answer))
}

/// Takes in those who have introduced themselves; returns how many were heard out.
fn admit(
    options: &Options,
    introductions: &Receiver<Introduction>,
    ranks: &mut [Option<TcpStream>],
    refused: &mut Refused,
) -> usize {
    let mut heard = 0;
    let wait = Duration::from_millis(2);
    while let Ok(introduction) = introductions.recv_timeout(wait) {
        heard += 1;
        let refusal = match introduction {
            Err(why) => why,
            Ok((mut stream, rank, answer)) => {
                let seat = rank.checked_sub(1).and_then(|rank| ranks.get_mut(rank));
                match seat {
                    Some(seat) if seat.is_none() => {
                        let timeout = stream.set_write_timeout(Some(options.timeout));
                        match timeout.and_then(|()| stream.write_all(&answer)) {
                            Ok(()) => {
                                *seat = Some(stream);
                                continue;
                            }
                            Err(_) => "its connection failed".into(),
                        }
                    }
                    _ => {
                        let mut answer = [0; 40];
                        answer[0] = 3;
                        let _ = stream.write_all(&answer);
                        VERDICTS[3].into()
                    }
                }
            }
        };
        refused.count += 1;
        refused.last = refusal;
    }
    heard
}

/// Another rank: connects to rank 0, which may start later.
pub(super) fn join(options: &Options) -> Result<TcpStream> {
    let deadline = Instant::now() + options.timeout;
    let mut last = "nobody answered".to_string();
    while Instant::now() < deadline {
        match attempt(options, deadline) {
            Ok(stream) => return Ok(stream),
            Err(Refusal::Final(why)) => {
                return Err(options.error("to join the world", format!("rank 0 refused: {why}")));
            }
            Err(Refusal::Temporary(why)) => last = why,
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let why = format!("not reached at {} within {:?}: {last}", options.address, options.timeout);
    Err(Error::Lost { rank: 0, size: options.size, why })
}

enum Refusal {
    /// It may be different in a moment.
    Temporary(String),
    Final(String),
}

fn attempt(options: &Options, deadline: Instant) -> Result<TcpStream, Refusal> {
    let io = |error: std::io::Error| Refusal::Temporary(error.to_string());
    let mut found = Err(Refusal::Temporary("the address has no host".into()));
    for address in options.address.to_socket_addrs().map_err(io)? {
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        found = TcpStream::connect_timeout(&address, left).map_err(io);
        if found.is_ok() {
            break;
        }
    }
    let stream = found?;
    stream.set_nodelay(true).map_err(io)?;
    stream.set_write_timeout(Some(options.timeout)).map_err(io)?;
    let until = deadline.min(Instant::now() + PATIENCE);
    let mut greeting = [0; 24];
    fill(&mut By::new(&stream, until), &mut greeting).map_err(Refusal::Temporary)?;
    if greeting[..8] != MAGIC {
        let _ = stream.shutdown(Shutdown::Both);
        return Err(Refusal::Temporary("what listens there is no rank 0 of this version".into()));
    }
    let theirs: &[u8; 16] = greeting[8..].try_into().expect("sixteen bytes");
    let (mine, rank, size) = (nonce(), options.rank as u32, options.size as u32);
    let shown = proof(&options.token, b"rank", [theirs, &mine], rank, size);
    let (rank_bytes, size_bytes) = (rank.to_le_bytes(), size.to_le_bytes());
    let hello = [&MAGIC[..], &rank_bytes, &size_bytes, &mine, &shown].concat();
    (&stream).write_all(&hello).map_err(io)?;
    let mut answer = [0; 40];
    fill(&mut By::new(&stream, until), &mut answer).map_err(Refusal::Temporary)?;
    let returned: &Proof = answer[8..].try_into().expect("thirty-two bytes");
    match answer[0] {
        0 if same(returned, &proof(&options.token, b"host", [theirs, &mine], rank, size)) => {
            Ok(stream)
        }
        0 => Err(Refusal::Final("what listens there does not know the token".into())),
        verdict => {
            let why = VERDICTS.get(usize::from(verdict)).unwrap_or(&"for an unknown reason");
            Err(Refusal::Final((*why).into()))
        }
    }
}
