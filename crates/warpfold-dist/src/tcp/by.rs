//! [`By`]: a connection that is read until a point in time, however slowly its bytes come.

use std::io::{self, ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A connection, and when to give it up.
pub(super) struct By<'a> {
    stream: &'a TcpStream,
    deadline: Instant,
}

impl<'a> By<'a> {
    pub(super) fn new(stream: &'a TcpStream, deadline: Instant) -> Self {
        By { stream, deadline }
    }
}

impl Read for By<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        self.stream.read(buffer)
    }
}
