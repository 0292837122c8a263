/* SPDX-License-Identifier: MIT
 *
 * lasthop_cc.h: a congestion control of your own in C, or in any language that makes a shared library.
 *
 * A library exports one table of functions, `struct lasthop_cc_v1`, as the symbol `lasthop_cc`. lasthop makes a
 * `struct lasthop_cc_sock` for each connection, calls the functions of the table when something happens there, and reads
 * the window from it after each call:
 *
 *     #include "lasthop_cc.h"
 *
 *     static void cong_avoid(struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack)
 *     {
 *         lasthop_cc_slow_start(sk, ack);
 *     }
 *     static double ssthresh(struct lasthop_cc_sock *sk, const struct lasthop_cc_event *event)
 *     {
 *         (void)sk;
 *         return event->window / 2 < 2 ? 2 : event->window / 2;
 *     }
 *     const struct lasthop_cc_v1 lasthop_cc = {
 *         LASTHOP_CC_HEAD, .name = "mine", .cong_avoid = cong_avoid, .ssthresh = ssthresh,
 *     };
 *
 *     cc -O2 -ffp-contract=off -shared -fPIC -I"$(lasthop cc header --path)" mine.c -o mine.so
 *
 * Functions are called as those of `struct tcp_congestion_ops` in Linux, where the meaning is the same; differences are
 * noted beside each. All except `ssthresh`, and `cong_avoid` or `cong_control`, may be NULL.
 *
 * Units: times in ns since the start of the run, durations in ns, windows in segments (real numbers, not whole ones unless
 * LASTHOP_CC_WHOLE_SEGMENTS is set), offsets in bytes of payload since the connection began, rates as their names say.
 *
 * Rules:
 * - A call must not block, keep a pointer to any argument except `sk` itself, or use a clock, a file or a thread:
 *   its behaviour may depend only on `sk` and its arguments. Therefore the same seed gives the same result.
 * - Pass functions of `sk->host` the `sk` of the call, never a copy of the struct: lasthop keeps the random numbers behind the
 *   original, and would read beyond a copy. What is written to a copy, its `error` too, has no effect.
 * - Connections of one library may live in several threads at once, each in one at a time. Keep state in `sk->priv`, not in
 *   global variables.
 * - After each call the window must be a finite number above 0 and ssthresh a number that is not negative. Anything else
 *   ends the run with a message, and so does `lasthop_cc_fail(sk, "why")`.
 * - Platforms differ in the last digit of cbrt, exp, log and pow: take those of `sk->host`. Compile with -ffp-contract=off,
 *   so that products are not merged with sums where the processor could.
 */
#ifndef LASTHOP_CC_H
#define LASTHOP_CC_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. Later headers of the same version add fields at the end of a struct. */
#define LASTHOP_CC_VERSION 1
/* The first fields of a table. */
#define LASTHOP_CC_HEAD .size = sizeof(struct lasthop_cc_v1), .version = LASTHOP_CC_VERSION

/* `sk->flags`: what the controller needs and how it is treated; set in `init`, for the life of the connection. */
#define LASTHOP_CC_PACED             (1u << 0) /* segments are paced instead of leaving in bursts */
#define LASTHOP_CC_RATE_SAMPLES      (1u << 1) /* `ack->rate`, which the recovery machine "rfc" does not take */
#define LASTHOP_CC_MARKS_EACH_PACKET (1u << 2) /* ECE follows the marks packet by packet [RFC 8257 §3.2] */
#define LASTHOP_CC_MARKS_COUNTED     (1u << 3) /* a counter of marked packets comes back [RFC 9768 §3.2] */
#define LASTHOP_CC_SCALABLE          (1u << 4) /* data carries ECT(1), the identifier of L4S [RFC 9331 §4.1] */
#define LASTHOP_CC_EASES_MARKS       (1u << 5) /* may reduce the window less on a mark than on a loss [RFC 8511 §3] */
#define LASTHOP_CC_WHOLE_SEGMENTS    (1u << 6) /* the endpoint cuts what it writes to cwnd and ssthresh to whole segments */
#define LASTHOP_CC_OWNS_RECOVERY     (1u << 7) /* sets its window in recovery itself: no proportional rate reduction */

/* `sk->state`, named as in Linux. Disorder is not reported. */
enum lasthop_cc_state {
    LASTHOP_CC_OPEN = 0,     /* nothing is being repaired */
    LASTHOP_CC_CWR = 2,      /* a reduction after marks */
    LASTHOP_CC_RECOVERY = 3, /* a reduction after a loss */
    LASTHOP_CC_LOSS = 4,     /* after a timeout */
};

/* Events of `cwnd_event`; numbers below 16 are those of Linux. `sk->now` and offsets are of now in the first and third. */
enum lasthop_cc_cwnd_event {
    LASTHOP_CC_TX_START = 0,      /* new data goes out while nothing is outstanding */
    LASTHOP_CC_CWND_RESTART = 1,  /* after an idle RTO cwnd was cut to the restart window [RFC 5681 §4.1] */
    LASTHOP_CC_COMPLETE_CWR = 2,  /* all that was in flight at the reduction is acknowledged; unlike in Linux, cwnd is as
                                     the controller left it; set_state(LASTHOP_CC_OPEN) follows */
    LASTHOP_CC_CWND_SET = 16,     /* the endpoint replaced cwnd */
    LASTHOP_CC_SSTHRESH_SET = 17, /* the endpoint replaced ssthresh */
};

/* The cause of a window reduction. */
enum lasthop_cc_cause {
    LASTHOP_CC_CAUSE_LOSS = 0,    /* data lost, found by duplicate ACKs or SACK */
    LASTHOP_CC_CAUSE_TIMEOUT = 1, /* the retransmission timer */
    LASTHOP_CC_CAUSE_ECN = 2,     /* congestion marks [RFC 3168 §6.1.2] */
};

/* Basis of window growth. */
enum lasthop_cc_growth {
    LASTHOP_CC_PER_ACK = 0,  /* one segment's worth for each ACK, whatever it covers */
    LASTHOP_CC_PER_BYTE = 1, /* the bytes acknowledged, in segments */
};

struct lasthop_cc_sock;

/* Functions of lasthop that give the same numbers on every machine. */
struct lasthop_cc_host {
    double (*cbrt)(double);
    double (*exp)(double);
    double (*log)(double);
    double (*pow)(double, double);
    /* The next number of the connection's own stream, any of 32 bits. */
    uint32_t (*random_u32)(struct lasthop_cc_sock *sk);
    /* A number from 0 to end - 1; 0 where end is 0. */
    uint32_t (*random_below)(struct lasthop_cc_sock *sk, uint32_t end);
};

/* A connection, as its controller sees it. Made, zeroed and freed by lasthop; its address stays. */
struct lasthop_cc_sock {
    /* Written by the controller. */
    double cwnd;              /* congestion window in segments, above 0; the initial window before `init` */
    double ssthresh;          /* slow-start threshold in segments; INFINITY if there is none */
    uint64_t pacing_rate_bps; /* rate of payload and headers in bit/s; 0: as the window allows */
    uint64_t longest_send_ns; /* at that rate, how long one send may last; 0: as suits segmentation */
    int64_t rtt_ns;           /* the RTT that it uses, for plots; -1: none */
    uint32_t flags;           /* LASTHOP_CC_PACED and so on, in `init` only */
    uint32_t holds_back;      /* not 0: the window is kept small to measure; samples count as application-limited */

    /* Written by lasthop, to read only. */
    uint32_t state;           /* enum lasthop_cc_state, before `set_state` is told of a new one */
    uint32_t app_limited;     /* the application has left the window unused */
    uint64_t now;             /* time of the event, in ns */
    uint64_t snd_una;         /* offset of the oldest byte not acknowledged */
    uint64_t snd_nxt;         /* offset after the newest byte sent */
    double prior_cwnd;        /* cwnd and ssthresh before lasthop last wrote one of them */
    double prior_ssthresh;
    void *priv;               /* `private_size` bytes of yours, zeroed, aligned to 16; NULL where it is 0 */
    const struct lasthop_cc_host *host;

    /* Text written here ends the run with this message; see lasthop_cc_fail. UTF-8, ends with NUL. */
    char error[256];
};

/* A connection at its start. */
struct lasthop_cc_context {
    double initial_window;       /* in segments */
    double initial_ssthresh;     /* in segments; INFINITY where there is none */
    uint32_t mss_bytes;          /* payload of a full segment */
    uint32_t abe;                /* not 0: a mark reduces the window less than a loss [RFC 8511] */
    uint32_t slow_start_growth;  /* enum lasthop_cc_growth; the credits of an ACK follow it already */
    uint32_t avoidance_growth;
    uint64_t tick_ns;            /* clock tick of the controllers that follow Linux */
};

/* A key that stands in the scenario beside `kind` and `library`. */
struct lasthop_cc_setting {
    const char *key;
    const char *text; /* NULL where it is a number */
    double number;    /* 0 where it is a text; true is 1, false 0 */
};

/* A sample of the delivery rate, from the last-sent segment that the ACK newly reports.
 * [draft-cheng-iccrg-delivery-rate-estimation §3; draft-ietf-ccwg-bbr-02 §4.1] */
struct lasthop_cc_rate_sample {
    uint64_t interval_ns;     /* the longer of the times over which they were sent and were acknowledged */
    uint64_t prior_delivered; /* `total_delivered` when that segment was sent */
    uint32_t delivered;       /* segments delivered over the interval */
    uint32_t delivered_ce;    /* number of these that were congestion-marked */
    uint32_t lost;            /* segments found lost between the sending of that segment and now */
    uint32_t flight_at_send;  /* segments in flight right after that segment was sent */
    uint32_t is_app_limited;  /* the application left the window unused when it was sent */
    uint32_t is_ack_delayed;  /* the receiver may have withheld this ACK: it covers one segment sent once */
};

/* The facts of one ACK. */
struct lasthop_cc_ack {
    uint64_t now;                  /* time of arrival, in ns */
    int64_t rtt_ns;                /* RTT of the newest segment delivered that was sent only once; -1: none */
    int64_t srtt_ns;               /* smoothed RTT, this sample included; -1: none yet */
    double slow_start_credit;      /* segments that count for growth in slow start */
    double avoidance_credit;       /* segments that count for growth in congestion avoidance */
    uint64_t acked_bytes;          /* newly acknowledged in order */
    uint64_t delivered_bytes;      /* delivered for the first time, in order or not */
    uint64_t prior_flight_bytes;   /* payload in flight before this ACK */
    uint64_t flight_bytes;         /* and after it */
    uint64_t total_delivered;      /* segments delivered since the connection began, this ACK included */
    uint64_t total_lost;           /* segments found lost since the connection began, this ACK included */
    uint64_t round_trips;          /* each ends when data is acknowledged that was sent after the last end */
    uint64_t snd_una;              /* offset of the oldest byte not acknowledged, after this ACK */
    uint64_t snd_nxt;              /* offset after the newest byte sent, before what this ACK releases */
    uint64_t send_rate_bytes_per_s;/* the sender's estimate, from window and RTT; 0: unknown */
    uint64_t next_departure_ns;    /* when pacing releases the next segment; in the past, or 0, if it does not wait */
    const struct lasthop_cc_rate_sample *rate; /* NULL if this ACK gives no sample */
    uint32_t acked_segments;       /* newly acknowledged in order, those SACKed before included */
    uint32_t delivered_segments;   /* delivered for the first time, in order or not */
    uint32_t lost_segments;        /* found lost by this ACK */
    uint32_t prior_flight_segments;/* in flight before this ACK */
    uint32_t flight_segments;      /* and after it */
    uint32_t ce_segments;          /* congestion-marked, of those acknowledged */
    uint32_t window;               /* before this ACK, rate reduction included, in whole segments; 0: unknown */
    uint32_t in_recovery;          /* a fast recovery was under way when it came */
    uint32_t app_limited;          /* the window was not fully used: the application or the receiver was the limit */
    uint32_t ece;                  /* it carried ECN-Echo */
    uint32_t ends_timeout;         /* it acknowledges all that was outstanding at the last timeout */
    uint32_t is_paced;             /* segments are paced at `send_rate_bytes_per_s` */
};

/* A congestion event. */
struct lasthop_cc_event {
    uint64_t now;          /* time of detection, in ns */
    double window;         /* the window to reduce, in segments: flight size or cwnd, as configured */
    uint64_t flight_bytes; /* payload in flight before it */
    uint64_t snd_una;
    uint64_t snd_nxt;
    uint64_t total_lost;   /* segments found lost since the connection began, those of this event included */
    uint32_t cause;        /* enum lasthop_cc_cause */
    uint32_t repeated;     /* the timer had expired for the same data: ssthresh is held [RFC 5681 §3.1] */
};

/* Window and threshold before a spurious reduction. */
struct lasthop_cc_prior {
    double cwnd;     /* in segments */
    double ssthresh; /* in segments; INFINITY where there was none */
};

/* The table. Begin it with LASTHOP_CC_HEAD and name the fields; others are NULL. */
struct lasthop_cc_v1 {
    uint32_t size;         /* sizeof(struct lasthop_cc_v1) */
    uint32_t version;      /* LASTHOP_CC_VERSION */
    const char *name;      /* for messages; NULL: the file's */
    uint64_t private_size; /* bytes of `sk->priv` */

    /* A connection is made. `sk` has the initial window and ssthresh. Set `flags`, read the settings (`settings` may be
     * NULL where `count` is 0), refuse those that are not yours by lasthop_cc_fail: the user sees the text beside the
     * scenario's key. Unlike in Linux the handshake comes later. NULL: settings are refused. */
    void (*init)(struct lasthop_cc_sock *sk, const struct lasthop_cc_context *context,
                 const struct lasthop_cc_setting *settings, size_t count);
    /* The end of a connection. Free what `init` allocated beyond `priv`. Not called if `init` failed: free it there. */
    void (*release)(struct lasthop_cc_sock *sk);
    /* After the handshake; `rtt_ns` is the RTT that it measured, -1 if none. */
    void (*established)(struct lasthop_cc_sock *sk, int64_t rtt_ns);

    /* Once for each ACK, before the reaction to a loss or a mark that it shows: for measuring. */
    void (*pkts_acked)(struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack);
    /* Growth: an ACK that delivered data, outside recovery, while the window was fully used. */
    void (*cong_avoid)(struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack);
    /* In place of cong_avoid: every ACK that delivered data, whatever the state and use of the window. */
    void (*cong_control)(struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack);

    /* ssthresh after a congestion event, in segments; not called if `event->repeated`. lasthop writes it to
     * `sk->ssthresh`, and to `sk->cwnd`, the window at the end of recovery; after a timeout cwnd becomes 1. The
     * sender inflates and reduces in between, as Linux does by proportional rate reduction. */
    double (*ssthresh)(struct lasthop_cc_sock *sk, const struct lasthop_cc_event *event);
    /* The state changes to one of enum lasthop_cc_state, after the window was set; it may be set otherwise here. `event` is
     * NULL where the new state is LASTHOP_CC_OPEN. A second timeout is reported again. */
    void (*set_state)(struct lasthop_cc_sock *sk, uint32_t new_state, const struct lasthop_cc_event *event);
    /* The last reduction was spurious: the window to restore, in segments; ssthresh is restored too, unless it is larger
     * by now, and set_state(LASTHOP_CC_OPEN) follows. NULL: the larger of the window now and before. */
    double (*undo_cwnd)(struct lasthop_cc_sock *sk, const struct lasthop_cc_prior *prior);
    /* One of enum lasthop_cc_cwnd_event; `sk->prior_cwnd` and `sk->prior_ssthresh` are the values before. */
    void (*cwnd_event)(struct lasthop_cc_sock *sk, uint32_t event);
};

/* Gives up: ends the run with a message, as by printf. Return from the function that was called afterwards. */
#define lasthop_cc_fail(sk, ...) ((void)snprintf((sk)->error, sizeof((sk)->error), __VA_ARGS__))

/* Slow start: grows cwnd by the credit of an ACK, at most to ssthresh. Returns the share of the ACK that is left for
 * congestion avoidance, from 0 to 1. [RFC 5681 §3.1] */
static inline double lasthop_cc_slow_start(struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack)
{
    double credit = ack->slow_start_credit, room = sk->ssthresh - sk->cwnd, used;

    if (sk->cwnd >= sk->ssthresh)
        return 1.0;
    used = credit < room ? credit : room;
    sk->cwnd += used;
    return credit > 0.0 ? 1.0 - used / credit : 0.0;
}

#ifdef __cplusplus
}
#endif

#endif
