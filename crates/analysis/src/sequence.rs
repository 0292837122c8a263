//! The sequence numbers of one transmitter and TID: those heard, those received intact, those acknowledged.
//! [802.11-2020 §10.3.2.14]

/// Numbers before they wrap.
const SPACE: u64 = 4096;
const WORDS: usize = (SPACE / 64) as usize;

/// Numbers of the last 4096 MPDUs.
#[derive(Clone, Debug)]
struct Marks([u64; WORDS]);

impl Marks {
    fn has(&self, number: u64) -> bool {
        let place = number % SPACE;
        self.0[(place / 64) as usize] >> (place % 64) & 1 == 1
    }
    fn set(&mut self, number: u64, to: bool) {
        let place = number % SPACE;
        let bit = 1 << (place % 64);
        let word = &mut self.0[(place / 64) as usize];
        *word = if to { *word | bit } else { *word & !bit };
    }
}

/// The position of a number relative to earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Novelty {
    /// later than all received intact before
    New,
    /// the same, with this many unheard before it, since the first
    Behind(u64),
    /// earlier, and not received intact before
    Late,
    /// it had been received intact
    Again,
}

impl Novelty {
    /// Whether it is later than all received intact before.
    pub(crate) fn is_new(self) -> bool {
        matches!(self, Novelty::New | Novelty::Behind(_))
    }

    /// Unheard frames since the first at the time of this one, if it was new.
    pub(crate) fn missed(self) -> Option<u64> {
        match self {
            Novelty::New => Some(0),
            Novelty::Behind(missed) => Some(missed),
            Novelty::Late | Novelty::Again => None,
        }
    }
}

/// The numbers of one transmitter, receiver and TID. Counting continues past 4095.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    first: u64,
    latest: u64,
    latest_whole: u64,
    heard: Marks,
    whole: Marks,
    acknowledged: Marks,
    /// numbers between the first and the latest that were never heard
    pub never_heard: u64,
    /// numbers that were not heard before later ones were received intact
    missed: u64,
    /// numbers between the first and the latest
    pub spanned: u64,
}

impl Numbers {
    /// Starts with the first number heard.
    pub(crate) fn new(number: u16) -> Numbers {
        let first = SPACE + u64::from(number);
        let none = Marks([0; WORDS]);
        let mut numbers = Numbers {
            first,
            latest: first,
            latest_whole: first - 1,
            heard: none.clone(),
            whole: none.clone(),
            acknowledged: none,
            never_heard: 0,
            missed: 0,
            spanned: 1,
        };
        numbers.heard.set(first, true);
        numbers
    }

    /// The unwrapped number: the one nearest to the latest.
    fn unwrapped(&self, number: u16) -> u64 {
        let base = self.latest - self.latest % SPACE + u64::from(number % SPACE as u16);
        if base + SPACE / 2 < self.latest {
            base + SPACE
        } else if base > self.latest + SPACE / 2 {
            base - SPACE
        } else {
            base
        }
    }

    fn advance(&mut self, to: u64) {
        for number in self.latest + 1..=to {
            for marks in [&mut self.heard, &mut self.whole, &mut self.acknowledged] {
                marks.set(number, false);
            }
        }
        if to > self.latest {
            self.never_heard += to - self.latest;
            self.spanned += to - self.latest;
            self.latest = to;
        }
    }

    /// Whether an MPDU was heard before, or may have been before the capture began.
    pub(crate) fn may_have_heard(&self, number: u16) -> bool {
        let number = self.unwrapped(number);
        number <= self.first || number <= self.latest && self.heard.has(number)
    }

    /// Handles an MPDU that was heard; `is_whole` if its FCS is correct.
    pub(crate) fn hear(&mut self, number: u16, is_whole: bool) -> Novelty {
        let number = self.unwrapped(number);
        self.advance(number);
        if number >= self.first && !self.heard.has(number) {
            self.never_heard = self.never_heard.saturating_sub(1);
        }
        self.heard.set(number, true);
        if self.whole.has(number) {
            return Novelty::Again;
        }
        self.whole.set(number, is_whole);
        self.missed += (self.latest_whole + 1..number).filter(|&before| !self.heard.has(before)).count() as u64;
        let novelty = match (number > self.latest_whole, self.missed) {
            (true, 0) => Novelty::New,
            (true, missed) => Novelty::Behind(missed),
            (false, _) => Novelty::Late,
        };
        if is_whole {
            self.latest_whole = self.latest_whole.max(number);
        }
        novelty
    }

    /// Handles an acknowledgement. Returns whether the MPDU was received intact, if that is reported for
    /// the first time and known.
    pub(crate) fn acknowledge(&mut self, number: u16) -> Option<bool> {
        let number = self.unwrapped(number);
        if number < self.first {
            return None;
        }
        self.advance(number);
        if self.acknowledged.has(number) {
            return None;
        }
        self.acknowledged.set(number, true);
        Some(self.whole.has(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_of_received_mpdu_differs_from_retry_of_lost_mpdu() {
        let mut numbers = Numbers::new(4094);
        assert_eq!(numbers.hear(4094, true), Novelty::New);
        assert_eq!(numbers.hear(4095, false), Novelty::New);
        assert_eq!(numbers.hear(0, true), Novelty::New);
        assert_eq!(numbers.hear(4095, true), Novelty::Late);
        assert_eq!(numbers.hear(4095, true), Novelty::Again);
        assert_eq!(numbers.hear(0, true), Novelty::Again);
        assert_eq!((numbers.never_heard, numbers.spanned), (0, 3));
    }

    #[test]
    fn a_number_comes_round_after_4096() {
        let mut numbers = Numbers::new(0);
        for number in 0..10_000_u32 {
            assert_eq!(numbers.hear((number % 4096) as u16, true), Novelty::New, "{number}");
        }
        assert_eq!(numbers.never_heard, 0);
    }

    #[test]
    fn skipped_numbers_count_until_they_arrive() {
        let mut numbers = Numbers::new(10);
        numbers.hear(10, true);
        numbers.hear(15, true);
        assert_eq!((numbers.never_heard, numbers.spanned), (4, 6));
        numbers.hear(12, false);
        assert_eq!(numbers.never_heard, 3);
        numbers.hear(12, true);
        assert_eq!(numbers.never_heard, 3);
        assert_eq!([9, 10, 11, 12, 16].map(|n| numbers.may_have_heard(n)), [true, true, false, true, false]);
    }

    #[test]
    fn acknowledgement_reports_reception_of_an_mpdu_once() {
        let mut numbers = Numbers::new(10);
        numbers.hear(10, true);
        numbers.hear(11, false);
        assert_eq!(
            [9, 10, 10, 11, 12].map(|n| numbers.acknowledge(n)),
            [None, Some(true), None, Some(false), Some(false)]
        );
    }
}
