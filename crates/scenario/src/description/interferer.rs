//! `[[interferer]]`: transmitters that are not of 802.11.

use lasthop_registry::{FileName, Kind, ParamError, Parameter, Shape, Value, Word, params, refuse, words};
use lasthop_units::{Dbm, Duration, Hertz, Metres};

words! {
    /// The times at which an interferer sends.
    pub(crate) enum InterfererKind {
        /// bursts of `on`, each `off` after the one before; the first at a random time
        Periodic = "periodic",
        /// bursts and breaks of random lengths, exponentially distributed, with the means `on` and `off`
        Random = "random",
        /// the bursts in `file`
        Trace = "trace",
    }
}

/// The shortest burst, and the shortest break.
const SHORTEST: Duration = Duration::from_micros(1);
const LONGEST: Duration = Duration::from_secs(1_000);

params! {
    /// A microwave oven, Bluetooth, or the recorded airtime of a neighbour: it sends whatever others do, occupies the channel of
    /// nodes that hear it at `cca_energy` or more, and disturbs receptions as noise.
    pub(crate) struct InterfererSection {
        /// Name, for recordings and its random numbers; default: interferer1, interferer2, …
        pub name: Option<Word> = None,
        /// Place.
        pub position: [Metres; 2] = [Metres(0.0), Metres(0.0)],
        /// Transmit power, within all of its band.
        pub power: Dbm = Dbm(16.0),
        /// Channel on whose centre its band lies; default: the one of the first BSS.
        pub channel: Option<u32> = None,
        /// Width of its band, with the same power everywhere; from 40 MHz on the band of the bonded channel, if there is one.
        /// A BSS hears the part of the power that falls into its channel.
        pub channel_width: Hertz = Hertz(20e6),
        /// When it sends: "periodic", "random" or "trace".
        pub kind: InterfererKind = InterfererKind::Periodic,
        /// Duration of its bursts; for "periodic" and "random".
        pub on: Option<Duration> = None,
        /// Time from the end of a burst to the next; for "periodic" and "random".
        pub off: Option<Duration> = None,
        /// File of lines "start in s, duration in s" or "start in s, duration in s, power in dBm"; a relative path is relative
        /// to the scenario's folder. For "trace".
        pub file: Option<FileName> = None,
    }
    check |this, path| {
        if !(1e3..=1e9).contains(&this.channel_width.0) {
            return refuse(path, "channel_width", (format!("{} is not a width of a band", this.channel_width), "from 1 kHz to 1 GHz"));
        }
        if this.kind == InterfererKind::Trace {
            if this.file.as_ref().is_none_or(|file| file.is_empty()) {
                return refuse(path, "file", "a trace needs a file of lines \"start in s, duration in s\"");
            }
            for (key, given) in [("on", this.on), ("off", this.off)] {
                if given.is_some() {
                    return refuse(path, key, (Kind::NoEffect("the bursts of kind = \"trace\" come from its file".into()), "remove this key"));
                }
            }
            return Ok(());
        }
        if this.file.is_some() {
            return refuse(path, "file", (Kind::NoEffect("only kind = \"trace\" reads a file".into()), "say so, or remove this key"));
        }
        for (key, given) in [("on", this.on), ("off", this.off)] {
            match given {
                None => return refuse(path, key, format!("an interferer of kind = \"{}\" needs {key}, e.g. \"8 ms\"", this.kind.word())),
                Some(time) if !(SHORTEST..=LONGEST).contains(&time) => {
                    return refuse(path, key, (format!("{time} is too short or too long"), format!("from {SHORTEST} to {LONGEST}")));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}

/// All `[[interferer]]` tables.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct InterfererSections(pub Vec<InterfererSection>);

impl Parameter for InterfererSections {
    fn shape() -> Shape {
        super::OneOrMany::<InterfererSection>::shape()
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        super::OneOrMany::parse(value, path).map(|all| InterfererSections(all.0))
    }
    fn to_value(&self) -> Option<Value> {
        let tables: Vec<Value> = self.0.iter().filter_map(Parameter::to_value).collect();
        (!tables.is_empty()).then_some(Value::List(tables))
    }
}
