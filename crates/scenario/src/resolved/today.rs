//! The keys of a scenario, with the defaults of a current one.

use lasthop_registry::{Field, Parameters, Shape};

use super::resolve;
use crate::description::Description;

/// The keys of a scenario file, with the defaults for 802.11ax and `tcp.profile = "linux"`; the help of these keys
/// names the conditions.
pub(crate) fn fields_of_today() -> Vec<Field> {
    let today = resolve("[bss]\nstandard = \"802.11ax\"\n[[station]]\n", "", &[]);
    let mut fields = Description::fields();
    for taken in today.expect("nothing else need be said").defaults() {
        let path = taken.path.replace("[0]", "");
        set_default(&mut fields, &path.split('.').collect::<Vec<_>>(), &taken.value);
    }
    // The channel's width decides it; this is the value at the default width.
    set_default(&mut fields, &["channel", "mid_packet_detection"], "\"off\"");
    fields
}

fn set_default(fields: &mut [Field], steps: &[&str], value: &str) {
    let [first, rest @ ..] = steps else { return };
    for field in fields.iter_mut().filter(|field| field.name == *first) {
        match rest.is_empty() {
            true => field.default = Some(value.into()),
            false => set_default_in(&mut field.shape, rest, value),
        }
    }
}

fn set_default_in(shape: &mut Shape, steps: &[&str], value: &str) {
    match shape {
        Shape::Table(fields) => set_default(fields, steps, value),
        Shape::List(item) => set_default_in(item, steps, value),
        Shape::AnyOf(shapes) => shapes.iter_mut().for_each(|shape| set_default_in(shape, steps, value)),
        _ => {}
    }
}
