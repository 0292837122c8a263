//! A scenario's choice of code: its file, its parameters, and the place where it is loaded.
//!
//! Reading, checking and showing a scenario do not run it. Until it is loaded, a built-in algorithm answers while the
//! scenario is checked, and never runs.

use std::fs;
use std::path::{self, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use lasthop_registry::{
    Fault, FileName, Foreign, Kind, Language, ParamError, Pluggable, Plugged, Value, refuse, wrong_type,
};

use crate::diagnostic::{Diagnostic, Origin};
use crate::document::Document;

/// Prefix of the address of a table in this process, in place of the file of a library in C.
pub const ADDRESS: &str = "address:";

/// An algorithm that is code, as the scenario names it.
#[derive(Clone)]
pub struct Code {
    /// its language
    pub language: Language,
    /// its kind, as registries name it: "congestion_control"
    pub kind: &'static str,
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
    /// line of its choice, or the setting
    origin: Origin,
    /// content of the file, once it was read
    content: Arc<OnceLock<Vec<u8>>>,
    /// the placeholder in the description
    choice: Foreign,
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

    /// Whether it is loaded.
    pub(crate) fn is_loaded(&self) -> bool {
        self.choice.is_loaded()
    }

    /// The mistake at its place.
    pub(crate) fn refused(&self, fault: impl Into<Fault>) -> Diagnostic {
        Diagnostic::new(self.origin.clone(), &self.path, fault)
    }

    /// Puts `maker` in place of the placeholder.
    pub(super) fn load<K: Pluggable>(&self, maker: Arc<K::Maker>) -> Result<(), String> {
        let choice = Plugged::<K::Maker>::of(&self.choice, &self.path).map_err(|error| error.to_string())?;
        choice.slot().load(maker);
        Ok(())
    }

    /// Reads the value at `path`, whose `kind` is a language, as a choice of an algorithm of this `kind`. The
    /// code does not receive the keys in `settings`.
    pub(super) fn read(
        (kind, language): (&'static str, Language),
        settings: &[&str],
        written: &Value,
        path: &str,
        choice: Foreign,
    ) -> Result<Code, ParamError> {
        let (key, example) = language.file();
        let text = |key: &str, example: &str| match written.get(key) {
            Some(Value::Text(text)) if !text.trim().is_empty() => Ok(text.clone()),
            Some(other) => refuse(path, key, wrong_type("a name", other)),
            None => refuse(path, key, Kind::Missing(format!("which {key}? e.g. {key} = \"{example}\""))),
        };
        let name = text(key, example)?;
        let class = (language == Language::Python).then(|| text("class", "Mine")).transpose()?;
        let mut own = vec!["kind", key];
        own.extend(class.is_some().then_some("class"));
        own.extend(settings);
        let parameters = parameters_of(written, &own, path)?;
        let file = FileName::from(name.as_str()).within(Path::new(""));
        let path = path.into();
        let (origin, content) = (Origin::Nowhere, Arc::default());
        Ok(Code { language, kind, path, name, file, is_set: false, class, parameters, origin, content, choice })
    }

    /// The same with its place in `document`, whose file lies in `folder`.
    pub(super) fn located(self, document: &Document<'_>, folder: &Path) -> Code {
        let is_set = document.setting(&self.file_path()).is_some();
        let file = if is_set { self.file.clone() } else { folder.join(&self.file) };
        Code { origin: document.origin(&self.path), file, is_set, ..self }
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
            (format!("{} cannot be passed to code", value.kind()), "give a number, a text, or true or false"),
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
