/* SPDX-License-Identifier: MIT
 *
 * NewReno's window: additive increase, multiplicative decrease.
 *
 * Source: RFC 5681 §3.1; the recovery that goes by this name [RFC 6582] is the sender's. Parameters:
 *
 *   era       "rfc5681", a window of real numbers; or the whole segments of "linux" or "linux-2.6"
 *   increase  segments per round trip in congestion avoidance (1)
 *   beta      factor by which a loss multiplies the window (0.5)
 *
 * Gives the same windows as lasthop's own `newreno`, bit for bit.
 */
#include "linux_window.h"

/* The least window after a loss, in segments. [RFC 5681 §3.1 (4)] */
#define MIN_SSTHRESH 2.0
/* Share of the window that a mark leaves. [RFC 8511 §3] */
#define BETA_ECN 0.8

struct newreno {
    enum era era;
    uint32_t abe;
    uint32_t counts_acks; /* in congestion avoidance */
    double increase;
    double beta;
    double credit; /* segments acknowledged towards the next increase, where bytes are counted */
    struct linux_window window;
};

static int read_setting(struct newreno *n, struct lasthop_cc_sock *sk, const struct lasthop_cc_setting *it)
{
    if (!strcmp(it->key, "era") && read_era(it->text, "rfc5681", &n->era))
        return 1;
    if (!strcmp(it->key, "increase") && !it->text && it->number > 0) {
        n->increase = it->number;
        return 1;
    }
    if (!strcmp(it->key, "beta") && !it->text && it->number > 0 && it->number < 1) {
        n->beta = it->number;
        return 1;
    }
    lasthop_cc_fail(sk, "%s: there is era (rfc5681, linux, linux-2.6), increase (above 0), beta (between 0 and 1)", it->key);
    return 0;
}

static void init(struct lasthop_cc_sock *sk, const struct lasthop_cc_context *context,
                 const struct lasthop_cc_setting *settings, size_t count)
{
    struct newreno *n = sk->priv;

    n->increase = 1;
    n->beta = 0.5;
    n->abe = context->abe;
    n->counts_acks = context->avoidance_growth == LASTHOP_CC_PER_ACK;
    for (size_t i = 0; i < count; i++)
        if (!read_setting(n, sk, &settings[i]))
            return;
    sk->flags = LASTHOP_CC_EASES_MARKS;
    if (n->era == ERA_RFC)
        return;
    if (n->increase != 1 || n->beta != 0.5)
        lasthop_cc_fail(sk, "era: a kernel's increase is 1 and its beta 0.5");
    sk->flags |= LASTHOP_CC_WHOLE_SEGMENTS;
    linux_window_init(&n->window, n->era, context);
}

static void pkts_acked(struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack)
{
    struct newreno *n = sk->priv;

    linux_window_hear(&n->window, ack);
}

static void grow_2_6(struct linux_window *w, struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack)
{
    if (in_slow_start(w, sk)) {
        slow_start_or_count(w, sk, ack);
    } else if (w->avoidance_growth == LASTHOP_CC_PER_ACK) {
        count_or_add(w, sk, whole_cwnd(sk));
    } else if (w->uncounted >= whole_cwnd(sk)) {
        w->uncounted -= whole_cwnd(sk);
        sk->cwnd = add_u32(whole_cwnd(sk), 1);
    }
}

static void grow_whole(struct linux_window *w, struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack)
{
    uint32_t left;

    if (ack->acked_segments == 0)
        return;
    if (w->era == ERA_LINUX_2_6) {
        grow_2_6(w, sk, ack);
        return;
    }
    left = slow_start_or_count(w, sk, ack);
    if (left > 0)
        add_one_per(w, sk, whole_cwnd(sk), left);
}

static void avoid_congestion(struct newreno *n, struct lasthop_cc_sock *sk, double acked)
{
    if (n->counts_acks) {
        sk->cwnd += n->increase * acked / sk->cwnd; /* [RFC 5681 §3.1 (3)] */
        return;
    }
    n->credit += acked; /* [RFC 3465 §2.1] */
    if (n->credit >= sk->cwnd) {
        n->credit -= sk->cwnd;
        sk->cwnd += n->increase;
    }
}

static void cong_avoid(struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack)
{
    struct newreno *n = sk->priv;
    double share;

    if (n->era != ERA_RFC) {
        grow_whole(&n->window, sk, ack);
        return;
    }
    share = lasthop_cc_slow_start(sk, ack);
    if (share > 0)
        avoid_congestion(n, sk, ack->avoidance_credit * share);
}

static double ssthresh(struct lasthop_cc_sock *sk, const struct lasthop_cc_event *event)
{
    const struct newreno *n = sk->priv;
    int eased = n->abe && event->cause == LASTHOP_CC_CAUSE_ECN;
    double kept;

    if (n->era != ERA_RFC) {
        uint32_t lost_at = whole(event->window);

        return max_u32(eased ? (uint32_t)((uint64_t)lost_at * 4 / 5) : lost_at / 2, MIN_WINDOW);
    }
    kept = event->window * (eased ? BETA_ECN : n->beta);
    return kept < MIN_SSTHRESH ? MIN_SSTHRESH : kept;
}

static void set_state(struct lasthop_cc_sock *sk, uint32_t new_state, const struct lasthop_cc_event *event)
{
    struct newreno *n = sk->priv;

    if (new_state == LASTHOP_CC_OPEN)
        return;
    n->credit = 0;
    linux_window_reduced(&n->window, event);
}

static void cwnd_event(struct lasthop_cc_sock *sk, uint32_t event)
{
    const struct newreno *n = sk->priv;

    if (n->era != ERA_RFC)
        linux_window_event(sk, event);
}

const struct lasthop_cc_v1 lasthop_cc = {
    LASTHOP_CC_HEAD,
    .name = "newreno",
    .private_size = sizeof(struct newreno),
    .init = init,
    .pkts_acked = pkts_acked,
    .cong_avoid = cong_avoid,
    .ssthresh = ssthresh,
    .set_state = set_state,
    .cwnd_event = cwnd_event,
};
