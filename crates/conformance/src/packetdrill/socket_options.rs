//! setsockopt and getsockopt.

use lasthop_units::Duration;

use crate::packetdrill::arguments::{argument, expect_value, number_of};
use crate::packetdrill::calls::{Called, Outcome, delay_of};
use crate::packetdrill::errno::Errno;
use crate::packetdrill::host::{File, Host, Role, Socket, Trouble};
use crate::packetdrill::script::{Call, Expr};

fn returns_nothing() -> Called {
    Ok(Outcome::Returns(Ok(0)))
}

/// The option named by a call.
fn name_of(call: &Call) -> &str {
    match call.arguments.get(2) {
        Some(Expr::Word(word)) => word,
        _ => "",
    }
}

impl Host {
    pub(crate) fn set_option(&mut self, call: &Call) -> Called {
        let file = argument(call, 0)?;
        let name = name_of(call).to_string();
        let Some(socket) = self.socket_of(file) else { return Ok(Outcome::Returns(Err(Errno::BadFd))) };
        let options = &mut socket.options;
        match name.as_str() {
            // The last two concern what no packet here shows: the DSCP, and fragmentation.
            "SO_REUSEADDR" | "SO_REUSEPORT" | "TCP_INQ" | "IP_TOS" | "IP_MTU_DISCOVER" => {}
            "SO_SNDBUF" => options.send_buffer = Some(2 * stated(call)?.max(2304) as u64),
            "TCP_NODELAY" => options.nodelay = stated(call)? != 0,
            "TCP_CORK" => options.cork = stated(call)? != 0,
            "TCP_MAXSEG" => options.config.max_segment = Some(stated_size(call)?),
            "TCP_NOTSENT_LOWAT" => options.notsent_lowat = Some(stated(call)?),
            "TCP_USER_TIMEOUT" => options.config.user_timeout_ms = Some(stated(call)?),
            "SO_RCVBUF" => options.config.receive_buffer = Some(stated(call)?),
            "TCP_CONGESTION" => match call.arguments.get(3) {
                Some(Expr::Text(name)) => options.config.congestion_control = Some(name.clone()),
                _ => return Err(Trouble::Skip("TCP_CONGESTION without a name".into())),
            },
            "SO_LINGER" => {
                let linger = call.arguments.get(3);
                let field = |name: &str| linger.and_then(|linger| linger.field(name)).map_or(Ok(0), number_of);
                options.aborts_on_close = field("onoff")? != 0 && field("linger")? == 0;
            }
            _ => return Err(Trouble::Skip(format!("the socket option {name} has no counterpart"))),
        }
        self.apply_options(file, &name)?;
        returns_nothing()
    }

    /// Passes on the options that a connection must know at once.
    fn apply_options(&mut self, file: i64, name: &str) -> Result<(), Trouble> {
        let Some(File::Socket(Socket { options, role: Role::Connection(index) })) = self.files.get(&file) else {
            return Ok(());
        };
        let (index, options) = (*index, options.clone());
        let lowat = self.notsent_lowat(options.notsent_lowat);
        let connection = &mut self.connections[index];
        match name {
            "SO_SNDBUF" => {
                connection.send_buffer.limit = options.send_buffer.unwrap_or(connection.send_buffer.limit);
                connection.send_buffer.is_locked = true;
            }
            "TCP_NODELAY" if options.nodelay => {
                connection.endpoint.set_delay(delay_of(options.nodelay, options.cork));
                connection.endpoint.send_short();
            }
            "TCP_NODELAY" | "TCP_CORK" => connection.endpoint.set_delay(delay_of(options.nodelay, options.cork)),
            "TCP_NOTSENT_LOWAT" => connection.send_buffer.notsent_lowat = lowat,
            "TCP_USER_TIMEOUT" => {
                let limit = options.config.user_timeout_ms.filter(|&ms| ms > 0);
                connection.endpoint.set_user_timeout(limit.map(|ms| Duration::from_millis(ms as u64)));
            }
            "TCP_CONGESTION" | "TCP_MAXSEG" | "SO_RCVBUF" => {
                return Err(Trouble::Skip(format!("{name} on an open connection has no counterpart")));
            }
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn get_option(&mut self, call: &Call) -> Called {
        let file = argument(call, 0)?;
        let name = name_of(call).to_string();
        let connection = self.connection_of(file).ok();
        let Some(socket) = self.socket_of(file) else { return Ok(Outcome::Returns(Err(Errno::BadFd))) };
        let options = socket.options.clone();
        let found = match name.as_str() {
            "SO_ERROR" => {
                let error = connection.and_then(|index| self.connections[index].error.take());
                error.map_or(0, Errno::number)
            }
            "SO_SNDBUF" => match connection {
                Some(index) => self.connections[index].send_buffer.limit as i64,
                None => options.send_buffer.map_or(self.settings.triple("tcp_wmem")[1], |limit| limit as i64),
            },
            "TCP_MAXSEG" => match connection {
                Some(index) => i64::from(self.connections[index].endpoint.info(self.now).snd_mss),
                None => options.config.max_segment.unwrap_or(536),
            },
            "TCP_NODELAY" => i64::from(options.nodelay),
            "TCP_CORK" => i64::from(options.cork),
            "TCP_NOTSENT_LOWAT" => options.notsent_lowat.unwrap_or(0),
            "TCP_USER_TIMEOUT" => options.config.user_timeout_ms.unwrap_or(0),
            "SO_RCVBUF" => options.config.receive_buffer.map_or(self.settings.triple("tcp_rmem")[1], |bytes| 2 * bytes),
            _ => return Err(Trouble::Skip(format!("the socket option {name} has no counterpart"))),
        };
        expect_value(call, 3, found, &name)?;
        returns_nothing()
    }
}

/// The number set by a call: `[1]`; an `int` in C.
fn stated(call: &Call) -> Result<i64, Trouble> {
    let number = match call.arguments.get(3) {
        Some(Expr::List(items)) if items.len() == 1 => number_of(&items[0])?,
        Some(other) => number_of(other)?,
        None => return Err(Trouble::Skip("setsockopt without a value".into())),
    };
    i32::try_from(number).map(i64::from).map_err(|_| Trouble::Mismatch(format!("{number} is not a 32-bit integer")))
}

/// A segment's size.
fn stated_size(call: &Call) -> Result<i64, Trouble> {
    let size = stated(call)?;
    u16::try_from(size).map(i64::from).map_err(|_| Trouble::Mismatch(format!("{size} is not a segment size")))
}
