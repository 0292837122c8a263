//! The decrease of a window by a loss. [RFC 3649 §5]

/// Low_Window, High_Window in segments, High_Decrease. [RFC 3649 §5]
pub(super) const LOW_WINDOW: f64 = 38.0;
const HIGH_WINDOW: f64 = 83_000.0;
const HIGH_DECREASE: f64 = 0.1;

/// b(w) = (0.1 - 0.5) (log w - log W) / (log W_1 - log W) + 0.5. [RFC 3649 §5]
pub(super) fn decrease(window: f64) -> f64 {
    let share = libm::log(window / LOW_WINDOW) / libm::log(HIGH_WINDOW / LOW_WINDOW);
    (HIGH_DECREASE - 0.5) * share + 0.5
}
