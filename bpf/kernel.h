/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The parts of the kernel that these programs use: helpers by their numbers, which are fixed, and fields of its structures by
 * their names, whose places libbpf finds in the BTF of the kernel that loads them. So clang alone compiles them. */
#ifndef LASTHOP_KERNEL_H
#define LASTHOP_KERNEL_H

#include "layout.h"

#define SEC(name) __attribute__((section(name), used))
#define KSYM __attribute__((section(".ksyms"), weak))
#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value) *name
#define always_inline inline __attribute__((always_inline))

enum map_type { MAP_ARRAY = 2, MAP_LRU_HASH = 9, MAP_SK_STORAGE = 24, MAP_RINGBUF = 27 };
/* The offset of a field in the kernel's structure. */
#define offset_in_kernel(type, field) __builtin_preserve_field_info(((type *)0)->field, 0)
#define NO_PREALLOC 1
#define STORAGE_CREATE 1

static void *(*map_lookup)(void *map, const void *key) = (void *)1;
static long (*map_update)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static u64 (*ktime_ns)(void) = (void *)5;
static long (*set_socket_option)(void *context, int level, int option, void *value, int length) = (void *)49;
static long (*skb_load_bytes_relative)(const void *skb, u32 offset, void *to, u32 length, u32 start) = (void *)68;
static void *(*sk_storage_get)(void *map, void *sk, void *value, u64 flags) = (void *)107;
static long (*probe_read_kernel)(void *to, u32 size, const void *from) = (void *)113;
static long (*ringbuf_output)(void *ringbuf, void *data, u64 size, u64 flags) = (void *)130;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next;
};

struct in6_addr {
	u8 bytes[16];
};

struct sock_common {
	u32 skc_daddr;
	u32 skc_rcv_saddr;
	u16 skc_dport; /* in the order of the network */
	u16 skc_num;
	u16 skc_family;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
};

struct sk_buff {
	struct list_head tcp_tsorted_anchor;
	u64 skb_mstamp_ns; /* when it was sent */
};

struct tcp_options_received {
	u32 rcv_tsecr; /* in the sender's clock */
};

/* Each socket begins with the one before it. */
struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 snd_una;
	u32 snd_nxt;
	u32 mss_cache;
	u32 srtt_us; /* eight times the smoothed RTT */
	u32 snd_cwnd;
	u32 snd_ssthresh;
	u32 dsack_dups; /* DSACK blocks so far */
	u64 tcp_mstamp; /* now, in us */
	struct tcp_options_received rx_opt;
	struct list_head tsorted_sent_queue; /* outstanding segments, in sending order */
};

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
};

enum tcp_ca_event { CA_EVENT_TX_START };

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*in_ack_event)(struct sock *sk, u32 flags);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
	u32 flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

#pragma clang attribute pop

/* The first fields of the contexts of cgroup and traffic control programs, which are part of the kernel's interface. */
struct bpf_sock_ops {
	u32 op;
};
struct __sk_buff {
	u32 len;
	u32 pkt_type;
	u32 mark;
	u32 queue_mapping;
	u32 protocol;
	u32 vlan_present;
	u32 vlan_tci;
	u32 vlan_proto;
	u32 priority;
};

#endif
