//! A proxy between a rank and rank 0 that spoils what the rank sends after it has introduced itself.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// Bytes with which a rank introduces itself.
const HELLO: usize = 64;

/// What is done; numbers are bytes after the introduction.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// Everything comes late, and in small pieces.
    Delay(Duration),
    /// The connection ends there.
    Cut(usize),
    /// Nothing comes through from there on, and the connection stays open.
    Swallow(usize),
    /// One bit of that byte is changed.
    Flip(usize),
    /// So many bytes, and the so many that follow them, change places.
    Swap(usize),
}

/// Starts a proxy for one connection, and returns its address.
pub(crate) fn start(to: &str, fault: Fault) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address").to_string();
    let to = to.to_string();
    thread::spawn(move || {
        let Ok((rank, _)) = listener.accept() else { return };
        let host = (0..500).find_map(|_| {
            thread::sleep(Duration::from_millis(2));
            TcpStream::connect(&to).ok()
        });
        let Some(host) = host else { return };
        let (from, back) = (host.try_clone(), rank.try_clone());
        if let (Ok(from), Ok(back)) = (from, back) {
            thread::spawn(move || copy(from, back));
            spoil(rank, host, fault);
        }
    });
    address
}

fn copy(mut from: TcpStream, mut to: TcpStream) {
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Both);
}

fn spoil(mut rank: TcpStream, mut host: TcpStream, fault: Fault) {
    let mut hello = [0; HELLO];
    if rank.read_exact(&mut hello).and_then(|()| host.write_all(&hello)).is_err() {
        return;
    }
    let mut at = 0;
    let mut held = Vec::new();
    let mut buffer = [0; 700];
    while let Ok(n @ 1..) = rank.read(&mut buffer) {
        let bytes = &mut buffer[..n];
        let here = at;
        at += n;
        let left = |from: usize| from.saturating_sub(here).min(n);
        let passed = match fault {
            Fault::Delay(time) => {
                thread::sleep(time / 10);
                host.write_all(bytes)
            }
            Fault::Cut(from) if at > from => {
                let _ = host.write_all(&bytes[..left(from)]);
                break;
            }
            Fault::Swallow(from) => host.write_all(&bytes[..left(from)]),
            Fault::Flip(byte) if (here..at).contains(&byte) => {
                bytes[byte - here] ^= 0x40;
                host.write_all(bytes)
            }
            Fault::Swap(count) if here < 2 * count => {
                held.extend_from_slice(bytes);
                if held.len() < 2 * count {
                    continue;
                }
                held[..2 * count].rotate_left(count);
                host.write_all(&held)
            }
            _ => host.write_all(bytes),
        };
        if passed.is_err() {
            break;
        }
    }
    let _ = rank.shutdown(Shutdown::Both);
    let _ = host.shutdown(Shutdown::Both);
}
