//! Notes for a reader of the tables, a sentence each.

use super::measured::{Damages, Measured};
use crate::site::Site;

/// All notes.
pub(super) fn notes(site: &Site, measured: &Measured, damages: &Damages) -> Vec<String> {
    let mut notes = Vec::new();
    for ((name, damage), (place, file)) in damages.iter().zip(measured.files.iter().enumerate()) {
        if let Some(first) = &damage.first {
            notes.push(format!("{name}: {} wrong records are left out, the first: {first}", damage.records));
        }
        if damage.out_of_order > 0 {
            notes.push(format!("{name}: {} packets are before those in front of them", damage.out_of_order));
        }
        if file.foreign > 0 {
            let (foreign, all) = (file.foreign, file.packets);
            notes.push(format!(
                "{name}: {foreign} of {all} packets are of link types that are not read, and are left out"
            ));
        }
        if file.unread > 0 {
            notes.push(format!("{name}: {} of {} packets do not parse and are left out", file.unread, file.packets));
        }
        if file.heard > 0 && site.air != Some(place) {
            notes.push(format!("{name}: is left out: another capture of the air has more frames"));
        }
    }
    let air = &measured.air;
    if air.unknown_duration > 0 {
        let (unknown, all) = (air.unknown_duration, air.ppdus);
        notes.push(format!("radiotap does not say how long {unknown} of {all} PPDUs lasted; they are left out"));
    }
    if air.links.iter().any(|link| link.mpdus_protected > 0) {
        notes.push("some frames are encrypted: they are counted by length, and no flow is read from them".into());
    }
    if air.is_cut_off {
        notes.push(
            "packets behind the first of an A-MSDU were cut off by the snap length: their flows are read from the \
             acknowledgements"
                .into(),
        );
    }
    notes
}
