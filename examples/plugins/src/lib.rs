//! A congestion control, a queue discipline and a rate control that lasthop does not have.

pub mod aimd;
pub mod cautious;
pub mod head_drop;

use lasthop_link::QueueDisciplineKind;
use lasthop_registry::{ParamError, Parameters, Value, read_table};
use lasthop_scenario::{Answer, Plugins};
use lasthop_tcp::congestion_control::Algorithm;
use lasthop_wifi::rate_control::RateControlKind;

/// Answers for the names of the three.
pub struct Mine;

impl Plugins for Mine {
    fn congestion_control(&self, name: &str, choice: &Value, path: &str) -> Answer<Algorithm> {
        Ok(match name {
            "aimd" => Some(aimd::maker(parameters(choice, path)?)),
            _ => None,
        })
    }

    fn queue_discipline(&self, name: &str, choice: &Value, path: &str) -> Answer<QueueDisciplineKind> {
        Ok(match name {
            "head_drop" => Some(head_drop::maker(parameters(choice, path)?)),
            _ => None,
        })
    }

    fn rate_control(&self, name: &str, choice: &Value, path: &str) -> Answer<RateControlKind> {
        Ok(match name {
            "cautious" => Some(cautious::maker(parameters(choice, path)?)),
            _ => None,
        })
    }
}

/// The parameters of a choice; a name by itself has the defaults.
fn parameters<P: Parameters + Default>(choice: &Value, path: &str) -> Result<P, ParamError> {
    match choice {
        Value::Table(_) => read_table(P::default(), choice, path, &["kind"]),
        _ => Ok(P::default()),
    }
}
