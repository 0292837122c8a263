/* SPDX-License-Identifier: MIT
 *
 * The cubic function in whole numbers, for the eras of Linux.
 *
 * Source: RFC 9438 §4.2; units and rounding by docs/model/congestion-control-rules.md. Time is in ticks of 1/1024 s; K is cut
 * to whole ticks, the distance from the origin to whole segments.
 */
#ifndef CUBIC_FUNCTION_H
#define CUBIC_FUNCTION_H

#include "linux_window.h"

__extension__ typedef unsigned __int128 u128;

/* Ticks per second, as a power of two. */
#define TICK_SHIFT 10

struct cubic_function {
    uint64_t c;            /* C in 1/1024 segments/s^3 */
    uint32_t beta;         /* in 1/1024 */
    uint32_t reno_eighths; /* windows of ACKs for a segment of Reno's growth, in eighths */
};

static inline void cubic_function_init(struct cubic_function *f, double beta, double c)
{
    double parts = round(c * 102.4); /* C is a multiple of 10/1024 */
    double share = round(beta * 1024.0);

    f->c = 10 * (uint64_t)(parts < 1 ? 1 : parts > 0x1p36 ? 0x1p36 : parts);
    f->beta = (uint32_t)(share < 1 ? 1 : share > 1023 ? 1023 : share);
    f->reno_eighths = 8 * (1024 + f->beta) / 3 / (1024 - f->beta);
}

/* A fraction of a window, in parts, rounded down. */
static inline uint32_t parts_of(uint32_t window, uint32_t parts, uint32_t of)
{
    return (uint32_t)((uint64_t)window * parts / of);
}

/* The window left by a loss; with ABE a mark leaves 0.85 of it. [RFC 8511 §3] */
static inline uint32_t kept_of(const struct cubic_function *f, uint32_t window, int eased)
{
    return max_u32(eased ? parts_of(window, 17, 20) : parts_of(window, f->beta, 1024), MIN_WINDOW);
}

/* (1 + beta) / 2 times a window. [RFC 9438 §4.7] */
static inline uint32_t given_way(const struct cubic_function *f, uint32_t window)
{
    return parts_of(window, 1024 + f->beta, 2048);
}

/* ACKs or segments for one segment of Reno's growth. [RFC 9438 §4.3] */
static inline uint64_t reno_per_segment(const struct cubic_function *f, uint32_t cwnd)
{
    uint64_t per = ((uint64_t)cwnd * f->reno_eighths) >> 3;

    return per < 1 ? 1 : per;
}

/* The whole part of a cube root, bit by bit from the highest possible one. */
static inline uint64_t cube_root(uint64_t a)
{
    uint64_t root = 0;

    for (int bit = 21; bit >= 0; bit--) {
        uint64_t longer = root | (uint64_t)1 << bit;

        if ((u128)longer * longer * longer <= a)
            root = longer;
    }
    return root;
}

/* K = cbrt((W_max - cwnd) / C), in ticks. [RFC 9438 §4.2 (2)] */
static inline uint64_t cubic_k(const struct cubic_function *f, uint32_t below)
{
    u128 a = (u128)(((uint64_t)1 << (4 * TICK_SHIFT)) / f->c) * below;

    return cube_root(a > UINT64_MAX ? UINT64_MAX : (uint64_t)a);
}

/* Ticks of this function in a number of ticks of a clock of `hz`. */
static inline uint64_t cubic_ticks(uint64_t ticks, uint32_t hz)
{
    u128 t = ((u128)ticks << TICK_SHIFT) / hz;

    return t > (uint64_t)1 << 41 ? (uint64_t)1 << 41 : (uint64_t)t;
}

/* W(t): the origin, less the distance from it before K, plus it after. [RFC 9438 §4.2 (1)] */
static inline uint32_t cubic_target(const struct cubic_function *f, uint32_t origin, uint64_t k, uint64_t t)
{
    uint64_t offset = t < k ? k - t : t - k;
    u128 product;
    uint32_t distance = UINT32_MAX;

    if (!__builtin_mul_overflow((u128)offset * offset * offset, (u128)f->c, &product)) {
        product >>= 4 * TICK_SHIFT;
        distance = product > UINT32_MAX ? UINT32_MAX : (uint32_t)product;
    }
    if (t < k)
        return origin > distance ? origin - distance : 0;
    return add_u32(origin, distance);
}

/* The price of one segment for reaching `target` a window later; a hundred windows if the target is not larger. */
static inline uint32_t price_of(uint32_t target, uint32_t cwnd)
{
    if (target > cwnd)
        return cwnd / (target - cwnd);
    return cut_u64((uint64_t)cwnd * 100);
}

/* Reno with the same decrease: its window, and the count of segments or ACKs towards its next one. */
struct reno_window {
    uint32_t window;
    uint64_t credit;
};

/* One segment for each `per_segment` counted; the last only if more than it is there. */
static inline void reno_window_grow(struct reno_window *reno, uint64_t per_segment)
{
    uint64_t due = (reno->credit > 0 ? reno->credit - 1 : 0) / per_segment;

    reno->credit -= due * per_segment;
    reno->window = add_u32(reno->window, cut_u64(due));
}

/* The highest price of one segment at `cwnd` that still catches up with Reno within a window. */
static inline uint32_t reno_window_limits(const struct reno_window *reno, uint32_t cwnd, uint32_t price)
{
    return reno->window > cwnd ? min_u32(price, cwnd / (reno->window - cwnd)) : price;
}

/* A stage of congestion avoidance: the curve, and Reno beside it. */
struct stage {
    int begun;
    uint64_t start; /* in clock ticks */
    uint64_t k;     /* in ticks of the cubic function */
    uint32_t origin;
    struct reno_window reno;
};

static inline void stage_begin(struct stage *s, const struct cubic_function *f, uint32_t cwnd, uint32_t w_max,
                               uint32_t counted, uint64_t now)
{
    if (s->begun)
        return;
    *s = (struct stage){
        .begun = 1,
        .start = now,
        .k = cubic_k(f, w_max > cwnd ? w_max - cwnd : 0),
        .origin = max_u32(w_max, cwnd),
        .reno = {.window = cwnd, .credit = counted},
    };
}

/* A price, with the window and the tick it was found at. It holds for 1/32 s while the window stays. */
struct quote {
    int found;
    uint32_t price;
    uint32_t cwnd;
    uint64_t at;
};

static inline int quote_holds(const struct quote *q, uint32_t cwnd, uint64_t now, uint32_t hz)
{
    return q->found && q->cwnd == cwnd && now - q->at <= hz / 32;
}

#endif
