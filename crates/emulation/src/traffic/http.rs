//! A server of zeros over HTTP/1.1 [RFC 9112], for programs such as curl.
//!
//! It answers `GET` and `HEAD` of `/N`, N bytes, with `kB`, `MB` or `GB` behind the number or not, and of `/big`, 100
//! MB. The answer has no date, so it is the same each time. Bodies of requests are not read: a client that sends one is
//! disconnected.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{SendFlags, SocketFlags};

use super::sender::ZEROS;
use super::sockets;
use super::transfer::{End, SocketOptions};
use crate::error::Result;
use crate::host::Namespace;

/// The size of `/big`, in bytes.
const BIG: u64 = 100_000_000;

/// The longest head of a request, in bytes, and the most fields in it.
const LONGEST_HEAD: usize = 8 * 1024;
const MOST_FIELDS: usize = 64;

/// A server of zeros.
#[derive(Clone, Debug)]
pub struct HttpServer<'a> {
    /// namespace of the server
    pub namespace: &'a Namespace,
    /// its address
    pub address: Ipv4Addr,
    /// its port
    pub port: u16,
    /// settings of its sockets, including those of a sender
    pub socket: SocketOptions,
}

impl HttpServer<'_> {
    /// Opens its listening socket.
    pub(super) fn listen(&self) -> Result<OwnedFd> {
        let at = End { namespace: self.namespace, address: SocketAddrV4::new(self.address, self.port) };
        sockets::listen_as_sender(&at, &self.socket)
    }
}

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conversation {
    /// it waits for a request
    Reads,
    /// it waits for room to answer
    Writes,
    /// it is over
    Over,
}

/// A connection of a client.
pub(super) struct HttpConnection {
    socket: OwnedFd,
    /// received bytes that are not answered yet
    request: Vec<u8>,
    /// remaining output: the rest of a head, then zeros
    head: Vec<u8>,
    body: u64,
    last: bool,
}

impl HttpConnection {
    /// Takes the next connection of a server.
    pub fn accept(server: &OwnedFd) -> rustix::io::Result<HttpConnection> {
        let socket = rustix::net::accept_with(server, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)?;
        Ok(HttpConnection { socket, request: Vec::new(), head: Vec::new(), body: 0, last: false })
    }

    pub fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// Reads, answers or sends one more piece.
    pub fn advance(&mut self, scratch: &mut [u8]) -> Conversation {
        let done = if self.is_sending() { self.send() } else { self.read(scratch) };
        match done {
            Ok(true) | Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(false) | Err(_) => return Conversation::Over,
        }
        if !self.is_sending() && !self.last {
            self.answer();
        }
        match (self.is_sending(), self.last) {
            (true, _) => Conversation::Writes,
            (false, true) => Conversation::Over,
            (false, false) => Conversation::Reads,
        }
    }

    fn is_sending(&self) -> bool {
        !self.head.is_empty() || self.body > 0
    }

    fn send(&mut self) -> rustix::io::Result<bool> {
        if self.head.is_empty() {
            let length = self.body.min(ZEROS.len() as u64) as usize;
            self.body -= rustix::net::send(&self.socket, &ZEROS[..length], SendFlags::NOSIGNAL)? as u64;
        } else {
            let sent = rustix::net::send(&self.socket, &self.head, SendFlags::NOSIGNAL)?;
            self.head.drain(..sent);
        }
        Ok(true)
    }

    /// Reads more. False: the client has ended.
    fn read(&mut self, scratch: &mut [u8]) -> rustix::io::Result<bool> {
        let length = rustix::io::read(&self.socket, &mut *scratch)?;
        self.request.extend_from_slice(&scratch[..length]);
        Ok(length > 0)
    }

    /// Answers the first request received, if it is complete.
    fn answer(&mut self) {
        let Some(answer) = answer_to(&self.request) else { return };
        self.request.drain(..answer.length);
        self.head = answer.head().into_bytes();
        self.body = answer.body();
        self.last = answer.last;
    }
}

/// An answer to one request.
struct Answer {
    status: &'static str,
    size: u64,
    with_body: bool,
    last: bool,
    /// length of the head of the request
    length: usize,
}

impl Answer {
    fn refusal(status: &'static str) -> Answer {
        Answer { status, size: 0, with_body: false, last: true, length: 0 }
    }

    fn head(&self) -> String {
        let close = if self.last { "Connection: close\r\n" } else { "" };
        let Answer { status, size, .. } = self;
        format!("HTTP/1.1 {status}\r\nContent-Type: application/octet-stream\r\nContent-Length: {size}\r\n{close}\r\n")
    }

    fn body(&self) -> u64 {
        if self.with_body { self.size } else { 0 }
    }
}

/// The answer to the request at the front of `bytes`; `None` while its head is incomplete.
fn answer_to(bytes: &[u8]) -> Option<Answer> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    let length = match request.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if bytes.len() < LONGEST_HEAD => return None,
        Ok(httparse::Status::Partial) => return Some(Answer::refusal("431 Request Header Fields Too Large")),
        Err(_) => return Some(Answer::refusal("400 Bad Request")),
    };
    let field = |name: &str| request.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name));
    let has_body = field("transfer-encoding").is_some()
        || field("content-length").is_some_and(|field| field.value.trim_ascii() != b"0");
    let closes = field("connection").is_some_and(|field| field.value.to_ascii_lowercase().ends_with(b"close"));
    let last = has_body || closes || request.version == Some(0);
    let with_body = match request.method {
        Some("GET") => true,
        Some("HEAD") => false,
        _ => return Some(Answer::refusal("405 Method Not Allowed")),
    };
    Some(match size(request.path.unwrap_or_default()) {
        Some(size) => Answer { status: "200 OK", size, with_body, last, length },
        None => Answer { status: "404 Not Found", size: 0, with_body, last, length },
    })
}

/// The number of bytes at a path.
fn size(path: &str) -> Option<u64> {
    let name = path.split('?').next()?.strip_prefix('/')?;
    if name == "big" {
        return Some(BIG);
    }
    let units = [("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)];
    let unit = units.iter().find_map(|(unit, bytes)| Some((name.strip_suffix(unit)?, *bytes)));
    let (number, bytes) = unit.unwrap_or((name, 1));
    number.parse::<u64>().ok()?.checked_mul(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_gives_the_number_of_bytes() {
        assert_eq!(
            ["/17", "/3kB", "/10MB", "/2GB", "/big", "/5?x=1"].map(|path| size(path).unwrap()),
            [17, 3_000, 10_000_000, 2_000_000_000, 100_000_000, 5]
        );
        assert_eq!(["/", "/x", "17", "/1TB", "/-1", "/99999999999GB"].map(size), [None; 6]);
    }

    fn status(request: &str) -> (&'static str, u64, bool) {
        let answer = answer_to(request.as_bytes()).unwrap();
        (answer.status, answer.body(), answer.last)
    }

    #[test]
    fn requests_are_answered() {
        assert_eq!(status("GET /9 HTTP/1.1\r\nHost: server\r\n\r\n"), ("200 OK", 9, false));
        assert_eq!(status("HEAD /9 HTTP/1.1\r\n\r\n"), ("200 OK", 0, false));
        assert_eq!(status("GET /9 HTTP/1.0\r\n\r\n"), ("200 OK", 9, true));
        assert_eq!(status("GET /9 HTTP/1.1\r\nConnection: Close\r\n\r\n"), ("200 OK", 9, true));
        assert_eq!(status("GET /nothing HTTP/1.1\r\n\r\n"), ("404 Not Found", 0, false));
        assert_eq!(status("POST /9 HTTP/1.1\r\n\r\n"), ("405 Method Not Allowed", 0, true));
        assert_eq!(status("\u{1}\r\n\r\n"), ("400 Bad Request", 0, true));
        assert!(answer_to(b"GET /9 HTTP/1.1\r\n").is_none());
        assert!(status(&format!("GET /{} ", "9".repeat(LONGEST_HEAD))).2);
    }
}
