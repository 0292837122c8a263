/* SPDX-License-Identifier: MIT
 *
 * Declarations for the three eras of CUBIC.
 */
#ifndef CUBIC_H
#define CUBIC_H

#include "cubic_function.h"

struct cubic_params {
    double beta;
    double c;
    int fast_convergence;
    int reno_friendly;
    int hystart;
};

/* Era "rfc9438": windows are real numbers. */
struct cubic_rfc {
    double w_max;      /* window at the last loss, in segments; 0 before the first */
    double cwnd_prior; /* window before the last reduction [RFC 9438 §4.1.2] */
    int after_loss;    /* the next epoch starts below W_max, not at its own plateau [RFC 9438 §4.8] */
    int has_epoch;
    uint64_t epoch_start; /* in ns; moved on by the time in which the window was not used [RFC 9438 §5.8] */
    double k_s;           /* when the function reaches the origin [RFC 9438 §4.2] */
    double origin;        /* the plateau, in segments */
    double w_est;         /* what Reno would have [RFC 9438 §4.3] */
    uint64_t last_ack;    /* in ns */
};

/* Classic HyStart: two signs of a queue in slow start. Times in µs. */
struct hystart {
    int found;
    int has_least;
    uint64_t round_end;
    uint64_t train_start;
    uint64_t train_end;
    uint32_t least;
    uint32_t samples;
};

/* State cleared by a timeout. */
struct cubic_linux_memory {
    uint32_t w_max;
    int lost_before;
    struct stage stage;
    struct quote quote;
    int has_delay;
    uint32_t delay_min;   /* in µs; in 2.6 in eighths of a clock tick */
    int64_t more_per_ack; /* 2.6: segments per ACK less two, in 1/16, rounded up */
    struct hystart hystart;
};

/* Eras "linux" and "linux-2.6": whole segments, and a clock of ticks. */
struct cubic_linux {
    struct linux_window window;
    struct cubic_function function;
    struct cubic_linux_memory memory;
    uint64_t last_sent; /* in clock ticks */
};

struct cubic {
    enum era era;
    uint32_t abe;
    struct cubic_params params;
    struct cubic_rfc rfc;
    struct cubic_linux linux_;
};

/* cubic_linux.c */
void cubic_linux_begin(struct cubic *c, struct lasthop_cc_sock *sk);
void cubic_linux_restart(struct cubic *c, const struct lasthop_cc_sock *sk);
void cubic_linux_hear(struct cubic *c, struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack);
void cubic_linux_grow(struct cubic *c, struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack);
void cubic_linux_timeout(struct cubic *c, struct lasthop_cc_sock *sk);

/* cubic_linux_2_6.c */
void cubic_linux_2_6_hear(struct cubic *c, struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack);
void cubic_linux_2_6_grow(struct cubic *c, struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack);

#endif
