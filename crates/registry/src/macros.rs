//! The macros: `params!` for parameters, `registry!` for algorithms, `words!` for plain words.

/// Declares a struct of parameters: each field has a doc comment (its help), a type and a default.
///
/// ```
/// use lasthop_registry::{params, Parameters, Value, read_table};
/// params! {
///     /// Parameters of a law.
///     pub struct Params {
///         /// Sojourn time to keep. [RFC 8289 §4.4]
///         pub target: lasthop_units::Duration = lasthop_units::Duration::from_millis(5),
///     }
/// }
/// let table = Value::Table(vec![("target".into(), Value::text("7 ms"))]);
/// let read = read_table(Params::default(), &table, "queue", &[]).unwrap();
/// assert_eq!(read.target, lasthop_units::Duration::from_millis(7));
/// ```
#[macro_export]
macro_rules! params {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $( $(#[doc = $help:literal])* $fvis:vis $field:ident : $type:ty = $default:expr ),* $(,)?
        }
        $( check |$this:ident, $path:ident| $check:block )?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $name {
            $( $(#[doc = $help])* $fvis $field: $type, )*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $( $field: $default, )* }
            }
        }

        impl $crate::Parameters for $name {
            const NAMES: &'static [&'static str] = &[$(stringify!($field)),*];
            fn fields() -> Vec<$crate::Field> {
                #[allow(unused_variables)]
                let defaults = $name::default();
                vec![$(
                    $crate::field(
                        stringify!($field),
                        &[$($help),*],
                        <$type as $crate::Parameter>::shape(),
                        $crate::Parameter::to_value(&defaults.$field),
                    ),
                )*]
            }
            fn set(&mut self, name: &str, value: &$crate::Value, path: &str) -> Result<bool, $crate::ParamError> {
                $(
                    if name == stringify!($field) {
                        return $crate::set_entry(&mut self.$field, value, path).map(|()| true);
                    }
                )*
                let _ = (value, path);
                Ok(false)
            }
            fn values(&self) -> Vec<(String, $crate::Value)> {
                $crate::entries(vec![$( (stringify!($field), $crate::Parameter::to_value(&self.$field)), )*])
            }
            $( fn check(&self, path: &str) -> Result<(), $crate::ParamError> {
                let $this = self;
                let $path = path;
                $check
            } )?
        }

        impl $crate::Parameter for $name {
            fn shape() -> $crate::Shape {
                $crate::Shape::Table(<$name as $crate::Parameters>::fields())
            }
            fn parse(value: &$crate::Value, path: &str) -> Result<Self, $crate::ParamError> {
                $crate::read_table($name::default(), value, path, &[])
            }
            fn to_value(&self) -> Option<$crate::Value> {
                Some($crate::table_to_value(None, self))
            }
        }
    };
}

/// Declares the algorithms of one kind, a row each: the module, the name, the variant, the source and the status of its
/// validation. The module holds `Params`, made by [`params!`](crate::params). A table without `kind` changes the
/// parameters of the previous algorithm, which is the default. With `foreign: Maker, placeholder;` the enum has another
/// variant `Foreign`, for algorithms that [`Finds`](crate::Finds) found and a `Maker` makes, and is
/// [`Pluggable`](crate::Pluggable); with `code: Python;` a scenario may bring one in that
/// [`Language`](crate::Language). Until it is loaded, the function `placeholder` makes a built-in one.
///
/// ```text
/// registry! {
///     /// How packets wait.
///     pub enum QueueDiscipline as "queue_discipline" {
///         /// First in, first out, with drops at the tail.
///         fifo => Fifo: source "—", status "unit tests";
///     }
///     planned: codel, fq_codel
/// }
/// ```
#[macro_export]
macro_rules! registry {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident as $kind:literal {
            $( #[doc = $summary:literal] $module:ident => $variant:ident : source $source:literal, status $status:literal; )*
        }
        $( aliases: $($alias:literal => $of:ident),+ ; )?
        $( foreign: $maker:ty, $placeholder:ident ; )?
        $( code: $($language:ident),+ ; )?
        planned: $($planned:ident),* $(,)?
    ) => {
        $( #[doc = $summary] pub mod $module; )*

        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        $vis enum $name {
            $( #[doc = $summary] $variant($module::Params), )*
            $( /// One that somebody else brings.
            Foreign($crate::Plugged<$maker>), )?
        }

        impl $name {
            /// The table that `lasthop list`, the schema and the parser share.
            pub const REGISTRY: &'static $crate::Registry = &$crate::Registry {
                kind: $kind,
                entries: &[$(
                    $crate::Entry {
                        name: stringify!($module),
                        summary: $summary,
                        source: $source,
                        status: $status,
                        fields: <$module::Params as $crate::Parameters>::fields,
                    },
                )*],
                aliases: &[$( $( ($alias, stringify!($of)), )+ )?],
                code: &[$( $( $crate::Language::$language.entry() ),+ )?],
                planned: &[$(stringify!($planned)),*],
            };

            /// The name in scenario files.
            pub fn name(&self) -> &str {
                match self {
                    $( $name::$variant(_) => stringify!($module), )*
                    $( $name::Foreign(it) => <$crate::Plugged<$maker>>::name(it), )?
                }
            }

            /// Every algorithm of this kind with its default parameters.
            pub fn all() -> Vec<$name> {
                vec![$( $name::$variant(Default::default()), )*]
            }
        }

        $( impl $crate::Pluggable for $name {
            type Maker = $maker;
            const REGISTRY: &'static $crate::Registry = $name::REGISTRY;
            fn placeholder() -> ::std::sync::Arc<$maker> {
                ::std::sync::Arc::new($placeholder)
            }
        } )?

        impl $crate::Parameter for $name {
            fn shape() -> $crate::Shape {
                $crate::Shape::Algorithm(Self::REGISTRY)
            }
            fn parse(value: &$crate::Value, path: &str) -> Result<Self, $crate::ParamError> {
                let empty = $crate::Value::Table(Vec::new());
                let (kind, table, kind_path) = match value {
                    $( $crate::Value::Foreign(it) => return <$crate::Plugged<$maker>>::of(it, path).map($name::Foreign), )?
                    $crate::Value::Text(kind) => (kind.as_str(), &empty, path.to_string()),
                    $crate::Value::Table(_) => match value.get("kind") {
                        Some($crate::Value::Text(kind)) => (kind.as_str(), value, format!("{path}.kind")),
                        _ => return Err($crate::ParamError::new(path, $crate::Kind::Missing($crate::KIND_IS_NEEDED.into()))),
                    },
                    _ => return Err($crate::ParamError::new(path, $crate::wrong_type("a name", value))),
                };
                let index = Self::REGISTRY.find(kind).map_err(|m| $crate::ParamError::new(kind_path, m))?;
                let mut at = 0;
                $(
                    if index == at {
                        return $crate::read_table($module::Params::default(), table, path, &["kind"]).map($name::$variant);
                    }
                    at += 1;
                )*
                let _ = at;
                unreachable!("the registry has no row {index}")
            }
            fn parse_over(before: &Self, value: &$crate::Value, path: &str) -> Result<Self, $crate::ParamError> {
                match (before, value) {
                    $( ($name::$variant(params), $crate::Value::Table(_)) if value.get("kind").is_none() => {
                        $crate::read_table(params.clone(), value, path, &["kind"])
                            .map($name::$variant)
                            .map_err(|error| error.laid_over(stringify!($module), path))
                    } )*
                    _ => <Self as $crate::Parameter>::parse(value, path),
                }
            }
            fn to_value(&self) -> Option<$crate::Value> {
                Some(match self {
                    $( $name::$variant(params) => $crate::table_to_value(Some(stringify!($module)), params), )*
                    $( $name::Foreign(it) => <$crate::Plugged<$maker>>::written(it).clone(), )?
                })
            }
        }
    };
}

/// Declares an enum of plain words: `"difs" | "pifs"`.
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident { $( $(#[$vmeta:meta])* $variant:ident = $word:literal ),* $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        $vis enum $name { $( $(#[$vmeta])* $variant, )* }

        impl $name {
            /// The word in scenario files.
            pub const fn word(self) -> &'static str {
                match self { $( $name::$variant => $word, )* }
            }
        }

        impl $crate::Parameter for $name {
            fn shape() -> $crate::Shape {
                $crate::Shape::Words(vec![$($word.to_string()),*])
            }
            fn parse(value: &$crate::Value, path: &str) -> Result<Self, $crate::ParamError> {
                match value {
                    $( $crate::Value::Text(word) if word == $word => Ok($name::$variant), )*
                    _ => Err($crate::no_word(value, &[$($word),*], path)),
                }
            }
            fn to_value(&self) -> Option<$crate::Value> {
                Some($crate::Value::text(self.word()))
            }
        }
    };
}
