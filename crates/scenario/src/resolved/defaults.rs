//! Defaults that depend on the scenario: queues of hosts and access points of the time, and space.
//!
//! A BSS is *current* if its standard is 802.11n or later. The channel is current if any BSS is. Queues are those of
//! Linux hosts only if `[tcp] profile = "linux"`, or one of a current kernel, as well, since the other profiles represent systems with other queues.

use lasthop_link::QueueDisciplineKind;
use lasthop_link::queue_discipline::{airtime_fq_codel, fifo};
use lasthop_registry::{Amount, Parameter};
use lasthop_tcp::Profile;
use lasthop_units::{Bytes, Db};
use lasthop_wifi::Protection;
use lasthop_wifi::phy::Standard;
use lasthop_wifi::phy::error_model::{self, ErrorModelKind};
use lasthop_wifi::phy::fading::{DelayProfile, TGN_SPEED};
use lasthop_wifi::phy::path_loss::{self, PathLossKind};
use lasthop_wifi::rate_control::{RateControlKind, fixed, minstrel_ht};

use super::older;
use super::place::path_of;
use crate::description::{Bss, Description, NodeQueue, StationQueue};

/// A default that was taken: its key, its value, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultTaken {
    /// The key, e.g. "bss.ap.queue".
    pub path: String,
    /// Its value as written in a file.
    pub value: String,
    /// The reason, e.g. `802.11ax and tcp.profile = "linux"`.
    pub because: String,
}

/// ns-3's `LogDistancePropagationLossModel`: free space at 5.15 GHz over 1 m.
const REFERENCE_LOSS: Db = Db(46.6777);

/// mac80211's memory limit for a device without VHT.
const MEMORY_WITHOUT_VHT: Bytes = Bytes(4 << 20);

/// Packets that a FIFO holds with 802.11n and later: Linux's `txqueuelen` of Ethernet and Wi-Fi devices.
const TX_QUEUE_LEN: u64 = 1000;

/// Packets that a FIFO holds with older standards: ns-2's interface queue.
const IFQ_LEN: u64 = 50;

/// The choice made, in the file or by [`fill_in`].
pub(crate) fn chosen<T>(choice: &Option<T>) -> &T {
    choice.as_ref().expect("defaults are filled in before anything is read")
}

/// Fills in each of these keys that the file leaves out, and returns them.
pub(super) fn fill_in(description: &mut Description) -> Vec<DefaultTaken> {
    let mut taken = Vec::new();
    let profile = description.tcp.profile;
    let count = description.bss.0.len();
    fill_in_protection(description, &mut taken);
    let circumstances: Vec<Circumstances> =
        description.bss.0.iter().map(|bss| Circumstances::of(bss, profile)).collect();
    for (index, (bss, of)) in description.bss.0.iter_mut().zip(&circumstances).enumerate() {
        let path = path_of(index, count);
        take(&mut taken, &mut bss.rate_control, format!("{path}.rate_control"), of.rate_control(), of.standard());
        take(&mut taken, &mut bss.ap.queue, format!("{path}.ap.queue"), of.ap_queue(), of.standard_and_profile());
        of.take_limit(&mut taken, bss.ap.queue.as_mut(), &format!("{path}.ap.queue"));
    }
    for (index, group) in description.station.0.iter_mut().enumerate() {
        let home = description.bss.0.iter().position(|bss| group.bss.is_some() && bss.name == group.bss).unwrap_or(0);
        let of = circumstances.get(home).copied().unwrap_or(Circumstances::unknown(profile));
        take(
            &mut taken,
            &mut group.queue,
            format!("station[{index}].queue"),
            of.station_queue(),
            of.standard_and_profile(),
        );
        of.take_limit(&mut taken, discipline_of(&mut group.queue), &format!("station[{index}].queue"));
    }
    // One channel and one kind of wire for all: those of the most recent BSS.
    let of = circumstances.into_iter().max_by_key(|of| of.is_current()).unwrap_or(Circumstances::unknown(profile));
    let (channel, wired) = (&mut description.channel, &mut description.wired);
    take(&mut taken, &mut channel.path_loss, "channel.path_loss".into(), of.path_loss(), of.standard());
    let has_space = chosen(&channel.path_loss).weakens();
    take(&mut taken, &mut channel.error_model, "channel.error_model".into(), of.error_model(has_space), of.standard());
    if let Some((doppler, speed)) = channel.fading.movement()
        && doppler.is_none()
    {
        let (usual, by) = channel.delay_profile.map_or((TGN_SPEED, "TGn"), DelayProfile::speed);
        take(&mut taken, speed, "channel.fading.speed".into(), usual, format!("as {by} has it indoors"));
    }
    take(&mut taken, &mut wired.queue, "wired.queue".into(), of.wired_queue(), of.standard_and_profile());
    of.take_limit(&mut taken, wired.queue.as_mut(), "wired.queue");
    of.take_limit(&mut taken, wired.queue_up.as_mut(), "wired.queue_up");
    taken
}

/// Protection is listed only if some stations need it.
fn fill_in_protection(description: &mut Description, taken: &mut Vec<DefaultTaken>) {
    let count = description.bss.0.len();
    let of = |index| older::protection_of(&description.bss.0[index], older::stations_of(description, index));
    let all: Vec<Protection> = (0..count).map(of).collect();
    for (index, (bss, protection)) in description.bss.0.iter_mut().zip(all).enumerate() {
        if protection == Protection::None {
            bss.protection.get_or_insert(protection);
            continue;
        }
        let path = format!("{}.protection", path_of(index, count));
        take(taken, &mut bss.protection, path, protection, "stations of 802.11b".into());
    }
}

fn take<T: Parameter>(taken: &mut Vec<DefaultTaken>, key: &mut Option<T>, path: String, default: T, because: String) {
    if key.is_none() {
        let value = default.to_value().map(|value| value.to_string()).unwrap_or_default();
        taken.push(DefaultTaken { path, value, because });
        *key = Some(default);
    }
}

/// The queue discipline of a station's queue.
fn discipline_of(queue: &mut Option<StationQueue>) -> Option<&mut QueueDisciplineKind> {
    match queue {
        Some(StationQueue(NodeQueue::Discipline(discipline))) => Some(discipline),
        _ => None,
    }
}

/// The conditions on which defaults depend.
#[derive(Clone, Copy, Debug)]
struct Circumstances {
    standard: Option<Standard>,
    profile: Profile,
}

impl Circumstances {
    fn of(bss: &Bss, profile: Profile) -> Self {
        Circumstances { standard: bss.standard, profile }
    }
    /// The conditions before a standard is named; its absence is an error of its own.
    fn unknown(profile: Profile) -> Self {
        Circumstances { standard: None, profile }
    }
    fn is_current(self) -> bool {
        self.standard.is_some_and(Standard::has_mcs)
    }
    fn has_queues_of_today(self) -> bool {
        self.is_current() && self.profile.is_current()
    }
    fn standard(self) -> String {
        self.standard.map_or("no standard", Standard::name).into()
    }
    fn standard_and_profile(self) -> String {
        format!("{} and tcp.profile = \"{}\"", self.standard(), self.profile.word())
    }

    fn rate_control(self) -> RateControlKind {
        match self.is_current() {
            true => RateControlKind::MinstrelHt(minstrel_ht::Params::default()),
            false => RateControlKind::Fixed(fixed::Params::default()),
        }
    }
    fn ap_queue(self) -> QueueDisciplineKind {
        if !self.has_queues_of_today() {
            return self.fifo();
        }
        let mut params = airtime_fq_codel::Params::default();
        if !self.standard.is_some_and(Standard::has_vht) {
            params.memory_limit = MEMORY_WITHOUT_VHT;
        }
        QueueDisciplineKind::AirtimeFqCodel(params)
    }
    fn station_queue(self) -> StationQueue {
        StationQueue(match self.has_queues_of_today() {
            true => NodeQueue::Backpressure,
            false => NodeQueue::Discipline(self.fifo()),
        })
    }
    fn wired_queue(self) -> QueueDisciplineKind {
        match self.has_queues_of_today() {
            true => self.fifo(),
            false => QueueDisciplineKind::Fifo(fifo::Params::limited(Amount::Unlimited)),
        }
    }
    fn fifo(self) -> QueueDisciplineKind {
        QueueDisciplineKind::Fifo(fifo::Params::limited(self.fifo_limit()))
    }
    fn fifo_limit(self) -> Amount {
        Amount::Packets(if self.is_current() { TX_QUEUE_LEN } else { IFQ_LEN })
    }
    /// The limit of a FIFO that the file gives none.
    fn take_limit(self, taken: &mut Vec<DefaultTaken>, queue: Option<&mut QueueDisciplineKind>, path: &str) {
        if let Some(QueueDisciplineKind::Fifo(fifo)) = queue {
            take(taken, &mut fifo.limit, format!("{path}.limit"), self.fifo_limit(), self.standard());
        }
    }
    fn path_loss(self) -> PathLossKind {
        match self.is_current() {
            true => PathLossKind::LogDistance(path_loss::log_distance::Params {
                reference_loss: Some(REFERENCE_LOSS),
                ..Default::default()
            }),
            false => PathLossKind::None(path_loss::none::Params::default()),
        }
    }
    /// Without path loss every signal arrives with its transmit power: errors have nothing to depend on.
    fn error_model(self, has_space: bool) -> ErrorModelKind {
        match self.is_current() && has_space {
            true => ErrorModelKind::Nist(error_model::nist::Params::default()),
            false => ErrorModelKind::None(error_model::none::Params::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::resolve;

    fn taken(text: &str) -> Vec<(String, String)> {
        let scenario = resolve(text, "f.toml", &[]).unwrap();
        scenario.defaults().iter().map(|d| (d.path.clone(), d.value.clone())).collect()
    }

    fn of(text: &str, path: &str) -> String {
        taken(text).into_iter().find(|(key, _)| key == path).map(|(_, value)| value).unwrap_or("said".into())
    }

    const FIFO: &str = "{ kind = \"fifo\", limit = \"50 packets\" }";
    const LONG_FIFO: &str = "{ kind = \"fifo\", limit = \"1000 packets\" }";

    #[test]
    fn current_wifi_under_a_current_kernel_has_its_queues_and_space() {
        let text = "[bss]\nstandard = \"802.11ax\"\n[[station]]\n";
        assert!(of(text, "bss.ap.queue").starts_with("{ kind = \"airtime_fq_codel\""), "{}", of(text, "bss.ap.queue"));
        assert_eq!(of(text, "station[0].queue"), "\"backpressure\"");
        assert_eq!(of(text, "wired.queue"), "{ kind = \"fifo\", limit = \"1000 packets\" }");
        assert!(
            of(text, "channel.path_loss").contains("log_distance")
                && of(text, "channel.path_loss").contains("46.6777 dB")
        );
        assert!(of(text, "channel.error_model").contains("nist"));
        assert!(of(text, "bss.rate_control").contains("minstrel_ht"));
    }

    #[test]
    fn older_standards_and_older_systems_keep_theirs() {
        let b = "[bss]\nstandard = \"802.11b\"\n[[station]]\n";
        assert_eq!((of(b, "bss.ap.queue").as_str(), of(b, "station[0].queue").as_str()), (FIFO, FIFO));
        assert!(of(b, "wired.queue").contains("unlimited") && of(b, "channel.path_loss").contains("none"));
        for profile in ["ns2", "linux-2.6", "linux-3.13"] {
            let text = format!("[bss]\nstandard = \"802.11n\"\n[[station]]\n[tcp]\nprofile = \"{profile}\"\n");
            let queues = (of(&text, "bss.ap.queue"), of(&text, "station[0].queue"));
            assert_eq!((queues.0.as_str(), queues.1.as_str()), (LONG_FIFO, LONG_FIFO));
            assert!(
                of(&text, "wired.queue").contains("unlimited")
                    && of(&text, "channel.path_loss").contains("log_distance")
            );
        }
    }

    #[test]
    fn fifo_without_a_limit_holds_a_thousand_packets_from_80211n_on() {
        let limits = |standard: &str, queue: &str| {
            let text = format!(
                "[bss]\nstandard = \"{standard}\"\n[bss.ap]\nqueue = {queue}\n[[station]]\nqueue = {queue}\n\
                 [wired]\nqueue = {queue}\n"
            );
            ["bss.ap.queue", "station[0].queue", "wired.queue"].map(|path| of(&text, &format!("{path}.limit")))
        };
        for (standard, limit) in [("802.11b", 50), ("802.11g", 50), ("802.11n", 1000), ("802.11ax", 1000)] {
            assert_eq!(limits(standard, "\"fifo\""), [(); 3].map(|()| format!("\"{limit} packets\"")));
        }
        assert_eq!(limits("802.11n", "{ kind = \"fifo\", limit = \"7 packets\" }"), ["said"; 3]);
    }

    #[test]
    fn a_profile_of_one_flow_does_not_count() {
        let text = "[bss]\nstandard = \"802.11n\"\n[[station]]\n[[flow]]\nprofile = \"ns2\"\n";
        assert_eq!(of(text, "station[0].queue"), "\"backpressure\"");
    }

    #[test]
    fn memory_of_the_ap_is_that_of_mac80211() {
        let memory = |standard: &str| of(&format!("[bss]\nstandard = \"{standard}\"\n[[station]]\n"), "bss.ap.queue");
        assert!(
            memory("802.11n").contains("memory_limit = \"4 MiB\"") || memory("802.11n").contains("4194304 B"),
            "{}",
            memory("802.11n")
        );
        assert!(
            memory("802.11ac").contains("memory_limit = \"16 MiB\"") || memory("802.11ac").contains("16777216 B"),
            "{}",
            memory("802.11ac")
        );
    }

    #[test]
    fn stations_go_by_the_standard_of_their_own_bss() {
        let text = "[[bss]]\nname = \"old\"\nstandard = \"802.11a\"\n[[bss]]\nname = \"new\"\nstandard = \"802.11ac\"\n\
                    [[station]]\nname = \"a\"\nbss = \"old\"\n[[station]]\nname = \"b\"\nbss = \"new\"\n";
        assert_eq!(
            (of(text, "station[0].queue").as_str(), of(text, "station[1].queue").as_str()),
            (FIFO, "\"backpressure\"")
        );
        assert!(
            of(text, "bss[0].rate_control").contains("fixed")
                && of(text, "bss[1].rate_control").contains("minstrel_ht")
        );
        assert!(of(text, "channel.path_loss").contains("log_distance"));
    }

    #[test]
    fn without_path_loss_nothing_is_lost_to_noise() {
        let text = "[bss]\nstandard = \"802.11n\"\n[[station]]\n[channel]\npath_loss = \"none\"\n";
        assert!(of(text, "channel.error_model").contains("none"));
    }

    #[test]
    fn default_names_its_condition() {
        let scenario = resolve("[bss]\nstandard = \"802.11ax\"\n[[station]]\n", "f.toml", &[]).unwrap();
        let because = |path: &str| scenario.defaults().iter().find(|d| d.path == path).unwrap().because.clone();
        assert_eq!(because("bss.ap.queue"), "802.11ax and tcp.profile = \"linux\"");
        assert_eq!(because("channel.path_loss"), "802.11ax");
    }
}
