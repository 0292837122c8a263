//! PPDUs of several users: `[bss.ap] multi_user` and `[bss] mu_edca`.

use lasthop_registry::{Foreign, ParamError, Parameter, Parameters, Shape, Switch, Value, params, refuse, words};
use lasthop_units::{Bytes, Duration};
use lasthop_wifi::multi_user::scheduler::SchedulerKind;
use lasthop_wifi::{AccessCategory, Acknowledge, MuEdca, MultiUser, RandomAccess};

/// More users than the smallest units of 160 MHz serve. [802.11ax-2021 Table 27-8]
const MOST_USERS: u32 = 74;
/// Unit of the timer of MU EDCA: 8 TU. [802.11ax-2021 §9.4.2.251]
const TIMER_UNIT: Duration = Duration::from_micros(8 * 1024);

params! {
    /// Use of PPDUs of several users.
    pub(crate) struct MultiUserTable {
        /// The scheduler.
        pub kind: SchedulerKind = SchedulerKind::default(),
        /// Send data to several stations in one PPDU.
        pub downlink: bool = true,
        /// Ask several stations for their data at once, by triggers.
        pub uplink: bool = true,
        /// Largest number of users of a PPDU.
        pub max_users: u32 = 8,
        /// Acknowledgement of downlink data of several users.
        pub acknowledge: Acknowledge = Acknowledge::MuBar,
        /// Ask stations for the lengths of their queues first (BSRP); false: ask for data at once.
        pub bsrp: bool = true,
        /// Interval in which the access point contends to ask its stations, if it has nothing to send.
        pub access_request: Switch<Duration> = Switch::On(Duration::from_millis(10)),
        /// Least number of bytes that wait for the users of a downlink PPDU in all.
        pub least_bytes: Switch<Bytes> = Switch::Off,
        /// Units of triggers for stations that they do not name, which draw one (UORA): of the questions, or without them of the
        /// triggers for data.
        pub random_access: Switch<RandomAccessTable> = Switch::Off,
        /// Time constant with which "proportional_fair" averages throughputs; default: 100 ms.
        pub average: Option<Duration> = None,
    }
    check |this, path| {
        if !(2..=MOST_USERS).contains(&this.max_users) {
            return refuse(path, "max_users", (format!("{} users", this.max_users), format!("from 2 to {MOST_USERS}")));
        }
        if this.access_request.as_option().is_some_and(|interval| *interval < Duration::from_millis(1)) {
            return refuse(path, "access_request", ("less than 1 ms leaves no time for data", "\"off\" is allowed too"));
        }
        if let Switch::On(of) = &this.random_access {
            if !this.uplink {
                return refuse(path, "random_access", ("no trigger asks stations", "uplink = true, or remove this key"));
            }
            if of.units >= this.max_users {
                let message = format!("{} of {} units are open: none is left for a station with a name", of.units, this.max_users);
                return refuse(path, "random_access", (message, "fewer units, or more max_users"));
            }
        }
        if this.average == Some(Duration::ZERO) {
            return refuse(path, "average", "a time constant above zero");
        }
        if !this.downlink && !this.uplink {
            return refuse(path, "uplink", ("neither direction has PPDUs of several users", "multi_user = \"off\" says so"));
        }
        Ok(())
    }
}

words! {
    /// Access points whose use of such PPDUs is known, by their chip or driver.
    enum Product {
        /// mt76's MT7915 and MT7986: uplink is switched off in the driver. [OpenWrt 2024]
        Mt76 = "mt76",
        /// Qualcomm's QCN5054 in a NETGEAR RAX120 of 2020: downlink alone. [Higgins 2020]
        Qcn5054 = "qcn5054",
        /// Broadcom's BCM43684 in ASUS's RT-AX88U of 2020: both directions. [Higgins 2020]
        Bcm43684 = "bcm43684",
    }
}

impl Product {
    const ALL: [Product; 3] = [Product::Mt76, Product::Qcn5054, Product::Bcm43684];

    /// Its directions. Its scheduler is not known: the default one serves.
    fn table(self) -> MultiUserTable {
        let uplink = self == Product::Bcm43684;
        MultiUserTable { uplink, ..MultiUserTable::default() }
    }
}

/// The choice `multi_user = …`: "off", the name of a scheduler or a product, or a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MultiUserChoice(pub Option<MultiUserTable>);

impl Parameter for MultiUserChoice {
    fn shape() -> Shape {
        Shape::AnyOf(vec![
            Shape::Words(vec!["off".into()]),
            Product::shape(),
            SchedulerKind::shape(),
            MultiUserTable::shape(),
        ])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        match value {
            Value::Text(word) if word == "off" => Ok(MultiUserChoice(None)),
            Value::Text(word) => {
                if let Some(product) = Product::ALL.into_iter().find(|product| product.word() == word) {
                    return Ok(MultiUserChoice(Some(product.table())));
                }
                let kind =
                    SchedulerKind::parse(value, path).map_err(|error| error.or(", mt76, qcn5054, bcm43684, off"))?;
                Ok(MultiUserChoice(Some(MultiUserTable { kind, ..MultiUserTable::default() })))
            }
            Value::Foreign(code) => {
                let kind = SchedulerKind::parse(value, path)?;
                let settings = MultiUserTable::parse(&settings_of(code), path)?;
                Ok(MultiUserChoice(Some(MultiUserTable { kind, ..settings })))
            }
            _ => MultiUserTable::parse(value, path).map(|table| MultiUserChoice(Some(table))),
        }
    }
    fn to_value(&self) -> Option<Value> {
        match &self.0 {
            Some(MultiUserTable { kind: kind @ SchedulerKind::Foreign(_), .. }) => kind.to_value(),
            Some(table) => table.to_value(),
            None => Some(Value::text("off")),
        }
    }
}

/// The settings of the table that brings a scheduler as code; all other keys are the code's.
fn settings_of(code: &Foreign) -> Value {
    let Value::Table(entries) = code.written() else { return Value::Table(Vec::new()) };
    let is_setting = |key: &str| key != "kind" && MultiUserTable::NAMES.contains(&key);
    Value::Table(entries.iter().filter(|(key, _)| is_setting(key)).cloned().collect())
}

impl MultiUserTable {
    /// The same for the medium, in a BSS with this MU EDCA.
    pub(crate) fn of_medium(&self, mu_edca: Option<&MuEdcaTable>) -> MultiUser {
        let holds = |of: &MuEdcaTable| of.of_medium().into_iter().flatten().any(|of| of.aifsn == 0);
        MultiUser {
            downlink: self.downlink,
            uplink: self.uplink,
            max_users: self.max_users,
            acknowledge: self.acknowledge,
            bsrp: self.bsrp,
            access_request: self.access_request.as_option().copied(),
            least_bytes: self.least_bytes.as_option().copied(),
            random_access: self.random_access.as_option().map(|of| RandomAccess {
                units: of.units,
                ocw_min: of.ocw_min,
                ocw_max: of.ocw_max,
            }),
            average: self.average,
            holds_stations: mu_edca.is_some_and(holds),
        }
    }
}

params! {
    /// Random access to units of a trigger. [802.11ax-2021 §26.5.4]
    pub(crate) struct RandomAccessTable {
        /// Units of a trigger that any station may draw.
        pub units: u32 = 2,
        /// OCWmin: the OFDMA backoff is drawn from 0 to it.
        pub ocw_min: u32 = 7,
        /// OCWmax.
        pub ocw_max: u32 = 31,
    }
    check |this, path| {
        if this.units == 0 {
            return refuse(path, "units", ("no unit is open", "random_access = \"off\" says so"));
        }
        for (key, window) in [("ocw_min", this.ocw_min), ("ocw_max", this.ocw_max)] {
            if window > 127 || !(window + 1).is_power_of_two() {
                return refuse(path, key, "an OFDMA contention window is a power of two less one: 0, 1, 3, 7, 15, 31, 63 or 127");
            }
        }
        if this.ocw_min > this.ocw_max {
            return refuse(path, "ocw_max", "smaller than ocw_min");
        }
        Ok(())
    }
}

params! {
    /// Parameters of an access category of stations for a time after triggered data.
    pub(crate) struct MuCategory {
        /// Slots between SIFS and the start of the countdown; 0: it does not contend until the timer ends.
        pub aifsn: u8 = 0,
        /// CWmin in slots.
        pub cw_min: u32 = 15,
        /// CWmax in slots.
        pub cw_max: u32 = 1023,
        /// Time after an acknowledged MPDU that a trigger asked for, a multiple of 8.192 ms.
        pub timer: Duration = Duration::from_micros(13 * 8 * 1024),
    }
    check |this, path| {
        if this.aifsn == 1 || this.aifsn > 15 {
            return refuse(path, "aifsn", "0, or from 2 to 15 slots");
        }
        for (key, window) in [("cw_min", this.cw_min), ("cw_max", this.cw_max)] {
            if window > 32_767 || !(window + 1).is_power_of_two() {
                return refuse(path, key, "a contention window is a power of two less one: 0, 1, 3, 7, 15, … 32767");
            }
        }
        if this.cw_min > this.cw_max {
            return refuse(path, "cw_max", "smaller than cw_min");
        }
        let (timer, unit) = (this.timer.as_nanos(), TIMER_UNIT.as_nanos());
        if timer % unit != 0 || !(1..=255).contains(&(timer / unit)) {
            return refuse(path, "timer", (format!("{} is not from 1 to 255 times 8.192 ms", this.timer), "e.g. timer = \"106.496 ms\""));
        }
        Ok(())
    }
}

params! {
    /// Parameters of MU EDCA by access category; a category without any keeps its own.
    pub(crate) struct MuEdcaTable {
        /// Voice.
        pub vo: Option<MuCategory> = None,
        /// Video.
        pub vi: Option<MuCategory> = None,
        /// Best effort.
        pub be: Option<MuCategory> = None,
        /// Background.
        pub bk: Option<MuCategory> = None,
    }
}

impl MuEdcaTable {
    /// The same for the medium.
    pub(crate) fn of_medium(&self) -> [Option<MuEdca>; 4] {
        AccessCategory::ALL.map(|category| {
            let of = match category {
                AccessCategory::Vo => &self.vo,
                AccessCategory::Vi => &self.vi,
                AccessCategory::Be => &self.be,
                AccessCategory::Bk => &self.bk,
            };
            let of = of.as_ref()?;
            Some(MuEdca { aifsn: of.aifsn, cw_min: of.cw_min, cw_max: of.cw_max, timer: of.timer })
        })
    }
}
