//! The arguments of a call: numbers, lengths, flags, and the values that it is to write.

use crate::packetdrill::host::Trouble;
use crate::packetdrill::script::{Call, Expr};
use crate::packetdrill::symbols::value_of;

const SOL_TCP: i64 = 6;
const TCP_CM_INQ: i64 = 36;

/// The file number that the script gives to the result of a call.
pub(crate) fn result_of(call: &Call) -> Result<i64, Trouble> {
    number_of(&call.result)
}

pub(crate) fn number_of(expression: &Expr) -> Result<i64, Trouble> {
    value_of(expression).map_err(|word| Trouble::Skip(format!("the symbol {word} has no counterpart")))
}

/// The value of an argument.
pub(crate) fn argument(call: &Call, place: usize) -> Result<i64, Trouble> {
    match call.arguments.get(place) {
        Some(argument) => number_of(argument),
        None => Err(Trouble::Skip(format!("{} has fewer arguments than it needs", call.name))),
    }
}

pub(crate) fn flags_argument(call: &Call, place: usize) -> Result<i64, Trouble> {
    if matches!(call.name.as_str(), "read" | "readv") {
        return Ok(0);
    }
    let place = if call.name == "recvmsg" { 2 } else { place };
    call.arguments.get(place).map_or(Ok(0), number_of)
}

/// Most bytes that a call moves on Linux: a page less than 2 GiB. [read(2), write(2)]
const MOST_BYTES: u64 = 0x7fff_f000;

fn bytes(stated: i64) -> u64 {
    stated.clamp(0, MOST_BYTES as i64) as u64
}

/// The number of bytes that a call is to move.
pub(crate) fn length(call: &Call) -> Result<u64, Trouble> {
    let pieces = match call.name.as_str() {
        "sendmsg" | "recvmsg" => call.arguments.get(1).and_then(|message| message.field("msg_iov")),
        "writev" | "readv" => call.arguments.get(1),
        "sendfile" => return argument(call, 3).map(bytes),
        _ => return argument(call, 2).map(bytes),
    };
    let control = call.arguments.get(1).and_then(|message| message.field("msg_control"));
    if control.is_some() && call.name != "recvmsg" {
        return Err(Trouble::Skip("control messages have no counterpart".into()));
    }
    let Some(Expr::List(pieces)) = pieces else { return Ok(0) };
    pieces.iter().try_fold(0, |sum, piece| match piece {
        Expr::Fields(parts) if parts.len() == 2 => Ok((sum + bytes(number_of(&parts[1].1)?)).min(MOST_BYTES)),
        _ => Err(Trouble::Skip("a piece of a message that has no length".into())),
    })
}

/// Compares the control message of a recvmsg, which can only be `TCP_CM_INQ`: the bytes that remain.
pub(crate) fn expect_control(call: &Call, left: i64) -> Result<(), Trouble> {
    let Some(Expr::List(messages)) = call.arguments.get(1).and_then(|message| message.field("msg_control")) else {
        return Ok(());
    };
    for message in messages {
        let number = |name: &str| message.field(name).map_or(Ok(0), number_of);
        if (number("cmsg_level")?, number("cmsg_type")?) != (SOL_TCP, TCP_CM_INQ) {
            return Err(Trouble::Skip("control messages other than TCP_CM_INQ have no counterpart".into()));
        }
        let stated = number("cmsg_data")?;
        if stated != left {
            return Err(Trouble::Mismatch(format!("TCP_CM_INQ gives {left}, not {stated}")));
        }
    }
    Ok(())
}

/// Compares the value that a call writes to its argument `[x]`.
pub(crate) fn expect_value(call: &Call, place: usize, found: i64, what: &str) -> Result<(), Trouble> {
    let stated = match call.arguments.get(place) {
        Some(Expr::List(items)) if items.len() == 1 => number_of(&items[0])?,
        Some(Expr::Ellipsis) | None => return Ok(()),
        Some(other) => number_of(other)?,
    };
    // the kernel writes 32 bits
    if stated as u32 == found as u32 {
        return Ok(());
    }
    Err(Trouble::Mismatch(format!("{what} gives {found}, not {stated}")))
}
