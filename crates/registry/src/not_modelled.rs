//! Words of scenario files for features that are not modelled, which get a sentence rather than a suggestion of
//! spelling. README.md lists the same under "What is not modelled"; a test of `tests/python/test_not_modelled.py`
//! compares both.
//!
//! Only words that are otherwise unknown are looked up here, so that a new feature may take such a name at any time.

/// Words, and the features they name with their verb.
const NOT_MODELLED: &[(&[&str], &str)] = &[
    (&["802.11be", "11be", "wifi7", "eht", "mlo", "multi_link", "320mhz", "4096qam"], "802.11be is"),
    (&["802.11bn", "802.11ad", "802.11ay", "802.11ah", "802.11af", "802.11p", "802.11bd"], "this standard is"),
    (&["802.11s", "mesh", "ad_hoc", "adhoc", "ibss", "direct_link", "tdls"], "traffic without an access point is"),
    (&["twt", "target_wake_time"], "target wake time is"),
    (&["mu_mimo", "mumimo"], "MU-MIMO is"),
    (&["beamforming", "txbf", "sounding"], "beamforming is"),
    (&["80+80mhz", "160+160mhz"], "a channel of two segments is"),
    (&["6ghz", "6e", "wifi6e"], "the 6 GHz band is"),
    (&["spatial_reuse", "obss_pd", "bss_color", "bss_colour", "srg"], "spatial reuse is"),
    (&["roaming", "handover", "fast_transition", "802.11r", "802.11k", "802.11v"], "roaming is"),
    (&["association", "authentication", "scanning", "probe_request"], "association and scanning are"),
    (&["power_save", "powersave", "psm", "uapsd", "u_apsd", "dtim", "sleep"], "power save is"),
    (&["multicast", "broadcast", "group_address"], "multicast is"),
    (&["fragmentation", "fragmentation_threshold", "frag_threshold"], "fragmentation is"),
    (&["admission_control", "acm", "addts", "tspec"], "admission control is"),
    (&["pcf", "hcca"], "polled access is"),
    (&["antenna", "antennas", "antenna_gain", "antenna_pattern"], "an antenna other than isotropic is"),
    (&["mptcp", "multipath_tcp", "subflows"], "MPTCP is"),
    (&["fast_open", "fastopen", "tcp_fast_open", "tcp_fastopen", "tfo"], "TCP Fast Open is"),
    (&["lro", "large_receive_offload"], "large receive offload is"),
    (&["mtu_probing", "path_mtu_discovery", "pmtu_discovery", "plpmtud"], "path-MTU probing of TCP is"),
    (&["ipv6", "ip6", "ip_version", "address_family", "dual_stack"], "IPv6 is"),
    (&["sctp", "dccp"], "a transport other than TCP, UDP and QUIC is"),
];

/// The form in which words are compared: `OBSS PD`, `obss-pd` and `obss_pd` are equal, `6 GHz` and `6GHz` too.
fn comparable(word: &str) -> String {
    let lower = word.trim().to_lowercase();
    let dense = lower
        .strip_suffix("mhz")
        .or(lower.strip_suffix("ghz"))
        .is_some_and(|n| n.trim_end().ends_with(|c: char| c.is_ascii_digit()));
    lower
        .chars()
        .filter(|c| !(dense && c.is_whitespace()))
        .map(|c| if matches!(c, ' ' | '-') { '_' } else { c })
        .collect()
}

/// `OFDMA is not modelled`, if `word` names a feature that is not modelled.
pub fn not_modelled(word: &str) -> Option<String> {
    let word = comparable(word);
    let found = NOT_MODELLED.iter().find(|(words, _)| words.contains(&word.as_str()));
    found.map(|(_, subject)| format!("{subject} not modelled"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_word_are_one() {
        for word in ["obss_pd", "OBSS PD", "OBSS-PD", " obss_pd "] {
            assert_eq!(not_modelled(word).as_deref(), Some("spatial reuse is not modelled"), "{word}");
        }
        for word in ["80+80 MHz", "80+80MHz"] {
            assert_eq!(not_modelled(word).as_deref(), Some("a channel of two segments is not modelled"), "{word}");
        }
        assert_eq!(not_modelled("6 GHz").as_deref(), Some("the 6 GHz band is not modelled"));
    }

    #[test]
    fn misspelt_word_is_not_listed_as_unmodelled() {
        for word in ["", "cubik", "802.11h", "minstrl", "GHz", "colour"] {
            assert_eq!(not_modelled(word), None, "{word}");
        }
    }

    #[test]
    fn each_word_stands_once_and_as_it_is_compared() {
        let all: Vec<&str> = NOT_MODELLED.iter().flat_map(|(words, _)| words.iter().copied()).collect();
        for (index, word) in all.iter().enumerate() {
            assert_eq!(comparable(word), *word);
            assert!(!all[..index].contains(word), "{word} stands twice");
        }
    }
}
