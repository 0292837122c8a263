//! The kinds of algorithms that a caller or a scenario may bring, a row each.
//!
//! A row makes the method of [`Plugins`], and demands that each [`CodeLoader`] loads the kind.

use std::sync::Arc;

use lasthop_link::QueueDisciplineKind;
use lasthop_registry::{Language, ParamError, Parameters, Pluggable, Plugged, Registry, Value};
use lasthop_tcp::congestion_control::Algorithm;
use lasthop_wifi::multi_user::scheduler::SchedulerKind;
use lasthop_wifi::phy::error_model::ErrorModelKind;
use lasthop_wifi::rate_control::RateControlKind;

use super::code::Code;
use crate::description::MultiUserTable;
use crate::policy::PolicyKind;

/// A plug-in's answer to a name: none, the maker of such an algorithm of kind `K`, or an error in its parameters.
pub type Answer<K> = Result<Option<Arc<<K as Pluggable>::Maker>>, ParamError>;

/// Loads code of scenarios as algorithms of kind `K`.
pub trait Loads<K: Pluggable> {
    /// Loads the maker.
    ///
    /// # Errors
    /// A file that cannot be read, or that has an error: a sentence without a place, which the caller adds.
    fn load(&self, code: &Code) -> Result<Arc<K::Maker>, String> {
        Err(format!("nothing here loads \"{}\"", code.language.word()))
    }
}

/// A value in place of a name in the document, if there is such an algorithm.
type Replacement = Result<Option<Value>, ParamError>;

/// The operations of one kind.
pub(super) struct Row {
    registry: &'static Registry,
    /// A built-in algorithm in place of code, under this name and with this value in the file.
    pub placeholder: fn(&str, &Value) -> Value,
    /// The plug-in for a name, with its value in the file and the place of that.
    pub plugged: fn(&dyn Plugins, &str, &Value, &str) -> Replacement,
    /// Keys of its table that are not the code's.
    pub settings: &'static [&'static str],
    load: fn(&dyn CodeLoader, &Code) -> Result<(), String>,
}

impl Row {
    /// The row of the kind that a registry calls `kind`.
    pub(super) fn of(kind: &str) -> Option<&'static Row> {
        ROWS.iter().find(|row| row.registry.kind == kind)
    }

    /// Its name in registries.
    pub(super) fn kind(&self) -> &'static str {
        self.registry.kind
    }

    /// Returns whether a scenario may bring code in the language called `name`.
    pub(super) fn has_language(&self, name: &str) -> bool {
        self.registry.code.iter().any(|entry| entry.name == name)
    }

    /// The message for code in a language that the kind does not have.
    pub(super) fn refusal(&self, language: Language) -> String {
        let names: Vec<&str> = self.registry.all_entries().map(|entry| entry.name).collect();
        let kind = self.kind().replace('_', " ");
        format!("the {kind} cannot be code in \"{}\"; one of: {}", language.word(), names.join(", "))
    }
}

/// Loads `code` in place of its placeholder.
pub(crate) fn load(code: &Code, loader: &dyn CodeLoader) -> Result<(), String> {
    let row = Row::of(code.kind).expect("code is found by its row");
    (row.load)(loader, code)
}

macro_rules! kinds {
    (@settings) => { &[] };
    (@settings $settings:ident) => { $settings::NAMES };
    ( $( $(#[$doc:meta])* $method:ident => $kind:ident $(with settings $settings:ident)?; )* ) => {
        /// Provides algorithms for names that lasthop does not have.
        /// `choice` is the value at `path` of the scenario: a name, or a table whose `kind` is the name. A plug-in reads
        /// its parameters from it like built-in algorithms: with [`params!`](lasthop_registry::params) and
        /// [`read_table`](lasthop_registry::read_table), whose errors name the place and the known keys. Each
        /// connection, queue and link of each run gets its own object, and each run its own error model, with the random
        /// numbers passed to it, so that a seed gives the same result again.
        pub trait Plugins {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// A wrong parameter.
                fn $method(&self, name: &str, choice: &Value, path: &str) -> Answer<$kind> {
                    let _ = (name, choice, path);
                    Ok(None)
                }
            )*
        }

        /// Loads the code of scenarios, of every kind.
        pub trait CodeLoader: $( Loads<$kind> + )* {}

        impl<T: $( Loads<$kind> + )*> CodeLoader for T {}

        static ROWS: &[Row] = &[$(
            Row {
                registry: $kind::REGISTRY,
                placeholder: |name, choice| Plugged::new(name, choice.clone(), $kind::placeholder()).into_value(),
                plugged: |plugins, name, choice, path| {
                    let maker = plugins.$method(name, choice, path)?;
                    Ok(maker.map(|maker| Plugged::new(name, choice.clone(), maker).into_value()))
                },
                settings: kinds!(@settings $( $settings )?),
                load: |loader, code| code.load::<$kind>(Loads::<$kind>::load(loader, code)?),
            },
        )*];
    };
}

kinds! {
    /// A congestion control.
    congestion_control => Algorithm;
    /// A queue discipline.
    queue_discipline => QueueDisciplineKind;
    /// A rate control.
    rate_control => RateControlKind;
    /// An error model.
    error_model => ErrorModelKind;
    /// A scheduler of PPDUs of several users.
    multi_user_scheduler => SchedulerKind with settings MultiUserTable;
    /// A policy of an agent.
    policy => PolicyKind;
}
