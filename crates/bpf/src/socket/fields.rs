//! The fields of a socket and of samples that lasthop fills, and which of them a controller may write.
//!
//! Source: names from the kernel's BTF; write permissions from tests in a kernel's verifier. The content of each field
//! here is in `docs/model/bpf.md`.

/// The permission for a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// A struct that is passed to controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Socket,
    AckSample,
    RateSample,
}

macro_rules! fields {
    ($( $field:ident: $owner:ident, $structure:literal, $path:literal, $access:ident; )*) => {
        /// A field that lasthop fills.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Field { $( $field ),* }

        /// Every field: its variant, its owner, the struct that declares it, its path there, and its permission.
        pub(crate) const FIELDS: &[(Field, Owner, &str, &str, Access)] =
            &[$( (Field::$field, Owner::$owner, $structure, $path, Access::$access) ),*];
    };
}

fields! {
    SndCwnd: Socket, "tcp_sock", "snd_cwnd", Write;
    SndCwndCnt: Socket, "tcp_sock", "snd_cwnd_cnt", Write;
    SndCwndClamp: Socket, "tcp_sock", "snd_cwnd_clamp", Read;
    SndCwndStamp: Socket, "tcp_sock", "snd_cwnd_stamp", Write;
    SndSsthresh: Socket, "tcp_sock", "snd_ssthresh", Write;
    SndUna: Socket, "tcp_sock", "snd_una", Read;
    SndNxt: Socket, "tcp_sock", "snd_nxt", Read;
    SrttUs: Socket, "tcp_sock", "srtt_us", Read;
    MdevUs: Socket, "tcp_sock", "mdev_us", Read;
    RttMin: Socket, "tcp_sock", "rtt_min.s[0].v", Read;
    Lost: Socket, "tcp_sock", "lost", Read;
    Delivered: Socket, "tcp_sock", "delivered", Read;
    DeliveredCe: Socket, "tcp_sock", "delivered_ce", Read;
    DeliveredMstamp: Socket, "tcp_sock", "delivered_mstamp", Read;
    PacketsOut: Socket, "tcp_sock", "packets_out", Read;
    SackedOut: Socket, "tcp_sock", "sacked_out", Read;
    LostOut: Socket, "tcp_sock", "lost_out", Read;
    RetransOut: Socket, "tcp_sock", "retrans_out", Read;
    PriorSsthresh: Socket, "tcp_sock", "prior_ssthresh", Read;
    PriorCwnd: Socket, "tcp_sock", "prior_cwnd", Read;
    HighSeq: Socket, "tcp_sock", "high_seq", Read;
    PrrDelivered: Socket, "tcp_sock", "prr_delivered", Read;
    PrrOut: Socket, "tcp_sock", "prr_out", Read;
    Reordering: Socket, "tcp_sock", "reordering", Read;
    IsCwndLimited: Socket, "tcp_sock", "is_cwnd_limited", Read;
    MaxPacketsOut: Socket, "tcp_sock", "max_packets_out", Read;
    TcpMstamp: Socket, "tcp_sock", "tcp_mstamp", Read;
    TcpClockCache: Socket, "tcp_sock", "tcp_clock_cache", Read;
    TcpWstampNs: Socket, "tcp_sock", "tcp_wstamp_ns", Read;
    RcvNxt: Socket, "tcp_sock", "rcv_nxt", Read;
    MssCache: Socket, "tcp_sock", "mss_cache", Read;
    Advmss: Socket, "tcp_sock", "advmss", Read;
    Lsndtime: Socket, "tcp_sock", "lsndtime", Read;
    EcnFlags: Socket, "tcp_sock", "ecn_flags", Write;
    AppLimited: Socket, "tcp_sock", "app_limited", Write;
    DsackDups: Socket, "tcp_sock", "dsack_dups", Read;
    SentQueue: Socket, "tcp_sock", "tsorted_sent_queue.next", Read;
    RcvTsecr: Socket, "tcp_sock", "rx_opt.rcv_tsecr", Read;
    CaState: Socket, "inet_connection_sock", "icsk_ca_state", Read;
    CaPriv: Socket, "inet_connection_sock", "icsk_ca_priv", Write;
    AckPending: Socket, "inet_connection_sock", "icsk_ack.pending", Write;
    PacingRate: Socket, "sock", "sk_pacing_rate", Write;
    PacingStatus: Socket, "sock", "sk_pacing_status", Write;
    MaxPacingRate: Socket, "sock", "sk_max_pacing_rate", Read;
    PacingShift: Socket, "sock", "sk_pacing_shift", Read;
    State: Socket, "sock_common", "skc_state", Read;
    Family: Socket, "sock_common", "skc_family", Read;
    Num: Socket, "sock_common", "skc_num", Read;
    Dport: Socket, "sock_common", "skc_dport", Read;
    Daddr: Socket, "sock_common", "skc_daddr", Read;
    RcvSaddr: Socket, "sock_common", "skc_rcv_saddr", Read;
    AckPackets: AckSample, "ack_sample", "pkts_acked", Read;
    AckRtt: AckSample, "ack_sample", "rtt_us", Read;
    RatePriorDelivered: RateSample, "rate_sample", "prior_delivered", Read;
    RateDelivered: RateSample, "rate_sample", "delivered", Read;
    RateDeliveredCe: RateSample, "rate_sample", "delivered_ce", Read;
    RateInterval: RateSample, "rate_sample", "interval_us", Read;
    RateRtt: RateSample, "rate_sample", "rtt_us", Read;
    RateLosses: RateSample, "rate_sample", "losses", Read;
    RateAckedSacked: RateSample, "rate_sample", "acked_sacked", Read;
    RatePriorInFlight: RateSample, "rate_sample", "prior_in_flight", Read;
    RateIsAppLimited: RateSample, "rate_sample", "is_app_limited", Read;
    RateIsAckDelayed: RateSample, "rate_sample", "is_ack_delayed", Read;
}

/// The number of fields.
pub(crate) const COUNT: usize = FIELDS.len();
