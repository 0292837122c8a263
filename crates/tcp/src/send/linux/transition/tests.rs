//! A test for each row of stage 1, under the row's name, and the page compared with the code.

use super::*;

/// In Recovery or Loss with SACK: 2000 of the bytes in flight below 9000 are acknowledged.
fn standing(phase: CaState) -> Standing {
    Standing {
        phase,
        span: Span { una: 2000, nxt: 9000, high: 9000 },
        sack: true,
        resent_is_out: true,
        has_more: false,
        verdict: UndoProof::default(),
        forward_rto: Step::Off,
    }
}

fn acknowledged_to(una: u64, standing: Standing) -> Standing {
    Standing { span: Span { una, nxt: 10_000, ..standing.span }, ..standing }
}

fn without_sack(standing: Standing) -> Standing {
    Standing { sack: false, ..standing }
}

fn by_time(standing: Standing) -> Standing {
    Standing { verdict: UndoProof { by_time: true, by_copies: false }, ..standing }
}

fn by_copies(standing: Standing) -> Standing {
    Standing { verdict: UndoProof { by_time: false, by_copies: true }, ..standing }
}

fn advance() -> AckFacts {
    AckFacts { advances: true, carries: true, ..AckFacts::silent() }
}

fn dsack() -> AckFacts {
    AckFacts { repeats: true, ..AckFacts::silent() }
}

const LATER: Duplicates = Duplicates { clear: true, count: false };
const ONE_MORE: Duplicates = Duplicates { clear: false, count: true };
const NONE: Duplicates = Duplicates { clear: false, count: false };

/// An ACK that meets the row, in the variant that the page names first.
fn example(row: Row) -> (Standing, AckFacts) {
    let (cwr, recovery, loss) = (standing(CaState::Cwr), standing(CaState::Recovery), standing(CaState::Loss));
    let asking = |step| Standing { forward_rto: step, has_more: true, ..loss };
    match row {
        Row::O1 => (by_copies(standing(CaState::Disorder)), dsack()),
        Row::O2 => (standing(CaState::Disorder), AckFacts { reports: true, ..advance() }),
        Row::C1 => (acknowledged_to(9001, cwr), advance()),
        Row::C2 => (acknowledged_to(9000, cwr), advance()),
        Row::R1 => (by_time(without_sack(acknowledged_to(9000, recovery))), advance()),
        Row::R2 => (by_time(acknowledged_to(9000, recovery)), advance()),
        Row::R3 => (without_sack(acknowledged_to(9000, recovery)), advance()),
        Row::R4 => (acknowledged_to(9000, recovery), advance()),
        Row::R5 => (by_time(recovery), advance()),
        Row::R6 => (Standing { resent_is_out: false, ..by_time(recovery) }, advance()),
        Row::R7 => (by_copies(recovery), dsack()),
        Row::R8 => (recovery, advance()),
        Row::L1 => (by_time(loss), advance()),
        Row::L2 => (asking(Step::First), AckFacts { original_end: Some(3000), ..AckFacts::silent() }),
        Row::L3 => (by_copies(acknowledged_to(9000, loss)), dsack()),
        Row::L4 => (asking(Step::First), advance()),
        Row::L5 => (loss, advance()),
    }
}

fn meets(row: Row) -> Transition {
    let (standing, facts) = example(row);
    transition(&standing, &facts)
}

#[test]
fn o1_reduction_is_undone_if_all_copies_arrived_twice() {
    let step = meets(Row::O1);
    assert_eq!((step.row, step.window, step.patience), (Row::O1, Window::Undo, Patience::Longer));
    assert_eq!(step.first_copy, FirstCopy::Keep);
    let (disorder, _) = example(Row::O1);
    let open = transition(&Standing { phase: CaState::Open, ..disorder }, &dsack());
    assert_eq!((open.row, open.first_copy), (Row::O1, FirstCopy::Forget));
}

#[test]
fn o2_nothing_changes_except_that_open_forgets_the_first_copy() {
    let step = meets(Row::O2);
    assert_eq!((step.row, step.next, step.first_copy), (Row::O2, Next::Same, FirstCopy::Keep));
    let open = transition(&by_time(standing(CaState::Open)), &advance());
    assert_eq!((open.row, open.first_copy), (Row::O2, FirstCopy::Forget), "an echo does not undo there");
    let no_sack = without_sack(standing(CaState::Disorder));
    assert_eq!(transition(&no_sack, &advance()).duplicates, LATER);
    assert_eq!(transition(&no_sack, &AckFacts::silent()).duplicates, ONE_MORE);
    assert_eq!(transition(&standing(CaState::Disorder), &AckFacts::silent()).duplicates, NONE);
}

#[test]
fn c1_the_reduction_for_a_mark_ends_beyond_its_point() {
    let step = meets(Row::C1);
    assert_eq!((step.row, step.next, step.window), (Row::C1, Next::Open, Window::End));
}

#[test]
fn c2_at_its_point_it_goes_on() {
    let step = meets(Row::C2);
    assert_eq!((step.row, step.next, step.window), (Row::C2, Next::Same, Window::Keep));
    assert_eq!(transition(&without_sack(standing(CaState::Cwr)), &AckFacts::silent()).duplicates, ONE_MORE);
}

#[test]
fn r1_an_undo_at_the_point_leaves_recovery_on_hold() {
    let step = meets(Row::R1);
    assert_eq!((step.row, step.window, step.then), (Row::R1, Window::Undo, Then::Done));
    assert_eq!((step.duplicates, step.first_copy), (LATER, FirstCopy::ForgetIfDone));
    assert_eq!(step.patience, Patience::Same);
}

#[test]
fn r2_an_undo_at_the_end_opens() {
    let step = meets(Row::R2);
    assert_eq!((step.row, step.next, step.window), (Row::R2, Next::Open, Window::Undo));
    assert_eq!((step.duplicates, step.patience), (LATER, Patience::Same));
    let (standing, _) = example(Row::R1);
    assert_eq!(transition(&acknowledged_to(9001, standing), &advance()).row, Row::R2, "no hold beyond the point");
}

#[test]
fn r3_without_sack_recovery_holds_at_its_point() {
    let step = meets(Row::R3);
    assert_eq!((step.row, step.window, step.then), (Row::R3, Window::Keep, Then::Done));
    assert_eq!((step.duplicates, step.patience), (LATER, Patience::Shorter));
    let (standing, _) = example(Row::R3);
    assert_eq!(transition(&standing, &AckFacts::silent()).duplicates, LATER, "on hold no duplicate counts");
}

#[test]
fn r4_recovery_ends_at_its_point_with_sack_and_beyond_it_without() {
    let step = meets(Row::R4);
    assert_eq!((step.row, step.next, step.window), (Row::R4, Next::Open, Window::End));
    assert_eq!(step.patience, Patience::Shorter);
    let (standing, _) = example(Row::R3);
    assert_eq!(transition(&acknowledged_to(9001, standing), &advance()).row, Row::R4);
    let duplicate = transition(&acknowledged_to(9001, standing), &AckFacts::silent());
    assert_eq!(duplicate.duplicates, Duplicates { clear: true, count: true });
}

#[test]
fn r5_late_hole_waits_for_answers_to_retransmissions() {
    let step = meets(Row::R5);
    assert_eq!((step.row, step.window, step.then), (Row::R5, Window::Keep, Then::Done));
    assert!(step.was_late && !step.nothing_is_lost);
}

#[test]
fn r6_a_late_hole_undoes_when_nothing_resent_is_out() {
    let step = meets(Row::R6);
    assert_eq!((step.row, step.next, step.window, step.then), (Row::R6, Next::Resting, Window::Undo, Then::Done));
    assert!(step.was_late && step.nothing_is_lost);
    let (standing, _) = example(Row::R6);
    assert_eq!(transition(&standing, &dsack()).row, Row::R8, "an ACK that does not advance fills no hole");
}

#[test]
fn r7_copies_that_all_came_twice_undo_and_the_search_goes_on() {
    let step = meets(Row::R7);
    assert_eq!((step.row, step.next, step.window), (Row::R7, Next::Resting, Window::Undo));
    assert_eq!((step.patience, step.then), (Patience::Longer, Then::Search));
    assert!(!step.nothing_is_lost);
}

#[test]
fn r8_lost_segments_go_out_first() {
    let step = meets(Row::R8);
    assert_eq!((step.row, step.permission), (Row::R8, Permission::LostFirst));
    let no_sack = without_sack(standing(CaState::Recovery));
    assert_eq!(transition(&no_sack, &AckFacts::silent()).duplicates, ONE_MORE);
    assert_eq!(transition(&no_sack, &advance()).duplicates, NONE, "a partial ACK keeps the others");
}

#[test]
fn l1_evidence_ends_loss_with_sack_only() {
    let step = meets(Row::L1);
    assert_eq!((step.row, step.next, step.window), (Row::L1, Next::Open, Window::Undo));
    assert!(step.nothing_is_lost && step.ends_timeouts);
    let (standing, facts) = example(Row::L1);
    let no_sack = transition(&without_sack(standing), &facts);
    assert_eq!((no_sack.next, no_sack.first_copy, no_sack.then), (Next::Same, FirstCopy::Keep, Then::Search));
    let on_hold = transition(&without_sack(acknowledged_to(9000, standing)), &facts);
    assert_eq!((on_hold.row, on_hold.first_copy), (Row::L1, FirstCopy::ForgetIfDone));
}

#[test]
fn l2_an_original_from_before_the_timeout_opens() {
    let step = meets(Row::L2);
    assert_eq!((step.row, step.next, step.window), (Row::L2, Next::Open, Window::Undo));
    assert!(step.nothing_is_lost && step.ends_timeouts && !step.ends_forward_rto);
    let (standing, facts) = example(Row::L2);
    let no_sack = without_sack(standing);
    assert_eq!(transition(&no_sack, &facts).then, Then::SearchTwice);
    assert_eq!(transition(&acknowledged_to(9000, no_sack), &facts).next, Next::Same, "on hold");
}

#[test]
fn l3_loss_ends_at_its_point_and_is_undone_by_evidence_alone() {
    let step = meets(Row::L3);
    assert_eq!((step.row, step.next, step.window), (Row::L3, Next::Open, Window::Undo));
    assert_eq!((step.patience, step.nothing_is_lost), (Patience::Same, false));
    let over = acknowledged_to(9000, standing(CaState::Loss));
    let kept = transition(&over, &advance());
    assert_eq!((kept.row, kept.window, kept.patience), (Row::L3, Window::Keep, Patience::Shorter));
    let held = transition(&without_sack(over), &advance());
    assert_eq!((held.row, held.next, held.first_copy), (Row::L3, Next::Same, FirstCopy::ForgetIfDone));
    let asked = Standing { forward_rto: Step::Second, ..over };
    assert!(transition(&asked, &AckFacts { reports: true, ..advance() }).ends_forward_rto);
}

#[test]
fn l4_f_rto_asks_with_new_data() {
    let step = meets(Row::L4);
    assert_eq!((step.row, step.permission), (Row::L4, Permission::NewFirst));
}

#[test]
fn l5_lost_segments_go_out_first_and_f_rto_ends_if_due() {
    let step = meets(Row::L5);
    assert_eq!((step.row, step.permission, step.ends_forward_rto), (Row::L5, Permission::LostFirst, false));
    let (asking, facts) = example(Row::L4);
    let nothing_to_ask_with = transition(&Standing { has_more: false, ..asking }, &facts);
    assert_eq!((nothing_to_ask_with.row, nothing_to_ask_with.ends_forward_rto), (Row::L5, true));
    let no_sack = without_sack(standing(CaState::Loss));
    assert_eq!(transition(&no_sack, &AckFacts::silent()).duplicates, NONE, "no new data is out");
    assert_eq!(transition(&acknowledged_to(2000, no_sack), &AckFacts::silent()).duplicates, ONE_MORE);
}

const ROWS: [Row; 17] = [
    Row::O1,
    Row::O2,
    Row::C1,
    Row::C2,
    Row::R1,
    Row::R2,
    Row::R3,
    Row::R4,
    Row::R5,
    Row::R6,
    Row::R7,
    Row::R8,
    Row::L1,
    Row::L2,
    Row::L3,
    Row::L4,
    Row::L5,
];

/// The rows of stage 1 on the page: name, phase, condition, next phase, window, besides, permission, then.
fn page() -> Vec<Vec<String>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/model/tcp-recovery.md");
    let page = std::fs::read_to_string(path).expect("the page of the law");
    let table = page.lines().skip_while(|line| !line.starts_with("| row | phase |")).skip(2);
    let lines = table.take_while(|line| line.starts_with('|'));
    lines.map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_string()).collect()).collect()
}

/// The page's words for a step.
fn words(standing: &Standing, step: &Transition) -> [&'static str; 4] {
    let next = match (step.next, standing.phase) {
        (Next::Open, _) => "Open",
        (Next::Resting, _) => "resting",
        (Next::Same, CaState::Open | CaState::Disorder) => "same",
        (Next::Same, CaState::Cwr) => "Cwr",
        (Next::Same, CaState::Recovery) => "Recovery",
        (Next::Same, CaState::Loss) => "Loss",
    };
    let window = match step.window {
        Window::Keep => "keep",
        Window::End => "end",
        Window::Undo => "undo",
    };
    let permission = match step.permission {
        Permission::NewOnly => "new only",
        Permission::LostFirst => "lost first",
        Permission::NewFirst => "new first",
    };
    [next, window, permission, if step.then == Then::Done { "done" } else { "→ search" }]
}

#[test]
fn the_page_and_the_code_have_the_same_rows() {
    let page = page();
    let names: Vec<&str> = page.iter().map(|cells| cells[0].as_str()).collect();
    assert_eq!(names, ROWS.map(|row| format!("{row:?}")));
    for (row, cells) in ROWS.iter().zip(&page) {
        let (standing, facts) = example(*row);
        let step = transition(&standing, &facts);
        assert_eq!(step.row, *row);
        for (cell, word) in [3, 4, 6, 7].iter().zip(words(&standing, &step)) {
            assert!(cells[*cell].starts_with(word), "{row:?}: the page says {}, the code {word}", cells[*cell]);
        }
    }
}

#[test]
fn recovery_begins_on_loss_and_in_state_loss_only_for_retransmissions() {
    let lost = Found { something_is_lost: true, resent_is_lost: false };
    let resent = Found { resent_is_lost: true, ..lost };
    for phase in [CaState::Open, CaState::Disorder, CaState::Cwr] {
        assert_eq!(sequel(phase, &lost, Some(Row::R7)), Sequel::Repair);
    }
    assert_eq!(sequel(CaState::Recovery, &resent, Some(Row::R8)), Sequel::Nothing);
    assert_eq!(sequel(CaState::Loss, &lost, Some(Row::L5)), Sequel::Nothing);
    assert_eq!(sequel(CaState::Loss, &resent, Some(Row::L5)), Sequel::Repair);
}

#[test]
fn nothing_lost_is_rest_except_after_an_undo_by_copies() {
    let nothing = Found { something_is_lost: false, resent_is_lost: false };
    assert_eq!(sequel(CaState::Open, &nothing, Some(Row::R4)), Sequel::Rest);
    assert_eq!(sequel(CaState::Disorder, &nothing, Some(Row::R7)), Sequel::Nothing);
}
