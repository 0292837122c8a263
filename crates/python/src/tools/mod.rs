//! Functions for captures, conformance and emulation. The engine of a demo leaves them out.

mod analysis;
mod chosen;
mod congestion_control;
#[cfg(target_os = "linux")]
mod emulation;
mod interruptible;
mod packetdrill;
mod recovery;

use pyo3::prelude::*;

/// Adds these functions to the module.
pub fn add_functions(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(congestion_control::replay_cc, module)?)?;
    module.add_function(wrap_pyfunction!(congestion_control::check_cc, module)?)?;
    module.add_function(wrap_pyfunction!(packetdrill::packetdrill, module)?)?;
    #[cfg(target_os = "linux")]
    {
        module.add_function(wrap_pyfunction!(emulation::emulation_plan_json, module)?)?;
        module.add_function(wrap_pyfunction!(emulation::emulate, module)?)?;
    }
    module.add_function(wrap_pyfunction!(analysis::analyze, module)?)?;
    module.add_function(wrap_pyfunction!(analysis::collision_probability, module)?)?;
    module.add_function(wrap_pyfunction!(analysis::mpdu_losses, module)?)?;
    module.add_function(wrap_pyfunction!(recovery::replay_recovery, module)?)
}
