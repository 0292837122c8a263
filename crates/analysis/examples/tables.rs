//! Writes the analysis of captures between two times as JSON: `tables FROM_S TO_S FILE… > run.json`.

use lasthop_analysis::{Request, analyze};
use lasthop_units::Duration;

fn main() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let mut time = || arguments.next().and_then(|text| text.parse().ok()).map(Duration::from_secs_f64);
    let (from, to) = (time(), time());
    let files = arguments.map(Into::into).collect();
    let analysis = analyze(&Request { files, from, to, ..Request::default() }, &Default::default())?;
    println!("{:#}", analysis.run);
    analysis.notes.iter().for_each(|note| eprintln!("{note}"));
    Ok(())
}
