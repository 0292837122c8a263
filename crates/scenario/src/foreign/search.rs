//! The search for algorithms of others in the values of a document.

use std::cell::RefCell;
use std::path::Path;

use lasthop_registry::{Finds, Language, ParamError, Parameters, Shape, Value, find_foreign};

use super::code::Code;
use super::kinds::{Plugins, Row};
use crate::description::Description;
use crate::document::Document;

/// Returns whether some text in a scenario is the name of a language. Otherwise it brings no code.
pub(crate) fn is_named_in(value: &Value) -> bool {
    match value {
        Value::Text(text) => Language::of(text).is_some(),
        Value::List(items) => items.iter().any(is_named_in),
        Value::Table(entries) => entries.iter().any(|(_, value)| is_named_in(value)),
        _ => false,
    }
}

/// Code found while a document is read.
#[derive(Default)]
pub(crate) struct Found(RefCell<Vec<Code>>);

impl Found {
    /// The placeholder for a choice in `language`.
    fn placeholder(&self, row: &Row, language: Language, written: &Value, path: &str) -> Result<Value, ParamError> {
        let value = (row.placeholder)(language.word(), written);
        if let Value::Foreign(choice) = &value {
            self.0.borrow_mut().push(Code::read((row.kind(), language), row.settings, written, path, choice.clone())?);
        }
        Ok(value)
    }

    /// All code found, with its places in `document`, whose file lies in `folder`.
    pub(crate) fn into_codes(self, document: &Document<'_>, folder: &Path) -> Vec<Code> {
        self.0.into_inner().into_iter().map(|code| code.located(document, folder)).collect()
    }
}

struct Finder<'a> {
    plugins: Option<&'a dyn Plugins>,
    code: &'a Found,
}

impl Finds for Finder<'_> {
    fn find(&self, kind: &str, name: &str, choice: &Value, path: &str) -> Result<Option<Value>, ParamError> {
        let Some(row) = Row::of(kind) else { return Ok(None) };
        let language = Language::of(name);
        if let Some(language) = language.filter(|language| row.has_language(language.word())) {
            return self.code.placeholder(row, language, choice, path).map(Some);
        }
        let plugged = self.plugins.map_or(Ok(None), |plugins| (row.plugged)(plugins, name, choice, path))?;
        match (language, plugged) {
            (Some(language), None) => Err(ParamError::new(format!("{path}.kind"), row.refusal(language))),
            (_, plugged) => Ok(plugged),
        }
    }
}

/// Puts the algorithms of `plugins` in place of names in a scenario that lasthop does not have, and notes the
/// scenario's own code in `code`.
pub(crate) fn replace_in(root: &mut Value, plugins: Option<&dyn Plugins>, code: &Found) -> Result<(), ParamError> {
    find_foreign(root, &Shape::Table(Description::fields()), "", &Finder { plugins, code })
}
