//! Keys that have no effect beside others: an error where a table sets them, else at the value that says so.
//!
//! A profile gives values for all keys. Where a table chooses another machine than the profile's, keys that only the
//! profile's machine reads are switched off, so that a configuration shows what is at work and reads back as written.

use lasthop_registry::{Fault, Kind, ParamError, Value};

use super::{Config, LossDetection, Pacing, RecoveryMachine, WindowReduction, WindowValidation};

impl Config {
    /// This configuration with every key that has no effect at the value that says so; `table` is the table just
    /// read.
    pub(super) fn with_what_is_at_work(self, table: &Value, path: &str) -> Result<Config, ParamError> {
        let quiet = self.quiet();
        for (key, is_quiet, why) in self.idle_keys(&quiet) {
            if !is_quiet && table.get(key).is_some() {
                let place = if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
                return Err(ParamError::new(place, why.fault()));
            }
        }
        Ok(quiet)
    }

    /// This configuration with all idle keys switched off.
    fn quiet(&self) -> Config {
        let mut quiet = self.clone();
        match self.recovery {
            RecoveryMachine::Linux => quiet.newreno_impatient = false,
            RecoveryMachine::Rfc => {
                quiet.loss_detection = LossDetection::Count;
                quiet.window_reduction = WindowReduction::AtOnce;
                quiet.tail_loss_probe = false;
                quiet.forward_rto = false;
                quiet.undo = false;
                quiet.pacing = Pacing::Off;
                quiet.tso_deferral = false;
                quiet.min_burst = 1;
                quiet.push_sends = false;
            }
        }
        if self.window_validation == WindowValidation::Rfc7661 {
            quiet.slow_start_after_idle = false;
        }
        if !self.sack {
            quiet.compressed_acks = 0;
        }
        if !self.accepts_accurate_ecn() {
            (quiet.accecn_option, quiet.ace_wraps) = (None, None);
            (quiet.ect_on_control, quiet.ecn_fallback) = (None, None);
        }
        quiet
    }

    /// Each key that another may switch off, with whether it is off already and the reason to switch it off.
    fn idle_keys(&self, quiet: &Config) -> [(&'static str, bool, Idle); 16] {
        const LINUX: Idle =
            Idle("has no effect with recovery = \"rfc\"", "leave it out, or write recovery = \"linux\"");
        const RFC: Idle = Idle("has no effect with recovery = \"linux\"", "leave it out, or write recovery = \"rfc\"");
        const COUNT: Idle = Idle("has no effect without accurate ECN", "leave it out, or write ecn = \"accurate\"");
        const SACK: Idle = Idle("has no effect without SACK", "leave it out, or write sack = true");
        const KEPT: Idle = Idle(
            "window_validation = \"rfc7661\" keeps the window over a pause",
            "leave it out, or write window_validation = \"linux\"",
        );
        [
            ("loss_detection", self.loss_detection == quiet.loss_detection, LINUX),
            ("window_reduction", self.window_reduction == quiet.window_reduction, LINUX),
            ("tail_loss_probe", self.tail_loss_probe == quiet.tail_loss_probe, LINUX),
            ("forward_rto", self.forward_rto == quiet.forward_rto, LINUX),
            ("undo", self.undo == quiet.undo, LINUX),
            ("pacing", self.pacing == quiet.pacing, LINUX),
            ("tso_deferral", self.tso_deferral == quiet.tso_deferral, LINUX),
            ("min_burst", self.min_burst == quiet.min_burst, LINUX),
            ("push_sends", self.push_sends == quiet.push_sends, LINUX),
            ("compressed_acks", self.compressed_acks == quiet.compressed_acks, SACK),
            ("newreno_impatient", self.newreno_impatient == quiet.newreno_impatient, RFC),
            ("slow_start_after_idle", self.slow_start_after_idle == quiet.slow_start_after_idle, KEPT),
            ("accecn_option", self.accecn_option == quiet.accecn_option, COUNT),
            ("ace_wraps", self.ace_wraps == quiet.ace_wraps, COUNT),
            ("ect_on_control", self.ect_on_control == quiet.ect_on_control, COUNT),
            ("ecn_fallback", self.ecn_fallback == quiet.ecn_fallback, COUNT),
        ]
    }
}

/// Why a key is idle, and the remedy.
struct Idle(&'static str, &'static str);

impl Idle {
    fn fault(&self) -> Fault {
        (Kind::NoEffect(self.0.into()), self.1).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    fn read(profile: Profile, entries: &[(&str, Value)]) -> Result<Config, String> {
        let table = Value::Table(entries.iter().map(|(key, value)| (key.to_string(), value.clone())).collect());
        Config::read(profile.config(), &table, "tcp", &[]).map_err(|error| error.to_string())
    }

    #[test]
    fn key_of_the_linux_machine_is_refused_with_the_other_machine() {
        let given = [
            ("tail_loss_probe", Value::Bool(true)),
            ("forward_rto", Value::Bool(true)),
            ("undo", Value::Bool(true)),
            ("tso_deferral", Value::Bool(true)),
            ("pacing", Value::text("on")),
            ("window_reduction", Value::text("prr")),
            ("loss_detection", Value::text("rack")),
            ("min_burst", Value::Integer(2)),
            ("push_sends", Value::Bool(true)),
        ];
        for (key, value) in given {
            let refused = read(Profile::Linux, &[("recovery", Value::text("rfc")), (key, value.clone())]).unwrap_err();
            assert!(refused.starts_with(&format!("tcp.{key}: has no effect with recovery = \"rfc\"")), "{refused}");
            assert!(read(Profile::Ns2, &[(key, value.clone())]).is_err(), "{key}: ns2 has that machine");
            assert!(read(Profile::Linux, &[(key, value)]).is_ok(), "{key}");
        }
        assert!(read(Profile::Linux, &[("newreno_impatient", Value::Bool(true))]).is_err());
        assert!(read(Profile::Ns2, &[("newreno_impatient", Value::Bool(true))]).is_ok());
    }

    #[test]
    fn keys_with_the_values_of_the_other_machine_are_accepted() {
        let quiet = [("recovery", Value::text("rfc")), ("pacing", Value::text("off")), ("undo", Value::Bool(false))];
        assert!(read(Profile::Linux, &quiet).is_ok());
    }

    #[test]
    fn the_values_of_a_profile_fall_silent_and_read_back() {
        for (profile, _) in Profile::ALL {
            for recovery in ["rfc", "linux"] {
                let config = read(profile, &[("recovery", Value::text(recovery))]).unwrap();
                let all = lasthop_registry::table_to_value(None, &config);
                assert_eq!(Config::read(profile.config(), &all, "tcp", &[]), Ok(config));
            }
            assert_eq!(read(profile, &[]).unwrap(), profile.config());
        }
        let rfc = read(Profile::Linux, &[("recovery", Value::text("rfc"))]).unwrap();
        assert_eq!((rfc.tail_loss_probe, rfc.pacing, rfc.min_burst), (false, Pacing::Off, 1));
    }

    #[test]
    fn one_rule_for_pauses() {
        let kept = ("window_validation", Value::text("rfc7661"));
        assert!(!read(Profile::Linux, std::slice::from_ref(&kept)).unwrap().slow_start_after_idle);
        let both = [kept, ("slow_start_after_idle", Value::Bool(true))];
        assert!(read(Profile::Linux, &both).unwrap_err().contains("keeps the window over a pause"));
        let as_ever = read(Profile::Linux, &[("window_validation", Value::Bool(true))]).unwrap();
        assert_eq!(as_ever, Profile::Linux.config());
        assert_eq!(read(Profile::Linux, &[("window_validation", Value::text("linux"))]).unwrap(), as_ever);
    }
}
