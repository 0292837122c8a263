//! The chance that two of several nodes pick the same slot [gopal2005 formula (1)].

/// `P = 1 - prod_{i=1..N} (1 - i/CW)` for `others` = `N`, where the `N + 1` nodes each draw one of `cw`
/// slots at the same moment.
///
/// This is one fresh draw, the birthday problem. It is not the probability that a frame collides: for
/// that see [`crate::bianchi`].
pub fn same_slot_probability(others: u32, cw: u32) -> f64 {
    assert!(cw > 0, "there is at least one slot to draw");
    let distinct: f64 = (1..=others).map(|i| (1.0 - f64::from(i) / f64::from(cw)).max(0.0)).product();
    1.0 - distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentages_of_the_paper() {
        // Two nodes: 3 % with 32 slots, 1.5 % with 64; four nodes: 17.6 % (17.694, truncated).
        assert_eq!(same_slot_probability(1, 32), 0.03125);
        assert_eq!(same_slot_probability(1, 64), 0.015625);
        assert!((same_slot_probability(3, 32) - 0.17694).abs() < 1e-5);
    }

    #[test]
    fn more_nodes_than_slots_must_share() {
        assert_eq!(same_slot_probability(32, 32), 1.0);
        assert_eq!(same_slot_probability(40, 32), 1.0);
        assert_eq!(same_slot_probability(0, 32), 0.0);
    }
}
