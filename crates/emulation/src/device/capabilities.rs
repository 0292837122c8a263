//! Spatial streams that radios of hwsim announce: they have as many as their standard, and a scenario
//! has fewer. Frames of management that announce more are changed on the air. [802.11-2020 §9.3.3, §9.4.2.55, §9.4.2.157]

/// Bytes of the header of a frame of management.
const HEADER: usize = 24;
const HT_CAPABILITIES: u8 = 45;
const VHT_CAPABILITIES: u8 = 191;
/// Where the MCS sets lie in those elements: HT has a byte for each stream, VHT two bits for each, for each direction.
const HT_MCS_SET: usize = 3;
const HT_STREAMS: usize = 10;
const VHT_MCS_SETS: [usize; 2] = [4, 8];
const VHT_STREAMS: u8 = 8;

/// Bytes between the header and the elements of a frame of management that has capabilities, by its subtype.
fn fixed_fields(subtype: u8) -> Option<usize> {
    Some(match subtype {
        // Association Request, and Response; the same of a reassociation; Probe Request, Probe Response and Beacon.
        0 => 4,
        1 | 3 => 6,
        2 => 10,
        4 => 0,
        5 | 8 => 12,
        _ => return None,
    })
}

/// Lets a frame announce at most `streams` spatial streams, if it announces any.
pub(crate) fn limit_streams(frame: &mut [u8], streams: u8) {
    let (kind, subtype) = ((frame[0] >> 2) & 3, frame[0] >> 4);
    if kind != 0 {
        return;
    }
    let Some(mut place) = fixed_fields(subtype).map(|fields| HEADER + fields) else { return };
    while let Some(&[id, length]) = frame.get(place..place + 2) {
        let Some(element) = frame.get_mut(place + 2..place + 2 + usize::from(length)) else { return };
        match id {
            HT_CAPABILITIES => {
                let set = element.get_mut(HT_MCS_SET + usize::from(streams)..HT_MCS_SET + HT_STREAMS);
                set.into_iter().flatten().for_each(|byte| *byte = 0);
            }
            VHT_CAPABILITIES => {
                for at in VHT_MCS_SETS {
                    if let Some([low, high]) = element.get_mut(at..at + 2) {
                        // Two ones: no MCS of that number of streams.
                        let none = (u32::from(u16::MAX) << (2 * streams.min(VHT_STREAMS))) as u16;
                        (*low, *high) = (*low | none as u8, *high | (none >> 8) as u8);
                    }
                }
            }
            _ => {}
        }
        place += 2 + usize::from(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A beacon with the elements of an SSID, HT capabilities of four streams and VHT capabilities of eight.
    fn beacon() -> Vec<u8> {
        let mut frame = vec![0; HEADER + 12];
        frame[0] = 0x80;
        frame.extend([0, 2, b'a', b'b']);
        let mut ht = [0; 26];
        ht[3..7].fill(0xff);
        frame.extend([HT_CAPABILITIES, 26]);
        frame.extend(ht);
        let mut vht = [0; 12];
        vht[4..6].fill(0xaa);
        vht[8..10].fill(0xaa);
        frame.extend([VHT_CAPABILITIES, 12]);
        frame.extend(vht);
        frame
    }

    #[test]
    fn more_streams_than_a_scenario_has_are_not_announced() {
        let (mut frame, start) = (beacon(), HEADER + 12 + 4 + 2);
        limit_streams(&mut frame, 2);
        assert_eq!(frame[start + 3..start + 8], [0xff, 0xff, 0, 0, 0]);
        let vht = start + 26 + 2;
        // MCS 0 to 9 (binary 10) of one and two streams, no MCS (11) of more.
        assert_eq!((frame[vht + 4], frame[vht + 5]), (0b1111_1010, 0xff));
        assert_eq!((frame[vht + 8], frame[vht + 9]), (0b1111_1010, 0xff));
    }

    #[test]
    fn data_and_frames_that_are_cut_off_stay_as_they_are() {
        let mut data = beacon();
        data[0] = 0x08;
        let before = data.clone();
        limit_streams(&mut data, 1);
        assert_eq!(data, before);
        for length in HEADER..before.len() {
            limit_streams(&mut beacon()[..length], 1);
        }
    }
}
