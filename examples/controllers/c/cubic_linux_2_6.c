/* SPDX-License-Identifier: MIT
 *
 * CUBIC in whole segments, with a clock of ticks and ACKs counted, as in Linux 2.6.16 to 2.6.22.
 *
 * Source: Ha, Rhee, Xu 2008; units, rounding and guards by docs/model/congestion-control-rules.md. Differences from RFC 9438:
 * above the origin at most 16 segments per 100 ms; before the first loss one segment for each 50 ACKs; the price of a segment
 * is found at most once per window change or 1/32 s; the estimator of delayed ACKs makes one ACK per segment count as 31/16.
 */
#include "cubic.h"

/* Segments per 100 ms that the window may grow above the origin. */
#define MAX_INCREMENT 16
/* ACKs per segment of growth before the first loss. */
#define ACKS_BEFORE_FIRST_LOSS 50
/* The estimator's unit: 16 is one segment per ACK. */
#define RATIO_SHIFT 4

/* in 1/16 */
static int64_t segments_per_ack(const struct cubic_linux_memory *m)
{
    return (2 << RATIO_SHIFT) + m->more_per_ack;
}

/* ratio += segments - ratio/16, the division rounding down: one segment per ACK settles at 31/16. */
void cubic_linux_2_6_hear(struct cubic *c, struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack)
{
    struct cubic_linux_memory *m = &c->linux_.memory;

    if (sk->state == LASTHOP_CC_OPEN && ack->acked_segments > 0)
        m->more_per_ack += (int64_t)ack->acked_segments - (segments_per_ack(m) >> RATIO_SHIFT);
}

/* The time since a segment was sent, by its timestamp. Samples do not count for a second after a stage begins. */
static void measure_delay(struct cubic_linux *l, struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack, uint64_t now)
{
    struct cubic_linux_memory *m = &l->memory;
    uint64_t rtt = (uint64_t)ack->rtt_ns, ticks, us;
    uint32_t delay;

    if (ack->rtt_ns < 0 || (m->stage.begun && now - m->stage.start < l->window.hz))
        return;
    ticks = now - jiffies(&l->window, ack->now > rtt ? ack->now - rtt : 0);
    if (ticks == now)
        return;
    delay = max_u32(cut_u64(ticks << 3), 1);
    m->delay_min = m->has_delay ? min_u32(m->delay_min, delay) : delay;
    m->has_delay = 1;
    us = (uint64_t)m->delay_min * l->window.tick_ns / 1000;
    sk->rtt_ns = (int64_t)(us < NO_RTT ? us : NO_RTT) / 8 * 1000;
}

/* `MAX_INCREMENT` segments per 100 ms are as many times delay/100 ms in a window of ACKs. */
static uint32_t lowest_above_origin(const struct cubic_linux *l, uint32_t cwnd, uint32_t delay_min)
{
    u128 numerator = (u128)cwnd * l->window.hz * 8, per_window = (u128)10 * MAX_INCREMENT * delay_min, price;

    if (per_window == 0)
        return 0;
    price = numerator / per_window;
    return price > UINT32_MAX ? UINT32_MAX : (uint32_t)price;
}

/* The price of the cubic function, limited above the origin. */
static uint32_t curve_price(const struct cubic_linux *l, uint32_t cwnd, uint64_t now)
{
    const struct cubic_linux_memory *m = &l->memory;
    uint32_t delay_min = m->has_delay ? m->delay_min : 0;
    uint64_t t = cubic_ticks(now + delay_min / 8 - m->stage.start, l->window.hz);
    uint32_t price = price_of(cubic_target(&l->function, m->stage.origin, m->stage.k, t), cwnd);

    return t < m->stage.k ? price : max_u32(price, lowest_above_origin(l, cwnd, delay_min));
}

/* The curve's price or Reno's if that is lower, divided by the segments of an ACK. */
static uint32_t find_price(struct cubic *c, uint32_t cwnd, uint64_t now)
{
    struct cubic_linux *l = &c->linux_;
    struct cubic_linux_memory *m = &l->memory;
    uint32_t acks = ACKS_BEFORE_FIRST_LOSS;
    int64_t ratio = segments_per_ack(m), price;

    stage_begin(&m->stage, &l->function, cwnd, m->w_max, 1, now);
    if (m->lost_before)
        acks = curve_price(l, cwnd, now);
    if (c->params.reno_friendly) {
        reno_window_grow(&m->stage.reno, reno_per_segment(&l->function, cwnd));
        acks = reno_window_limits(&m->stage.reno, cwnd, acks);
    }
    price = ((int64_t)acks << RATIO_SHIFT) / (ratio < 1 ? 1 : ratio);
    return price < 1 ? 1 : price > UINT32_MAX ? UINT32_MAX : (uint32_t)price;
}

void cubic_linux_2_6_grow(struct cubic *c, struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack)
{
    struct cubic_linux *l = &c->linux_;
    struct cubic_linux_memory *m = &l->memory;
    uint64_t now = jiffies(&l->window, ack->now);
    uint32_t cwnd = whole_cwnd(sk);

    measure_delay(l, sk, ack, now);
    if (in_slow_start(&l->window, sk)) {
        slow_start_or_count(&l->window, sk, ack);
        return;
    }
    if (m->stage.begun)
        m->stage.reno.credit += 1;
    if (!quote_holds(&m->quote, cwnd, now, l->window.hz))
        m->quote = (struct quote){.found = 1, .price = find_price(c, cwnd, now), .cwnd = cwnd, .at = now};
    count_or_add(&l->window, sk, m->quote.price);
}
