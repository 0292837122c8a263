/* SPDX-License-Identifier: MIT
 *
 * CUBIC: the window is a cubic function of the time since the last loss.
 *
 * Source: RFC 9438; for the eras of Linux see cubic_linux.c and cubic_linux_2_6.c. Parameters:
 *
 *   era               "rfc9438", a window of real numbers; or the whole segments of "linux" or "linux-2.6"
 *   beta              factor by which a loss multiplies the window (0.7) [RFC 9438 §4.6]
 *   c                 how steep the function is, in segments/s^3 (0.4) [RFC 9438 §5.1]
 *   fast_convergence  give way when windows shrink from loss to loss (true) [RFC 9438 §4.7]
 *   reno_friendly     never slower than Reno (true) [RFC 9438 §4.3]
 *   hystart           "off" or, in era "linux", "classic" [Ha, Rhee 2011]
 *
 * Gives the same windows as lasthop's own `cubic`, bit for bit. Leaves out: HyStart++.
 */
#include "cubic.h"

/* The least window after a loss, in segments. [RFC 5681 §3.1 (4)] */
#define MIN_SSTHRESH 2.0
/* Share of the window that a mark leaves with ABE. [RFC 8511 §3, RFC 9438 §4.6] */
#define BETA_ECN 0.85

static int read_number(struct cubic_params *p, const struct lasthop_cc_setting *it)
{
    double x = it->number;

    if (it->text)
        return 0;
    if (!strcmp(it->key, "beta") && x > 0 && x < 1)
        p->beta = x;
    else if (!strcmp(it->key, "c") && x > 0 && x <= 1000)
        p->c = x;
    else if (!strcmp(it->key, "fast_convergence") && (x == 0 || x == 1))
        p->fast_convergence = x != 0;
    else if (!strcmp(it->key, "reno_friendly") && (x == 0 || x == 1))
        p->reno_friendly = x != 0;
    else
        return 0;
    return 1;
}

static int read_text(struct cubic *c, const struct lasthop_cc_setting *it)
{
    if (!it->text)
        return 0;
    if (!strcmp(it->key, "era"))
        return read_era(it->text, "rfc9438", &c->era);
    if (strcmp(it->key, "hystart") || (strcmp(it->text, "off") && strcmp(it->text, "classic")))
        return 0;
    c->params.hystart = !strcmp(it->text, "classic");
    return 1;
}

static void init(struct lasthop_cc_sock *sk, const struct lasthop_cc_context *context,
                 const struct lasthop_cc_setting *settings, size_t count)
{
    struct cubic *c = sk->priv;

    c->abe = context->abe;
    c->params = (struct cubic_params){.beta = 0.7, .c = 0.4, .fast_convergence = 1, .reno_friendly = 1};
    for (size_t i = 0; i < count; i++) {
        if (read_number(&c->params, &settings[i]) || read_text(c, &settings[i]))
            continue;
        lasthop_cc_fail(sk,
                        "%s: there is era (rfc9438, linux, linux-2.6), beta (between 0 and 1), c (above 0, at most 1000), "
                        "fast_convergence, reno_friendly (true or false), hystart (off, classic)",
                        settings[i].key);
        return;
    }
    if (c->params.hystart && c->era != ERA_LINUX)
        lasthop_cc_fail(sk, "hystart: classic HyStart needs era = \"linux\"");
    sk->flags = LASTHOP_CC_EASES_MARKS;
    if (c->era == ERA_RFC)
        return;
    sk->flags |= LASTHOP_CC_WHOLE_SEGMENTS;
    linux_window_init(&c->linux_.window, c->era, context);
    cubic_function_init(&c->linux_.function, c->params.beta, c->params.c);
    cubic_linux_begin(c, sk);
}

static void established(struct lasthop_cc_sock *sk, int64_t rtt_ns)
{
    struct cubic *c = sk->priv;

    (void)rtt_ns;
    if (c->era != ERA_RFC)
        cubic_linux_begin(c, sk);
}

static void pkts_acked(struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack)
{
    struct cubic *c = sk->priv;

    linux_window_hear(&c->linux_.window, ack);
    if (c->era == ERA_LINUX)
        cubic_linux_hear(c, sk, ack);
    else if (c->era == ERA_LINUX_2_6)
        cubic_linux_2_6_hear(c, sk, ack);
}

/* A stage of congestion avoidance begins. K = cbrt((W_max - cwnd_epoch) / C). [RFC 9438 §4.2 (2)] */
static void begin_epoch(struct cubic *c, const struct lasthop_cc_sock *sk, uint64_t now)
{
    struct cubic_rfc *r = &c->rfc;
    double below = r->after_loss && r->w_max > sk->cwnd ? r->w_max - sk->cwnd : 0;

    r->has_epoch = 1;
    r->epoch_start = now;
    r->k_s = sk->host->cbrt(below / c->params.c);
    r->origin = sk->cwnd + below;
    r->w_est = sk->cwnd;
}

/* W_cubic(t) = C (t - K)^3 + W_max. [RFC 9438 §4.2 (1)] */
static double w_cubic(const struct cubic *c, double t_s)
{
    double offset = t_s - c->rfc.k_s;

    return c->params.c * offset * offset * offset + c->rfc.origin;
}

/* alpha = 3 (1 - beta) / (1 + beta), and 1 from cwnd_prior on. [RFC 9438 §4.3] */
static double reno_increase(const struct cubic *c)
{
    double beta = c->params.beta;

    return c->rfc.w_est >= c->rfc.cwnd_prior ? 1.0 : 3.0 * (1.0 - beta) / (1.0 + beta);
}

static void avoid_congestion(struct cubic *c, struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack, double acked)
{
    struct cubic_rfc *r = &c->rfc;
    double t_s, rtt_s, target;

    if (!r->has_epoch)
        begin_epoch(c, sk, ack->now);
    r->w_est += reno_increase(c) * acked / sk->cwnd;
    t_s = (double)(ack->now > r->epoch_start ? ack->now - r->epoch_start : 0) / 1e9;
    if (c->params.reno_friendly && w_cubic(c, t_s) < r->w_est) {
        if (sk->cwnd < r->w_est)
            sk->cwnd = r->w_est;
        return;
    }
    rtt_s = ack->srtt_ns < 0 ? 0.0 : (double)ack->srtt_ns / 1e9;
    target = w_cubic(c, t_s + rtt_s);
    if (target < sk->cwnd)
        target = sk->cwnd;
    if (target > 1.5 * sk->cwnd)
        target = 1.5 * sk->cwnd;
    sk->cwnd += (target - sk->cwnd) / sk->cwnd * acked;
}

static void grow(struct cubic *c, struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack)
{
    uint64_t since_last = ack->now > c->rfc.last_ack ? ack->now - c->rfc.last_ack : 0;
    double share;

    c->rfc.last_ack = ack->now;
    sk->rtt_ns = ack->srtt_ns;
    if (ack->in_recovery)
        return;
    if (ack->app_limited) {
        c->rfc.epoch_start += since_last;
        return;
    }
    share = lasthop_cc_slow_start(sk, ack);
    if (share > 0)
        avoid_congestion(c, sk, ack, ack->avoidance_credit * share);
}

static void cong_control(struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack)
{
    struct cubic *c = sk->priv;

    if (c->era == ERA_RFC)
        grow(c, sk, ack);
    else if (ack->in_recovery || ack->app_limited || ack->acked_segments == 0)
        return;
    else if (c->era == ERA_LINUX)
        cubic_linux_grow(c, sk, ack);
    else
        cubic_linux_2_6_grow(c, sk, ack);
}

/* W_max after a loss: the window, or less if it did not reach the last one. [RFC 9438 §4.7] */
static double rfc_ssthresh(struct cubic *c, double window, int eased)
{
    int shrank = c->params.fast_convergence && window < c->rfc.w_max;
    double kept = window * (eased ? BETA_ECN : c->params.beta);

    c->rfc.w_max = shrank ? window * (1.0 + c->params.beta) / 2.0 : window;
    c->rfc.cwnd_prior = window;
    return kept < MIN_SSTHRESH ? MIN_SSTHRESH : kept;
}

static double ssthresh(struct lasthop_cc_sock *sk, const struct lasthop_cc_event *event)
{
    struct cubic *c = sk->priv;
    struct cubic_linux_memory *m = &c->linux_.memory;
    int eased = c->abe && event->cause == LASTHOP_CC_CAUSE_ECN;
    uint32_t lost_at = whole(event->window);

    if (c->era == ERA_RFC)
        return rfc_ssthresh(c, event->window, eased);
    m->stage.begun = 0;
    m->w_max = c->params.fast_convergence && lost_at < m->w_max ? given_way(&c->linux_.function, lost_at) : lost_at;
    m->lost_before = 1;
    return kept_of(&c->linux_.function, lost_at, eased);
}

static void set_state(struct lasthop_cc_sock *sk, uint32_t new_state, const struct lasthop_cc_event *event)
{
    struct cubic *c = sk->priv;

    if (new_state == LASTHOP_CC_OPEN)
        return;
    if (c->era == ERA_RFC) {
        c->rfc.has_epoch = 0;
        c->rfc.after_loss = new_state != LASTHOP_CC_LOSS;
        return;
    }
    linux_window_reduced(&c->linux_.window, event);
    if (new_state == LASTHOP_CC_LOSS)
        cubic_linux_timeout(c, sk);
}

static void cwnd_event(struct lasthop_cc_sock *sk, uint32_t event)
{
    struct cubic *c = sk->priv;

    if (c->era == ERA_RFC && event == LASTHOP_CC_CWND_RESTART)
        c->rfc.has_epoch = 0;
    if (c->era == ERA_RFC)
        return;
    if (c->era == ERA_LINUX && event == LASTHOP_CC_TX_START)
        cubic_linux_restart(c, sk);
    linux_window_event(sk, event);
}

const struct lasthop_cc_v1 lasthop_cc = {
    LASTHOP_CC_HEAD,
    .name = "cubic",
    .private_size = sizeof(struct cubic),
    .init = init,
    .established = established,
    .pkts_acked = pkts_acked,
    .cong_control = cong_control,
    .ssthresh = ssthresh,
    .set_state = set_state,
    .cwnd_event = cwnd_event,
};
