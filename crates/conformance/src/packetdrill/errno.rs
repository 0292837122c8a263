//! The errors that calls return here.

/// An error of a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Errno {
    Again,
    Already,
    BadFd,
    ConnAborted,
    ConnRefused,
    ConnReset,
    Fault,
    InProgress,
    Inval,
    IsConn,
    NotConn,
    Pipe,
    TimedOut,
}

impl Errno {
    /// Its name in `errno.h`.
    pub fn name(self) -> &'static str {
        match self {
            Errno::Again => "EAGAIN",
            Errno::Already => "EALREADY",
            Errno::BadFd => "EBADF",
            Errno::ConnAborted => "ECONNABORTED",
            Errno::ConnRefused => "ECONNREFUSED",
            Errno::ConnReset => "ECONNRESET",
            Errno::Fault => "EFAULT",
            Errno::InProgress => "EINPROGRESS",
            Errno::Inval => "EINVAL",
            Errno::IsConn => "EISCONN",
            Errno::NotConn => "ENOTCONN",
            Errno::Pipe => "EPIPE",
            Errno::TimedOut => "ETIMEDOUT",
        }
    }

    /// Its number on Linux.
    pub fn number(self) -> i64 {
        match self {
            Errno::Again => 11,
            Errno::Already => 114,
            Errno::BadFd => 9,
            Errno::ConnAborted => 103,
            Errno::ConnRefused => 111,
            Errno::ConnReset => 104,
            Errno::Fault => 14,
            Errno::InProgress => 115,
            Errno::Inval => 22,
            Errno::IsConn => 106,
            Errno::NotConn => 107,
            Errno::Pipe => 32,
            Errno::TimedOut => 110,
        }
    }
}
