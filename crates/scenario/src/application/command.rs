//! Commands of one's own at both ends.

use lasthop_registry::{CommandLine, ParamError};

use super::placeholder;

lasthop_registry::params! {
    /// Parameters of `command`.
    pub struct Params {
        /// Command for `/bin/sh -c` at the station, with {server}, {station} and {port} filled in: two addresses, and a
        /// port of this flow's own.
        pub client: CommandLine = CommandLine::default(),
        /// Command at the server, with the same placeholders; it starts first and is stopped with the client.
        pub server: Option<CommandLine> = None,
    }
    check |this, path| {
        if this.client.trim().is_empty() {
            let message = "which command? e.g. client = \"nc {server} {port} < /dev/zero\"";
            return Err(ParamError::new(format!("{path}.client"), message));
        }
        placeholder::check(&this.client, &format!("{path}.client"))?;
        match &this.server {
            Some(server) if server.trim().is_empty() => {
                Err(ParamError::new(format!("{path}.server"), ("an empty command", "leave the key out")))
            }
            Some(server) => placeholder::check(server, &format!("{path}.server")),
            None => Ok(()),
        }
    }
}
