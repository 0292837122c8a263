//! `[emulation]`: how `lasthop emulate` runs a scenario on kernels. A simulation reads none of it.

use lasthop_registry::{FileName, ParamError, Parameter, Shape, Value, params, words};
use lasthop_units::Duration;

words! {
    /// The clock of an emulation.
    pub enum TimeKind {
        /// that of a kernel in User Mode Linux, which stops while anything computes
        Virtual = "virtual",
        /// that of this machine
        Real = "real",
    }
}

words! {
    /// The Wi-Fi stack of an emulation's nodes.
    pub enum WifiStack {
        /// lasthop's: queues, rate control and access points are the model's
        Model = "model",
        /// the kernel's: mac80211 above radios of mac80211_hwsim, with hostapd and wpa_supplicant
        Kernel = "kernel",
    }
}

words! {
    /// The security of the BSSs of a kernel's Wi-Fi stack.
    pub enum StackSecurity {
        /// none
        Open = "open",
        /// WPA2 with a pre-shared key, CCMP
        Wpa2 = "wpa2",
        /// WPA3 with a password (SAE), CCMP and protected frames of management
        Wpa3 = "wpa3",
    }
}

/// The kernel that runs in virtual time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelChoice {
    /// The one built by `lasthop emulate --build-kernel`.
    Own,
    /// The one in the distribution's package `user-mode-linux`.
    Stock,
    /// The newest of this version, such as 6.12, that `lasthop emulate --build-kernel` has built.
    Version(String),
    /// The User Mode Linux kernel in this file.
    File(FileName),
}

/// Whether `text` is a version of Linux without its last number: digits, a point, digits.
fn is_version(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once('.').is_some_and(|(major, minor)| is_number(major) && is_number(minor))
}

impl Parameter for KernelChoice {
    fn shape() -> Shape {
        Shape::AnyOf(vec![Shape::Words(vec!["own".into(), "stock".into()]), FileName::shape()])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        let needed = "\"own\", \"stock\", a version such as \"6.12\", or the path of a User Mode Linux kernel, such as \"./linux\"";
        match value {
            Value::Text(word) if word == "own" => Ok(KernelChoice::Own),
            Value::Text(word) if word == "stock" => Ok(KernelChoice::Stock),
            Value::Text(version) if is_version(version) => Ok(KernelChoice::Version(version.clone())),
            // As `--set emulation.kernel=6.12` has it.
            Value::Float(number) if is_version(&number.to_string()) => Ok(KernelChoice::Version(number.to_string())),
            // A word without a slash is taken for a typing error rather than a file.
            Value::Text(file) if file.contains('/') => Ok(KernelChoice::File(file.into())),
            _ => Err(ParamError::new(path, format!("expected {needed}, found {value}"))),
        }
    }
    fn to_value(&self) -> Option<Value> {
        Some(match self {
            KernelChoice::Own => Value::text("own"),
            KernelChoice::Stock => Value::text("stock"),
            KernelChoice::Version(version) => Value::text(version),
            KernelChoice::File(file) => Value::text(file),
        })
    }
}

/// Merging of segments by a receiving kernel before TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gro {
    /// None.
    Off,
}

impl Parameter for Gro {
    fn shape() -> Shape {
        Shape::Words(vec!["off".into()])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        match value {
            Value::Text(word) if word == "off" => Ok(Gro::Off),
            Value::Text(word) if word == "ampdu" => {
                Err(ParamError::new(path, ("\"ampdu\" is not there yet", "write \"off\", or leave the key out")))
            }
            _ => Err(ParamError::new(path, format!("expected \"off\", found {value}"))),
        }
    }
    fn to_value(&self) -> Option<Value> {
        Some(Value::text("off"))
    }
}

params! {
    /// How `lasthop emulate` runs the scenario.
    pub(crate) struct EmulationSection {
        /// Clock: "virtual", which gives the same bytes each time whatever the machine's load, or "real".
        pub time: TimeKind = TimeKind::Virtual,
        /// Kernel for virtual time: "own", the newest built by `lasthop emulate --build-kernel`; a version of those, such as
        /// "6.12" or "7.3"; "stock", the distribution's user-mode-linux, also used where none was built; or a path.
        pub kernel: KernelChoice = KernelChoice::Own,
        /// Merging of segments by the receiving kernel before TCP (GRO): "off", none.
        pub gro: Gro = Gro::Off,
        /// Wi-Fi stack of all nodes: "model", lasthop's own, or "kernel", mac80211 with hostapd and wpa_supplicant in a guest
        /// of `lasthop emulate --build-kernel --wifi`, below which lasthop is the air.
        pub wifi_stack: Option<WifiStack> = None,
        /// Security of the BSSs with wifi_stack = "kernel": "open", the default, "wpa2", or "wpa3" before
        /// 802.11n.
        pub security: Option<StackSecurity> = None,
        /// Fast BSS transition (802.11r) with wifi_stack = "kernel" and security = "wpa2": true lets stations reassociate
        /// without a 4-way handshake.
        pub fast_transition: Option<bool> = None,
        /// hostapd of each access point with wifi_stack = "kernel": a file whose lines follow those that lasthop writes.
        pub hostapd: Option<FileName> = None,
        /// wpa_supplicant of each station with wifi_stack = "kernel": a file in place of the one that lasthop writes.
        pub wpa_supplicant: Option<FileName> = None,
        /// Real time: limit on the lateness of 99 in 100 packets when taken or delivered; a run beyond it is not valid.
        pub max_lateness: Duration = Duration::from_millis(1),
    }
    check |this, path| {
        if this.max_lateness == Duration::ZERO {
            return Err(ParamError::new(format!("{path}.max_lateness"), ("no packet is on time to the nanosecond", "write \"1 ms\"")));
        }
        if this.wifi_stack == Some(WifiStack::Kernel) {
            if this.time == TimeKind::Real {
                let fault = ("a kernel's Wi-Fi stack runs in virtual time", "time = \"virtual\"");
                return Err(ParamError::new(format!("{path}.time"), fault));
            }
            if this.fast_transition == Some(true) && this.security != Some(StackSecurity::Wpa2) {
                let fault = ("802.11r speeds up the key exchange of WPA2, and no other is run here", "security = \"wpa2\"");
                return Err(ParamError::new(format!("{path}.fast_transition"), fault));
            }
            return Ok(());
        }
        let keys = [
            ("security", this.security.is_some()),
            ("fast_transition", this.fast_transition.is_some()),
            ("hostapd", this.hostapd.is_some()),
            ("wpa_supplicant", this.wpa_supplicant.is_some()),
        ];
        if let Some((key, _)) = keys.iter().find(|(_, is_given)| *is_given) {
            let fault = ("only a kernel's Wi-Fi stack has it", "wifi_stack = \"kernel\", or remove this key");
            return Err(ParamError::new(format!("{path}.{key}"), fault));
        }
        Ok(())
    }
}
