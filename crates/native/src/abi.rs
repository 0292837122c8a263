//! The structs of `lasthop_cc.h`, field by field. The header defines them; a test compares sizes and offsets.

use std::ffi::{c_char, c_void};

/// `LASTHOP_CC_VERSION`
pub const VERSION: u32 = 1;

/// `sk->flags`
pub mod flag {
    pub const PACED: u32 = 1 << 0;
    pub const RATE_SAMPLES: u32 = 1 << 1;
    pub const MARKS_EACH_PACKET: u32 = 1 << 2;
    pub const MARKS_COUNTED: u32 = 1 << 3;
    pub const SCALABLE: u32 = 1 << 4;
    pub const EASES_MARKS: u32 = 1 << 5;
    pub const WHOLE_SEGMENTS: u32 = 1 << 6;
    pub const OWNS_RECOVERY: u32 = 1 << 7;
    pub const ALL: u32 = (1 << 8) - 1;
}

/// `enum lasthop_cc_state`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum State {
    Open = 0,
    Cwr = 2,
    Recovery = 3,
    Loss = 4,
}

/// `enum lasthop_cc_cwnd_event`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum CwndEvent {
    TxStart = 0,
    CwndRestart = 1,
    CompleteCwr = 2,
    CwndSet = 16,
    SsthreshSet = 17,
}

/// `struct lasthop_cc_host`
#[repr(C)]
pub struct Host {
    pub cbrt: extern "C" fn(f64) -> f64,
    pub exp: extern "C" fn(f64) -> f64,
    pub log: extern "C" fn(f64) -> f64,
    pub pow: extern "C" fn(f64, f64) -> f64,
    pub random_u32: unsafe extern "C" fn(*mut Sock) -> u32,
    pub random_below: unsafe extern "C" fn(*mut Sock, u32) -> u32,
}

/// Bytes of `sk->error`, the NUL included.
pub const ERROR_BYTES: usize = 256;

/// `struct lasthop_cc_sock`
#[repr(C)]
pub struct Sock {
    pub cwnd: f64,
    pub ssthresh: f64,
    pub pacing_rate_bps: u64,
    pub longest_send_ns: u64,
    pub rtt_ns: i64,
    pub flags: u32,
    pub holds_back: u32,
    pub state: u32,
    pub app_limited: u32,
    pub now: u64,
    pub snd_una: u64,
    pub snd_nxt: u64,
    pub prior_cwnd: f64,
    pub prior_ssthresh: f64,
    pub private: *mut c_void,
    pub host: *const Host,
    pub error: [u8; ERROR_BYTES],
}

/// `struct lasthop_cc_context`
#[repr(C)]
pub struct Context {
    pub initial_window: f64,
    pub initial_ssthresh: f64,
    pub mss_bytes: u32,
    pub abe: u32,
    pub slow_start_growth: u32,
    pub avoidance_growth: u32,
    pub tick_ns: u64,
}

/// `struct lasthop_cc_setting`
#[repr(C)]
pub struct Setting {
    pub key: *const c_char,
    pub text: *const c_char,
    pub number: f64,
}

/// `struct lasthop_cc_rate_sample`
#[repr(C)]
pub struct RateSample {
    pub interval_ns: u64,
    pub prior_delivered: u64,
    pub delivered: u32,
    pub delivered_ce: u32,
    pub lost: u32,
    pub flight_at_send: u32,
    pub is_app_limited: u32,
    pub is_ack_delayed: u32,
}

/// `struct lasthop_cc_ack`
#[repr(C)]
pub struct Ack {
    pub now: u64,
    pub rtt_ns: i64,
    pub srtt_ns: i64,
    pub slow_start_credit: f64,
    pub avoidance_credit: f64,
    pub acked_bytes: u64,
    pub delivered_bytes: u64,
    pub prior_flight_bytes: u64,
    pub flight_bytes: u64,
    pub total_delivered: u64,
    pub total_lost: u64,
    pub round_trips: u64,
    pub snd_una: u64,
    pub snd_nxt: u64,
    pub send_rate_bytes_per_s: u64,
    pub next_departure_ns: u64,
    pub rate: *const RateSample,
    pub acked_segments: u32,
    pub delivered_segments: u32,
    pub lost_segments: u32,
    pub prior_flight_segments: u32,
    pub flight_segments: u32,
    pub ce_segments: u32,
    pub window: u32,
    pub in_recovery: u32,
    pub app_limited: u32,
    pub ece: u32,
    pub ends_timeout: u32,
    pub is_paced: u32,
}

/// `struct lasthop_cc_event`
#[repr(C)]
pub struct Event {
    pub now: u64,
    pub window: f64,
    pub flight_bytes: u64,
    pub snd_una: u64,
    pub snd_nxt: u64,
    pub total_lost: u64,
    pub cause: u32,
    pub repeated: u32,
}

/// `struct lasthop_cc_prior`
#[repr(C)]
pub struct Prior {
    pub cwnd: f64,
    pub ssthresh: f64,
}

/// A function that receives only a connection.
pub type Told = unsafe extern "C" fn(*mut Sock);
/// A function that receives an ACK.
pub type ToldOfAck = unsafe extern "C" fn(*mut Sock, *const Ack);

/// `struct lasthop_cc_v1`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Table {
    pub size: u32,
    pub version: u32,
    pub name: *const c_char,
    pub private_size: u64,
    pub init: Option<unsafe extern "C" fn(*mut Sock, *const Context, *const Setting, usize)>,
    pub release: Option<Told>,
    pub established: Option<unsafe extern "C" fn(*mut Sock, i64)>,
    pub pkts_acked: Option<ToldOfAck>,
    pub cong_avoid: Option<ToldOfAck>,
    pub cong_control: Option<ToldOfAck>,
    pub ssthresh: Option<unsafe extern "C" fn(*mut Sock, *const Event) -> f64>,
    pub set_state: Option<unsafe extern "C" fn(*mut Sock, u32, *const Event)>,
    pub undo_cwnd: Option<unsafe extern "C" fn(*mut Sock, *const Prior) -> f64>,
    pub cwnd_event: Option<unsafe extern "C" fn(*mut Sock, u32)>,
}
