//! Linear policies: one number for all controls, 2 to the power of a weighted sum.
//!
//! value = 2^(w0 + Σ w_i log2(1 + q_i / s_i)), within bounds, for quantities q_i with scales s_i. The file has names and
//! numbers only: nothing in it runs.

use std::sync::Arc;

use serde_json::Value as Json;

use super::interface::{Observed, Policy, PolicyContext, PolicyMaker};

/// Most quantities of a policy.
const MOST: usize = 10_000;

/// A policy as its file has it.
#[derive(Clone, Debug, PartialEq)]
struct Linear {
    quantities: Vec<String>,
    scales: Vec<f64>,
    /// of the constant and of each quantity
    weights: Vec<f64>,
    least: f64,
    most: f64,
}

/// The value of a linear policy: `weights` has the constant first, and one weight for each of `observed`.
pub fn linear_values(observed: &[f64], scales: &[f64], weights: &[f64], (least, most): (f64, f64)) -> f64 {
    let terms = observed.iter().zip(scales).zip(&weights[1..]);
    let sum = terms.fold(weights[0], |sum, ((value, scale), weight)| sum + weight * libm::log2(1.0 + value / scale));
    libm::exp2(sum.clamp(libm::log2(least), libm::log2(most)))
}

impl Linear {
    /// Reads a file.
    fn read(text: &str) -> Result<Linear, String> {
        let read: Json = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
        let list = |name: &str| {
            let all = read.get(name).and_then(Json::as_array).filter(|all| all.len() <= MOST);
            all.ok_or_else(|| format!("a linear policy has a list \"{name}\""))
        };
        let number = |name: &str, one: Option<&Json>| {
            let one = one.and_then(Json::as_f64).filter(|one| one.is_finite());
            one.ok_or_else(|| format!("a linear policy has numbers in \"{name}\""))
        };
        let numbers = |name: &str| list(name)?.iter().map(|one| number(name, Some(one))).collect::<Result<Vec<_>, _>>();
        let quantities = list("quantities")?.iter().map(|name| name.as_str().map(String::from)).collect();
        let quantities: Option<Vec<String>> = quantities;
        let policy = Linear {
            quantities: quantities.ok_or("a linear policy has names in \"quantities\"")?,
            scales: numbers("scales")?,
            weights: numbers("weights")?,
            least: number("least", read.get("least"))?,
            most: number("most", read.get("most"))?,
        };
        let count = policy.quantities.len();
        if policy.scales.len() != count || policy.weights.len() != count + 1 {
            return Err(format!("{count} quantities need as many scales and {} weights", count + 1));
        }
        if policy.scales.iter().any(|scale| *scale <= 0.0) || policy.least <= 0.0 || policy.most < policy.least {
            return Err("scales and \"least\" are above 0, and \"most\" is not below \"least\"".into());
        }
        Ok(policy)
    }
}

/// The linear policy in the `content` of a file that a scenario calls `name`.
///
/// # Errors
/// A file that is none: a sentence without a place.
pub fn load_linear(name: &str, content: &[u8]) -> Result<Arc<PolicyMaker>, String> {
    let text = std::str::from_utf8(content).map_err(|error| format!("{name}: {error}"))?;
    let policy = Linear::read(text).map_err(|why| format!("{name}: {why}"))?;
    let name = name.to_string();
    Ok(Arc::new(move |context: &PolicyContext| {
        if context.quantities == policy.quantities {
            return Ok(Box::new(policy.clone()) as Box<dyn Policy>);
        }
        let (own, given) = (policy.quantities.join("\", \""), context.quantities.join("\", \""));
        Err(format!("{name}: it was learned from observe = [\"{own}\"], and sees [\"{given}\"]"))
    }))
}

impl Policy for Linear {
    fn act(&mut self, observed: &Observed<'_>, values: &mut [f64]) {
        let value = linear_values(observed.values, &self.scales, &self.weights, (self.least, self.most));
        values.fill(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"quantities": ["a"], "scales": [2.0], "weights": [3.0, 1.0], "least": 1.0, "most": 100.0}"#;

    #[test]
    fn the_value_is_a_power_of_two_within_bounds() {
        let policy = Linear::read(FILE).unwrap();
        let value = |seen: f64| linear_values(&[seen], &policy.scales, &policy.weights, (policy.least, policy.most));
        // 2^3 (1 + 6/2) = 32, and 2^3 (1 + 200/2) is above 100
        assert!((value(6.0) - 32.0).abs() < 1e-9);
        assert!((value(200.0) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn a_file_of_another_form_is_refused_with_the_reason() {
        for (old, new, part) in [
            ("{", "[", "not JSON"),
            ("\"a\"", "1", "names in \"quantities\""),
            ("[2.0]", "[]", "1 quantities need as many scales and 2 weights"),
            ("[2.0]", "[0.0]", "above 0"),
            ("3.0", "\"x\"", "numbers in \"weights\""),
            ("weights", "weight", "a list \"weights\""),
            ("100.0", "0.5", "not below"),
        ] {
            let why = Linear::read(&FILE.replacen(old, new, 1)).expect_err(new);
            assert!(why.contains(part), "{why}");
        }
    }
}
