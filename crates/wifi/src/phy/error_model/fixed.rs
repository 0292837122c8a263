//! Each received frame is lost with a fixed probability, whatever its length, rate and strength.
//!
//! `frame_error_rate` holds for every frame: data and Ack alike, both ways, as in khademi2011; with 0.1 an exchange of
//! data and Ack then succeeds with 0.81. The other entries override it; an entry for a kind of frame takes precedence
//! over one for a direction.

use lasthop_registry::ParamError;
use lasthop_units::Probability;

use super::interface::{Direction, ErrorModel, FrameKind, ReceivedFrame};

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// Probability that a frame is lost, for frames that no other entry covers; default 0.
        pub frame_error_rate: Option<Probability> = None,
        /// The same for data frames.
        pub data: Option<Probability> = None,
        /// The same for Acks.
        pub ack: Option<Probability> = None,
        /// The same for RTS, CTS and other control frames.
        pub control: Option<Probability> = None,
        /// The same for beacons and other management frames.
        pub management: Option<Probability> = None,
        /// The same for frames to an AP.
        pub up: Option<Probability> = None,
        /// The same for frames from an AP.
        pub down: Option<Probability> = None,
    }
    check |this, path| {
        if *this == Params::default() {
            return Err(ParamError::new(path, "\"fixed\" needs a rate: { kind = \"fixed\", frame_error_rate = 0.1 }"));
        }
        Ok(())
    }
}

impl ErrorModel for Params {
    fn success_probability(&mut self, frame: &ReceivedFrame) -> f64 {
        let by_kind = match frame.kind {
            FrameKind::Data => self.data,
            FrameKind::Ack => self.ack,
            FrameKind::Control => self.control,
            FrameKind::Management => self.management,
        };
        let by_direction = match frame.direction {
            Direction::Up => self.up,
            Direction::Down => self.down,
        };
        1.0 - by_kind.or(by_direction).or(self.frame_error_rate).map_or(0.0, Probability::get)
    }
}

#[cfg(test)]
mod tests {
    use super::super::ErrorModelKind;
    use super::super::tests::{frame, mode, phy};
    use super::*;
    use lasthop_registry::{Parameter, Value};

    const KINDS: [FrameKind; 4] = [FrameKind::Data, FrameKind::Ack, FrameKind::Control, FrameKind::Management];
    const DIRECTIONS: [Direction; 2] = [Direction::Up, Direction::Down];

    fn parse(entries: &[(&str, f64)]) -> Result<ErrorModelKind, ParamError> {
        let mut table = vec![("kind".to_string(), Value::text("fixed"))];
        table.extend(entries.iter().map(|(k, v)| (k.to_string(), Value::Float(*v))));
        ErrorModelKind::parse(&Value::Table(table), "channel.error_model")
    }
    fn losses(entries: &[(&str, f64)]) -> [[f64; 2]; 4] {
        let (phy, mut model) = (phy("802.11b"), parse(entries).unwrap().build(1));
        let plain = frame(mode(&phy, 110), 12_000, 0.0);
        KINDS.map(|kind| {
            DIRECTIONS.map(|direction| 1.0 - model.success_probability(&ReceivedFrame { kind, direction, ..plain }))
        })
    }

    #[test]
    fn one_rate_covers_data_and_ack_both_ways() {
        assert_eq!(losses(&[("frame_error_rate", 0.25)]), [[0.25; 2]; 4]);
    }

    #[test]
    fn kind_comes_before_direction_and_direction_before_the_rest() {
        let given = losses(&[("frame_error_rate", 0.25), ("ack", 0.0), ("up", 0.5)]);
        assert_eq!(given, [[0.5, 0.25], [0.0, 0.0], [0.5, 0.25], [0.5, 0.25]]);
    }

    #[test]
    fn fixed_without_a_rate_is_an_error() {
        assert!(parse(&[]).unwrap_err().to_string().contains("needs a rate"));
        assert!(parse(&[("frame_error_rate", 1.5)]).unwrap_err().to_string().contains("not a probability"));
    }
}
