//! Random headers, frames and packets.
#![allow(dead_code, reason = "each test file uses its part")]

use core::net::{Ipv4Addr, Ipv6Addr};

use lasthop_engine::Stream;
use lasthop_units::Ecn;
use lasthop_wire::ieee80211::{
    Ack, AckPolicy, Beacon, Bitmap, BlockAck, BlockAckReq, Cts, Data, DataKind, Elements, FrameFlags, Management,
    QosControl, Rts, SequenceControl,
};
use lasthop_wire::ip::{Fragment, Ipv4, Ipv6};
use lasthop_wire::radiotap::{
    AmpduStatus, Channel, Flags, He, HeFormat, HeMu, LSig, Mcs, Timestamp, TxFlags, Vht, VhtUser,
};
use lasthop_wire::tcp::{AccEcn, SackBlocks, TcpFlags, TcpOptions, Timestamps};
use lasthop_wire::{MacAddress, Radiotap, Tcp};

/// A source of values.
pub struct Any(Stream);

impl Any {
    /// The values of a seed.
    pub fn new(seed: u64) -> Any {
        Any(Stream::new(seed, "wire", 0))
    }

    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// A number from 0 to `max`.
    pub fn up_to(&mut self, max: usize) -> usize {
        self.0.up_to(max as u32) as usize
    }

    pub fn coin(&mut self) -> bool {
        self.0.bits() & 1 == 1
    }

    /// A number of `width` bits.
    pub fn number(&mut self, width: u32) -> u64 {
        self.0.bits() >> (64 - width)
    }

    pub fn u8(&mut self, width: u32) -> u8 {
        self.number(width) as u8
    }

    pub fn u16(&mut self, width: u32) -> u16 {
        self.number(width) as u16
    }

    pub fn u32(&mut self) -> u32 {
        self.number(32) as u32
    }

    /// A value that is present or not.
    pub fn maybe<T>(&mut self, value: impl FnOnce(&mut Any) -> T) -> Option<T> {
        if self.coin() { Some(value(self)) } else { None }
    }

    /// Up to `most` bytes.
    pub fn bytes(&mut self, most: usize) -> Vec<u8> {
        (0..self.up_to(most)).map(|_| self.u8(8)).collect()
    }

    /// A text of up to `most` letters, of one to four bytes each.
    pub fn text(&mut self, most: usize) -> String {
        (0..self.up_to(most)).map(|_| ['a', 'é', '→', '𝄞'][self.up_to(3)]).collect()
    }

    pub fn mac(&mut self) -> MacAddress {
        MacAddress(self.bits().to_le_bytes()[..6].try_into().unwrap())
    }

    fn signed(&mut self) -> i8 {
        self.u8(8) as i8
    }

    pub fn radiotap(&mut self) -> Radiotap {
        Radiotap {
            tsft_us: self.maybe(Any::bits),
            flags: self.maybe(|any| Flags(any.u8(8))),
            rate_500kbps: self.maybe(|any| any.u8(8)),
            channel: self.maybe(|any| Channel { mhz: any.u16(16), flags: any.u16(16) }),
            signal_dbm: self.maybe(Any::signed),
            noise_dbm: self.maybe(Any::signed),
            tx_power_dbm: self.maybe(Any::signed),
            antenna: self.maybe(|any| any.u8(8)),
            rx_flags: self.maybe(|any| any.u16(16)),
            tx_flags: self.maybe(|any| TxFlags(any.u16(16))),
            rts_retries: self.maybe(|any| any.u8(8)),
            data_retries: self.maybe(|any| any.u8(8)),
            mcs: self.maybe(Any::mcs),
            ampdu: self.maybe(Any::ampdu),
            vht: self.maybe(Any::vht),
            timestamp: self.maybe(Any::timestamp),
            he: self.maybe(Any::he),
            he_mu: self.maybe(Any::he_mu),
            no_psdu: self.maybe(|any| any.u8(8)),
            l_sig: self.maybe(|any| LSig { rate: any.maybe(|any| any.u8(4)), length: any.maybe(|any| any.u16(12)) }),
            later_phy: None,
        }
    }

    fn mcs(&mut self) -> Mcs {
        Mcs {
            bandwidth: self.maybe(|any| any.u8(2)),
            index: self.maybe(|any| any.u8(8)),
            short_guard_interval: self.maybe(Any::coin),
            greenfield: self.maybe(Any::coin),
            ldpc: self.maybe(Any::coin),
            stbc_streams: self.maybe(|any| any.u8(2)),
            extension_streams: self.maybe(|any| any.u8(2)),
        }
    }

    fn ampdu(&mut self) -> AmpduStatus {
        AmpduStatus {
            reference: self.u32(),
            is_last: self.maybe(Any::coin),
            delimiter_crc_failed: self.coin(),
            delimiter_crc: self.maybe(|any| any.u8(8)),
            end_of_frame: self.maybe(Any::coin),
            zero_length: self.maybe(Any::coin),
        }
    }

    fn timestamp(&mut self) -> Timestamp {
        Timestamp {
            time: self.bits(),
            accuracy: self.maybe(|any| any.u16(16)),
            unit: self.u8(4),
            position: self.u8(4),
            is_32_bit: self.coin(),
        }
    }

    fn vht(&mut self) -> Vht {
        let user = |any: &mut Any| VhtUser { mcs: any.u8(4), spatial_streams: any.u8(3) + 1, ldpc: any.coin() };
        Vht {
            stbc: self.maybe(Any::coin),
            txop_ps_not_allowed: self.maybe(Any::coin),
            short_guard_interval: self.maybe(Any::coin),
            short_gi_nsym_is_9: self.maybe(Any::coin),
            ldpc_extra_symbol: self.maybe(Any::coin),
            beamformed: self.maybe(Any::coin),
            bandwidth: self.maybe(|any| any.u8(5)),
            users: [(); 4].map(|()| self.maybe(user)),
            group_id: self.maybe(|any| any.u8(8)),
            partial_aid: self.maybe(|any| any.u16(16)),
        }
    }

    fn he_mu(&mut self) -> HeMu {
        let four = |any: &mut Any| [(); 4].map(|()| any.u8(8));
        HeMu {
            sig_b_mcs: self.maybe(|any| any.u8(3)),
            bandwidth: self.maybe(|any| any.u8(2)),
            channel_1: self.maybe(four),
            channel_2: self.maybe(four),
        }
    }

    fn he(&mut self) -> He {
        let format = [HeFormat::Su, HeFormat::ExtendedRangeSu, HeFormat::Mu, HeFormat::TriggerBased][self.up_to(3)];
        let reuses = if format == HeFormat::TriggerBased { 4 } else { 1 };
        let mut spatial_reuse = [None; 4];
        spatial_reuse[..reuses].fill_with(|| self.maybe(|any| any.u8(4)));
        He {
            format,
            bss_color: self.maybe(|any| any.u8(6)),
            beam_change: self.maybe(Any::coin),
            uplink: self.maybe(Any::coin),
            mcs: self.maybe(|any| any.u8(4)),
            dcm: self.maybe(Any::coin),
            ldpc: self.maybe(Any::coin),
            ldpc_extra_symbol: self.maybe(Any::coin),
            stbc: self.maybe(Any::coin),
            spatial_reuse,
            sta_id: if format == HeFormat::Mu { self.maybe(|any| any.u16(11)) } else { None },
            bandwidth: self.maybe(|any| any.u8(4)),
            doppler: self.maybe(Any::coin),
            secondary_80_mhz: self.maybe(Any::coin),
            ru_offset: self.maybe(|any| any.u8(6)),
            guard_interval: self.maybe(|any| any.u8(2)),
            ltf_size: self.u8(2),
            ltf_symbols: self.maybe(|any| any.u8(3)),
            pre_fec_padding: self.maybe(|any| any.u8(2)),
            beamformed: self.maybe(Any::coin),
            pe_disambiguity: self.maybe(Any::coin),
            txop: self.maybe(|any| any.u8(7)),
            midamble_20: self.maybe(Any::coin),
            space_time_streams: self.u8(4),
        }
    }

    pub fn flags(&mut self) -> FrameFlags {
        FrameFlags(self.u8(8))
    }

    pub fn rts(&mut self) -> Rts {
        Rts { flags: self.flags(), duration_us: self.u16(16), receiver: self.mac(), transmitter: self.mac() }
    }

    pub fn cts(&mut self) -> Cts {
        Cts { flags: self.flags(), duration_us: self.u16(16), receiver: self.mac() }
    }

    pub fn ack(&mut self) -> Ack {
        Ack { flags: self.flags(), duration_us: self.u16(16), receiver: self.mac() }
    }

    fn sequence(&mut self) -> SequenceControl {
        SequenceControl { number: self.u16(12), fragment: self.u8(4) }
    }

    pub fn block_ack_req(&mut self) -> BlockAckReq {
        BlockAckReq {
            flags: self.flags(),
            duration_us: self.u16(16),
            receiver: self.mac(),
            transmitter: self.mac(),
            no_ack: self.coin(),
            tid: self.u8(4),
            start: self.sequence(),
        }
    }

    pub fn block_ack(&mut self) -> BlockAck {
        BlockAck {
            flags: self.flags(),
            duration_us: self.u16(16),
            receiver: self.mac(),
            transmitter: self.mac(),
            no_ack: self.coin(),
            tid: self.u8(4),
            start: self.u16(12),
            bitmap: if self.coin() { Bitmap::Of64(self.bits()) } else { Bitmap::Of256([(); 4].map(|()| self.bits())) },
        }
    }

    pub fn data<'a>(&mut self, body: &'a [u8]) -> Data<'a> {
        let flags = self.flags();
        let qos = self.maybe(|any| QosControl {
            tid: any.u8(4),
            bit_4: any.coin(),
            ack_policy: [AckPolicy::Normal, AckPolicy::NoAck, AckPolicy::NoExplicit, AckPolicy::BlockAck][any.up_to(3)],
            is_amsdu: any.coin(),
            higher_byte: any.u8(8),
        });
        let four = flags.contains(FrameFlags::TO_DS.with(FrameFlags::FROM_DS));
        let htc = qos.is_some() && flags.contains(FrameFlags::HTC);
        Data {
            kind: if self.coin() { DataKind::Data } else { DataKind::Null },
            flags,
            duration_us: self.u16(16),
            address_1: self.mac(),
            address_2: self.mac(),
            address_3: self.mac(),
            sequence: self.sequence(),
            address_4: four.then(|| self.mac()),
            qos,
            ht_control: htc.then(|| self.u32()),
            body,
        }
    }

    pub fn beacon<'a>(&mut self, elements: &'a [u8]) -> Beacon<'a> {
        Beacon {
            flags: FrameFlags(self.flags().0 & !FrameFlags::HTC.0),
            duration_us: self.u16(16),
            receiver: self.mac(),
            transmitter: self.mac(),
            bssid: self.mac(),
            sequence: self.sequence(),
            timestamp_us: self.bits(),
            interval_tu: self.u16(16),
            capability: self.u16(16),
            elements: Elements(elements),
        }
    }

    /// A frame of any subtype except that of beacons.
    pub fn management<'a>(&mut self, body: &'a [u8]) -> Management<'a> {
        Management {
            subtype: [0, 1, 2, 3, 4, 5, 10, 11, 12, 13][self.up_to(9)],
            flags: self.flags(),
            duration_us: self.u16(16),
            receiver: self.mac(),
            transmitter: self.mac(),
            bssid: self.mac(),
            sequence: self.sequence(),
            body,
        }
    }

    pub fn v4<'a>(&mut self, options: &'a [u8], payload_length: u16) -> Ipv4<'a> {
        Ipv4 {
            dscp: self.u8(6),
            ecn: Ecn::from_bits(self.u8(2)),
            identification: self.u16(16),
            fragment: Fragment { dont: self.coin(), more: self.coin(), offset: self.u16(13) },
            ttl: self.u8(8),
            protocol: self.u8(8),
            source: Ipv4Addr::from_bits(self.u32()),
            destination: Ipv4Addr::from_bits(self.u32()),
            options,
            payload_length,
        }
    }

    pub fn v6(&mut self, payload_length: u16) -> Ipv6 {
        let address = |any: &mut Any| Ipv6Addr::from_bits(u128::from(any.bits()) << 64 | u128::from(any.bits()));
        Ipv6 {
            dscp: self.u8(6),
            ecn: Ecn::from_bits(self.u8(2)),
            flow_label: self.number(20) as u32,
            payload_length,
            protocol: [6, 17, 58, 59][self.up_to(3)],
            hop_limit: self.u8(8),
            source: address(self),
            destination: address(self),
            fragment_offset: 0,
            has_more_fragments: false,
        }
    }

    /// A header whose options take at most 40 bytes.
    pub fn tcp<'a>(&mut self, cookie: &'a [u8]) -> Tcp<'a> {
        loop {
            let header = Tcp {
                source_port: self.u16(16),
                destination_port: self.u16(16),
                sequence: self.u32(),
                acknowledgement: self.u32(),
                flags: TcpFlags(self.u16(9)),
                window: self.u16(16),
                urgent: self.u16(16),
                options: self.tcp_options(cookie),
            };
            if header.header_length() <= 60 {
                return header;
            }
        }
    }

    fn tcp_options<'a>(&mut self, cookie: &'a [u8]) -> TcpOptions<'a> {
        let blocks = self.up_to(4);
        let counters = self.up_to(3);
        TcpOptions {
            mss: self.maybe(|any| any.u16(16)),
            window_scale: self.maybe(|any| any.u8(8)),
            sack_permitted: self.coin(),
            timestamps: self.maybe(|any| Timestamps { value: any.u32(), echo: any.u32() }),
            sack: SackBlocks::new((0..blocks).map(|_| (self.u32(), self.u32()))),
            acc_ecn: self.maybe(|any| AccEcn {
                ect1_first: any.coin(),
                counters: [0, 1, 2].map(|place| (place < counters).then(|| any.number(24) as u32)),
            }),
            mptcp: self.maybe(|_| cookie),
            fast_open: self.maybe(|_| cookie),
        }
    }
}
