//! Elements of management frames. [802.11-2020 §9.4.2]

use crate::cursor::Cursor;
use crate::error::Error;

/// Raw elements of a frame: id, length and value, one after another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Elements<'a>(pub &'a [u8]);

/// SSID. [802.11-2020 §9.4.2.2]
const SSID: u8 = 0;
/// Supported Rates and BSS Membership Selectors, up to 8. [802.11-2020 §9.4.2.3]
const RATES: u8 = 1;
/// DSSS Parameter Set: the channel. [802.11-2020 §9.4.2.4]
const DSSS: u8 = 3;
/// Extended Supported Rates and BSS Membership Selectors. [802.11-2020 §9.4.2.13]
const EXTENDED_RATES: u8 = 50;

impl<'a> Elements<'a> {
    /// Each element: its id and its value. One that is cut off is an error, and the last.
    pub fn iter(&self) -> impl Iterator<Item = Result<(u8, &'a [u8]), Error>> + use<'a> {
        let mut at = Cursor::new(self.0);
        let mut ended = false;
        std::iter::from_fn(move || {
            if ended || at.rest().is_empty() {
                return None;
            }
            let mut read = || {
                let [id, length] = at.array("element header")?;
                Ok((id, at.take(length.into(), "element")?))
            };
            let element = read();
            ended = element.is_err();
            Some(element)
        })
    }

    /// The value of the first element with this id.
    pub fn find(&self, id: u8) -> Option<&'a [u8]> {
        self.iter().filter_map(Result::ok).find(|(found, _)| *found == id).map(|(_, value)| value)
    }

    /// The SSID, which need not be text.
    pub fn ssid(&self) -> Option<&'a [u8]> {
        self.find(SSID)
    }

    /// The channel of a DSSS Parameter Set.
    pub fn channel(&self) -> Option<u8> {
        self.find(DSSS).and_then(|value| value.first().copied())
    }

    /// Rates in units of 500 kbit/s, bit 7 set on basic ones; the extended ones come last.
    pub fn rates(&self) -> impl Iterator<Item = u8> + use<'a> {
        let (rates, extended) = (self.find(RATES).unwrap_or(&[]), self.find(EXTENDED_RATES).unwrap_or(&[]));
        rates.iter().chain(extended).copied()
    }
}

/// Appends SSID, rates (in units of 500 kbit/s, bit 7 set on basic ones) and channel.
///
/// # Panics
/// If the SSID has more than 32 bytes, or if there are more than 8 + 255 rates.
pub fn append_elements(ssid: &[u8], rates: &[u8], channel: u8, out: &mut Vec<u8>) {
    assert!(ssid.len() <= 32, "an SSID has at most 32 bytes");
    let (first, extended) = rates.split_at(rates.len().min(8));
    append(SSID, ssid, out);
    append(RATES, first, out);
    append(DSSS, &[channel], out);
    if !extended.is_empty() {
        append(EXTENDED_RATES, extended, out);
    }
}

fn append(id: u8, value: &[u8], out: &mut Vec<u8>) {
    let length = u8::try_from(value.len()).expect("an element has at most 255 bytes");
    out.extend_from_slice(&[id, length]);
    out.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_beyond_the_eighth_go_into_the_extended_element() {
        let rates: Vec<u8> = (1..=12).collect();
        let mut bytes = Vec::new();
        append_elements(b"home", &rates, 6, &mut bytes);
        assert_eq!(bytes[..6], [0, 4, b'h', b'o', b'm', b'e']);
        assert_eq!(bytes[6..19], [1, 8, 1, 2, 3, 4, 5, 6, 7, 8, 3, 1, 6]);
        assert_eq!(bytes[19..], [50, 4, 9, 10, 11, 12]);
        let elements = Elements(&bytes);
        assert_eq!((elements.ssid(), elements.channel()), (Some(&b"home"[..]), Some(6)));
        assert!(elements.rates().eq(rates));
    }

    #[test]
    fn an_element_that_is_cut_off_is_the_last() {
        let mut elements = Elements(&[0, 1, b'x', 1, 3, 2]).iter();
        assert_eq!(elements.next(), Some(Ok((0, &b"x"[..]))));
        assert_eq!(elements.next().unwrap().unwrap_err().to_string(), "byte 5: element: of 3 bytes there are 1");
        assert_eq!(elements.next(), None);
        assert_eq!(Elements(&[1, 3, 2]).channel(), None);
    }
}
