//! Parameters in the form of `lasthop show`.

use lasthop_registry::Field;
use serde_json::{Value as Json, json};

use crate::schema::form;

pub(super) fn parameters_json(fields: &[Field]) -> Json {
    let one = |f: &Field| json!({ "name": f.name, "help": f.help, "default": f.default, "form": form(&f.shape) });
    fields.iter().map(one).collect()
}
