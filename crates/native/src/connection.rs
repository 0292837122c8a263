//! A connection's memory, shared with its controller, and the calls.
#![expect(unsafe_code, reason = "functions of a shared library are called, with pointers")]

use core::ptr::{self, NonNull};
use core::{fmt, mem};
use std::ffi::CString;
use std::sync::Arc;

use lasthop_tcp::congestion_control::{AckSample, Context};

use crate::abi::{self, CwndEvent, ERROR_BYTES, Event, Prior, Sock, State, ToldOfAck};
use crate::crash::Calling;
use crate::error::Error;
use crate::host::HOST;
use crate::library::{Library, Setting};
use crate::shared::Shared;
use crate::told;

/// Units before a controller's own bytes, and as many behind them: each look at them costs an ACK something.
const GUARD: usize = 1;
/// Stands in these units: a store beyond the own bytes changes it.
const UNWRITTEN: u128 = 0x6c61_7374_686f_7021_6c61_7374_686f_7021;

/// The two ends of a connection's memory: this one, and the pointer that its controller may keep.
pub(crate) struct Connection {
    /// Made by `Box`; freed when this value goes.
    shared: NonNull<Shared>,
    /// Memory of `sock.private`, in units of its alignment, between guards that must not be written.
    private: Vec<u128>,
    library: Arc<Library>,
    /// `init` has been called, so that the connection is to be released
    is_made: bool,
}

// SAFETY: only this value and the functions that it calls have the pointers, and the header requires functions that
// work in any thread that calls them.
unsafe impl Send for Connection {}

impl fmt::Debug for Connection {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        let sock = self.sock();
        let mut shown = to.debug_struct(self.library.name());
        shown.field("cwnd", &sock.cwnd).field("ssthresh", &sock.ssthresh).finish_non_exhaustive()
    }
}

impl Connection {
    /// Makes a connection and lets the controller read its parameters.
    pub fn new(library: &Arc<Library>, context: &Context, settings: &[(String, Setting)]) -> Result<Connection, Error> {
        let table = library.table();
        let asked = (table.private_size as usize).div_ceil(size_of::<u128>());
        let mut private = vec![UNWRITTEN; if asked == 0 { 0 } else { asked + 2 * GUARD }];
        private.iter_mut().skip(GUARD).take(asked).for_each(|unit| *unit = 0);
        let sock = Sock {
            cwnd: context.initial_window,
            ssthresh: context.initial_ssthresh,
            pacing_rate_bps: 0,
            longest_send_ns: 0,
            rtt_ns: -1,
            flags: 0,
            holds_back: 0,
            state: State::Open as u32,
            app_limited: 0,
            now: 0,
            snd_una: 0,
            snd_nxt: 0,
            prior_cwnd: context.initial_window,
            prior_ssthresh: context.initial_ssthresh,
            private: private.get_mut(GUARD..).map_or(ptr::null_mut(), |own| own.as_mut_ptr().cast()),
            host: &HOST,
            error: [0; ERROR_BYTES],
        };
        let shared = NonNull::from(Box::leak(Box::new(Shared { sock, draws: context.draws })));
        let mut connection = Connection { shared, private, library: library.clone(), is_made: false };
        connection.init(context, settings)?;
        match connection.complaint() {
            Some(text) => Err(Error::new(library.name(), text)),
            None => {
                connection.is_made = true;
                Ok(connection)
            }
        }
    }

    fn init(&mut self, context: &Context, settings: &[(String, Setting)]) -> Result<(), Error> {
        let Some(init) = self.library.table().init else {
            let Some((key, _)) = settings.first() else { return Ok(()) };
            return Err(Error::new(self.name(), format!("takes no parameters, and so no `{key}`")));
        };
        let texts = settings.iter().map(|(key, setting)| self.texts(key, setting)).collect::<Result<Vec<_>, _>>()?;
        let as_c = |((_, setting), (key, text)): (&(String, Setting), &(CString, Option<CString>))| abi::Setting {
            key: key.as_ptr(),
            text: text.as_ref().map_or(ptr::null(), |text| text.as_ptr()),
            number: if let Setting::Number(number) = setting { *number } else { 0.0 },
        };
        let settings: Vec<abi::Setting> = settings.iter().zip(&texts).map(as_c).collect();
        let context = told::context(context);
        let _calling = self.calling("init");
        // SAFETY: the table is of the version that declares `init` so; context and settings live until it returns.
        unsafe { init(self.pointer(), &context, settings.as_ptr(), settings.len()) };
        Ok(())
    }

    /// Key and text in the form of C.
    fn texts(&self, key: &str, setting: &Setting) -> Result<(CString, Option<CString>), Error> {
        let c = |text: &str| CString::new(text).map_err(|_| Error::new(self.name(), format!("{key:?} holds a NUL")));
        Ok((c(key)?, if let Setting::Text(text) = setting { Some(c(text)?) } else { None }))
    }

    pub fn name(&self) -> &str {
        self.library.name()
    }

    pub fn sock(&self) -> &Sock {
        // SAFETY: the pointer is that of a `Shared` as long as this value lives, and the controller is not running now:
        // only methods of this value call it, and they have exclusive access.
        unsafe { &self.shared.as_ref().sock }
    }

    pub fn sock_mut(&mut self) -> &mut Sock {
        // SAFETY: as above.
        unsafe { &mut self.shared.as_mut().sock }
    }

    /// Notes the function of a call, for the case that it never returns.
    fn calling(&self, function: &'static str) -> Calling {
        Calling::new(self.library.name(), function, self.sock().now)
    }

    /// The controller's pointer: with the right to all of `Shared`, which its host functions use.
    fn pointer(&self) -> *mut Sock {
        self.shared.as_ptr().cast()
    }

    /// True if the controller has written just before or behind its own bytes.
    #[inline]
    pub fn is_overrun(&self) -> bool {
        let is_written = |unit: &u128| {
            // SAFETY: the element exists; a controller may have written to it, and is not running now.
            unsafe { ptr::read_volatile(unit) != UNWRITTEN }
        };
        let behind = self.private.len().saturating_sub(GUARD);
        self.private.iter().take(GUARD).any(is_written) || self.private[behind..].iter().any(is_written)
    }

    /// The reason for which the controller gave up, if it did.
    pub fn complaint(&self) -> Option<String> {
        let error = &self.sock().error;
        let end = error.iter().position(|byte| *byte == 0).unwrap_or(ERROR_BYTES);
        // Control characters would reach a terminal.
        (end > 0).then(|| String::from_utf8_lossy(&error[..end]).replace(char::is_control, " "))
    }

    pub fn hears_acks(&self) -> bool {
        self.library.table().pkts_acked.is_some()
    }

    pub fn grows_in_any_state(&self) -> bool {
        self.library.table().cong_control.is_some()
    }

    pub fn established(&mut self, rtt_ns: i64) {
        if let Some(established) = self.library.table().established {
            let _calling = self.calling("established");
            // SAFETY: a function of the table, with the sock of this connection.
            unsafe { established(self.pointer(), rtt_ns) };
        }
    }

    pub fn pkts_acked(&mut self, ack: &AckSample) {
        self.tell("pkts_acked", self.library.table().pkts_acked, ack);
    }

    /// `cong_control`, or else `cong_avoid`.
    pub fn grow(&mut self, ack: &AckSample) {
        let table = self.library.table();
        let name = if table.cong_control.is_some() { "cong_control" } else { "cong_avoid" };
        self.tell(name, table.cong_control.or(table.cong_avoid), ack);
    }

    fn tell(&mut self, name: &'static str, function: Option<ToldOfAck>, sample: &AckSample) {
        let Some(function) = function else { return };
        let rate = sample.rate.as_ref().map(told::rate);
        let mut ack = told::ack(sample);
        ack.rate = rate.as_ref().map_or(ptr::null(), ptr::from_ref);
        let _calling = self.calling(name);
        // SAFETY: a function of the table, with the sock of this connection; the ACK lives until it returns.
        unsafe { function(self.pointer(), &ack) };
    }

    /// The ssthresh after a congestion event; every table has a function for it.
    pub fn ssthresh(&mut self, event: &Event) -> f64 {
        let _calling = self.calling("ssthresh");
        // SAFETY: a function of the table, with the sock of this connection; the event lives until it returns.
        self.library.table().ssthresh.map_or(f64::NAN, |ssthresh| unsafe { ssthresh(self.pointer(), event) })
    }

    /// Calls the controller with a state, then notes it.
    pub fn set_state(&mut self, state: State, event: Option<&Event>) {
        if let Some(set_state) = self.library.table().set_state {
            let _calling = self.calling("set_state");
            // SAFETY: a function of the table, with the sock of this connection; the event lives until it returns.
            unsafe { set_state(self.pointer(), state as u32, event.map_or(ptr::null(), ptr::from_ref)) };
        }
        self.sock_mut().state = state as u32;
    }

    /// The window to restore, if the controller gives one.
    pub fn undo_cwnd(&mut self, prior: &Prior) -> Option<f64> {
        let _calling = self.calling("undo_cwnd");
        // SAFETY: a function of the table, with the sock of this connection; the prior lives until it returns.
        self.library.table().undo_cwnd.map(|undo_cwnd| unsafe { undo_cwnd(self.pointer(), prior) })
    }

    /// Passes an event on; true if the controller has a function for it.
    pub fn cwnd_event(&mut self, event: CwndEvent) -> bool {
        let Some(cwnd_event) = self.library.table().cwnd_event else { return false };
        let _calling = self.calling("cwnd_event");
        // SAFETY: a function of the table, with the sock of this connection.
        unsafe { cwnd_event(self.pointer(), event as u32) };
        true
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(release) = self.library.table().release.filter(|_| self.is_made) {
            let _calling = self.calling("release");
            // SAFETY: a function of the table, with the sock of this connection, for the last time.
            unsafe { release(self.pointer()) };
        }
        // SAFETY: made by `Box::leak`, and no other pointer is left.
        mem::drop(unsafe { Box::from_raw(self.shared.as_ptr()) });
    }
}
