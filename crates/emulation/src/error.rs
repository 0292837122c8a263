//! Errors: one sentence each, with the place and the reason.

use std::fmt;
use std::io;

/// A sentence that names the failed action and its place, with the kernel's answer.
#[derive(Debug)]
pub struct Error {
    what: String,
    cause: Option<io::Error>,
}

/// A value, or the sentence with the reason why there is none.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error without an answer of the kernel.
    pub fn new(what: impl Into<String>) -> Error {
        Error { what: what.into(), cause: None }
    }

    /// The kernel's answer, if the kernel was involved.
    pub fn cause(&self) -> Option<&io::Error> {
        self.cause.as_ref()
    }

    /// The same error with advice.
    #[must_use]
    pub fn with_remedy(mut self, remedy: &str) -> Error {
        if let Some(cause) = self.cause.take() {
            self.what = format!("{}: {cause}", self.what);
        }
        self.what = format!("{}; {remedy}", self.what);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Some(cause) => write!(to, "{}: {cause}", self.what),
            None => to.write_str(&self.what),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(|cause| cause as _)
    }
}

/// Adds the place to an answer of the kernel.
pub(crate) trait Context<T> {
    /// The value, or an error that opens with `what`, such as "wlan0: cannot be brought up".
    fn context(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<io::Error>> Context<T> for std::result::Result<T, E> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|cause| Error { what: what(), cause: Some(cause.into()) })
    }
}
