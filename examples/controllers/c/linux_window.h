/* SPDX-License-Identifier: MIT
 *
 * The window as in Linux: whole segments, a counter of acknowledged ones, and a clock of ticks; for a current kernel
 * (era "linux") and for 2.6.16 to 2.6.22 (era "linux-2.6").
 *
 * Source: RFC 5681, RFC 3465; docs/model/congestion-control-rules.md. Leaves out: Disorder, undo, and changes of the
 * window within recovery. `sk->cwnd` and `sk->ssthresh` hold whole numbers here: set LASTHOP_CC_WHOLE_SEGMENTS.
 */
#ifndef LINUX_WINDOW_H
#define LINUX_WINDOW_H

#include <string.h>

#include "lasthop_cc.h"

/* No threshold, and no RTT in µs. */
#define INFINITE ((uint32_t)INT32_MAX)
#define NO_RTT ((uint32_t)INT32_MAX)
/* The least window after a loss, in segments. [RFC 5681 §3.1 (4)] */
#define MIN_WINDOW 2

/* The arithmetic to follow. */
enum era { ERA_RFC, ERA_LINUX, ERA_LINUX_2_6 };

struct linux_window {
    enum era era;
    uint32_t slow_start_growth; /* enum lasthop_cc_growth */
    uint32_t avoidance_growth;
    uint32_t count;     /* acknowledged segments or ACKs that wait to become a segment of window */
    uint32_t uncounted; /* 2.6: segments acknowledged that byte counting has not used [RFC 3465] */
    uint32_t hz;
    uint64_t tick_ns;
};

/* `rfc` is the name of the era of real numbers. False if the text is none of the three. */
static inline int read_era(const char *text, const char *rfc, enum era *era)
{
    if (!text)
        return 0;
    if (!strcmp(text, rfc))
        *era = ERA_RFC;
    else if (!strcmp(text, "linux"))
        *era = ERA_LINUX;
    else if (!strcmp(text, "linux-2.6"))
        *era = ERA_LINUX_2_6;
    else
        return 0;
    return 1;
}

static inline uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline uint32_t max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }

static inline uint32_t add_u32(uint32_t a, uint32_t b)
{
    return b > UINT32_MAX - a ? UINT32_MAX : a + b;
}

static inline uint32_t cut_u64(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* A number of segments as a whole one. */
static inline uint32_t whole(double segments)
{
    if (!(segments > 0))
        return 0;
    return segments >= (double)UINT32_MAX ? UINT32_MAX : (uint32_t)segments;
}

static inline uint32_t whole_cwnd(const struct lasthop_cc_sock *sk)
{
    return whole(sk->cwnd);
}

static inline uint32_t whole_ssthresh(const struct lasthop_cc_sock *sk)
{
    return min_u32(whole(sk->ssthresh), INFINITE);
}

/* The clock: ticks of 1/HZ. */

static inline uint64_t jiffies(const struct linux_window *w, uint64_t ns)
{
    switch (w->tick_ns) { /* the usual ones divide as by a constant */
    case 1000:
        return ns / 1000;
    case 1000000:
        return ns / 1000000;
    default:
        return ns / w->tick_ns;
    }
}

/* Ticks that cover a time in µs. */
static inline uint32_t ticks_covering_us(const struct linux_window *w, uint32_t us)
{
    uint64_t ticks = jiffies(w, (uint64_t)us * 1000 + w->tick_ns - 1);

    return ticks < NO_RTT ? (uint32_t)ticks : NO_RTT;
}

/* The RTT measured by an ACK, in µs; -1 without a sample. */
static inline int64_t rtt_us(const struct lasthop_cc_ack *ack)
{
    int64_t us = ack->rtt_ns / 1000;

    return ack->rtt_ns < 0 ? -1 : us < NO_RTT ? us : NO_RTT;
}

static inline void linux_window_init(struct linux_window *w, enum era era, const struct lasthop_cc_context *context)
{
    uint64_t hz = 1000000000 / context->tick_ns;

    *w = (struct linux_window){
        .era = era,
        .slow_start_growth = context->slow_start_growth,
        .avoidance_growth = context->avoidance_growth,
        .hz = (uint32_t)(hz < 1 ? 1 : hz > 1000000 ? 1000000 : hz),
        .tick_ns = context->tick_ns,
    };
}

/* Segments that an ACK counts for. */
static inline uint32_t counted(uint32_t growth, const struct lasthop_cc_ack *ack)
{
    return growth == LASTHOP_CC_PER_ACK ? min_u32(ack->acked_segments, 1) : ack->acked_segments;
}

/* The older kernel is also in slow start at ssthresh. */
static inline int in_slow_start(const struct linux_window *w, const struct lasthop_cc_sock *sk)
{
    uint32_t cwnd = whole_cwnd(sk), ssthresh = whole_ssthresh(sk);

    return w->era == ERA_LINUX ? cwnd < ssthresh : cwnd <= ssthresh;
}

/* The older slow start: each segment that counts earns as much credit as the window is large, and each segment of growth
 * costs as much. So the rest of a larger window in the counter buys segments at once. */
static inline void buy(struct linux_window *w, struct lasthop_cc_sock *sk, uint32_t acked)
{
    uint32_t cwnd = whole_cwnd(sk);
    uint64_t credit = w->count + (uint64_t)acked * cwnd;

    while (credit >= cwnd && cwnd < INFINITE) {
        credit -= cwnd;
        cwnd++;
    }
    sk->cwnd = cwnd;
    w->count = cut_u64(credit);
}

/* Slow start until its end. Returns the segments that count for congestion avoidance. */
static inline uint32_t slow_start_or_count(struct linux_window *w, struct lasthop_cc_sock *sk,
                                           const struct lasthop_cc_ack *ack)
{
    uint32_t acked, cwnd, grown;

    if (!in_slow_start(w, sk))
        return counted(w->avoidance_growth, ack);
    acked = counted(w->slow_start_growth, ack);
    if (w->era == ERA_LINUX_2_6) {
        w->uncounted = 0;
        buy(w, sk, acked);
        return 0;
    }
    cwnd = whole_cwnd(sk);
    grown = min_u32(add_u32(cwnd, acked), whole_ssthresh(sk));
    sk->cwnd = grown;
    return acked - (grown - cwnd);
}

/* One segment for each `per` acknowledged. Credit earned under a larger divisor buys one segment at most. */
static inline void add_one_per(struct linux_window *w, struct lasthop_cc_sock *sk, uint32_t per, uint32_t acked)
{
    uint32_t due = 0, credit = w->count;

    per = max_u32(per, 1);
    if (w->count >= per) {
        due = 1;
        credit = 0;
    }
    credit = add_u32(credit, acked);
    sk->cwnd = add_u32(whole_cwnd(sk), due + credit / per);
    w->count = credit % per;
}

/* The older counter: an ACK either counts or, once there are enough, adds a segment. */
static inline void count_or_add(struct linux_window *w, struct lasthop_cc_sock *sk, uint32_t enough)
{
    if (w->count >= enough) {
        sk->cwnd = add_u32(whole_cwnd(sk), 1);
        w->count = 0;
    } else {
        w->count = add_u32(w->count, 1);
    }
}

/* Called for every ACK, whatever follows from it. */
static inline void linux_window_hear(struct linux_window *w, const struct lasthop_cc_ack *ack)
{
    w->uncounted = add_u32(w->uncounted, ack->acked_segments);
}

/* Called after `ssthresh`, and after each timeout. */
static inline void linux_window_reduced(struct linux_window *w, const struct lasthop_cc_event *event)
{
    w->count = 0;
    if (!event->repeated)
        w->uncounted = 0;
}

/* The end of a reduction leaves the window at ssthresh. */
static inline void linux_window_event(struct lasthop_cc_sock *sk, uint32_t event)
{
    if (event == LASTHOP_CC_COMPLETE_CWR && sk->ssthresh < INFINITY)
        sk->cwnd = sk->ssthresh;
}

#endif
