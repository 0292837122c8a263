//! Keys of `[[flow]]` that go with each kind of traffic and each program.

use lasthop_registry::{Kind, ParamError, refuse};
use lasthop_units::{Bytes, Ppm};

use super::{Direction, FlowSection, TransportWord, UdpRate};
use crate::application::ApplicationKind;
use crate::traffic::TrafficKind;

/// The default transport of each kind of traffic.
pub(super) fn usual_transport(traffic: &str) -> TransportWord {
    match traffic {
        "voip" | "ping" => TransportWord::Udp,
        _ => TransportWord::Tcp,
    }
}

/// Checks the keys of `flow` against one another.
pub(super) fn check(flow: &FlowSection, path: &str) -> Result<(), ParamError> {
    if flow.station.0.is_empty() {
        return refuse(path, "station", ("an empty list names no station", "name one, or remove this flow"));
    }
    if flow.size == Some(Bytes(0)) {
        return refuse(path, "size", ("a transfer of 0 B moves nothing", "at least 1 B"));
    }
    if !(1..=1000).contains(&flow.count) {
        return refuse(path, "count", "from 1 to 1000 flows for each station");
    }
    if flow.repeat == 0 {
        return refuse(path, "repeat", "at least 1");
    }
    if let Some(program) = flow.application.as_ref().filter(|application| application.is_program()) {
        check_program(program, flow, path)?;
    }
    check_clock(flow, path)?;
    check_quic(flow, path)?;
    match flow.traffic {
        TrafficKind::Bulk(_) => check_bulk(flow, path),
        TrafficKind::OnOff(_) | TrafficKind::Poisson(_) => check_offered(flow, path),
        TrafficKind::Voip(_) | TrafficKind::Ping(_) => check_own_rate(flow, path, Some(TransportWord::Udp)),
        TrafficKind::Web(_) | TrafficKind::Video(_) => {
            let over = if flow.transport == TransportWord::Quic { TransportWord::Quic } else { TransportWord::Tcp };
            check_own_rate(flow, path, Some(over)).and_then(|()| check_down(flow, path))
        }
        TrafficKind::Trace(_) => check_own_rate(flow, path, None),
    }
}

/// Refuses what does not go over QUIC.
fn check_quic(flow: &FlowSection, path: &str) -> Result<(), ParamError> {
    if flow.transport != TransportWord::Quic {
        return Ok(());
    }
    if flow.size.is_some() && flow.rate.is_some() && matches!(flow.traffic, TrafficKind::Bulk(_)) {
        let message = "a transfer over QUIC goes as fast as it can: with a `size`, it does not take a rate yet";
        return refuse(path, "rate", (message, "remove it"));
    }
    if let TrafficKind::Web(web) = &flow.traffic
        && let Some(key) = web.key_of_tcp()
    {
        let message = Kind::NoEffect(format!(
            "`{key}` has no effect over QUIC: all objects at once, each on a stream of its own"
        ));
        return refuse(path, &format!("traffic.{key}"), (message, "remove it"));
    }
    match &flow.application {
        Some(program) if program.is_program() => {
            refuse(path, "transport", (format!("\"{}\" is there over TCP only", program.name()), "remove this key"))
        }
        _ => Ok(()),
    }
}

/// The largest error of a clock, far beyond any oscillator.
const LARGEST_ERROR: Ppm = Ppm(1000.0);

fn check_clock(flow: &FlowSection, path: &str) -> Result<(), ParamError> {
    if let Some(error) = flow.clock_error.filter(|error| error.0.abs() > LARGEST_ERROR.0) {
        let allowed = format!("from -{LARGEST_ERROR} to {LARGEST_ERROR}");
        return refuse(path, "clock_error", Kind::OutOfRange { found: error.to_string(), allowed });
    }
    let given = [("phase", flow.phase.is_some()), ("clock_error", flow.clock_error.is_some())];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((key, _)) if !flow.is_of_constant_rate() || flow.application.as_ref().is_some_and(|a| a.is_program()) => {
            let message =
                Kind::NoEffect(format!("`{key}` has no effect on a flow that does not send at equal intervals"));
            refuse(path, key, (message, "remove it, or give the flow a rate"))
        }
        _ => Ok(()),
    }
}

fn check_bulk(flow: &FlowSection, path: &str) -> Result<(), ParamError> {
    if flow.repeat > 1 && flow.size.is_none() {
        return refuse(path, "repeat", "only a transfer with a `size` can be repeated");
    }
    match (flow.transport, flow.rate) {
        (TransportWord::Udp, None) => {
            refuse(path, "rate", "a UDP flow needs a rate: e.g. \"10 Mbit/s\" or \"saturated\"")
        }
        (TransportWord::Tcp | TransportWord::Quic, Some(UdpRate::Saturated)) => {
            refuse(path, "rate", ("\"saturated\" is for UDP", "a TCP flow without a rate sends as fast as it goes"))
        }
        (TransportWord::Udp, _) if flow.size.is_some() => {
            refuse(path, "size", ("a UDP flow has no size here", "give it a rate, and `duration` ends it"))
        }
        _ => Ok(()),
    }
}

/// Checks traffic that takes its rate from the flow.
fn check_offered(flow: &FlowSection, path: &str) -> Result<(), ParamError> {
    let name = flow.traffic.name();
    if !matches!(flow.rate, Some(UdpRate::Constant(_))) {
        let what = if name == "poisson" { "its mean rate" } else { "the rate while it is on" };
        return refuse(path, "rate", format!("\"{name}\" needs {what}, e.g. rate = \"10 Mbit/s\""));
    }
    if flow.size.is_some() && (name, flow.transport) != ("poisson", TransportWord::Tcp) {
        return refuse(
            path,
            "size",
            (Kind::NoEffect(format!("`size` has no effect on \"{name}\" over {}", flow.transport.word())), "remove it"),
        );
    }
    no_repeat(flow, path)
}

/// Checks traffic that determines its own rate.
fn check_own_rate(flow: &FlowSection, path: &str, over: Option<TransportWord>) -> Result<(), ParamError> {
    let name = flow.traffic.name();
    if let Some(needed) = over.filter(|&needed| needed != flow.transport) {
        let message = (format!("\"{name}\" goes over {}", needed.word()), "remove this key");
        return refuse(path, "transport", message);
    }
    if flow.rate.is_some() {
        return refuse(
            path,
            "rate",
            (Kind::NoEffect(format!("`rate` has no effect on \"{name}\", which has its own")), "remove it"),
        );
    }
    if flow.size.is_some() {
        return refuse(path, "size", (Kind::NoEffect(format!("`size` has no effect on \"{name}\"")), "remove it"));
    }
    no_repeat(flow, path)
}

fn no_repeat(flow: &FlowSection, path: &str) -> Result<(), ParamError> {
    if flow.repeat == 1 {
        return Ok(());
    }
    refuse(
        path,
        "repeat",
        (Kind::NoEffect(format!("`repeat` has no effect on \"{}\"", flow.traffic.name())), "remove it"),
    )
}

fn check_down(flow: &FlowSection, path: &str) -> Result<(), ParamError> {
    if flow.direction == Direction::Down {
        return Ok(());
    }
    let message = (
        format!("\"{}\" comes from the server, and its requests go up by themselves", flow.traffic.name()),
        "set \"down\"",
    );
    refuse(path, "direction", message)
}

/// Checks a program, which itself determines what it sends.
fn check_program(program: &ApplicationKind, flow: &FlowSection, path: &str) -> Result<(), ParamError> {
    let name = program.name();
    if !program.goes_with(&flow.traffic) {
        let traffic = flow.traffic.name();
        return refuse(
            path,
            "traffic",
            (format!("\"{name}\" decides itself what it sends, and is not \"{traffic}\""), "remove one of the two"),
        );
    }
    if flow.transport == TransportWord::Udp {
        return refuse(path, "transport", (format!("\"{name}\" is there over TCP only"), "remove this key"));
    }
    let given = [("size", flow.size.is_some()), ("rate", flow.rate.is_some()), ("repeat", flow.repeat != 1)];
    if let Some((key, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        let remedy = match (key, program) {
            ("size", ApplicationKind::Iperf3(_) | ApplicationKind::Curl(_)) => {
                format!("write application = {{ kind = \"{name}\", size = \"…\" }}")
            }
            _ => "remove it".into(),
        };
        return refuse(path, key, (Kind::NoEffect(format!("`{key}` has no effect on \"{name}\"")), remedy.to_string()));
    }
    if matches!(program, ApplicationKind::Curl(_)) && flow.direction != Direction::Down {
        return refuse(path, "direction", ("\"curl\" fetches a file from the server", "set \"down\""));
    }
    Ok(())
}
