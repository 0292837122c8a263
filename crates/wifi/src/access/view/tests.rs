use super::*;

const DIFS_LANE: LaneId = LaneId(0);
const PIFS_LANE: LaneId = LaneId(1);
/// The sender has no functions of its own in the view.
const NOBODY: Range<u32> = 0..0;
const SPACES: Spaces = Spaces { slot: Duration::from_micros(9), difs: Duration::from_micros(34) };

/// A view with a lane for DIFS and one for PIFS.
fn view(countdown: Countdown) -> View {
    let counts_busy_slot = countdown == Countdown::Bianchi;
    View::new(&SPACES, &[0, -1].map(|offset| LaneKind { offset, counts_busy_slot }))
}
fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_micros(us)
}
/// A view that turns idle at 1000 us with contenders of these backoffs, which were drawn while it was busy.
fn idle_with(backoffs: &[u64], countdown: Countdown) -> (View, Spaces) {
    let (mut view, spaces) = (view(countdown), SPACES);
    view.ppdu_starts(us(900), &spaces, NOBODY, |_, _| {});
    for (node, backoff) in backoffs.iter().enumerate() {
        view.contend(us(950), &spaces, FunctionId(node as u32), DIFS_LANE, *backoff);
    }
    assert!(view.ppdus_end(1));
    view.turns_idle(us(1000), &spaces);
    (view, spaces)
}

#[test]
fn the_smallest_backoff_ends_first_after_difs() {
    let (mut view, spaces) = idle_with(&[5, 3, 7], Countdown::Frozen);
    assert_eq!(view.next_end(&spaces), Some(us(1000 + 34 + 3 * 9)));
    assert_eq!(view.take_ended(us(1061), &spaces), Some(FunctionId(1)));
}

#[test]
fn a_frozen_counter_keeps_the_slots_it_had_left() {
    let (mut view, spaces) = idle_with(&[5, 3], Countdown::Frozen);
    view.take_ended(us(1061), &spaces);
    view.ppdu_starts(us(1061), &spaces, NOBODY, |_, _| panic!("two slots apart"));
    view.ppdus_end(1);
    view.turns_idle(us(2000), &spaces);
    // Three of five slots were counted.
    assert_eq!(view.next_end(&spaces), Some(us(2000 + 34 + 2 * 9)));
}

#[test]
fn in_bianchis_chain_a_busy_period_counts_as_a_slot() {
    let (mut view, spaces) = idle_with(&[5, 3], Countdown::Bianchi);
    view.take_ended(us(1061), &spaces);
    view.ppdu_starts(us(1061), &spaces, NOBODY, |_, _| {});
    view.ppdus_end(1);
    view.turns_idle(us(2000), &spaces);
    assert_eq!(view.next_end(&spaces), Some(us(2000 + 34 + 9)));
}

#[test]
fn equal_backoffs_collide_and_one_slot_apart_do_not() {
    let (mut view, spaces) = idle_with(&[4, 4, 5], Countdown::Frozen);
    let mut committed = Vec::new();
    view.take_ended(us(1070), &spaces);
    view.ppdu_starts(us(1070), &spaces, NOBODY, |n, at| committed.push((n, at)));
    assert_eq!(committed, [(FunctionId(1), us(1070))]);
}

#[test]
fn start_between_boundaries_collides_with_the_next_boundary() {
    // Immediate access at 1065 us; boundaries at 1061 (3 slots), 1070 (4), 1079 (5).
    let (mut view, spaces) = idle_with(&[4, 5], Countdown::Frozen);
    let mut committed = Vec::new();
    view.ppdu_starts(us(1065), &spaces, NOBODY, |n, at| committed.push((n, at)));
    assert_eq!(committed, [(FunctionId(0), us(1070))]);
    view.ppdus_end(1);
    view.turns_idle(us(2000), &spaces);
    // At 1070 us the other had counted four slots of five.
    assert_eq!(view.next_end(&spaces), Some(us(2000 + 34 + 9)));
}

#[test]
fn after_a_failed_reception_counting_starts_at_the_boundary_after_eifs() {
    let (mut view, spaces) = (view(Countdown::Frozen), SPACES);
    view.ppdu_starts(us(0), &spaces, NOBODY, |_, _| {});
    view.contend(us(1), &spaces, FunctionId(0), DIFS_LANE, 0);
    view.reception_failed(Duration::from_micros(94));
    view.ppdus_end(1);
    view.turns_idle(us(1000), &spaces);
    // 94 - 34 = 60 us is 6.7 slots: the seventh boundary.
    assert_eq!(view.next_end(&spaces), Some(us(1000 + 34 + 7 * 9)));
}

#[test]
fn a_sender_counts_from_its_ack_timeout_and_not_from_the_eifs_of_others() {
    let (mut view, spaces) = (view(Countdown::Frozen), SPACES);
    view.ppdu_starts(us(0), &spaces, NOBODY, |_, _| {});
    view.contend(us(1), &spaces, FunctionId(0), DIFS_LANE, 0);
    view.contend_apart(FunctionId(1), DIFS_LANE, 0, us(1045));
    view.reception_failed(Duration::from_micros(94));
    view.ppdus_end(1);
    view.turns_idle(us(1000), &spaces);
    // The timeout of 45 us ends before the second boundary.
    assert_eq!(view.next_end(&spaces), Some(us(1000 + 34 + 2 * 9)));
    assert_eq!(view.take_ended(us(1052), &spaces), Some(FunctionId(1)));
}

#[test]
fn a_newcomer_sends_after_the_inter_frame_space_or_draws_if_that_is_interrupted() {
    let (mut view, spaces) = idle_with(&[], Countdown::Frozen);
    view.contend_without_backoff(&spaces, FunctionId(0), DIFS_LANE, 5);
    assert_eq!(view.next_end(&spaces), Some(us(1034)));
    view.ppdu_starts(us(1020), &spaces, NOBODY, |_, _| panic!("sensed in time"));
    view.ppdus_end(1);
    view.turns_idle(us(2000), &spaces);
    assert_eq!(view.next_end(&spaces), Some(us(2000 + 34 + 5 * 9)));
}

#[test]
fn ppdu_younger_than_a_slot_does_not_keep_a_node_from_sending() {
    let (mut view, spaces) = idle_with(&[], Countdown::Frozen);
    assert_eq!(view.sends_at(us(1033), &spaces, DIFS_LANE), None);
    assert_eq!(view.sends_at(us(1034), &spaces, DIFS_LANE), Some(us(1034)));
    view.ppdu_starts(us(1100), &spaces, NOBODY, |_, _| {});
    assert_eq!(view.sends_at(us(1108), &spaces, DIFS_LANE), Some(us(1108)));
    assert_eq!(view.sends_at(us(1109), &spaces, DIFS_LANE), None);
}

#[test]
fn a_reservation_taken_back_leaves_difs() {
    let (mut view, spaces) = idle_with(&[2], Countdown::Frozen);
    view.ppdu_starts(us(1020), &spaces, NOBODY, |_, _| {});
    assert!(view.set_nav(us(3000), NodeId(9)) && !view.set_nav(us(2900), NodeId(9)));
    view.ppdus_end(1);
    view.turns_idle(us(1200), &spaces);
    view.reset_nav(us(1500), &spaces);
    assert_eq!(view.next_end(&spaces), Some(us(1500 + 34 + 2 * 9)));
}

#[test]
fn pifs_is_one_slot_before_difs() {
    let (mut view, spaces) = idle_with(&[0], Countdown::Frozen);
    view.ppdu_starts(us(1034), &spaces, NOBODY, |_, _| {});
    view.contend(us(1035), &spaces, FunctionId(9), PIFS_LANE, 0);
    view.ppdus_end(1);
    view.turns_idle(us(2000), &spaces);
    assert_eq!(view.next_end(&spaces), Some(us(2025)));
}

#[test]
fn the_nav_holds_counting_back() {
    let (mut view, spaces) = idle_with(&[], Countdown::Frozen);
    view.ppdu_starts(us(1100), &spaces, NOBODY, |_, _| {});
    view.contend(us(1100), &spaces, FunctionId(0), DIFS_LANE, 1);
    view.set_nav(us(3000), NodeId(9));
    view.ppdus_end(1);
    view.turns_idle(us(2000), &spaces);
    assert!(view.is_busy(us(2500)));
    assert_eq!(view.next_end(&spaces), Some(us(3000 + 34 + 9)));
}
