//! The choice of HyStart in CUBIC.

use lasthop_registry::{ParamError, Parameter, Shape, Value, words};

words! {
    /// The words, besides true and false.
    enum Word {
        Off = "off",
        Classic = "classic",
        PlusPlus = "plus_plus",
    }
}

/// The rule that ends slow start before a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Hystart {
    /// At ssthresh only.
    #[default]
    Off,
    /// HyStart, as in Linux. [Ha, Rhee 2011]
    Classic,
    /// HyStart++. [RFC 9406]
    PlusPlus,
}

impl Parameter for Hystart {
    fn shape() -> Shape {
        Shape::AnyOf(vec![Word::shape(), Shape::Boolean])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        Ok(match value {
            Value::Bool(true) => Hystart::Classic,
            Value::Bool(false) => Hystart::Off,
            _ => match Word::parse(value, path)? {
                Word::Off => Hystart::Off,
                Word::Classic => Hystart::Classic,
                Word::PlusPlus => Hystart::PlusPlus,
            },
        })
    }
    fn to_value(&self) -> Option<Value> {
        let word = match self {
            Hystart::Off => Word::Off,
            Hystart::Classic => Word::Classic,
            Hystart::PlusPlus => Word::PlusPlus,
        };
        word.to_value()
    }
}
