//! Describes an object, and why it cannot run: `cargo run -p lasthop-bpf --example show -- my_cc.bpf.o`

use lasthop_bpf::Object;

fn main() {
    for path in std::env::args().skip(1) {
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                eprintln!("{path}: {error}");
                std::process::exit(2);
            }
        };
        match Object::read(&bytes, &path) {
            Ok(object) => print!("{}", object.describe()),
            Err(error) => {
                eprintln!("{error}");
                std::process::exit(1);
            }
        }
    }
}
