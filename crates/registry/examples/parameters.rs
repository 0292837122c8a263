//! Declares the parameters of an algorithm once, reads them from a table, and prints the help that comes with them.
//!
//! `cargo run -p lasthop-registry --example parameters`

use lasthop_registry::{ParamError, Parameters, Value, params, read_table};
use lasthop_units::Duration;

params! {
    /// Parameters of a token bucket.
    pub struct Bucket {
        /// Tokens that an idle bucket collects.
        pub burst: u32 = 10,
        /// Time from one token to the next.
        pub interval: Duration = Duration::from_millis(1),
    }
    check |this, path| {
        if this.burst == 0 {
            return Err(ParamError::new(format!("{path}.burst"), "a bucket without room lets nothing through"));
        }
        Ok(())
    }
}

fn read(entries: &[(&str, Value)]) -> Result<Bucket, ParamError> {
    let table = Value::Table(entries.iter().map(|(key, value)| (key.to_string(), value.clone())).collect());
    read_table(Bucket::default(), &table, "bucket", &[])
}

fn main() {
    for field in Bucket::fields() {
        println!("{} = {}: {}", field.name, field.default.as_deref().unwrap_or("none"), field.help);
    }
    println!("{:?}", read(&[("interval", Value::text("5 ms"))]));
    for wrong in [("brust", Value::Integer(3)), ("interval", Value::Integer(5)), ("burst", Value::Integer(0))] {
        println!("{}", read(&[wrong]).expect_err("each of these is wrong"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_key_has_its_default() {
        let bucket = read(&[("interval", Value::text("5 ms"))]).unwrap();
        assert_eq!((bucket.burst, bucket.interval), (10, Duration::from_millis(5)));
    }

    #[test]
    fn errors_name_place_and_remedy() {
        let error = read(&[("brust", Value::Integer(3))]).unwrap_err().to_string();
        assert!(error.starts_with("bucket.brust: ") && error.contains("did you mean \"burst\""), "{error}");
        assert!(read(&[("burst", Value::Integer(0))]).is_err());
    }
}
