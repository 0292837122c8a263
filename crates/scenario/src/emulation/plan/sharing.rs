//! The kernel settings that the flows of a namespace share: their values, and conflicts between flows.

use lasthop_tcp::Config;

use super::settings::{AtSocket, Ends, RouteMetrics, Setting, Wish, wishes};

/// A flow with an end in a namespace.
pub(super) struct User<'a> {
    pub id: &'a str,
    pub config: &'a Config,
    /// Its role here.
    pub ends: Ends,
    /// Whether the emulator has its sockets, rather than a program.
    pub own_sockets: bool,
}

/// The value of a setting that one flow needs.
struct Asked<'a> {
    by: &'a User<'a>,
    setting: Setting,
}

/// The settings of a namespace, and the conflicts between its flows.
pub(super) struct Shared {
    settings: Vec<Setting>,
    /// The value taken and its flow; another value and the first flow that asked for it.
    conflicts: Vec<(Setting, String, Setting, String)>,
}

impl Shared {
    /// The settings of `users`; `otherwise` decides settings that none of them needs.
    pub fn of(users: &[User<'_>], otherwise: &Config) -> Shared {
        let of_users: Vec<Vec<Wish>> = users.iter().map(|user| wishes(user.config, user.own_sockets)).collect();
        let mut shared = Shared { settings: Vec::new(), conflicts: Vec::new() };
        for (index, default) in wishes(otherwise, false).into_iter().enumerate() {
            let of = default.of;
            let concerned = users.iter().zip(&of_users).filter(|(user, _)| user.ends.meets(of));
            let asked = concerned.map(|(by, wishes)| Asked { by, setting: wishes[index].setting.clone() });
            shared.settle(default, asked.collect());
        }
        shared
    }

    fn settle(&mut self, default: Wish, asked: Vec<Asked<'_>>) {
        let agreed = asked.windows(2).all(|pair| pair[0].setting == pair[1].setting);
        let of_program = asked.iter().find(|asked| !asked.by.own_sockets);
        let taken = match default.at_socket {
            // Each socket sets its own value.
            AtSocket::Limits if !agreed && of_program.is_none() => {
                return self.settings.push(default.setting.silent());
            }
            AtSocket::Mute => asked.first(),
            AtSocket::Overrides | AtSocket::Limits => of_program.or(asked.first()),
        };
        let Some(taken) = taken else { return self.settings.push(default.setting) };
        let minds = |other: &&Asked<'_>| {
            other.setting != taken.setting && !(default.at_socket == AtSocket::Overrides && other.by.own_sockets)
        };
        if let Some(other) = asked.iter().find(minds) {
            let conflict = (taken.setting.clone(), taken.by.id.into(), other.setting.clone(), other.by.id.into());
            self.conflicts.push(conflict);
        }
        self.settings.push(taken.setting.clone());
    }

    /// The warning of conflicts between flows; `name` is the node's.
    pub fn warning(&self, name: &str, is_ap: bool) -> Option<String> {
        if self.conflicts.is_empty() {
            return None;
        }
        let told = |(taken, by, other, of): &(Setting, String, Setting, String)| {
            format!("{}, as flow {by} asks, and not {}, as flow {of}", taken.text(), other.text())
        };
        let whose = if is_ap { format!("the server behind {name}") } else { format!("station {name}") };
        let all: Vec<String> = self.conflicts.iter().map(told).collect();
        Some(format!("emulate: the flows at {whose} share the settings of one kernel: {}", all.join("; ")))
    }

    /// Sysctls with values, and the metrics of the route.
    pub fn into_settings(self) -> (Vec<(String, String)>, RouteMetrics) {
        let (mut sysctls, mut route) = (Vec::new(), RouteMetrics::default());
        for setting in self.settings {
            match setting {
                Setting::Sysctl(name, value) => sysctls.extend(value.map(|value| (name.to_string(), value))),
                Setting::InitialWindow(segments) => route.initial_window = segments,
                Setting::AdvertisedMss(bytes) => route.advertised_mss = bytes,
                Setting::Window(bytes) => route.receive_window = bytes,
                Setting::MinRto(time) => route.min_rto = time,
                Setting::QuickAck(on) => route.quick_ack = on,
            }
        }
        (sysctls, route)
    }
}
