//! Types of the first header of a packet, and their names. [draft-ietf-opsawg-pcaplinktype]

/// Type of the first header of an interface's packets. [draft-ietf-opsawg-pcaplinktype]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkType(pub u16);

impl LinkType {
    /// BSD's loopback: the address family in the byte order of the capturing host, then IP.
    pub const NULL: LinkType = LinkType(0);
    /// Ethernet.
    pub const ETHERNET: LinkType = LinkType(1);
    /// PPP, perhaps in HDLC framing.
    pub const PPP: LinkType = LinkType(9);
    /// PPP in HDLC framing.
    pub const PPP_HDLC: LinkType = LinkType(50);
    /// PPP behind a PPPoE header.
    pub const PPP_ETHER: LinkType = LinkType(51);
    /// IPv4 or IPv6, distinguished by the version.
    pub const RAW_IP: LinkType = LinkType(101);
    /// 802.11.
    pub const IEEE_802_11: LinkType = LinkType(105);
    /// OpenBSD's loopback: as BSD's, in network byte order.
    pub const LOOP: LinkType = LinkType(108);
    /// Packets of all interfaces of a Linux host, `tcpdump -i any`.
    pub const LINUX_SLL: LinkType = LinkType(113);
    /// A Prism header before 802.11.
    pub const PRISM: LinkType = LinkType(119);
    /// Radiotap before 802.11.
    pub const RADIOTAP: LinkType = LinkType(127);
    /// An AVS header before 802.11.
    pub const AVS: LinkType = LinkType(163);
    /// A PPI header, which names the link type of what follows it.
    pub const PPI: LinkType = LinkType(192);
    /// The format of newer versions of libpcap for packets of all interfaces.
    pub const LINUX_SLL2: LinkType = LinkType(276);

    /// Whether packets begin with IP. Files of some systems have numbers that only these use for it.
    pub fn is_raw_ip(self) -> bool {
        matches!(self.0, 12 | 14 | 101 | 228 | 229)
    }

    /// Its name, if it is common.
    pub fn name(self) -> Option<&'static str> {
        NAMES.binary_search_by_key(&self.0, |(number, _)| *number).ok().map(|place| NAMES[place].1)
    }
}

/// Names in the order of numbers. [draft-ietf-opsawg-pcaplinktype]
const NAMES: [(u16, &str); 82] = [
    (0, "BSD loopback"),
    (1, "Ethernet"),
    (3, "AX.25"),
    (6, "Token Ring"),
    (7, "ARCNET"),
    (8, "SLIP"),
    (9, "PPP"),
    (10, "FDDI"),
    (12, "IP"),
    (14, "IP"),
    (50, "PPP in HDLC framing"),
    (51, "PPPoE"),
    (99, "Symantec firewall"),
    (100, "ATM of RFC 1483"),
    (101, "IP"),
    (104, "Cisco HDLC"),
    (105, "802.11"),
    (107, "frame relay"),
    (108, "OpenBSD loopback"),
    (113, "Linux cooked capture"),
    (114, "LocalTalk"),
    (117, "OpenBSD pflog"),
    (119, "802.11 behind a Prism header"),
    (120, "802.11 behind an Aironet header"),
    (122, "IP over Fibre Channel"),
    (127, "802.11 behind radiotap"),
    (128, "TZSP"),
    (129, "ARCNET of Linux"),
    (138, "IP over FireWire"),
    (140, "MTP2"),
    (141, "MTP3"),
    (142, "SCCP"),
    (143, "DOCSIS"),
    (144, "IrDA"),
    (147, "private use 0"),
    (148, "private use 1"),
    (149, "private use 2"),
    (150, "private use 3"),
    (163, "802.11 behind an AVS header"),
    (165, "BACnet MS/TP"),
    (166, "PPP of pppd"),
    (169, "GPRS LLC"),
    (177, "LAPD of Linux"),
    (187, "Bluetooth HCI"),
    (189, "USB of Linux"),
    (192, "PPI"),
    (195, "802.15.4"),
    (197, "ERF"),
    (201, "Bluetooth HCI with directions"),
    (204, "PPP with directions"),
    (205, "Cisco HDLC with directions"),
    (206, "frame relay with directions"),
    (215, "802.15.4 without MAC"),
    (220, "USB of Linux"),
    (224, "Fibre Channel"),
    (226, "Solaris IPNET"),
    (227, "CAN"),
    (228, "IPv4"),
    (229, "IPv6"),
    (230, "802.15.4 without FCS"),
    (231, "D-Bus"),
    (239, "NFLOG"),
    (240, "netANALYZER"),
    (242, "IP over InfiniBand"),
    (243, "MPEG-2 transport stream"),
    (247, "InfiniBand"),
    (248, "SCTP"),
    (249, "USB of Windows"),
    (251, "Bluetooth Low Energy"),
    (253, "netlink"),
    (254, "Bluetooth of Linux"),
    (256, "Bluetooth Low Energy with radio properties"),
    (258, "PKTAP of macOS"),
    (259, "EPON"),
    (264, "ISO 14443"),
    (266, "USB of macOS"),
    (270, "LoRa"),
    (271, "vsock"),
    (272, "Nordic's Bluetooth sniffer"),
    (274, "Ethernet mPackets"),
    (276, "Linux cooked capture of version 2"),
    (283, "802.15.4 behind TAP"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_number() {
        assert!(NAMES.is_sorted_by_key(|(number, _)| *number));
        assert_eq!(LinkType(197).name(), Some("ERF"));
        assert_eq!(LinkType(128).name(), Some("TZSP"));
        assert_eq!(LinkType(162).name(), None);
        assert!(LinkType(12).is_raw_ip() && !LinkType::ETHERNET.is_raw_ip());
    }
}
