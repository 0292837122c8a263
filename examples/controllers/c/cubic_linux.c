/* SPDX-License-Identifier: MIT
 *
 * CUBIC in whole segments, with a clock of ticks and segments counted, as in a current Linux kernel.
 *
 * Source: RFC 9438; units, rounding and guards by docs/model/congestion-control-rules.md. Differences from RFC 9438: the window
 * grows at least 5 % per round trip before the first loss and after a timeout; the Reno region never turns to one segment per
 * round trip; the increase is a price, whole segments acknowledged for one of window, found once per tick at most.
 * HyStart ends slow start when ACKs of one train span half the least RTT, or when a round trip is late. [Ha, Rhee 2011]
 */
#include "cubic.h"

/* The highest price before the first loss: 5 % per round trip; and the lowest: half a window per round trip. */
#define BEFORE_FIRST_LOSS 20
#define LOWEST 2

/* HyStart watches from this window on, in segments. */
#define LOW_WINDOW 16
/* ACKs this close together belong to one train, in µs. */
#define TRAIN_GAP 2000
/* Samples of a round trip before its least counts. */
#define SAMPLES 8
/* Largest delay of a round trip: an eighth of the least RTT, within these bounds in µs. */
#define DELAY_LEAST 4000
#define DELAY_MOST 16000
/* Bytes of the largest send, and the longest time that four of them count, in µs. */
#define LARGEST_SEND 65536
#define HELD_MOST 1000

static void begin_round(struct hystart *h, uint64_t now_ns, uint64_t end)
{
    *h = (struct hystart){
        .found = h->found, .round_end = end, .train_start = now_ns / 1000, .train_end = now_ns / 1000,
    };
}

/* True if this ACK extends the train beyond its longest span without a queue. Large sends hold their last segments back,
 * and so the ACKs; pacing may do so for half a round trip. */
static int train_is_long(struct hystart *h, const struct lasthop_cc_ack *ack, uint32_t delay_min)
{
    uint64_t now = ack->now / 1000, held = 0, span;

    if (now - h->train_end > TRAIN_GAP)
        return 0;
    h->train_end = now;
    if (ack->send_rate_bytes_per_s > 0)
        held = (uint64_t)4 * LARGEST_SEND * 1000000 / ack->send_rate_bytes_per_s;
    span = delay_min + (held < HELD_MOST ? held : HELD_MOST);
    return now - h->train_start > (ack->is_paced ? span : span / 2);
}

/* True if this round trip is late, once there were enough samples before this one. */
static int round_is_late(struct hystart *h, uint32_t rtt, uint32_t delay_min)
{
    uint32_t later = delay_min / 8;
    int enough = h->samples == SAMPLES;

    h->least = h->has_least ? min_u32(h->least, rtt) : rtt;
    h->has_least = 1;
    h->samples = min_u32(h->samples + 1, SAMPLES);
    later = later < DELAY_LEAST ? DELAY_LEAST : later > DELAY_MOST ? DELAY_MOST : later;
    return enough && h->least > add_u32(delay_min, later);
}

/* True at the first sign, only once. */
static int hystart_is_over(struct hystart *h, uint32_t cwnd, const struct lasthop_cc_ack *ack, uint32_t rtt,
                           uint32_t delay_min)
{
    int is_long, is_late;

    if (h->found)
        return 0;
    if (ack->snd_una > h->round_end)
        begin_round(h, ack->now, ack->snd_nxt);
    if (cwnd < LOW_WINDOW)
        return 0;
    is_long = train_is_long(h, ack, delay_min);
    is_late = round_is_late(h, rtt, delay_min);
    h->found = is_long || is_late;
    return h->found;
}

static void forget(struct cubic *c, struct lasthop_cc_sock *sk)
{
    sk->rtt_ns = -1;
    c->linux_.memory = (struct cubic_linux_memory){0};
    begin_round(&c->linux_.memory.hystart, sk->now, sk->snd_nxt);
}

void cubic_linux_begin(struct cubic *c, struct lasthop_cc_sock *sk)
{
    forget(c, sk);
    c->linux_.last_sent = jiffies(&c->linux_.window, sk->now);
}

void cubic_linux_timeout(struct cubic *c, struct lasthop_cc_sock *sk)
{
    forget(c, sk);
}

/* Time without data in flight does not count. [RFC 9438 §5.8] */
void cubic_linux_restart(struct cubic *c, const struct lasthop_cc_sock *sk)
{
    struct stage *stage = &c->linux_.memory.stage;
    uint64_t now = jiffies(&c->linux_.window, sk->now), start = stage->start + (now - c->linux_.last_sent);

    if (stage->begun)
        stage->start = start < now ? start : now;
}

void cubic_linux_hear(struct cubic *c, struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack)
{
    struct cubic_linux_memory *m = &c->linux_.memory;
    uint64_t now = jiffies(&c->linux_.window, ack->now);
    int64_t sample = rtt_us(ack);
    uint32_t rtt, cwnd;

    c->linux_.last_sent = now;
    /* Samples do not count for a second after a stage begins. */
    if (sample < 0 || (m->stage.begun && now - m->stage.start < c->linux_.window.hz))
        return;
    rtt = max_u32((uint32_t)sample, 1);
    m->delay_min = m->has_delay ? min_u32(m->delay_min, rtt) : rtt;
    m->has_delay = 1;
    sk->rtt_ns = m->delay_min < NO_RTT ? (int64_t)m->delay_min * 1000 : -1;
    /* In recovery the window may be below ssthresh for a while. */
    cwnd = whole_cwnd(sk);
    if ((sk->state == LASTHOP_CC_RECOVERY || sk->state == LASTHOP_CC_CWR) && ack->window > 0)
        cwnd = ack->window;
    if (c->params.hystart && cwnd < whole_ssthresh(sk) && hystart_is_over(&m->hystart, cwnd, ack, rtt, m->delay_min))
        sk->ssthresh = cwnd;
}

/* Reaches W(t + least RTT) one round trip from now. */
static uint32_t curve_price(const struct cubic_linux *l, uint32_t cwnd, uint64_t now)
{
    const struct cubic_linux_memory *m = &l->memory;
    uint64_t ahead = ticks_covering_us(&l->window, m->has_delay ? m->delay_min : 0);
    uint64_t t = cubic_ticks(now - m->stage.start + ahead, l->window.hz);
    uint32_t price = price_of(cubic_target(&l->function, m->stage.origin, m->stage.k, t), cwnd);

    return m->w_max == 0 ? min_u32(price, BEFORE_FIRST_LOSS) : price;
}

/* The curve's price, found once per tick, or Reno's if that is lower. */
static void find_price(struct cubic *c, uint32_t cwnd, uint32_t acked, uint64_t now)
{
    struct cubic_linux *l = &c->linux_;
    struct stage *stage = &l->memory.stage;
    struct quote *quote = &l->memory.quote;
    int same_tick = quote->found && quote->at == now && stage->begun;

    stage_begin(stage, &l->function, cwnd, l->memory.w_max, acked, now);
    if (!same_tick)
        *quote = (struct quote){.found = 1, .price = curve_price(l, cwnd, now), .cwnd = cwnd, .at = now};
    if (c->params.reno_friendly) {
        reno_window_grow(&stage->reno, reno_per_segment(&l->function, cwnd));
        quote->price = reno_window_limits(&stage->reno, cwnd, quote->price);
    }
    quote->price = max_u32(quote->price, LOWEST);
}

void cubic_linux_grow(struct cubic *c, struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack)
{
    struct cubic_linux *l = &c->linux_;
    uint32_t cwnd, left = slow_start_or_count(&l->window, sk, ack);
    uint64_t now;

    if (left == 0)
        return;
    now = jiffies(&l->window, ack->now);
    cwnd = whole_cwnd(sk);
    if (l->memory.stage.begun)
        l->memory.stage.reno.credit += left;
    if (!quote_holds(&l->memory.quote, cwnd, now, l->window.hz))
        find_price(c, cwnd, left, now);
    add_one_per(&l->window, sk, l->memory.quote.price, left);
}
