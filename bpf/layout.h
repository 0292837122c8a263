/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Data shared by programs in the kernel and their loaders and readers. Numbers have the byte order of the machine; all
 * fields are aligned to multiples of their size, so that no compiler pads. python/lasthop/kernel/bpf/layout.py has the same in Python. */
#ifndef LASTHOP_LAYOUT_H
#define LASTHOP_LAYOUT_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;

/* The controller around which ack_loss reacts. */
enum base { BASE_CUBIC = 0, BASE_RENO = 1 };

struct ack_loss_settings {
	u32 base;
	u32 threshold; /* ACKs of a window that may be missing */
};

/* Number of sockets with a place; a later one takes the place of the oldest. */
#define ACK_LOSS_SOCKETS 1024

/* The state of a socket. A free place is all zero. */
struct ack_loss_socket {
	u64 serial;  /* from 1, in the order of starts */
	u64 began_ns; /* CLOCK_MONOTONIC */
	u64 acks;    /* ACKs received */
	u64 missing; /* ACKs that were found missing */
	u64 halvings;
	u64 watched;    /* ACKs next to a received one */
	u64 would_show; /* of these, those that would have shown a loss of the one before */
	u8 local[16]; /* an address of IPv4 takes four bytes */
	u8 remote[16];
	u32 cwnd; /* segments */
	u32 ssthresh;
	u32 srtt_us;
	u32 normal_jump; /* segments */
	u16 family;      /* 2: IPv4, 10: IPv6 */
	u16 local_port;
	u16 remote_port;
	u16 ended; /* the connection is gone */
};

enum ack_loss_event { ACK_LOSS_ROUND_TRIP = 0, ACK_LOSS_MISSING = 1, ACK_LOSS_HALVED = 2, ACK_LOSS_ENDED = 3 };

/* An event of a socket, with the state after it. */
struct ack_loss_record {
	u64 time_ns; /* CLOCK_MONOTONIC */
	u64 serial;
	u32 event;
	u32 missing; /* ACKs, of this event */
	u32 cwnd;
	u32 ssthresh;
	u32 srtt_us;
	u32 normal_jump;
};

struct ack_skip_settings {
	u32 skip;        /* ACKs left out between two that pass */
	u32 start_after; /* ACKs of a flow that all pass */
};

struct ack_skip_counts {
	u64 pure_acks;
	u64 left_out;
};

struct split_queue_settings {
	u32 ack_class; /* of the queueing discipline: major << 16 | minor */
};

struct split_queue_counts {
	u64 data;
	u64 pure_acks;
};

#endif
