//! Programs of the user at the hosts of a run: servers start at once, all others when their flow starts.
//!
//! A separate process starts them, so that the emulator need not fork while packets wait.

use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitStatus;

use lasthop_units::Duration;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustix::process::{Pid, PidfdFlags};

use crate::clock::{monotonic_ns, timespec};
use crate::error::{Context, Error, Result};
use crate::host::program::{Line, Program, Setup, Streams};
use crate::host::{Companion, Namespace};

/// A program to be run.
pub(super) struct Scheduled<'a> {
    /// its name in errors
    pub(super) name: String,
    /// the program and its arguments
    pub(super) words: Vec<String>,
    pub(super) namespace: &'a Namespace,
    /// time after time zero; `None`: before time zero
    pub(super) start: Option<Duration>,
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) streams: Streams,
}

/// The end of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    /// the program, by its index among the scheduled ones
    pub(super) program: usize,
    /// `None` if it ended well; otherwise the failure
    pub(super) failure: Option<String>,
}

/// The process that starts programs. They end with it, and it ends with this value.
#[derive(Debug)]
pub(super) struct Programs {
    companion: Companion,
    ended: Vec<Ended>,
}

/// The longest message, in bytes: the number of a program, and its failure.
const LONGEST: usize = 1024;

impl Programs {
    /// Starts programs without a time; the others wait for time zero. It is a fork of this process, which must have one
    /// thread.
    ///
    /// # Errors
    /// No further process can be created.
    pub(super) fn start(scheduled: &[Scheduled<'_>]) -> Result<Programs> {
        let companion = Companion::start("the process that starts programs", |channel| {
            // An error closes the channel, which reports it.
            Starter::new(scheduled, channel).run().ok();
        })?;
        Ok(Programs { companion, ended: Vec::new() })
    }

    /// Sets time zero, in nanoseconds of `CLOCK_MONOTONIC`.
    ///
    /// # Errors
    /// The process has ended.
    pub(super) fn begin(&mut self, zero_ns: u64) -> Result<()> {
        self.companion.begin(zero_ns)
    }

    /// The programs that have ended so far.
    ///
    /// # Errors
    /// The process that starts them has ended.
    pub(super) fn ended(&mut self) -> Result<&[Ended]> {
        let mut bytes = [0; LONGEST];
        loop {
            match rustix::net::recv(&self.companion, &mut bytes[..], RecvFlags::DONTWAIT) {
                Ok((length, _)) if length >= 4 => self.ended.push(Ended::read(&bytes[..length])),
                Ok(_) => return Err(Error::new(format!("{} has ended", self.companion.name()))),
                Err(Errno::AGAIN) => return Ok(&self.ended),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error).context(|| "programs cannot be heard of".to_owned()),
            }
        }
    }
}

impl Ended {
    fn read(bytes: &[u8]) -> Ended {
        let (number, words) = bytes.split_at(4);
        let program = u32::from_ne_bytes(number.try_into().expect("there are four")) as usize;
        Ended { program, failure: (!words.is_empty()).then(|| String::from_utf8_lossy(words).into_owned()) }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = (self.program as u32).to_ne_bytes().to_vec();
        bytes.extend(self.failure.iter().flat_map(|words| words.bytes()).take(LONGEST - 4));
        bytes
    }
}

/// The process that starts programs, seen from inside.
struct Starter<'a> {
    scheduled: &'a [Scheduled<'a>],
    channel: OwnedFd,
    /// each program, once it was started
    running: Vec<Option<(Program, OwnedFd)>>,
}

impl<'a> Starter<'a> {
    fn new(scheduled: &'a [Scheduled<'a>], channel: OwnedFd) -> Starter<'a> {
        let running = scheduled.iter().map(|_| None).collect();
        Starter { scheduled, channel, running }
    }

    fn run(&mut self) -> Result<()> {
        let at_once = |scheduled: &&Scheduled<'_>| scheduled.start.is_none();
        let count = self.scheduled.iter().filter(at_once).count();
        let mut order: Vec<usize> = (0..self.scheduled.len()).collect();
        order.sort_by_key(|&place| self.scheduled[place].start);
        order[..count].iter().try_for_each(|&place| self.start(place))?;
        let mut zero = [0; 8];
        rustix::net::recv(&self.channel, &mut zero[..], RecvFlags::empty()).context(|| "no time zero".to_owned())?;
        let zero_ns = u64::from_ne_bytes(zero);
        for &place in &order[count..] {
            let due = self.scheduled[place].start.map_or(0, |start| zero_ns + start.as_nanos());
            while monotonic_ns() < due {
                self.wait(Some(due))?;
            }
            self.start(place)?;
        }
        loop {
            self.wait(None)?;
        }
    }

    fn start(&mut self, place: usize) -> Result<()> {
        let Scheduled { name, words, namespace, environment, streams, .. } = &self.scheduled[place];
        let setup = Setup {
            name: name.clone(),
            line: Line::Words(words.iter().map(OsString::from).collect()),
            namespace,
            environment: environment.clone(),
            streams: streams.clone(),
        };
        match Program::start(&setup) {
            Ok(program) => {
                let number = i32::try_from(program.process()).ok().and_then(Pid::from_raw);
                let number = number.ok_or_else(|| Error::new(format!("{name} has no number")))?;
                let ending = rustix::process::pidfd_open(number, PidfdFlags::empty()).context(|| name.clone())?;
                self.running[place] = Some((program, ending));
                Ok(())
            }
            Err(error) => self.tell(&Ended { program: place, failure: Some(error.to_string()) }),
        }
    }

    /// Returns once a program has ended, which is reported, or at `until` in nanoseconds of the clock.
    fn wait(&mut self, until: Option<u64>) -> Result<()> {
        let running: Vec<usize> = (0..self.running.len()).filter(|&place| self.running[place].is_some()).collect();
        let endings = running.iter().filter_map(|&place| self.running[place].as_ref().map(|(_, ending)| ending));
        let mut watched: Vec<PollFd<'_>> =
            endings.map(|ending| PollFd::from_borrowed_fd(ending.as_fd(), PollFlags::IN)).collect();
        let timeout = until.map(|until| timespec(until.saturating_sub(monotonic_ns())));
        match poll(&mut watched, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error).context(|| "programs cannot be waited for".to_owned()),
        }
        let ended: Vec<bool> = watched.iter().map(|one| one.revents().contains(PollFlags::IN)).collect();
        drop(watched);
        for (&place, _) in running.iter().zip(ended).filter(|(_, ended)| *ended) {
            let Some((mut program, _)) = self.running[place].take() else { continue };
            let failure = program.try_wait()?.and_then(words_of);
            self.tell(&Ended { program: place, failure })?;
        }
        Ok(())
    }

    fn tell(&self, ended: &Ended) -> Result<()> {
        rustix::net::send(&self.channel, &ended.bytes(), SendFlags::NOSIGNAL)
            .map(drop)
            .context(|| "the emulator has ended".to_owned())
    }
}

/// The failure of a program, if it has failed.
fn words_of(status: ExitStatus) -> Option<String> {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(0), _) => None,
        (Some(code), _) => Some(format!("ended with status {code}")),
        (None, signal) => Some(format!("was ended by signal {}", signal.unwrap_or(0))),
    }
}
