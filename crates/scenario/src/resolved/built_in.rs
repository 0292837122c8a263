//! Built-in algorithms for policies that run one: the flow or link whose knobs an agent turns, and the quantities that it sees of it.

use lasthop_engine::Stream;
use lasthop_observe::{FlowId, LinkId, Scope};
use lasthop_tcp::congestion_control::{Algorithm, Context, Draws};
use lasthop_wifi::rate_control::{RateChain, RateControlKind};

use super::ResolvedScenario;
use crate::description::TransportWord;
use crate::knob::{Place, Setting};
use crate::plan::Plan;
use crate::policy::{OfFlow, OfLink, Policy, PolicyContext, PolicyKind, Subjects};

/// The algorithms for an agent in a run.
struct BuiltIn<'a> {
    scenario: &'a ResolvedScenario,
    plan: &'a Plan,
    needs: &'static [&'static str],
    seed: u64,
}

impl ResolvedScenario {
    /// A policy for the agent of a plan, in the run of a seed.
    ///
    /// # Errors
    /// A policy that does not fit: a sentence without a place.
    pub(crate) fn policy_of(&self, plan: &Plan, policy: &PolicyKind, seed: u64) -> Result<Box<dyn Policy>, String> {
        let controls = plan.controls.iter().map(|one| (one.name.clone(), one.least, one.most)).collect();
        let context = PolicyContext { quantities: plan.seen_names().to_vec(), controls, seed };
        let needs = policy.needs().map_or(&[] as &[_], |(_, names)| names);
        policy.build(&context, &BuiltIn { scenario: self, plan, needs, seed })
    }
}

impl BuiltIn<'_> {
    /// The place of a knob of one flow or link among the controls.
    fn control(&self, setting: Setting) -> Option<(usize, Place)> {
        let of = |control: &crate::plan::Control| match control.handles[..] {
            [handle] if handle.knob.setting == setting => Some(handle.place),
            _ => None,
        };
        self.plan.controls.iter().enumerate().find_map(|(place, control)| Some((place, of(control)?)))
    }

    /// The place of a knob of this flow or link.
    fn control_of(&self, setting: Setting, owner: Place) -> Option<usize> {
        self.control(setting).filter(|(_, place)| *place == owner).map(|(place, _)| place)
    }

    /// The places of the quantities that the policy needs of an entity called `name`.
    fn places<const N: usize>(&self, scope: Scope, entity: u32, name: &str) -> Result<[usize; N], String> {
        let place = |quantity: &str| {
            let mut seen = self.plan.reads_seen();
            seen.position(|(of, number)| of.scope == scope && number == entity && of.name == quantity)
        };
        let path = |quantity: &str| format!("\"{}.{name}.{quantity}\"", scope.table());
        let places: Option<Vec<usize>> = self.needs.iter().map(|quantity| place(quantity)).collect();
        places.and_then(|places| places.try_into().ok()).ok_or_else(|| {
            let all: Vec<String> = self.needs.iter().map(|quantity| path(quantity)).collect();
            format!("it sees too little; without the key observe it sees {}", all.join(", "))
        })
    }
}

impl Subjects for BuiltIn<'_> {
    fn of_flow(&self, algorithm: Option<&Algorithm>) -> Result<OfFlow, String> {
        let found = self.control(Setting::Window);
        let Some((window, owner @ Place::Flow(flow))) = found else {
            return Err("it sets the window of one flow: write control = [\"window:FLOW\"]".into());
        };
        let FlowId(number) = flow;
        let spec = &self.scenario.flows[flow.index()];
        if spec.section.transport != TransportWord::Tcp {
            return Err(format!("{} is over QUIC, whose losses no quantity of an interval counts", spec.id));
        }
        let config = &spec.tcp.config;
        let algorithm = algorithm.unwrap_or(&config.congestion_control);
        let (needs, name) = (algorithm.needs(), algorithm.name());
        if needs.lives_on_marks() {
            return Err(format!("{name} answers to marks, which no quantity of a flow counts"));
        }
        let pacing = self.control_of(Setting::Pacing, owner);
        if needs.paced && pacing.is_none() {
            let id = &spec.id;
            return Err(format!("{name} paces: write control = [\"window:{id}\", \"pacing:{id}\"]"));
        }
        let draws = Draws::seeded(Stream::named(self.seed, "policy", &spec.id).bits());
        Ok(OfFlow {
            control: algorithm.build(&Context { draws, ..Context::new(config, 0) }),
            mss_bytes: config.payload_bytes(),
            growth: config.growth,
            places: self.places(Scope::Flow, number, &spec.id)?,
            window,
            pacing,
        })
    }

    fn of_link(&self, algorithm: Option<&RateControlKind>) -> Result<OfLink, String> {
        let found = self.control(Setting::Rate(0));
        let Some((_, owner @ Place::Link(link))) = found else {
            return Err("it sets the rates of one link: write control = [\"rate:SENDER->RECEIVER\"]".into());
        };
        let LinkId(number) = link;
        let spec = &self.scenario.links[link.index()];
        let kind = algorithm.unwrap_or(&spec.kind);
        if matches!(kind, RateControlKind::Cara(_) | RateControlKind::Rraa(_)) {
            return Err(format!("{} protects frames by RTS, which no knob of a link does", kind.name()));
        }
        let entry = |entry: usize| {
            let (rate, tries) = (Setting::Rate(entry as u8), Setting::Tries(entry as u8));
            Some((self.control_of(rate, owner)?, self.control_of(tries, owner)?))
        };
        let entries: Vec<_> = (0..RateChain::MAX).map_while(entry).collect();
        let (sender, receiver) = self.scenario.link_ends(link.index());
        if entries.is_empty() {
            return Err(format!("it sets attempts too: write \"rate.tries:{sender}->{receiver}\" into control"));
        }
        let from = self.scenario.ends(link.index()).0;
        let (phy, own) = (self.scenario.phy_of(from), &self.scenario.nodes[from].config);
        let mpdus = self.control(Setting::MaxMpdus);
        let mpdus = mpdus.filter(|(_, place)| matches!(place, Place::Node(node) if node.index() == from));
        Ok(OfLink {
            control: self.scenario.rate_control(link.index(), kind, self.seed).map_err(|error| error.to_string())?,
            modes: self
                .scenario
                .modes_of_link(link.index())
                .iter()
                .map(|mode| (*mode, phy.mode(*mode).rate.as_bps() as f64))
                .collect(),
            aggregates: own.legacy.is_none() && self.scenario.bss[own.bss as usize].config.aggregation.is_some(),
            places: self.places(Scope::Link, number, &format!("{sender}.{receiver}"))?,
            entries,
            max_mpdus: mpdus.map(|(place, _)| (place, self.plan.controls[place].most)),
        })
    }
}
