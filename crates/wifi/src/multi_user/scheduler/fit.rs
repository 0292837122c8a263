//! Stations whose data fit together: little of a PPDU for them is padding.

use super::{Offer, Waiting};
use crate::phy::{ChannelWidth, Phy, Ru};
use lasthop_units::Duration;

/// The order of all stations but the first by how much their data take longer or shorter than the data of the first.
pub(super) fn alike_first(phy: &Phy, waiting: &[Waiting]) -> Vec<usize> {
    let takes = |user: usize| waiting[user].bytes.max(1) as f64 / phy.mode(waiting[user].mode).rate.as_bps() as f64;
    let mut order: Vec<usize> = (0..waiting.len()).collect();
    let Some((first, others)) = order.split_first_mut() else { return order };
    let first = takes(*first);
    let ratio = |user: usize| (takes(user) / first).max(first / takes(user));
    others.sort_by(|a, b| ratio(*a).total_cmp(&ratio(*b)));
    order
}

/// Leaves the first `n` stations of `order`, of which the data bring the most in their time:
/// ```text
/// maximise over n   sum over i of w_i b_i min(1, T / t_i)  /  (T + around(n)) ,    T = min(max over i of t_i, longest)
///
/// b_i, w_i: bytes that wait for station i, and the weight of each;    t_i = 8 b_i / (r_i s(n)): time of its data
/// r_i: rate of its mode on the whole channel;    s(n): a unit's share of the data subcarriers if n stations have equal units
/// around(n): contention, preambles and acknowledgements
/// ```
/// A PPDU lasts as long as its longest user needs, so little data of one and much of another are mostly padding
/// [802.11ax-2021 §26.5.1].
/// Without `may_be_one` several are served, as long as there are several.
pub(super) fn keep_best(offer: &Offer<'_>, order: &mut Vec<usize>, weight: impl Fn(&Waiting) -> f64, may_be_one: bool) {
    let (phy, around) = (offer.phy, &offer.around);
    let width = phy.channel_width().unwrap_or(ChannelWidth::Mhz20);
    let users: Vec<Waiting> = order.iter().map(|user| offer.waiting[*user]).collect();
    let per_second = |users: &[Waiting], ru: Ru, others: Duration| {
        let share = f64::from(ru.data_subcarriers()) / f64::from(Ru::whole(width).data_subcarriers());
        let takes = |user: &Waiting| user.bytes as f64 * 8.0 / (phy.mode(user.mode).rate.as_bps() as f64 * share);
        let longest = around.longest.as_secs_f64();
        let data = users.iter().map(takes).fold(0.0, f64::max).min(longest);
        let sent: f64 = users.iter().map(|user| weight(user) * user.bytes as f64 * (data / takes(user)).min(1.0)).sum();
        sent / (data + others.as_secs_f64())
    };
    let mut best = (1, per_second(&users[..1], Ru::whole(width), around.one));
    if !may_be_one {
        best.1 = 0.0;
    }
    for number in 2..=users.len().min(offer.most as usize) {
        let (ru, served) = Ru::equal(width, number as u32);
        if served as usize == number {
            let found = per_second(&users[..number], ru, around.several);
            if found >= best.1 {
                best = (number, found);
            }
        }
    }
    order.truncate(best.0);
}

/// As many stations of an offer, in its order, as one PPDU serves.
pub(super) fn as_many_as_fit(offer: &Offer<'_>) -> Vec<usize> {
    let width = offer.phy.channel_width().unwrap_or(ChannelWidth::Mhz20);
    let (_, served) = Ru::equal(width, offer.most.min(offer.waiting.len() as u32));
    (0..served as usize).collect()
}

#[cfg(test)]
mod tests {
    use lasthop_observe::NodeId;
    use lasthop_units::Time;

    use super::*;
    use crate::multi_user::scheduler::Around;
    use crate::phy::{PhyOptions, Standard};

    fn phy(channel_width: ChannelWidth) -> Phy {
        let options =
            PhyOptions { channel_width: Some(channel_width), ..PhyOptions::new(Standard::named("802.11ax").unwrap()) };
        options.resolve("bss").unwrap()
    }
    fn waiting(phy: &Phy, bytes: &[u64]) -> Vec<Waiting> {
        let mode = phy.mode_of_mcs(7).unwrap();
        let of = |(place, &bytes): (usize, &u64)| Waiting { station: NodeId(place as u32), place, mode, bytes };
        bytes.iter().enumerate().map(of).collect()
    }

    #[test]
    fn stations_with_as_much_data_as_the_first_come_next() {
        let phy = phy(ChannelWidth::Mhz20);
        let waiting = waiting(&phy, &[10_000, 200, 30_000, 5000, 9000, 200]);
        assert_eq!(alike_first(&phy, &waiting), [0, 4, 3, 2, 1, 5]);
    }

    #[test]
    fn little_data_and_much_do_not_share_a_ppdu() {
        let phy = phy(ChannelWidth::Mhz80);
        let us = Duration::from_micros;
        let around = Around { longest: us(5000), one: us(200), several: us(350) };
        let of = |bytes: &[u64]| {
            let waiting = waiting(&phy, bytes);
            let offer = Offer { now: Time::ZERO, phy: &phy, waiting: &waiting, most: 8, around, is_known: true };
            let mut order = (0..waiting.len()).collect();
            keep_best(&offer, &mut order, |_| 1.0, true);
            order.len()
        };
        // Much for one, a packet for each of the others: alone. Equal data, much or little: together.
        assert_eq!(of(&[100_000, 1500, 1500, 1500]), 1);
        assert_eq!((of(&[50_000; 4]), of(&[1500; 8])), (4, 8));
        // Two with more, two with less; with much, the tones that two units leave unused cost more than a preamble.
        assert_eq!((of(&[5000, 5000, 1500, 1500]), of(&[50_000, 50_000, 1500, 1500])), (2, 1));
    }
}
