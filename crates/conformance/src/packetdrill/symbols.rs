//! The names of constants in calls, with their values on Linux.

use crate::packetdrill::script::Expr;

const SYMBOLS: &[(&str, i64)] = &[
    ("NULL", 0),
    ("AF_INET", 2),
    ("AF_INET6", 10),
    ("SOCK_STREAM", 1),
    ("SOCK_DGRAM", 2),
    ("SOCK_RAW", 3),
    ("SOCK_NONBLOCK", 0o4000),
    ("IPPROTO_IP", 0),
    ("IPPROTO_TCP", 6),
    ("IPPROTO_UDP", 17),
    ("SHUT_RD", 0),
    ("SHUT_WR", 1),
    ("SHUT_RDWR", 2),
    ("MSG_OOB", 0x1),
    ("MSG_PEEK", 0x2),
    ("MSG_TRUNC", 0x20),
    ("MSG_DONTWAIT", 0x40),
    ("MSG_EOR", 0x80),
    ("MSG_WAITALL", 0x100),
    ("MSG_ERRQUEUE", 0x2000),
    ("MSG_NOSIGNAL", 0x4000),
    ("MSG_MORE", 0x8000),
    ("MSG_ZEROCOPY", 0x400_0000),
    ("MSG_FASTOPEN", 0x2000_0000),
    ("SOL_TCP", 6),
    ("TCP_CM_INQ", 36),
    ("O_RDONLY", 0),
    ("O_RDWR", 2),
    ("O_NONBLOCK", 0o4000),
    ("POLLIN", 0x1),
    ("POLLPRI", 0x2),
    ("POLLOUT", 0x4),
    ("POLLERR", 0x8),
    ("POLLHUP", 0x10),
    ("POLLRDHUP", 0x2000),
    ("EPOLLIN", 0x1),
    ("EPOLLPRI", 0x2),
    ("EPOLLOUT", 0x4),
    ("EPOLLERR", 0x8),
    ("EPOLLHUP", 0x10),
    ("EPOLLRDHUP", 0x2000),
    ("EPOLLEXCLUSIVE", 1 << 28),
    ("EPOLLONESHOT", 1 << 30),
    ("EPOLLET", 1 << 31),
    ("ENOTCONN", 107),
    ("ECONNRESET", 104),
    ("ECONNREFUSED", 111),
    ("ETIMEDOUT", 110),
    ("EPIPE", 32),
];

/// The value of an expression; the unknown symbol, if there is one.
pub(crate) fn value_of(expression: &Expr) -> Result<i64, String> {
    match expression {
        Expr::Int(value) => Ok(*value),
        Expr::Ellipsis => Ok(0),
        Expr::Word(word) => {
            SYMBOLS.iter().find(|(name, _)| name == word).map(|(_, value)| *value).ok_or_else(|| word.clone())
        }
        Expr::Or(terms) => terms.iter().try_fold(0, |all, term| Ok(all | value_of(term)?)),
        other => Err(format!("{other:?}")),
    }
}
