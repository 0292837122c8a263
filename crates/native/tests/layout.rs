//! The structs of this crate have the layout of `lasthop_cc.h`: a library that counts bytes checks it.

mod bench;

use std::sync::Arc;

use lasthop_native::{Library, Setting};
use lasthop_tcp::congestion_control::{
    AckSample, CongestionCause, CongestionEvent, Context, Draws, Growth, GrowthMode, MarkReports, Moment, Prior,
    RateSample,
};
use lasthop_units::{DataRate, Duration, Time};

/// Reports by fail() a field without the value that the test gave it: each field has another.
const READER: &str = r#"
#include <string.h>
#include "lasthop_cc.h"
#define WANT(sk, what, value) do { if ((what) != (value)) lasthop_cc_fail(sk, "%s is %.17g", #what, (double)(what)); } while (0)

static void init(struct lasthop_cc_sock *sk, const struct lasthop_cc_context *c, const struct lasthop_cc_setting *s, size_t n)
{
    WANT(sk, c->initial_window, 3.0); WANT(sk, c->initial_ssthresh, 5.0); WANT(sk, c->mss_bytes, 1001u); WANT(sk, c->abe, 1u);
    WANT(sk, c->slow_start_growth, LASTHOP_CC_PER_BYTE); WANT(sk, c->avoidance_growth, LASTHOP_CC_PER_ACK);
    WANT(sk, c->tick_ns, 4000000u); WANT(sk, sk->cwnd, 3.0); WANT(sk, sk->ssthresh, 5.0); WANT(sk, sk->rtt_ns, -1);
    WANT(sk, n, 2u); WANT(sk, strcmp(s[0].key, "gain"), 0); WANT(sk, s[0].number, 0.25); WANT(sk, s[0].text == NULL, 1);
    WANT(sk, strcmp(s[1].key, "mode"), 0); WANT(sk, strcmp(s[1].text, "fast"), 0);
    WANT(sk, ((char *)sk->priv)[99], 0);
    WANT(sk, sk->host->cbrt(27.0), 3.0); WANT(sk, sk->host->exp(0.0), 1.0); WANT(sk, sk->host->log(1.0), 0.0);
    WANT(sk, sk->host->pow(2.0, 10.0), 1024.0); WANT(sk, sk->host->random_u32(sk), 7u); WANT(sk, sk->host->random_below(sk, 5), 4u);
    sk->flags = LASTHOP_CC_PACED | LASTHOP_CC_RATE_SAMPLES | LASTHOP_CC_MARKS_COUNTED | LASTHOP_CC_SCALABLE | LASTHOP_CC_OWNS_RECOVERY;
    sk->pacing_rate_bps = 1234567; sk->longest_send_ns = 55; sk->rtt_ns = 66; sk->holds_back = 1;
}
static void cong_control(struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *a)
{
    const struct lasthop_cc_rate_sample *r = a->rate;
    WANT(sk, a->now, 101u); WANT(sk, a->rtt_ns, 102); WANT(sk, a->srtt_ns, 103); WANT(sk, a->slow_start_credit, 1.5);
    WANT(sk, a->avoidance_credit, 2.5); WANT(sk, a->acked_bytes, 104u); WANT(sk, a->delivered_bytes, 105u);
    WANT(sk, a->prior_flight_bytes, 106u); WANT(sk, a->flight_bytes, 107u); WANT(sk, a->total_delivered, 108u);
    WANT(sk, a->total_lost, 109u); WANT(sk, a->round_trips, 110u); WANT(sk, a->snd_una, 111u); WANT(sk, a->snd_nxt, 112u);
    WANT(sk, a->send_rate_bytes_per_s, 113u); WANT(sk, a->next_departure_ns, 114u); WANT(sk, a->acked_segments, 115u);
    WANT(sk, a->delivered_segments, 116u); WANT(sk, a->lost_segments, 117u); WANT(sk, a->prior_flight_segments, 118u);
    WANT(sk, a->flight_segments, 119u); WANT(sk, a->ce_segments, 120u); WANT(sk, a->window, 121u); WANT(sk, a->in_recovery, 0u);
    WANT(sk, a->app_limited, 1u); WANT(sk, a->ece, 0u); WANT(sk, a->ends_timeout, 0u); WANT(sk, a->is_paced, 1u);
    WANT(sk, r->interval_ns, 201u); WANT(sk, r->prior_delivered, 202u); WANT(sk, r->delivered, 203u); WANT(sk, r->delivered_ce, 204u);
    WANT(sk, r->lost, 205u); WANT(sk, r->flight_at_send, 206u); WANT(sk, r->is_app_limited, 0u); WANT(sk, r->is_ack_delayed, 1u);
    WANT(sk, sk->now, 101u); WANT(sk, sk->snd_una, 111u); WANT(sk, sk->snd_nxt, 112u); WANT(sk, sk->app_limited, 1u);
}
static double ssthresh(struct lasthop_cc_sock *sk, const struct lasthop_cc_event *e)
{
    WANT(sk, e->now, 301u); WANT(sk, e->window, 40.0); WANT(sk, e->flight_bytes, 302u); WANT(sk, e->snd_una, 303u);
    WANT(sk, e->snd_nxt, 304u); WANT(sk, e->total_lost, 305u); WANT(sk, e->cause, LASTHOP_CC_CAUSE_ECN); WANT(sk, e->repeated, 0u);
    return 20;
}
static void set_state(struct lasthop_cc_sock *sk, uint32_t state, const struct lasthop_cc_event *e)
{
    if (state == LASTHOP_CC_CWR) { WANT(sk, e->total_lost, 305u); WANT(sk, sk->cwnd, 20.0); WANT(sk, sk->prior_cwnd, 3.0); }
    else { WANT(sk, state, LASTHOP_CC_OPEN); WANT(sk, e == NULL, 1); WANT(sk, sk->state, LASTHOP_CC_CWR); }
}
static double undo_cwnd(struct lasthop_cc_sock *sk, const struct lasthop_cc_prior *p)
{
    WANT(sk, p->cwnd, 31.0); WANT(sk, p->ssthresh, 32.0);
    return 33;
}
static void cwnd_event(struct lasthop_cc_sock *sk, uint32_t event)
{
    if (event == LASTHOP_CC_CWND_RESTART) { WANT(sk, sk->prior_cwnd, 33.0); sk->cwnd = sk->prior_cwnd; }
}
const struct lasthop_cc_v1 lasthop_cc = { LASTHOP_CC_HEAD, .private_size = 100, .init = init, .cong_control = cong_control,
    .ssthresh = ssthresh, .set_state = set_state, .undo_cwnd = undo_cwnd, .cwnd_event = cwnd_event };
"#;

fn context() -> Context {
    Context {
        initial_window: 3.0,
        initial_ssthresh: 5.0,
        mss_bytes: 1001,
        growth: Growth { slow_start: GrowthMode::PerByte, avoidance: GrowthMode::PerAck },
        tick: Duration::from_millis(4),
        abe: true,
        draws: Draws::Always(7),
    }
}

fn ack() -> AckSample {
    let rate = RateSample {
        delivered: 203,
        delivered_ce: 204,
        lost: 205,
        interval: Duration::from_nanos(201),
        prior_delivered: 202,
        flight_at_send: 206,
        is_app_limited: false,
        is_ack_delayed: true,
    };
    AckSample {
        now: Time::from_nanos(101),
        acked_segments: 115,
        acked_bytes: 104,
        delivered_bytes: 105,
        slow_start_credit: 1.5,
        avoidance_credit: 2.5,
        delivered_segments: 116,
        lost_segments: 117,
        total_delivered: 108,
        total_lost: 109,
        rate: Some(rate),
        next_departure: Time::from_nanos(114),
        rtt_sample: Some(Duration::from_nanos(102)),
        srtt: Some(Duration::from_nanos(103)),
        prior_flight_bytes: 106,
        flight_bytes: 107,
        prior_flight_segments: 118,
        flight_segments: 119,
        app_limited: true,
        ece: false,
        round_trips: 110,
        in_recovery: false,
        ends_timeout: false,
        snd_una: 111,
        snd_nxt: 112,
        ce_segments: 120,
        window: 121,
        send_rate: 113,
        is_paced: true,
        observed: false,
    }
}

#[test]
fn every_field_arrives_where_the_header_has_it() {
    let Some(path) = bench::of_text("reader", READER) else { return };
    let library = Arc::new(Library::open(&path).unwrap());
    let settings =
        [("gain".to_string(), Setting::Number(0.25)), ("mode".to_string(), Setting::Text("fast".to_string()))];
    let mut control = library.controller(&context(), &settings).unwrap();
    let needs = control.needs();
    assert!(needs.paced && needs.rate_samples && needs.is_scalable && !needs.eases_marks && control.owns_recovery());
    assert_eq!(needs.marks, MarkReports::Counted);
    assert_eq!(control.pacing_rate(), Some(DataRate::from_bps(1_234_567)));
    assert_eq!(
        (control.longest_send(), control.rtt()),
        (Some(Duration::from_nanos(55)), Some(Duration::from_nanos(66)))
    );
    assert!(control.holds_back());
    control.on_ack(&ack());
    let event = CongestionEvent {
        now: Time::from_nanos(301),
        cause: CongestionCause::Ecn,
        window: 40.0,
        flight_bytes: 302,
        repeated: false,
        snd_una: 303,
        snd_nxt: 304,
        total_lost: 305,
    };
    control.on_congestion(&event);
    let at = Moment { now: Time::from_nanos(401), snd_una: 1, snd_nxt: 2, app_limited: false };
    control.on_spurious(&at, &Prior { cwnd: 31.0, ssthresh: 32.0 });
    assert_eq!((control.cwnd(), control.ssthresh()), (33.0, 32.0));
    // The controller rejects a restart from a smaller window, and reports so.
    control.on_idle(10.0);
    assert_eq!(control.cwnd(), 33.0);
}
