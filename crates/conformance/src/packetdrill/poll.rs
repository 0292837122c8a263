//! poll and epoll: the readiness of files.

use crate::packetdrill::connection::Connection;
use crate::packetdrill::epoll::Watch;
use crate::packetdrill::host::{File, Host, Role, Socket};

pub(crate) const IN: i64 = 0x001;
pub(crate) const OUT: i64 = 0x004;
pub(crate) const ERR: i64 = 0x008;
pub(crate) const HUP: i64 = 0x010;
pub(crate) const RDHUP: i64 = 0x2000;
pub(crate) const EDGE: i64 = 1 << 31;

impl Host {
    /// The events for which a file is ready.
    pub fn readiness(&self, file: i64) -> i64 {
        match self.files.get(&file) {
            Some(File::Socket(Socket { role: Role::Connection(index), .. })) => ready(&self.connections[*index]),
            Some(File::Socket(Socket { role: Role::Listening(queue), .. })) => {
                let waiting = queue.iter().any(|index| self.connections[*index].was_open);
                IN * i64::from(waiting)
            }
            Some(File::Socket(_)) => OUT | HUP,
            _ => 0,
        }
    }

    /// The number of news of the connection of a file.
    fn wakeups(&self, file: i64) -> u64 {
        match self.files.get(&file) {
            Some(File::Socket(Socket { role: Role::Connection(index), .. })) => self.connections[*index].wakeups,
            _ => 0,
        }
    }

    /// The events of an epoll file: files, each with its events.
    pub fn epoll_events(&mut self, epoll: i64) -> Vec<(i64, i64)> {
        let Some(File::Epoll(found)) = self.files.get(&epoll) else { return Vec::new() };
        let watched: Vec<(i64, Watch)> = found.watched.iter().map(|(file, watch)| (*file, *watch)).collect();
        self.note_work(watched.len());
        let mut events = Vec::new();
        for (file, watch) in watched {
            let ready = self.readiness(file) & (watch.events | ERR | HUP);
            let wakeups = self.wakeups(file);
            let is_news = watch.events & EDGE == 0 || watch.told != Some(wakeups);
            if ready != 0 && is_news {
                events.push((file, ready));
            }
            if let Some(File::Epoll(found)) = self.files.get_mut(&epoll)
                && let Some(watch) = found.watched.get_mut(&file)
            {
                watch.told = Some(wakeups);
            }
        }
        events
    }
}

fn ready(connection: &Connection) -> i64 {
    let mut ready = 0;
    let mut add = |holds: bool, events: i64| ready |= if holds { events } else { 0 };
    add(connection.endpoint.readable_bytes() > 0 || connection.at_end(), IN);
    add(connection.at_end(), RDHUP);
    add(connection.error.is_some(), ERR);
    let both_shut = connection.at_end() && connection.write_shut;
    add(both_shut || (connection.endpoint.is_closed() && connection.was_open), HUP);
    let writable = connection.send_buffer.is_writable(connection.unsent());
    let is_open = connection.was_open || connection.endpoint.is_closed();
    add(is_open && (writable || connection.write_shut), OUT);
    ready
}
