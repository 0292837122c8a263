//! Algorithms that a scenario brings: the time and place of their loading, and the message of a run that
//! they end.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use lasthop_engine::Stream;
use lasthop_link::QueueDisciplineKind;
use lasthop_registry::Value;
use lasthop_scenario::{Code, Loads, PolicyKind, ResolvedScenario, resolve, run};
use lasthop_tcp::congestion_control::{
    AckSample, Algorithm, CongestionControl, CongestionEvent, Context, ControlMaker, give_up, newreno,
};
use lasthop_wifi::multi_user::scheduler::SchedulerKind;
use lasthop_wifi::phy::error_model::{ErrorModel, ErrorModelKind, ErrorModelMaker, ReceivedFrame};
use lasthop_wifi::rate_control::RateControlKind;

const TEXT: &str = "duration = \"3 s\"\n[bss]\nstandard = \"802.11g\"\n[[station]]\n[tcp]\n\
    congestion_control = { kind = \"c\", library = \"mine.so\", alpha = 2 }\n[[flow]]\nstation = \"*\"\ndirection = \"up\"\n";

/// NewReno that gives up after a number of ACKs.
#[derive(Debug)]
struct Mortal {
    inner: Box<dyn CongestionControl>,
    left: u32,
}

impl CongestionControl for Mortal {
    fn on_ack(&mut self, ack: &AckSample) {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            give_up();
        }
        self.inner.on_ack(ack);
    }
    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.inner.on_congestion(event);
    }
    fn on_timeout(&mut self, event: &CongestionEvent) {
        self.inner.on_timeout(event);
    }
    fn set_window(&mut self, segments: f64) {
        self.inner.set_window(segments);
    }
    fn set_ssthresh(&mut self, segments: f64) {
        self.inner.set_ssthresh(segments);
    }
    fn cwnd(&self) -> f64 {
        self.inner.cwnd()
    }
    fn ssthresh(&self) -> f64 {
        self.inner.ssthresh()
    }
    fn failure(&self) -> Option<&str> {
        (self.left == 0).then_some("no life left")
    }
}

/// A file with the parameters that go with it.
type Asked = (PathBuf, Vec<(String, Value)>);

/// Loads it, and remembers the files.
#[derive(Default)]
struct Loader {
    lives: u32,
    files: Mutex<Vec<Asked>>,
}

impl Loads<Algorithm> for Loader {
    fn load(&self, code: &Code) -> Result<Arc<ControlMaker>, String> {
        self.files.lock().unwrap().push((code.file.clone(), code.parameters.clone()));
        let lives = self.lives;
        Ok(Arc::new(move |context: &Context| {
            let inner = Algorithm::Newreno(newreno::Params::default()).build(context);
            Box::new(Mortal { inner, left: lives })
        }))
    }
}

fn scenario(settings: &[(&str, &str)]) -> ResolvedScenario {
    let settings: Vec<_> = settings.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    resolve(TEXT, "folder/f.toml", &settings).unwrap()
}

impl Loads<QueueDisciplineKind> for Loader {}
impl Loads<RateControlKind> for Loader {}
impl Loads<SchedulerKind> for Loader {}
impl Loads<ErrorModelKind> for Loader {}
impl Loads<PolicyKind> for Loader {}

#[test]
fn code_is_loaded_once_from_where_it_is_named() {
    let loader = Loader { lives: u32::MAX, ..Loader::default() };
    let named = scenario(&[]);
    assert!(run(&named, 1, None).unwrap_err().ends_with("tcp.congestion_control: mine.so has not been loaded"));
    named.load_code(&loader).unwrap();
    named.clone().load_code(&loader).unwrap();
    let set = scenario(&[("flow.0.congestion_control", "{ kind = \"bpf\", object = \"mine.o\" }")]);
    set.load_code(&loader).unwrap();
    let two = vec![("alpha".to_string(), Value::Integer(2))];
    let files = loader.files.into_inner().unwrap();
    assert_eq!(
        files,
        [("folder/mine.so".into(), two.clone()), ("folder/mine.so".into(), two), ("mine.o".into(), Vec::new())]
    );
}

#[test]
fn failure_of_code_names_flow_and_time() {
    let loader = Loader { lives: 5, ..Loader::default() };
    let named = scenario(&[]);
    named.load_code(&loader).unwrap();
    let said = run(&named, 1, None).unwrap_err();
    assert!(said.starts_with("flow sta.up at 0.0") && said.ends_with(" s: no life left"), "{said}");
}

#[test]
fn code_without_loader_is_an_error_with_its_line() {
    let error = scenario(&[]).load_code(&Models(0.0, false)).unwrap_err().to_string();
    assert_eq!(error, "folder/f.toml:6: tcp.congestion_control: nothing here loads \"c\"");
}

/// Loses frames shorter than 100 bytes with `short_loss`, and gives up on 802.11g's OFDM rates if told so.
struct Own {
    short_loss: f64,
    fails: bool,
    random: Stream,
}

impl ErrorModel for Own {
    fn success_probability(&mut self, frame: &ReceivedFrame<'_>) -> f64 {
        if self.fails && frame.mode.rate.as_mbps_f64() > 11.0 {
            give_up();
        }
        self.random.unit();
        if frame.bits < 800 { 1.0 - self.short_loss } else { 1.0 }
    }
    fn failure(&self) -> Option<&str> {
        self.fails.then_some("no OFDM")
    }
}

/// Loads error models alone.
struct Models(f64, bool);

impl Loads<ErrorModelKind> for Models {
    fn load(&self, _: &Code) -> Result<Arc<ErrorModelMaker>, String> {
        let (short_loss, fails) = (self.0, self.1);
        Ok(Arc::new(move |random| Box::new(Own { short_loss, fails, random })))
    }
}
impl Loads<Algorithm> for Models {}
impl Loads<QueueDisciplineKind> for Models {}
impl Loads<RateControlKind> for Models {}
impl Loads<SchedulerKind> for Models {}
impl Loads<PolicyKind> for Models {}

const MODEL: (&str, &str) = ("channel.error_model", "{ kind = \"python\", file = \"m.py\", class = \"Own\" }");

#[test]
fn a_loaded_error_model_replaces_the_placeholder() {
    let control = ("tcp.congestion_control", "cubic");
    let goodput = |settings: &[(&str, &str)], short_loss| {
        let scenario = scenario(settings);
        scenario.load_code(&Models(short_loss, false)).unwrap();
        format!("{:?}", run(&scenario, 1, None).unwrap().report())
    };
    let all_arrive = goodput(&[control, MODEL], 0.0);
    assert_eq!(
        all_arrive,
        goodput(&[control, ("channel.error_model", "{ kind = \"fixed\", frame_error_rate = 0.0 }")], 0.0)
    );
    assert_ne!(all_arrive, goodput(&[control, MODEL], 0.5));
}

#[test]
fn an_error_model_is_asked_about_each_mode_before_a_run() {
    let scenario = scenario(&[("tcp.congestion_control", "cubic"), MODEL]);
    let error = scenario.load_code(&Models(0.0, true)).unwrap_err().to_string();
    assert!(error.ends_with("channel.error_model: no OFDM"), "{error}");
}

#[test]
fn an_error_model_is_no_library_in_c() {
    let settings = [("channel.error_model".to_string(), "{ kind = \"c\", library = \"mine.so\" }".to_string())];
    let error = resolve(TEXT, "folder/f.toml", &settings).err().unwrap().to_string();
    assert!(error.contains("the error model cannot be code in \"c\"; one of: none, fixed"), "{error}");
}

#[test]
fn code_is_no_data() {
    let named = scenario(&[]);
    assert!(named.check_without_code().unwrap_err().to_string().contains("tcp.congestion_control: this is code"));
    assert_eq!(named.check_simulable(), Ok(()));
    assert!(named.to_json().contains(r#""congestion_control":{"kind":"c","library":"mine.so","alpha":2}"#));
}

#[test]
fn a_kernel_takes_none() {
    let said = scenario(&[]).emulation_plan(1).err().unwrap().to_string();
    assert!(said.contains("no Linux kernel has congestion_control = \"c\""), "{said}");
    assert!(said.contains("application = \"simulated\""), "{said}");
}

#[test]
fn a_sweep_names_files_as_settings_do() {
    let text =
        format!("{TEXT}[sweep]\n\"tcp.congestion_control\" = [\"cubic\", {{ kind = \"c\", library = \"b.so\" }}]\n");
    let swept = resolve(&text, "folder/f.toml", &[]).unwrap().sweep();
    assert_eq!(swept[0].1, ["cubic", "{ kind = \"c\", library = \"folder/b.so\" }"]);
}
