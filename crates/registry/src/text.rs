//! Texts by their meaning. A key that takes any text has one of these types, and so its row in [`Names`]: material of
//! somebody else may name no file outside its folder and no command, and `python/lasthop/data/origin.py` finds both by
//! that row.

use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use crate::parameter::wrong_type;
use crate::{Names, ParamError, Parameter, Shape, Value};

macro_rules! texts {
    ($( $(#[$doc:meta])* $name:ident: $names:ident; )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $name(String);

        impl Parameter for $name {
            fn shape() -> Shape {
                Shape::Text(Names::$names)
            }
            fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
                match value {
                    Value::Text(text) => Ok($name(text.clone())),
                    _ => Err(ParamError::new(path, wrong_type("a string", value))),
                }
            }
            fn to_value(&self) -> Option<Value> {
                Some(Value::text(&self.0))
            }
        }

        impl<T: Into<String>> From<T> for $name {
            fn from(text: T) -> Self {
                $name(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

texts! {
    /// The name of a file.
    FileName: File;
    /// A command of a shell.
    CommandLine: Command;
    /// A name or a title.
    Word: Word;
}

impl FileName {
    /// Whether no file is named.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Its path: a relative name starts at `folder`.
    pub fn within(&self, folder: &Path) -> PathBuf {
        folder.join(&self.0)
    }
}

impl Deref for CommandLine {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl Deref for Word {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}
