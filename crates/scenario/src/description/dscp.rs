//! The differentiated services code point of a flow, and the user priority that 802.11 derives from it.

use lasthop_registry::{Kind, ParamError, Parameter, Shape, Value, wrong_type};

/// A code point. [RFC 2474 §3]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dscp(u8);

/// Names and code points. [RFC 2474 §4.2.2, RFC 2597 §6, RFC 3246 §2.7, RFC 5865 §4, RFC 8622 §4]
const NAMES: [(&str, u8); 25] = [
    ("DF", 0),
    ("BE", 0),
    ("LE", 1),
    ("CS0", 0),
    ("CS1", 8),
    ("CS2", 16),
    ("CS3", 24),
    ("CS4", 32),
    ("CS5", 40),
    ("CS6", 48),
    ("CS7", 56),
    ("AF11", 10),
    ("AF12", 12),
    ("AF13", 14),
    ("AF21", 18),
    ("AF22", 20),
    ("AF23", 22),
    ("AF31", 26),
    ("AF32", 28),
    ("AF33", 30),
    ("AF41", 34),
    ("AF42", 36),
    ("AF43", 38),
    ("VA", 44),
    ("EF", 46),
];

impl Dscp {
    /// Traffic that builds no queue: the code point of the non-queue-building behaviour (NQB).
    pub(crate) const NQB: Dscp = Dscp(45);

    /// Best effort.
    pub(crate) const DEFAULT: Dscp = Dscp(0);

    /// The code point with number `point`; only the lowest six bits count.
    pub(crate) const fn of_code_point(point: u8) -> Dscp {
        Dscp(point & 0x3f)
    }

    /// The code point, 0 to 63.
    pub(crate) const fn code_point(self) -> u8 {
        self.0
    }

    /// The user priority 0 to 7: voice is 6, video 4 and 5, excellent effort 3, background 1 [RFC 8622 §11]; network control is 7,
    /// and everything else best effort, 0. [RFC 8325 §4.3, Figure 1]
    pub(crate) const fn user_priority(self) -> u8 {
        match self.0 {
            48 | 56 => 7,
            44 | 46 => 6,
            40 => 5,
            24 | 26 | 28 | 30 | 32 | 34 | 36 | 38 => 4,
            18 | 20 | 22 => 3,
            1 | 8 => 1,
            _ => 0,
        }
    }
}

impl Parameter for Dscp {
    fn shape() -> Shape {
        let names = NAMES.iter().map(|(name, _)| (*name).to_string()).collect();
        Shape::AnyOf(vec![Shape::Words(names), Shape::Integer { min: 0, max: 63 }])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        match value {
            Value::Integer(number) => u8::try_from(*number).ok().filter(|n| *n < 64).map(Dscp).ok_or_else(|| {
                ParamError::new(
                    path,
                    (format!("{number} is not a code point"), "a number from 0 to 63, or a name such as \"EF\""),
                )
            }),
            Value::Text(name) => {
                let found = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
                found.map(|&(_, point)| Dscp(point)).ok_or_else(|| {
                    let known = NAMES.iter().map(|(known, _)| known.to_string()).collect();
                    let unknown = Kind::UnknownName { of: "code point".into(), name: name.clone(), known };
                    let remedy = "EF, VA, CS0 to CS7, AF11 to AF43, LE, DF, or a number from 0 to 63";
                    ParamError::new(path, (unknown, remedy))
                })
            }
            _ => Err(ParamError::new(path, wrong_type("a code point, e.g. \"EF\" or 46", value))),
        }
    }
    fn to_value(&self) -> Option<Value> {
        let name = NAMES.iter().rev().find(|(_, point)| *point == self.0).map(|(name, _)| *name);
        Some(name.map_or(Value::Integer(i64::from(self.0)), Value::text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn priority(name: &str) -> u8 {
        Dscp::parse(&Value::text(name), "dscp").unwrap().user_priority()
    }

    #[test]
    fn user_priorities_are_those_of_rfc_8325() {
        // Figure 1, row by row.
        let rows = [
            ("CS7", 7),
            ("CS6", 7),
            ("EF", 6),
            ("VA", 6),
            ("CS5", 5),
            ("AF41", 4),
            ("AF42", 4),
            ("AF43", 4),
            ("CS4", 4),
            ("AF31", 4),
            ("AF32", 4),
            ("AF33", 4),
            ("CS3", 4),
            ("AF21", 3),
            ("AF22", 3),
            ("AF23", 3),
            ("CS2", 0),
            ("AF11", 0),
            ("AF12", 0),
            ("AF13", 0),
            ("DF", 0),
            ("CS1", 1),
            ("LE", 1),
        ];
        for (name, expected) in rows {
            assert_eq!(priority(name), expected, "{name}");
        }
    }

    #[test]
    fn a_number_is_as_good_as_its_name() {
        let number = |n| Dscp::parse(&Value::Integer(n), "dscp");
        assert_eq!(number(46).unwrap(), Dscp::parse(&Value::text("ef"), "dscp").unwrap());
        assert_eq!(number(46).unwrap().to_value(), Some(Value::text("EF")));
        assert_eq!(number(3).unwrap().to_value(), Some(Value::Integer(3)));
        assert!(number(64).is_err() && number(-1).is_err());
        assert!(Dscp::parse(&Value::text("AF44"), "dscp").unwrap_err().to_string().contains("did you mean \"AF4"));
    }
}
