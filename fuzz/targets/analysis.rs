//! A capture, analysed: tables, or a sentence that names the file.
#![no_main]

use std::fs;

use lasthop_analysis::{Request, analyze};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let file = std::env::temp_dir().join(format!("lasthop-fuzz-{}.pcapng", std::process::id()));
    fs::write(&file, bytes).expect("the temporary directory can be written");
    let request = Request { files: vec![file.clone()], ..Request::default() };
    if let Err(said) = analyze(&request, &Default::default()) {
        assert!(said.contains(&*file.to_string_lossy()), "{said}");
    }
});
