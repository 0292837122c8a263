//! Fading: how received power varies round what distance leaves of it.

use lasthop_registry::registry;

registry! {
    /// The choice `fading = "…"`.
    pub enum FadingKind as "fading" {
        /// The received power stays what path loss makes it.
        none => None: source "—", status "nothing to validate";
    }
    planned: rayleigh, nakagami
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_registry::{Parameter, Value};

    #[test]
    fn rayleigh_is_not_there_yet() {
        let error = FadingKind::parse(&Value::text("rayleigh"), "channel.fading").unwrap_err();
        assert_eq!(error.to_string(), "channel.fading: the fading \"rayleigh\" is not there yet; one of: none");
    }
}
