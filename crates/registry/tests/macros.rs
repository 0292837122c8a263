//! Promises of the macros, on a registry of two toys.
#![allow(missing_docs)]

use lasthop_registry::{Parameter, Value, registry, words};

mod colours {
    use super::registry;
    registry! {
        /// Colours.
        pub enum Colour as "colour" {
            /// Warm.
            red => Red: source "none", status "unverified";
            /// Cold.
            blue => Blue: source "none", status "unverified";
        }
        planned: green
    }
}
use colours::Colour;

words! {
    pub enum Access { Difs = "difs", Pifs = "pifs" }
}

fn table(entries: &[(&str, Value)]) -> Value {
    Value::Table(entries.iter().map(|(k, v)| (k.to_string(), v.clone())).collect())
}

#[test]
fn a_name_gives_the_defaults_and_a_table_changes_them() {
    let plain = Colour::parse(&Value::text("red"), "c").unwrap();
    assert_eq!(plain, Colour::Red(colours::red::Params { shade: 3 }));
    let other = Colour::parse(&table(&[("kind", Value::text("red")), ("shade", Value::Integer(5))]), "c").unwrap();
    assert_eq!(other.to_value().unwrap().to_string(), "{ kind = \"red\", shade = 5 }");
}

#[test]
fn errors_name_the_place_and_the_remedy() {
    let say = |v: &Value| Colour::parse(v, "bss.colour").unwrap_err().to_string();
    assert_eq!(
        say(&Value::text("bleu")),
        "bss.colour: unknown colour \"bleu\"; did you mean \"blue\"? one of: red, blue"
    );
    assert_eq!(say(&Value::text("green")), "bss.colour: the colour \"green\" is not there yet; one of: red, blue");
    let typo = table(&[("kind", Value::text("red")), ("shad", Value::Integer(5))]);
    assert_eq!(say(&typo), "bss.colour.shad: unknown key \"shad\"; did you mean \"shade\"? one of: shade, kind");
    assert_eq!(say(&Value::Integer(3)), "bss.colour: expected a name, found 3");
}

#[test]
fn words_read_and_write() {
    assert_eq!(Access::parse(&Value::text("pifs"), "a"), Ok(Access::Pifs));
    assert!(Access::parse(&Value::text("sifs"), "a").unwrap_err().to_string().contains("one of: difs, pifs"));
}

#[test]
fn the_row_carries_help_and_default() {
    let fields = (Colour::REGISTRY.entries[0].fields)();
    assert_eq!(fields[0].help, "How dark.");
    assert_eq!(fields[0].default.as_deref(), Some("3"));
}
