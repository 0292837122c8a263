//! The emulator's control of the process that carries data.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::carrier::Carrier;
use super::http::HttpServer;
use super::message::{Completion, Message};
use super::transfer::Transfer;
use crate::error::{Error, Result};
use crate::host::Companion;

/// Name of the process in errors.
const NAME: &str = "the process that carries data";

/// A process that carries data. It ends with this value, and with the process that started it.
#[derive(Debug)]
pub struct Traffic {
    companion: Companion,
    ready: bool,
    completed: Vec<Completion>,
    failure: Option<String>,
}

impl Traffic {
    /// Starts the process, which sets its sockets up and then waits for time zero.
    ///
    /// It is a fork of this one, so the caller must be a process of one thread.
    ///
    /// # Errors
    /// No further process can be created.
    pub fn start(transfers: &[Transfer<'_>], servers: &[HttpServer<'_>]) -> Result<Traffic> {
        let companion = Companion::start(NAME, |channel| carry(transfers, servers, channel))?;
        Ok(Traffic { companion, ready: false, completed: Vec::new(), failure: None })
    }

    /// Waits until everything is set up.
    ///
    /// # Errors
    /// A sentence that says which part could not be set up.
    pub fn ready(&mut self) -> Result<()> {
        while !self.ready && self.failure.is_none() {
            self.receive(RecvFlags::empty());
        }
        self.failure.clone().map_or(Ok(()), |sentence| Err(Error::new(sentence)))
    }

    /// Sets time zero, in nanoseconds of `CLOCK_MONOTONIC`. Each transfer starts at its own time after it.
    ///
    /// # Errors
    /// The process has ended.
    pub fn begin(&mut self, zero_ns: u64) -> Result<()> {
        self.companion.begin(zero_ns)
    }

    /// The reason why a transfer cannot go on, if there is one.
    pub fn failure(&mut self) -> Option<String> {
        self.receive_all();
        self.failure.clone()
    }

    /// The connections that have been completed since the last call, in order.
    pub fn completions(&mut self) -> Vec<Completion> {
        self.receive_all();
        std::mem::take(&mut self.completed)
    }

    /// Its process number.
    pub fn process(&self) -> u32 {
        self.companion.process()
    }

    fn receive_all(&mut self) {
        while self.failure.is_none() && self.receive(RecvFlags::DONTWAIT) {}
    }

    /// Receives one message. False: there is none.
    fn receive(&mut self, flags: RecvFlags) -> bool {
        match Message::receive(&self.companion, flags) {
            Ok(Some(Message::Ready)) => self.ready = true,
            Ok(Some(Message::Completed(completion))) => self.completed.push(completion),
            Ok(Some(Message::Failed(sentence))) => self.failure = Some(sentence),
            Ok(None) => self.failure = Some(format!("{NAME} has ended")),
            Err(Errno::AGAIN) => return false,
            Err(Errno::INTR) => {}
            Err(error) => self.failure = Some(format!("{NAME} cannot be heard: {error}")),
        }
        true
    }
}

impl AsFd for Traffic {
    /// Readable when a message waits.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.companion.as_fd()
    }
}

/// The main function of the new process.
fn carry(transfers: &[Transfer<'_>], servers: &[HttpServer<'_>], channel: OwnedFd) {
    // Keys pressed at the terminal are for the emulator.
    rustix::process::setpgid(None, None).ok();
    let Ok(own) = rustix::io::dup(&channel) else { return };
    let done = Carrier::new(transfers, servers, channel).and_then(|mut carrier| carrier.run());
    if let Err(error) = done {
        Message::Failed(error.to_string()).send(own).ok();
    }
}
