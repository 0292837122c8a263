//! Programs of the user in the namespace of a host.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal};

use crate::error::{Context, Result};
use crate::host::namespace::Namespace;
use crate::system_calls::spawn_as_ordinary;

/// A command.
#[derive(Clone, Debug)]
pub enum Line {
    /// a program and its arguments; the program is searched along `PATH`
    Words(Vec<OsString>),
    /// a line for `sh -c`
    Shell(String),
}

/// Output and input of a program.
#[derive(Clone, Debug)]
pub enum Streams {
    /// files, whose previous content is lost; the program reads nothing
    Files {
        /// file for standard output
        output: PathBuf,
        /// file for standard error
        error: PathBuf,
    },
    /// the emulator's own, as for a shell
    Terminal,
}

/// Configuration of a program.
#[derive(Debug)]
pub struct Setup<'a> {
    /// its name in errors
    pub name: String,
    /// its command
    pub line: Line,
    /// its namespace
    pub namespace: &'a Namespace,
    /// its complete environment
    pub environment: Vec<(OsString, OsString)>,
    /// its output and input
    pub streams: Streams,
}

/// A program that was started. It ends with this value, and with the emulator.
#[derive(Debug)]
pub struct Program {
    name: String,
    child: Child,
    own_group: bool,
}

impl Program {
    /// Starts it with an ordinary schedule, and in its own process group unless it has the terminal.
    ///
    /// # Errors
    /// A file cannot be created, or the program does not exist or may not be run.
    pub fn start(setup: &Setup<'_>) -> Result<Program> {
        let name = setup.name.clone();
        let mut command = command(&setup.line);
        command.env_clear().envs(setup.environment.iter().map(|(key, value)| (key, value)));
        let own_group = match &setup.streams {
            Streams::Terminal => false,
            Streams::Files { output, error } => {
                command.stdin(Stdio::null()).stdout(file(&name, output)?).stderr(file(&name, error)?);
                true
            }
        };
        if own_group {
            command.process_group(0);
        }
        let program = command.get_program().to_owned();
        let child = setup
            .namespace
            .enter(|| spawn_as_ordinary(&mut command))?
            .context(|| format!("{name}: {} cannot be run", program.display()))?;
        Ok(Program { name, child, own_group })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its process number, as seen here.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Its exit status, if it has ended.
    ///
    /// # Errors
    /// It has already been waited for elsewhere.
    pub fn try_wait(&mut self) -> Result<Option<ExitStatus>> {
        self.child.try_wait().context(|| format!("{}: the program cannot be waited for", self.name))
    }

    /// Requests its end (SIGTERM), and that of processes it has started in its process group.
    pub fn terminate(&mut self) {
        self.signal(Signal::TERM);
    }

    /// Kills it and waits for its end.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.child.wait().ok();
    }

    fn signal(&mut self, signal: Signal) {
        // The number may be reused once the program has been waited for.
        if !matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        let Some(process) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) else { return };
        let send = if self.own_group { rustix::process::kill_process_group } else { rustix::process::kill_process };
        send(process, signal).ok();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}

fn command(line: &Line) -> Command {
    let (program, arguments) = match line {
        Line::Words(words) => {
            let (first, rest) =
                words.split_first().map_or((OsString::new(), &[][..]), |(first, rest)| (first.clone(), rest));
            (first, rest.to_vec())
        }
        Line::Shell(line) => ("/bin/sh".into(), vec!["-c".into(), line.into()]),
    };
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

fn file(name: &str, path: &PathBuf) -> Result<File> {
    File::create(path).context(|| format!("{name}: {} cannot be written", path.display()))
}
