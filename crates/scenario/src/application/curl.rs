//! curl: one file, fetched by HTTP/1.1 from a server that the emulator brings.

use lasthop_registry::ParamError;
use lasthop_units::Bytes;

lasthop_registry::params! {
    /// Parameters of `curl`.
    pub struct Params {
        /// Size of the file.
        pub size: Bytes = Bytes(10_000_000),
    }
    check |this, path| {
        if this.size == Bytes(0) {
            return Err(ParamError::new(format!("{path}.size"), ("a file of 0 B moves nothing", "at least 1 B")));
        }
        Ok(())
    }
}
