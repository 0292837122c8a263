//! The outcome of a run, as files of a folder: from a process that ran it to one that shows it, on the same machine.

use std::fs;
use std::io;
use std::path::Path;

use lasthop_scenario as engine;
use serde_json::{Value as Json, json};

/// The run as JSON.
const RUN: &str = "run.json";
/// The definitions of the time series.
const SERIES: &str = "series.json";
/// Their values, one after the other, as native `f64`.
const VALUES: &str = "series.f64";
/// The sentence that says why there is no run.
const ERROR: &str = "error";

/// Writes the outcome of a run to `folder`, which exists.
pub(crate) fn write(folder: &Path, result: &Result<engine::RunResult, String>) -> io::Result<()> {
    let run = match result {
        Ok(run) => run,
        Err(sentence) => return fs::write(folder.join(ERROR), sentence),
    };
    let heads: Vec<Json> = run.series().iter().map(head).collect();
    let values: Vec<f64> = run.series().iter().flat_map(|block| &block.values).copied().collect();
    fs::write(folder.join(VALUES), bytemuck::cast_slice(&values))?;
    fs::write(folder.join(SERIES), json!(heads).to_string())?;
    fs::write(folder.join(RUN), run.json())
}

/// The definition of a block.
pub(crate) fn head(block: &engine::SeriesBlock) -> Json {
    json!({
        "scope": block.quantity.scope.table(),
        "name": block.quantity.name,
        "entities": block.entities,
        "times": block.times,
        "start_s": block.start_s,
        "interval_s": block.interval_s,
    })
}

/// Reads the files of [`write`]: the run and its time series. `wall_s`: the time that it took, if the process cannot
/// know it, as in a guest.
///
/// # Errors
/// The sentence of a run that failed, or one that says which file cannot be read.
pub(crate) fn read(
    folder: &Path,
    wall_s: Option<f64>,
) -> Result<(engine::RunTables, Vec<engine::SeriesBlock>), String> {
    if let Ok(sentence) = fs::read_to_string(folder.join(ERROR)) {
        return Err(sentence);
    }
    let lost = |name: &str, why: &dyn std::fmt::Display| format!("{}: {why}", folder.join(name).display());
    let text = |name: &str| fs::read_to_string(folder.join(name)).map_err(|error| lost(name, &error));
    let heads: Vec<Json> = serde_json::from_str(&text(SERIES)?).map_err(|error| lost(SERIES, &error))?;
    let values = fs::read(folder.join(VALUES)).map_err(|error| lost(VALUES, &error))?;
    let mut values = values.as_chunks::<8>().0.iter().map(|bytes| f64::from_ne_bytes(*bytes));
    let blocks = heads.iter().map(|head| block(head, &mut values));
    let blocks: Option<Vec<_>> = blocks.collect();
    let blocks = blocks.ok_or_else(|| lost(SERIES, &"not as this version of lasthop writes it"))?;
    let mut run = engine::RunTables::parse(&text(RUN)?).map_err(|error| lost(RUN, &error))?;
    if let Some(wall_s) = wall_s {
        run.set_number("simulator", engine::WALL_TIME.definition().name, wall_s);
    }
    Ok((run, blocks))
}

/// A block from its [`head`], with values from `values`; `None` if they do not fit, or this version has no such quantity.
pub(crate) fn block(head: &Json, values: &mut impl Iterator<Item = f64>) -> Option<engine::SeriesBlock> {
    let (scope, name) = (head["scope"].as_str()?, head["name"].as_str()?);
    let is_it = |quantity: &&lasthop_observe::Definition| quantity.name == name && quantity.scope.table() == scope;
    let quantity = engine::quantities().into_iter().find(is_it)?;
    let entities: Vec<String> =
        head["entities"].as_array()?.iter().map(|id| Some(id.as_str()?.to_string())).collect::<Option<_>>()?;
    let times = head["times"].as_u64()? as usize;
    let values: Vec<f64> = values.take(times * entities.len()).collect();
    let (start_s, interval_s) = (head["start_s"].as_f64()?, head["interval_s"].as_f64()?);
    (values.len() == times * entities.len()).then_some(engine::SeriesBlock {
        quantity,
        entities,
        times,
        values,
        start_s,
        interval_s,
    })
}
