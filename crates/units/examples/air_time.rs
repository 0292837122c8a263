//! The time of a packet at some rates that are given as text.
//!
//! `cargo run -p lasthop-units --example air_time -- "11 Mbit/s" "1 Gbit/s"`

use lasthop_units::{Bytes, DataRate, Duration, UnitError};

/// The time of a packet of 1500 B on a link with this rate.
fn serialisation(rate: &str) -> Result<Duration, UnitError> {
    Ok(rate.parse::<DataRate>()?.time_for(Bytes(1500)))
}

fn main() {
    for rate in std::env::args().skip(1) {
        match serialisation(&rate) {
            Ok(time) => println!("{rate}: {time}"),
            Err(error) => println!("{rate}: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_takes_its_bits_over_the_rate() {
        // 12,000 bit / 1 Gbit/s
        assert_eq!(serialisation("1 Gbit/s"), Ok(Duration::from_micros(12)));
    }

    #[test]
    fn a_rate_without_a_unit_is_refused() {
        assert!(serialisation("11").unwrap_err().to_string().contains("Mbit/s"));
    }
}
