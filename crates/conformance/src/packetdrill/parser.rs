//! Parses tokens to a script. The grammar is that of google/packetdrill's `syntax.md`.

use crate::packetdrill::cursor::{Cursor, Parsed};
use crate::packetdrill::lexer::{Kind, SyntaxError, tokens};
use crate::packetdrill::packet_syntax::packet;
use crate::packetdrill::script::{Action, Call, Expr, Script, ScriptEvent, When};

/// Reads a script.
pub(crate) fn parse(text: &str) -> Result<Script, SyntaxError> {
    let tokens = tokens(text)?;
    let mut cursor = Cursor::new(&tokens);
    script(&mut cursor)
}

/// Depth limit of nested lists and structures of arguments.
const DEEPEST: usize = 32;

fn script(cursor: &mut Cursor) -> Parsed<Script> {
    let mut script = Script::default();
    while let Some(Kind::Option(name)) = cursor.peek() {
        cursor.next();
        let value = if cursor.takes_sign('=') { option_value(cursor)? } else { String::new() };
        script.options.push((name.clone(), value));
    }
    if let Some(Kind::Shell(lines)) = cursor.peek() {
        script.set_up = Some((cursor.line(), lines.clone()));
        cursor.next();
    }
    while let Some(kind) = cursor.peek() {
        // The last command in backquotes cleans up; there is nothing to clean here.
        if matches!(kind, Kind::Shell(_)) && cursor.peek_after(1).is_none() {
            break;
        }
        script.events.push(event(cursor)?);
    }
    if script.events.is_empty() {
        return cursor.fail("a script without events");
    }
    Ok(script)
}

fn option_value(cursor: &mut Cursor) -> Parsed<String> {
    let piece = |kind: Option<&Kind>| match kind {
        Some(Kind::Int(value)) => Some(value.to_string()),
        Some(Kind::Hex(value)) => Some(format!("{value:#x}")),
        Some(Kind::Float(_, text) | Kind::Word(text) | Kind::Text(text) | Kind::Address(text) | Kind::Shell(text)) => {
            Some(text.clone())
        }
        _ => None,
    };
    let Some(mut value) = piece(cursor.peek()) else { return cursor.fail("an option without its value") };
    cursor.next();
    if cursor.takes_sign('=') {
        let Some(more) = piece(cursor.peek()) else { return cursor.fail("an option without its value") };
        cursor.next();
        value = format!("{value}={more}");
    }
    Ok(value)
}

fn event(cursor: &mut Cursor) -> Parsed<ScriptEvent> {
    let line = cursor.line();
    let when = when(cursor)?;
    let action = action(cursor)?;
    Ok(ScriptEvent { line, when, action })
}

fn when(cursor: &mut Cursor) -> Parsed<When> {
    if cursor.takes_sign('*') {
        return Ok(When::AnyTime);
    }
    let relative = cursor.takes_sign('+');
    let from = cursor.microseconds()?;
    if !cursor.takes_sign('~') {
        return Ok(if relative { When::After(from) } else { When::At(from) });
    }
    if relative {
        cursor.sign('+')?;
    }
    let to = cursor.microseconds()?;
    if to < from {
        return cursor.fail("a time range that goes backwards");
    }
    Ok(if relative { When::BetweenAfter(from, to) } else { When::Between(from, to) })
}

fn action(cursor: &mut Cursor) -> Parsed<Action> {
    match cursor.peek() {
        Some(Kind::Sign('<')) => {
            cursor.next();
            Ok(Action::Inbound(packet(cursor)?))
        }
        Some(Kind::Sign('>')) => {
            cursor.next();
            Ok(Action::Outbound(packet(cursor)?))
        }
        Some(Kind::Shell(lines)) => {
            cursor.next();
            Ok(Action::Shell(lines.clone()))
        }
        Some(Kind::Code(code)) => {
            cursor.next();
            Ok(Action::Code(code.clone()))
        }
        Some(Kind::Word(_) | Kind::Ellipsis) => Ok(Action::Call(call(cursor)?)),
        _ => cursor.fail(format!("neither a packet nor a call{}", cursor.found())),
    }
}

fn call(cursor: &mut Cursor) -> Parsed<Call> {
    let end = if cursor.peek() == Some(&Kind::Ellipsis) {
        cursor.next();
        Some(cursor.microseconds()?)
    } else {
        None
    };
    let name = cursor.word()?;
    cursor.sign('(')?;
    let arguments = list(cursor, ')')?;
    cursor.sign('=')?;
    let result = expression(cursor)?;
    let mut error = None;
    if let Some(Kind::Word(word)) = cursor.peek() {
        error = Some(word.clone());
        cursor.next();
    }
    skip_note(cursor)?;
    Ok(Call { name, arguments, end, result, error })
}

/// `(Connection timed out)`.
fn skip_note(cursor: &mut Cursor) -> Parsed<()> {
    if cursor.takes_sign('(') {
        while !cursor.takes_sign(')') {
            if cursor.next().is_none() {
                return cursor.fail("( without )");
            }
        }
    }
    Ok(())
}

/// Expressions up to the closing sign, which is taken too.
fn list(cursor: &mut Cursor, close: char) -> Parsed<Vec<Expr>> {
    let mut items = Vec::new();
    if cursor.takes_sign(close) {
        return Ok(items);
    }
    loop {
        items.push(expression(cursor)?);
        if cursor.takes_sign(close) {
            return Ok(items);
        }
        cursor.sign(',')?;
    }
}

fn expression(cursor: &mut Cursor) -> Parsed<Expr> {
    if cursor.depth == DEEPEST {
        return cursor.fail(format!("more than {DEEPEST} brackets stand in one another"));
    }
    cursor.depth += 1;
    let found = terms(cursor);
    cursor.depth -= 1;
    found
}

fn terms(cursor: &mut Cursor) -> Parsed<Expr> {
    let first = term(cursor)?;
    if !cursor.is_sign('|') {
        return Ok(first);
    }
    let mut terms = vec![first];
    while cursor.takes_sign('|') {
        terms.push(term(cursor)?);
    }
    Ok(Expr::Or(terms))
}

fn term(cursor: &mut Cursor) -> Parsed<Expr> {
    let expr = match cursor.peek() {
        Some(Kind::Ellipsis) => Expr::Ellipsis,
        Some(Kind::Int(value) | Kind::Hex(value)) => Expr::Int(*value),
        Some(Kind::Text(text)) => Expr::Text(text.clone()),
        Some(Kind::Sign('[')) => {
            cursor.next();
            return list(cursor, ']').map(Expr::List);
        }
        Some(Kind::Sign('{')) => {
            cursor.next();
            return fields(cursor);
        }
        Some(Kind::Word(word)) => {
            cursor.next();
            if cursor.takes_sign('(') {
                return list(cursor, ')').map(|arguments| Expr::Function(word.clone(), arguments));
            }
            return Ok(Expr::Word(word.clone()));
        }
        _ => return cursor.fail(format!("a value is missing here{}", cursor.found())),
    };
    cursor.next();
    // "a" "b" and "a"... are strings too
    if let Expr::Text(mut text) = expr {
        while let Some(Kind::Text(more)) = cursor.peek() {
            text.push_str(more);
            cursor.next();
        }
        if cursor.peek() == Some(&Kind::Ellipsis) {
            cursor.next();
        }
        return Ok(Expr::Text(text));
    }
    Ok(expr)
}

/// `{fd=4, events=POLLIN}`, `{msg_name(...)=..., msg_iov(1)=[{..., 40}], msg_flags=0}`, `{..., 40}`.
fn fields(cursor: &mut Cursor) -> Parsed<Expr> {
    let mut found = Vec::new();
    loop {
        if cursor.takes_sign('}') {
            return Ok(Expr::Fields(found));
        }
        if !found.is_empty() {
            cursor.sign(',')?;
        }
        let value = expression(cursor)?;
        if !cursor.takes_sign('=') {
            found.push((String::new(), value));
            continue;
        }
        match value {
            Expr::Word(name) | Expr::Function(name, _) => found.push((name, expression(cursor)?)),
            _ => return cursor.fail("a name is missing before '='"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packetdrill::script::{Packet, TcpOption};

    #[test]
    fn times_are_absolute_relative_ranges_or_any() {
        let script = parse("0 a() = 0\n+.5 a() = 0\n1~2 > . 1:1(0)\n+0~+.25 > . 1:1(0)\n* > . 1:1(0)\n").unwrap();
        let whens: Vec<When> = script.events.iter().map(|event| event.when).collect();
        assert_eq!(
            whens,
            [
                When::At(0),
                When::After(500_000),
                When::Between(1_000_000, 2_000_000),
                When::BetweenAfter(0, 250_000),
                When::AnyTime
            ]
        );
        assert_eq!(script.events[3].line, 4);
    }

    #[test]
    fn options_setup_and_final_part_are_distinct() {
        let script = parse("--mss=1000\n--define=CC=reno\n`sysctl x=1`\n0 a() = 0\n`clean`\n").unwrap();
        assert_eq!(script.options, [("mss".into(), "1000".into()), ("define".into(), "CC=reno".into())]);
        assert_eq!(script.set_up, Some((3, "sysctl x=1".into())));
        assert_eq!(script.events.len(), 1);
    }

    #[test]
    fn a_call_has_arguments_an_end_and_an_error() {
        let script = parse("0...1.5 poll([{fd=4, events=A|B}], 1, -1) = -1 EINTR (so to say)").unwrap();
        let Action::Call(call) = &script.events[0].action else { panic!() };
        assert_eq!((call.name.as_str(), call.end, call.error.as_deref()), ("poll", Some(1_500_000), Some("EINTR")));
        let Expr::List(polled) = &call.arguments[0] else { panic!() };
        let or = Expr::Or(vec![Expr::Word("A".into()), Expr::Word("B".into())]);
        assert_eq!((polled[0].field("fd"), polled[0].field("events")), (Some(&Expr::Int(4)), Some(&or)));
        assert_eq!(call.result, Expr::Int(-1));
    }

    #[test]
    fn a_message_has_named_parts() {
        let script =
            parse("0 sendmsg(4, {msg_name(...)=..., msg_iov(2)=[{..., 40}, {..., 9}], msg_flags=0}, 0) = 49").unwrap();
        let Action::Call(call) = &script.events[0].action else { panic!() };
        let Some(Expr::List(pieces)) = call.arguments[1].field("msg_iov") else { panic!() };
        assert_eq!(pieces[1], Expr::Fields(vec![(String::new(), Expr::Ellipsis), (String::new(), Expr::Int(9))]));
    }

    #[test]
    fn a_packet_has_flags_numbers_and_options() {
        let script = parse("0 < [ce] SEW 0:0(0) win 9 <mss 1000,sackOK,TS val 1 ecr 0,nop,sack 1:2 5:7>").unwrap();
        let Action::Inbound(Packet::Tcp(tcp)) = &script.events[0].action else { panic!() };
        assert_eq!((tcp.flags.as_str(), tcp.window), ("SEW", Some(9)));
        assert_eq!(
            tcp.options.as_deref().unwrap(),
            [
                TcpOption::Mss(1000),
                TcpOption::SackPermitted,
                TcpOption::Timestamps { value: 1, echo: 0 },
                TcpOption::Nop,
                TcpOption::Sack(vec![(1, 2), (5, 7)])
            ]
        );
    }

    #[test]
    fn a_wrong_line_is_named() {
        assert_eq!(parse("0 a() = 0\n+0 > . 1:5(3)\n").unwrap_err().line, 2);
        assert_eq!(parse("\n0 a( = 0").unwrap_err().line, 2);
    }
}
