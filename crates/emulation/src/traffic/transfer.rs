//! The description of a transfer.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::ops::RangeInclusive;

use lasthop_units::Duration;

use crate::host::Namespace;

/// An end of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// the station
    Station,
    /// the server
    Server,
}

/// Data that becomes available at a constant rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offers {
    /// additional bytes, once an interval
    pub bytes: u64,
    /// the interval; the first offer comes with the connection
    pub interval: Duration,
}

/// Settings of the sockets of a transfer. `None` leaves one to the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SocketOptions {
    /// congestion control of both ends, by the kernel's name
    pub congestion_control: Option<String>,
    /// `TCP_MAXSEG` of both ends, in bytes
    pub mss: Option<u32>,
    /// `SO_SNDBUF` of the sender, in bytes; the kernel doubles it and stops tuning
    pub send_buffer: Option<u32>,
    /// `SO_RCVBUF` of the receiver, in bytes; the kernel doubles it and stops tuning
    pub receive_buffer: Option<u32>,
    /// `TCP_WINDOW_CLAMP` of the receiver, in bytes. From Linux 6.6 on the kernel forgets it with the first full
    /// segment, so it is set after each read, and the window may exceed it by some segments for a moment.
    pub window_clamp: Option<u32>,
    /// `TCP_QUICKACK` of the receiver, set after each read since the kernel forgets it
    pub quick_ack: Option<bool>,
    /// `SO_MAX_PACING_RATE` of the sender in bytes per second, at which segments leave one by one
    pub pacing_rate: Option<u32>,
    /// `TCP_USER_TIMEOUT` of the sender
    pub user_timeout: Option<Duration>,
    /// the byte of the IP header that has the DSCP in its upper six bits
    pub tos: u8,
}

/// Bulk data from one end to the other, over one connection or several in succession.
///
/// The sender opens each connection. The port at the server is the same for all of them.
#[derive(Clone, Debug)]
pub struct Transfer<'a> {
    /// its name in errors
    pub name: String,
    /// the sending end
    pub sender: Side,
    /// namespace of the station
    pub station: &'a Namespace,
    /// namespace of the server
    pub server: &'a Namespace,
    /// the address of the station
    pub station_address: Ipv4Addr,
    /// the address of the server
    pub server_address: Ipv4Addr,
    /// the port at the server
    pub server_port: u16,
    /// the ports at the station, one for each connection, from the first on
    pub station_ports: RangeInclusive<u16>,
    /// bytes on each connection; without it the one connection never ends
    pub size: Option<u64>,
    /// number of connections, each opened when the receiver has closed the one before
    pub repeat: u32,
    /// time after time zero at which the first connection is opened
    pub start: Duration,
    /// rate at which data becomes available; without it there is always some
    pub rate: Option<Offers>,
    /// settings of the sockets
    pub socket: SocketOptions,
}

/// One end of one connection.
pub(super) struct End<'a> {
    pub namespace: &'a Namespace,
    pub address: SocketAddrV4,
}

impl<'a> Transfer<'a> {
    /// The end that sends on a connection, and the end that receives.
    pub(super) fn ends(&self, connection: u32) -> (End<'a>, End<'a>) {
        let count = u32::from(self.station_ports.end().saturating_sub(*self.station_ports.start())) + 1;
        let port = self.station_ports.start() + (connection % count) as u16;
        let station = End { namespace: self.station, address: SocketAddrV4::new(self.station_address, port) };
        let server = End { namespace: self.server, address: SocketAddrV4::new(self.server_address, self.server_port) };
        match self.sender {
            Side::Station => (station, server),
            Side::Server => (server, station),
        }
    }
}
