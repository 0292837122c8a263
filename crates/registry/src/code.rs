//! Algorithms that are code of a scenario's author: their languages, and the keys of each.

use crate::{Entry, FileName, Parameters, Word, params};

/// A language, which is the `kind` of such a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// a class in a Python file
    Python,
    /// a shared library with the interface of C
    C,
    /// an object of BPF that a kernel could load
    Bpf,
    /// a linear policy: numbers and names in JSON
    Linear,
    /// a network in ONNX's format
    Onnx,
}

impl Language {
    const ALL: [Language; 5] = [Language::Python, Language::C, Language::Bpf, Language::Linear, Language::Onnx];

    /// The word in scenario files.
    pub const fn word(self) -> &'static str {
        match self {
            Language::Python => "python",
            Language::C => "c",
            Language::Bpf => "bpf",
            Language::Linear => "linear",
            Language::Onnx => "onnx",
        }
    }

    /// The language that `kind` names.
    pub fn of(kind: &str) -> Option<Language> {
        Language::ALL.into_iter().find(|language| language.word() == kind)
    }

    /// The key of the file, and an example of one.
    pub const fn file(self) -> (&'static str, &'static str) {
        match self {
            Language::Python => ("file", "mine.py"),
            Language::C => ("library", "./mine.so"),
            Language::Bpf => ("object", "my_cc.bpf.o"),
            Language::Linear => ("file", "policy.json"),
            Language::Onnx => ("file", "policy.onnx"),
        }
    }

    /// Whether a Python interpreter runs it.
    pub const fn is_interpreted(self) -> bool {
        matches!(self, Language::Python | Language::Onnx)
    }

    /// Its row in a registry.
    pub const fn entry(self) -> Entry {
        let (summary, fields) = match self {
            Language::Linear => (
                "A linear policy in a JSON file, as `python -m lasthop.gym` writes it.",
                PolicyKeys::fields as fn() -> _,
            ),
            Language::Onnx => {
                ("A network in an ONNX file, which onnxruntime computes.", PolicyKeys::fields as fn() -> _)
            }
            Language::Python => ("A class in a Python file of your own.", PythonKeys::fields as fn() -> _),
            Language::C => (
                "A shared library of your own, in C or any language with its calling convention.",
                CKeys::fields as fn() -> _,
            ),
            Language::Bpf => ("A BPF object of your own, as a Linux kernel loads it.", BpfKeys::fields as fn() -> _),
        };
        let (source, status) = match self {
            Language::Linear | Language::Onnx => ("docs/how-to/learning.md", "learned by you"),
            _ => ("docs/controllers.md", "code of yours"),
        };
        Entry { name: self.word(), summary, source, status, fields }
    }
}

params! {
    /// Keys that locate a class in a Python file.
    pub struct PythonKeys {
        /// The file, relative to the folder of the scenario file. All keys except this and `class` are passed to the
        /// class.
        pub file: Option<FileName> = None,
        /// Name of the class in the file.
        pub class: Option<Word> = None,
    }
}

params! {
    /// Keys that locate a shared library.
    pub struct CKeys {
        /// The file, relative to the folder of the scenario file. All other keys are passed to it.
        pub library: Option<FileName> = None,
    }
}

params! {
    /// Keys that locate a BPF object.
    pub struct BpfKeys {
        /// The file, relative to the folder of the scenario file. All other keys are passed to it.
        pub object: Option<FileName> = None,
    }
}

params! {
    /// Keys that locate a policy.
    pub struct PolicyKeys {
        /// The file, relative to the folder of the scenario file.
        pub file: Option<FileName> = None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Names, Shape};

    #[test]
    fn the_key_of_each_language_names_a_file() {
        for language in Language::ALL {
            let fields = (language.entry().fields)();
            let key = fields.iter().find(|field| field.name == language.file().0).expect("it is a field");
            assert!(matches!(key.shape, Shape::Text(Names::File)), "{}", language.word());
        }
    }
}
