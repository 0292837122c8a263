//! Code that a scenario brings. It is found when the scenario's file is read, and loaded before a run.
//!
//! Reading, checking and showing a scenario run none of it. Until it is loaded, another algorithm stands in its place,
//! which answers while a scenario is checked and never runs.

use std::cell::RefCell;
use std::fs;
use std::path::{self, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use lasthop_link::queue_discipline::fifo;
use lasthop_link::{QueueDisciplineKind, QueueMaker};
use lasthop_registry::{Language, ParamError, Plugged, Value};
use lasthop_tcp::congestion_control::{Algorithm, Context, ControlMaker, newreno};
use lasthop_wifi::phy::ModeId;
use lasthop_wifi::rate_control::{
    FrameInfo, PeerModes, RateChain, RateControl, RateControlKind, RateControlMaker, TxStatus,
};

use crate::document::Document;

/// Prefix of the address of a table in this process, in place of the file of a library in C.
pub const ADDRESS: &str = "address:";

/// Loads the code of scenarios. An error is a sentence without a place, which the caller adds.
pub trait CodeLoader {
    /// Loads the maker of a controller for each connection.
    ///
    /// # Errors
    /// A file that cannot be read, or that has an error.
    fn congestion_control(&self, code: &Code) -> Result<Arc<ControlMaker>, String> {
        Err(cannot_load(code))
    }

    /// Loads the maker of a queue.
    ///
    /// # Errors
    /// As [`congestion_control`](Self::congestion_control).
    fn queue_discipline(&self, code: &Code) -> Result<Arc<QueueMaker>, String> {
        Err(cannot_load(code))
    }

    /// Loads the maker of a rate control for each peer.
    ///
    /// # Errors
    /// As [`congestion_control`](Self::congestion_control).
    fn rate_control(&self, code: &Code) -> Result<Arc<RateControlMaker>, String> {
        Err(cannot_load(code))
    }
}

/// Whether some text in a scenario is the name of a language. Otherwise it brings no code.
pub(crate) fn is_named_in(value: &Value) -> bool {
    match value {
        Value::Text(text) => Language::of(text).is_some(),
        Value::List(items) => items.iter().any(is_named_in),
        Value::Table(entries) => entries.iter().any(|(_, value)| is_named_in(value)),
        _ => false,
    }
}

fn cannot_load(code: &Code) -> String {
    format!("nothing here loads \"{}\"", code.language.word())
}

/// An algorithm that is code, as the scenario names it.
#[derive(Clone)]
pub struct Code {
    /// its language
    pub language: Language,
    /// its place in the scenario, such as `flow[0].congestion_control`
    pub path: String,
    /// its file as written in the scenario
    pub name: String,
    /// the same, relative to the folder of the scenario file; to the current one where a setting names it
    pub file: PathBuf,
    /// whether a setting names it, rather than a file
    pub is_set: bool,
    /// its class, in Python
    pub class: Option<String>,
    /// all other keys, in their order: numbers, texts and booleans
    pub parameters: Vec<(String, Value)>,
    /// line and place, as in messages
    pub(crate) place: String,
    /// content of the file, once it was read
    content: Arc<OnceLock<Vec<u8>>>,
    slot: Slot,
}

/// The kind of algorithm to load, and where it is then stored.
#[derive(Clone)]
enum Slot {
    CongestionControl(Arc<OnceLock<Arc<ControlMaker>>>),
    QueueDiscipline(Arc<OnceLock<Arc<QueueMaker>>>),
    RateControl(Arc<OnceLock<Arc<RateControlMaker>>>),
}

impl Code {
    /// The place of the key that names the file.
    pub fn file_path(&self) -> String {
        format!("{}.{}", self.path, self.language.file().0)
    }

    /// Whether it is a table in this process instead of a file.
    pub fn is_at_address(&self) -> bool {
        self.language == Language::C && self.name.starts_with(ADDRESS)
    }

    /// The content of its file. It is read once: a later change of the file has no effect on this scenario.
    ///
    /// # Errors
    /// A file that cannot be read, in one sentence without a place.
    pub fn content(&self) -> Result<&[u8], String> {
        if let Some(content) = self.content.get() {
            return Ok(content);
        }
        let cannot = |error| {
            let file = path::absolute(&self.file).unwrap_or_else(|_| self.file.clone());
            format!("{}: {}: {error}", self.name, file.display())
        };
        let read = fs::read(&self.file).map_err(cannot)?;
        Ok(self.content.get_or_init(|| read))
    }

    /// Sets the content of its file, read by the caller; no effect if it was read already.
    pub fn set_content(&self, content: Vec<u8>) {
        drop(self.content.set(content));
    }

    pub(crate) fn is_loaded(&self) -> bool {
        match &self.slot {
            Slot::CongestionControl(slot) => slot.get().is_some(),
            Slot::QueueDiscipline(slot) => slot.get().is_some(),
            Slot::RateControl(slot) => slot.get().is_some(),
        }
    }

    /// Loads it.
    pub(crate) fn load(&self, loader: &dyn CodeLoader) -> Result<(), String> {
        match &self.slot {
            Slot::CongestionControl(slot) => drop(slot.set(loader.congestion_control(self)?)),
            Slot::QueueDiscipline(slot) => drop(slot.set(loader.queue_discipline(self)?)),
            Slot::RateControl(slot) => drop(slot.set(loader.rate_control(self)?)),
        }
        Ok(())
    }

    /// Reads a choice, where its `kind` is a language.
    fn read(language: Language, written: &Value, path: &str, slot: Slot) -> Result<Code, ParamError> {
        let (key, example) = language.file();
        let text = |key: &str, example: &str| match written.get(key) {
            Some(Value::Text(text)) if !text.trim().is_empty() => Ok(text.clone()),
            Some(other) => Err(ParamError::new(format!("{path}.{key}"), format!("expected a name, found {other}"))),
            None => Err(ParamError::new(format!("{path}.{key}"), format!("which {key}? e.g. {key} = \"{example}\""))),
        };
        let name = text(key, example)?;
        let class = (language == Language::Python).then(|| text("class", "Mine")).transpose()?;
        let parameters = parameters_of(written, &["kind", key, if class.is_some() { "class" } else { key }], path)?;
        let file = PathBuf::from(&name);
        let path = path.into();
        let (place, content) = (String::new(), Arc::default());
        Ok(Code { language, path, name, file, is_set: false, class, parameters, place, content, slot })
    }
}

/// The keys that are passed on to the code.
fn parameters_of(written: &Value, own: &[&str], path: &str) -> Result<Vec<(String, Value)>, ParamError> {
    let Value::Table(entries) = written else { return Ok(Vec::new()) };
    let others = entries.iter().filter(|(key, _)| !own.contains(&key.as_str()));
    let check = |(key, value): &(String, Value)| match value {
        Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::Text(_) => Ok((key.clone(), value.clone())),
        _ => Err(ParamError::new(
            format!("{path}.{key}"),
            format!("{} cannot be passed to code; give a number, a text, or true or false", value.kind()),
        )),
    };
    others.map(check).collect()
}

/// A copy of a choice with its file relative to the current folder instead of `folder`; any other value unchanged.
pub(crate) fn in_folder(choice: &Value, folder: &Path) -> Value {
    let language = match choice.get("kind") {
        Some(Value::Text(kind)) => Language::of(kind),
        _ => None,
    };
    let (Some(language), Value::Table(entries)) = (language, choice) else { return choice.clone() };
    let counted = |(key, value): &(String, Value)| match value {
        Value::Text(file) if key == language.file().0 => (key.clone(), Value::text(folder.join(file).display())),
        _ => (key.clone(), value.clone()),
    };
    Value::Table(entries.iter().map(counted).collect())
}

/// Code found while a document is read.
#[derive(Default)]
pub(crate) struct Found(RefCell<Vec<Code>>);

impl Found {
    /// The placeholder for a choice of this `kind` of algorithm whose name is a language.
    pub(crate) fn find(
        &self,
        kind: &str,
        name: &str,
        written: &Value,
        path: &str,
    ) -> Result<Option<Value>, ParamError> {
        let languages = |codes: &[lasthop_registry::Entry]| codes.iter().any(|entry| entry.name == name);
        let Some(language) = Language::of(name) else { return Ok(None) };
        let (slot, value) = if kind == Algorithm::REGISTRY.kind && languages(Algorithm::REGISTRY.code) {
            let (slot, maker) = control();
            (Slot::CongestionControl(slot), Plugged::new(name, written.clone(), maker).into_value())
        } else if kind == QueueDisciplineKind::REGISTRY.kind && languages(QueueDisciplineKind::REGISTRY.code) {
            let (slot, maker) = queue();
            (Slot::QueueDiscipline(slot), Plugged::new(name, written.clone(), maker).into_value())
        } else if kind == RateControlKind::REGISTRY.kind && languages(RateControlKind::REGISTRY.code) {
            let (slot, maker) = rate_control();
            (Slot::RateControl(slot), Plugged::new(name, written.clone(), maker).into_value())
        } else {
            return Ok(None);
        };
        self.0.borrow_mut().push(Code::read(language, written, path, slot)?);
        Ok(Some(value))
    }

    /// All code found, with its places in `document`, whose file lies in `folder`.
    pub(crate) fn into_codes(self, document: &Document, folder: &Path) -> Vec<Code> {
        let located = |code: Code| {
            let is_set = document.setting(&code.file_path()).is_some();
            let file = if is_set { code.file.clone() } else { folder.join(&code.file) };
            Code { place: format!("{}: {}", document.origin(&code.path), code.path), file, is_set, ..code }
        };
        self.0.into_inner().into_iter().map(located).collect()
    }
}

type Late<T> = (Arc<OnceLock<Arc<T>>>, Arc<T>);

fn control() -> Late<ControlMaker> {
    let slot = Arc::new(OnceLock::<Arc<ControlMaker>>::new());
    let loaded = Arc::clone(&slot);
    let maker = move |context: &Context| match loaded.get() {
        Some(maker) => maker(context),
        None => Algorithm::Newreno(newreno::Params::default()).build(context),
    };
    (slot, Arc::new(maker))
}

fn queue() -> Late<QueueMaker> {
    let slot = Arc::new(OnceLock::<Arc<QueueMaker>>::new());
    let loaded = Arc::clone(&slot);
    let maker = move |random| match loaded.get() {
        Some(maker) => maker(random),
        None => QueueDisciplineKind::Fifo(fifo::Params::default()).build(random),
    };
    (slot, Arc::new(maker))
}

fn rate_control() -> Late<RateControlMaker> {
    let slot = Arc::new(OnceLock::<Arc<RateControlMaker>>::new());
    let loaded = Arc::clone(&slot);
    let maker = move |peer: &PeerModes<'_>, path: &str| match loaded.get() {
        Some(maker) => maker(peer, path),
        None => Ok(Box::new(Lowest(peer.modes[0])) as Box<dyn RateControl>),
    };
    (slot, Arc::new(maker))
}

/// Placeholder for a rate control that is loaded later.
struct Lowest(ModeId);

impl RateControl for Lowest {
    fn rates_for(&mut self, _: &FrameInfo) -> RateChain {
        RateChain::single(self.0, 1)
    }
    fn on_tx_status(&mut self, _: &TxStatus) {}
}
