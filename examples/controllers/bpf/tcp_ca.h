/* SPDX-License-Identifier: MIT */
/* The parts of the kernel's types that a congestion control needs: names and nesting are the kernel's, so that the loader
 * of a kernel finds each field in its own layout, while a simulator takes the layout below. */
#ifndef TCP_CA_H
#define TCP_CA_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;

#define SEC(name) __attribute__((section(name), used))
#define KSYM __attribute__((section(".ksyms")))
#define NOINLINE __attribute__((noinline))
/* Its fields are found by name when it is loaded. */
#define RELOCATED __attribute__((preserve_access_index))

struct sock_common {
	volatile unsigned char skc_state;
} RELOCATED;

struct sock {
	struct sock_common __sk_common;
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
	u32 sk_pacing_status;
} RELOCATED;

struct inet_sock {
	struct sock sk;
} RELOCATED;

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	u8 icsk_ca_state : 5;
	u64 icsk_ca_priv[13];
} RELOCATED;

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 snd_una;
	u32 snd_nxt;
	u32 snd_cwnd;
	u32 snd_cwnd_cnt;
	u32 snd_ssthresh;
	u32 prior_cwnd;
	u32 max_packets_out;
	u32 srtt_us;
	u32 lsndtime;
	u32 packets_out;
	u64 tcp_mstamp;
	u8 is_cwnd_limited : 1;
} RELOCATED;

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
	u32 in_flight;
} RELOCATED;

enum tcp_ca_event { CA_EVENT_TX_START };
enum tcp_ca_state { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };

struct rate_sample;

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	void (*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *sample);
	u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
	u32 flags;
	void (*init)(struct sock *sk);
};

/* Helpers, by their numbers. */
static u64 (*const bpf_jiffies64)(void) = (void *)118;

/* A hook receives its arguments as an array of words. */
#define SOCK(context) ((struct sock *)(context)[0])

static inline struct tcp_sock *tcp_sk(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

/* The 104 bytes of a connection that are the controller's own. */
static inline void *private_area(struct sock *sk)
{
	return ((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

/* True before(a, b) of sequence numbers, which wrap. */
static inline int before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

/* Bit fields have no address: their word is read as the loader directs. [BPF CO-RE] */
#define BIT_FIELD(pointer, field)                                                                          \
	({                                                                                                 \
		const void *at = (const void *)(pointer) + __builtin_preserve_field_info((pointer)->field, 0); \
		u64 word = 0;                                                                              \
		switch (__builtin_preserve_field_info((pointer)->field, 1)) {                              \
		case 1: word = *(const u8 *)at; break;                                                     \
		case 2: word = *(const u16 *)at; break;                                                    \
		case 4: word = *(const u32 *)at; break;                                                    \
		case 8: word = *(const u64 *)at; break;                                                    \
		}                                                                                          \
		word <<= __builtin_preserve_field_info((pointer)->field, 4);                               \
		word >>= __builtin_preserve_field_info((pointer)->field, 5);                               \
		word;                                                                                      \
	})

static inline int in_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_cwnd < tp->snd_ssthresh;
}

/* The window was used up: half of it in slow start, so that it can double; all of it later. [RFC 7661] */
static inline int is_cwnd_limited(const struct tcp_sock *tp)
{
	if (BIT_FIELD(tp, is_cwnd_limited))
		return 1;
	return in_slow_start(tp) && tp->snd_cwnd < 2 * tp->max_packets_out;
}

#endif
