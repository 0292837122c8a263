//! Opens a library and prints its controller's needs: `cargo run --example own_library -- newreno.so era=linux`.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use lasthop_native::{Error, Library, Setting};
use lasthop_tcp::Profile;
use lasthop_tcp::congestion_control::Context;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        eprintln!("give a shared library, and its parameters as KEY=VALUE");
        return ExitCode::from(2);
    };
    match describe(Path::new(&path), &arguments.filter_map(|text| setting(&text)).collect::<Vec<_>>()) {
        Ok(text) => println!("{text}"),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn describe(path: &Path, settings: &[(String, Setting)]) -> Result<String, Error> {
    let library = Arc::new(Library::open(path)?);
    let control = library.controller(&Context::new(&Profile::Linux.config(), 1), settings)?;
    Ok(format!("{}: begins with {} segments, {:?}", library.name(), control.cwnd(), control.needs()))
}

/// `beta=0.7` is a number, `era=linux` a text.
fn setting(text: &str) -> Option<(String, Setting)> {
    let (key, value) = text.split_once('=')?;
    let setting = value.parse().map_or_else(|_| Setting::Text(value.to_string()), Setting::Number);
    Some((key.to_string(), setting))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_are_distinct() {
        assert_eq!(setting("beta=0.7"), Some(("beta".to_string(), Setting::Number(0.7))));
        assert_eq!(setting("era=linux"), Some(("era".to_string(), Setting::Text("linux".to_string()))));
    }

    #[test]
    fn a_library_that_is_not_there_is_refused() {
        let error = describe(Path::new("none.so"), &[]).unwrap_err();
        assert_eq!(error.to_string(), "none.so: no such file or directory");
    }
}
