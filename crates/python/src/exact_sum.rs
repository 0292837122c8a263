//! Sums of numbers that are rounded once, at the end, as in Python's `math.fsum` [Shewchuk 1997].

/// The sum of `values`, without rounding before its end. All are finite.
pub(crate) fn exact_sum(values: impl IntoIterator<Item = f64>) -> f64 {
    // The parts of the sum so far, from the smallest; no two have digits at the same place.
    let mut parts: Vec<f64> = Vec::new();
    for mut value in values {
        let mut kept = 0;
        for place in 0..parts.len() {
            let (sum, error) = two_sum(value, parts[place]);
            if error != 0.0 {
                parts[kept] = error;
                kept += 1;
            }
            value = sum;
        }
        parts.truncate(kept);
        if value != 0.0 {
            parts.push(value);
        }
    }
    rounded(&parts)
}

/// The rounded sum of two numbers, and the rounding error.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let (large, small) = if a.abs() < b.abs() { (b, a) } else { (a, b) };
    let sum = large + small;
    (sum, small - (sum - large))
}

/// The sum of parts, from the largest, to the nearest number; ties go to the even one.
fn rounded(parts: &[f64]) -> f64 {
    let Some((&last, mut rest)) = parts.split_last() else { return 0.0 };
    let mut sum = last;
    let mut error = 0.0;
    while let Some((&part, fewer)) = rest.split_last() {
        rest = fewer;
        (sum, error) = two_sum(sum, part);
        if error != 0.0 {
            break;
        }
    }
    // The error is half a step, and the smaller parts decide.
    if let Some(&beyond) = rest.last()
        && (error < 0.0) == (beyond < 0.0)
        && error != 0.0
    {
        let (double, up) = (error * 2.0, sum + error * 2.0);
        if up - sum == double {
            return up;
        }
    }
    sum
}
