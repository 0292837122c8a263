//! Algorithms that are not in a registry but come from a caller.

use core::any::Any;
use core::fmt;
use std::sync::{Arc, OnceLock};

use crate::parameter::join;
use crate::{Field, ParamError, Registry, Shape, Value};

/// A kind of algorithm that a caller or a scenario's code may bring: the enum of a [`registry!`](crate::registry) with
/// `foreign:`.
pub trait Pluggable {
    /// Makes one, e.g. `dyn Fn(&Context) -> Box<dyn CongestionControl> + Send + Sync`.
    type Maker: ?Sized + Send + Sync + 'static;
    /// The built-in ones.
    const REGISTRY: &'static Registry;
    /// Makes a built-in one in place of code that is not loaded yet. It answers while a scenario is checked, and never
    /// runs.
    fn placeholder() -> Arc<Self::Maker>;
}

/// A maker, and the one that replaces it once code is loaded.
pub struct Slot<T: ?Sized> {
    first: Arc<T>,
    loaded: OnceLock<Arc<T>>,
}

impl<T: ?Sized> Slot<T> {
    /// A slot with this maker until another one is loaded.
    pub const fn new(first: Arc<T>) -> Slot<T> {
        Slot { first, loaded: OnceLock::new() }
    }

    /// Returns whether a maker was loaded.
    pub fn is_loaded(&self) -> bool {
        self.loaded.get().is_some()
    }

    /// Puts `maker` in place of the first one; no effect if it was replaced before.
    pub fn load(&self, maker: Arc<T>) {
        drop(self.loaded.set(maker));
    }

    fn maker(&self) -> &T {
        self.loaded.get().unwrap_or(&self.first)
    }
}

/// An algorithm from elsewhere, as a scenario chose it: its name, its value in the file, and its maker of type `T`.
pub struct Plugged<T: ?Sized> {
    name: String,
    written: Value,
    slot: Arc<Slot<T>>,
}

impl<T: ?Sized> Plugged<T> {
    /// Its name in the scenario file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its maker.
    pub fn maker(&self) -> &T {
        self.slot.maker()
    }

    /// The place of its maker, which its copies share.
    pub fn slot(&self) -> Arc<Slot<T>> {
        Arc::clone(&self.slot)
    }

    /// Its value in the file.
    pub fn written(&self) -> &Value {
        &self.written
    }
}

impl<T: ?Sized + Send + Sync + 'static> Plugged<T> {
    /// `maker`, chosen in a file by its name or by the table `written`.
    pub fn new(name: impl Into<String>, written: Value, maker: Arc<T>) -> Plugged<T> {
        Plugged { name: name.into(), written, slot: Arc::new(Slot::new(maker)) }
    }

    /// The value that replaces the one of the file, for [`Parameter::parse`](crate::Parameter::parse) to find.
    pub fn into_value(self) -> Value {
        Value::Foreign(Foreign(Arc::new(self)))
    }

    /// The algorithm that [`into_value`](Self::into_value) wrapped.
    ///
    /// # Errors
    /// Its kind is not the one that `path` takes.
    pub fn of(value: &Foreign, path: &str) -> Result<Plugged<T>, ParamError> {
        let it: &dyn Any = &*value.0;
        let other = || ParamError::new(path, format!("\"{}\" is there, but not for this key", value.0.name()));
        it.downcast_ref::<Plugged<T>>().cloned().ok_or_else(other)
    }
}

impl<T: ?Sized> Clone for Plugged<T> {
    fn clone(&self) -> Self {
        Plugged { name: self.name.clone(), written: self.written.clone(), slot: self.slot() }
    }
}

/// Equal if the same words chose the same maker, which only copies of one choice do.
impl<T: ?Sized> PartialEq for Plugged<T> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.written == other.written && Arc::ptr_eq(&self.slot, &other.slot)
    }
}

impl<T: ?Sized> fmt::Debug for Plugged<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Plugged").field(&self.written).finish()
    }
}

/// The common interface of all kinds of [`Plugged`].
trait Choice: Any + Send + Sync {
    fn name(&self) -> &str;
    fn written(&self) -> &Value;
    fn is_loaded(&self) -> bool;
}

impl<T: ?Sized + Send + Sync + 'static> Choice for Plugged<T> {
    fn name(&self) -> &str {
        &self.name
    }
    fn written(&self) -> &Value {
        &self.written
    }
    fn is_loaded(&self) -> bool {
        self.slot.is_loaded()
    }
}

/// A [`Plugged`] of any kind, as a [`Value`].
#[derive(Clone)]
pub struct Foreign(Arc<dyn Choice>);

impl Foreign {
    /// Its value in the file.
    pub fn written(&self) -> &Value {
        self.0.written()
    }

    /// Returns whether a maker was [loaded](Slot::load).
    pub fn is_loaded(&self) -> bool {
        self.0.is_loaded()
    }
}

impl PartialEq for Foreign {
    fn eq(&self, other: &Self) -> bool {
        self.written() == other.written() && Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Foreign").field(self.written()).finish()
    }
}

/// Resolves names that no registry has.
pub trait Finds {
    /// The algorithm of this `kind` ("queue_discipline") called `name`, as [`Plugged::into_value`]; `written` is the
    /// name or the table at `path`. `None` if there is none.
    ///
    /// # Errors
    /// An error in the parameters of the table.
    fn find(&self, kind: &str, name: &str, written: &Value, path: &str) -> Result<Option<Value>, ParamError>;
}

/// Replaces the names of algorithms that their registries do not have by those of `finder`, wherever a value of this
/// `shape` may name one.
///
/// # Errors
/// Those of [`Finds::find`].
pub fn find_foreign(value: &mut Value, shape: &Shape, path: &str, finder: &dyn Finds) -> Result<(), ParamError> {
    match (shape, &mut *value) {
        (Shape::AnyOf(shapes), _) => shapes.iter().try_for_each(|shape| find_foreign(value, shape, path, finder)),
        (Shape::List(shape), Value::List(items)) => (items.iter_mut().enumerate())
            .try_for_each(|(n, item)| find_foreign(item, shape, &format!("{path}[{n}]"), finder)),
        (Shape::Table(fields), Value::Table(entries)) => find_in_table(entries, fields, path, finder),
        (Shape::Algorithm(registry), _) => find_algorithm(value, registry, path, finder),
        _ => Ok(()),
    }
}

fn find_in_table(
    entries: &mut [(String, Value)],
    fields: &[Field],
    path: &str,
    finder: &dyn Finds,
) -> Result<(), ParamError> {
    for (key, value) in entries {
        if let Some(field) = fields.iter().find(|field| field.name == key) {
            find_foreign(value, &field.shape, &join(path, key), finder)?;
        }
    }
    Ok(())
}

fn find_algorithm(value: &mut Value, registry: &Registry, path: &str, finder: &dyn Finds) -> Result<(), ParamError> {
    let Value::Text(name) = value.get("kind").unwrap_or(value).clone() else { return Ok(()) };
    if let Ok(index) = registry.find(&name) {
        let Value::Table(entries) = value else { return Ok(()) };
        return find_in_table(entries, &(registry.entries[index].fields)(), path, finder);
    }
    if let Some(found) = finder.find(registry.kind, &name, value, path)? {
        *value = found;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entry, Parameters, params};

    type Maker = dyn Fn() -> u32 + Send + Sync;

    params! {
        /// Parameters of built-in and of foreign ones.
        pub struct Params {
            /// How many.
            pub n: u32 = 1,
        }
    }

    static COUNTERS: Registry = Registry {
        kind: "counter",
        entries: &[Entry { name: "ours", summary: "", source: "", status: "", fields: Params::fields }],
        aliases: &[],
        code: &[],
        planned: &[],
    };

    struct Theirs;
    impl Finds for Theirs {
        fn find(&self, kind: &str, name: &str, written: &Value, path: &str) -> Result<Option<Value>, ParamError> {
            if (kind, name) != ("counter", "theirs") {
                return Ok(None);
            }
            let n = match written {
                Value::Table(_) => crate::read_table(Params::default(), written, path, &["kind"])?.n,
                _ => 7,
            };
            let maker: Arc<Maker> = Arc::new(move || n);
            Ok(Some(Plugged::new(name, written.clone(), maker).into_value()))
        }
    }

    fn table(kind: &str, n: i64) -> Value {
        Value::Table(vec![("kind".into(), Value::text(kind)), ("n".into(), Value::Integer(n))])
    }

    /// The values, after all names were resolved.
    fn found(values: &[Value]) -> Result<Vec<Value>, ParamError> {
        let shape =
            Shape::AnyOf(vec![Shape::List(Box::new(Shape::Algorithm(&COUNTERS))), Shape::Text(crate::Names::Word)]);
        let mut value = Value::List(values.to_vec());
        find_foreign(&mut value, &shape, "a", &Theirs)?;
        let Value::List(values) = value else { panic!("it is still a list") };
        Ok(values)
    }

    fn plugged(value: &Value) -> Plugged<Maker> {
        let Value::Foreign(it) = value else { panic!("{value:?} was not found") };
        Plugged::of(it, "a").unwrap()
    }

    #[test]
    fn only_unregistered_names_are_replaced_and_written_as_chosen() {
        let chosen = [Value::text("theirs"), table("ours", 3), table("theirs", 4), Value::text("nobodys")];
        let found = found(&chosen).unwrap();
        assert_eq!([&found[1], &found[3]], [&chosen[1], &chosen[3]]);
        let [first, second] = [plugged(&found[0]), plugged(&found[2])];
        assert_eq!([first.maker()(), second.maker()()], [7, 4]);
        assert_eq!([first.written(), second.written()], [&chosen[0], &chosen[2]]);
        assert_eq!(found[2].to_string(), chosen[2].to_string());
        assert!(first == first.clone() && first != second);
    }

    #[test]
    fn a_loaded_maker_replaces_the_first_in_all_copies() {
        let first: Arc<Maker> = Arc::new(|| 1);
        let choice = Plugged::new("theirs", Value::text("theirs"), first);
        let (copy, slot) = (choice.clone(), choice.slot());
        assert_eq!((copy.maker()(), slot.is_loaded()), (1, false));
        slot.load(Arc::new(|| 2));
        slot.load(Arc::new(|| 3));
        assert_eq!((copy.maker()(), slot.is_loaded()), (2, true));
    }

    #[test]
    fn a_wrong_parameter_is_an_error_at_its_place() {
        let error = found(&[Value::text("theirs"), table("theirs", -1)]).unwrap_err();
        assert_eq!(error.path, "a[1].n");
    }

    #[test]
    fn a_maker_of_something_else_is_refused() {
        let maker: Arc<u8> = Arc::new(1);
        let Value::Foreign(it) = Plugged::new("theirs", Value::text("theirs"), maker).into_value() else {
            panic!("it is wrapped")
        };
        let error = Plugged::<Maker>::of(&it, "a").unwrap_err();
        assert_eq!(error.to_string(), "a: \"theirs\" is there, but not for this key");
    }
}
