/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Halves the window when ACKs are missing, around the kernel's CUBIC or Reno, whose own functions do the rest.
 *
 * Source: hashimoto2008 section III; RFC 5690 section 4.3. It counts like `[tcp] ack_loss` with mode = "general"
 * (docs/model/tcp.md), whose law crates/tcp/src/send/ack_watch.rs implements for the simulator.
 *
 *              more than `threshold` missing                 one RTT later
 *    ARMED ───────────────────────────────────► WAITING ──────────────────────► halve, ARMED
 *      ▲                                           │
 *      └── one RTT after ── DISARMED ◄─────────────┴── data loss, timeout
 *
 * Leaves out: timestamps in microseconds, which a route may ask for; their echoes tell nothing here. */
#include "kernel.h"

char _license[] SEC("license") = "Dual BSD/GPL";

const volatile struct ack_loss_settings settings = {BASE_CUBIC, 1};

/* Largest jump that is counted by itself, in segments. */
#define LARGEST_JUMP 64
/* ACKs before a single segment counts as normal. */
#define CERTAIN 64
/* Minimum number of ACKs for a median. */
#define FEW 4
#define LEAST_WINDOW 2
#define AF_INET6 10
#define NON_RESTRICTED 1
enum { CA_RECOVERY = 3, CA_LOSS = 4 };
enum { ARMED, WAITING, DISARMED };

struct watch {
	u64 serial;
	u64 until_us;
	u32 una;
	u32 window_end;
	u32 round_end;
	u32 round_acks;
	u32 round_segments;
	u32 acks;
	u32 learned; /* the normal jump of the last round trip; before one is settled, that so far */
	u32 missing; /* ACKs of this window, by the jump that is normal now */
	u32 duplicates;
	u32 dsacks;
	u32 head_ms; /* send time of the first segment that this ACK may cover; 0 if none */
	u32 round_later; /* segments of this round trip by ACKs after missing ones */
	u32 before_ms;   /* head_ms of the last ACK that moved forward, and its jump */
	u32 before_jump;
	u8 state;
	u8 recovers;
	u8 settled; /* a round trip is over */
	u8 hides;   /* half of the segments or more came so: the path leaves ACKs out */
	u16 window[LARGEST_JUMP + 1]; /* ACKs of this window, by their jump */
	u16 later[LARGEST_JUMP + 1];  /* ACKs of this window, by their jump, that certainly hide one */
	u16 round[LARGEST_JUMP + 1];  /* ACKs of this round trip, by their jump */
};

struct {
	__uint(type, MAP_SK_STORAGE);
	__uint(map_flags, NO_PREALLOC);
	__type(key, int);
	__type(value, struct watch);
} watches SEC(".maps");

struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, ACK_LOSS_SOCKETS);
	__type(key, u32);
	__type(value, struct ack_loss_socket);
} sockets SEC(".maps");

struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} serials SEC(".maps");

struct {
	__uint(type, MAP_RINGBUF);
	__uint(max_entries, 1 << 20);
} records SEC(".maps");

extern void cubictcp_init(struct sock *sk) KSYM;
extern u32 cubictcp_recalc_ssthresh(struct sock *sk) KSYM;
extern void cubictcp_cong_avoid(struct sock *sk, u32 ack, u32 acked) KSYM;
extern void cubictcp_state(struct sock *sk, u8 new_state) KSYM;
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) KSYM;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) KSYM;
extern u32 tcp_reno_ssthresh(struct sock *sk) KSYM;
extern void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked) KSYM;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) KSYM;

static always_inline int is_cubic(void)
{
	return settings.base == BASE_CUBIC;
}

static always_inline u32 base_ssthresh(struct sock *sk)
{
	return is_cubic() ? cubictcp_recalc_ssthresh(sk) : tcp_reno_ssthresh(sk);
}

static always_inline struct watch *watch_of(struct sock *sk)
{
	return sk_storage_get(&watches, sk, 0, 0);
}

static always_inline struct tcp_sock *tcp(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static always_inline int is_after(u32 a, u32 b)
{
	return (s32)(a - b) > 0;
}

/* The place of a socket; none if a later one has taken it. */
static always_inline struct ack_loss_socket *place_of(const struct watch *watch)
{
	u32 place = watch->serial % ACK_LOSS_SOCKETS;
	struct ack_loss_socket *socket = map_lookup(&sockets, &place);
	return socket && socket->serial == watch->serial ? socket : 0;
}

static always_inline u32 normal_jump(const struct watch *watch)
{
	u32 least = watch->acks < CERTAIN ? 2 : 1;
	return watch->learned < least ? least : watch->learned;
}

static always_inline u32 hidden(u64 jump, u32 normal)
{
	return jump ? (jump - 1) / normal : 0;
}

static always_inline void record(struct sock *sk, const struct watch *watch, u32 event, u32 missing)
{
	struct tcp_sock *tp = tcp(sk);
	struct ack_loss_record record = {
		.time_ns = ktime_ns(),
		.serial = watch->serial,
		.event = event,
		.missing = missing,
		.cwnd = tp->snd_cwnd,
		.ssthresh = tp->snd_ssthresh,
		.srtt_us = tp->srtt_us >> 3,
		.normal_jump = normal_jump(watch),
	};
	ringbuf_output(&records, &record, sizeof(record), 0);
}

static always_inline void begin_round(struct watch *watch, u32 nxt)
{
	__builtin_memset(watch->round, 0, sizeof(watch->round));
	watch->round_later = 0;
	watch->round_acks = 0;
	watch->round_segments = 0;
	watch->round_end = nxt;
}

static always_inline void begin_window(struct watch *watch, u32 nxt)
{
	__builtin_memset(watch->window, 0, sizeof(watch->window));
	__builtin_memset(watch->later, 0, sizeof(watch->later));
	watch->missing = 0;
	watch->window_end = nxt;
}

static always_inline void arm(struct watch *watch, u32 nxt)
{
	watch->state = ARMED;
	begin_window(watch, nxt);
}

/* Number of missing ACKs in the window, for this normal jump. Like the next one it is no static function, so that the verifier
 * checks its loop once and not for each state of each caller. */
__attribute__((noinline)) u32 count_anew(struct watch *watch, u32 normal)
{
	u32 missing = 0, least;
	if (!watch || !normal)
		return 0;
	least = !watch->hides;
#pragma clang loop unroll(disable)
	for (u64 jump = 1; jump <= LARGEST_JUMP; jump++) {
		u32 by_jump = hidden(jump, normal);
		missing += by_jump * watch->window[jump];
		missing += (by_jump < least ? least : by_jump) * watch->later[jump];
	}
	return missing;
}

/* The jump that acknowledged the median segment of the round trip. */
__attribute__((noinline)) u32 median(const struct watch *watch)
{
	u32 covered = 0;
	if (!watch)
		return 1;
#pragma clang loop unroll(disable)
	for (u64 jump = 1; jump < LARGEST_JUMP; jump++) {
		covered += jump * watch->round[jump];
		if (2 * covered >= watch->round_segments)
			return jump;
	}
	return LARGEST_JUMP;
}

static always_inline void take_in(struct watch *watch)
{
	watch->learned = median(watch);
	watch->hides = 2 * watch->round_later >= watch->round_segments;
}

/* Updates the normal jump from the round trip, if it had enough ACKs. */
static always_inline void learn(struct watch *watch)
{
	if (watch->round_acks < FEW)
		return;
	take_in(watch);
	watch->settled = 1;
}

static always_inline void count(u16 *acks)
{
	*acks += *acks != 0xffff;
}

static always_inline void hear(struct watch *watch, u64 jump, int later, u32 una, u32 nxt)
{
	watch->acks += watch->acks < CERTAIN;
	count(&watch->round[jump]);
	watch->round_acks++;
	watch->round_segments += jump;
	if (later)
		watch->round_later += jump;
	if (is_after(una, watch->round_end) && watch->round_acks >= FEW) {
		learn(watch);
		begin_round(watch, nxt);
	} else if (!watch->settled) {
		take_in(watch);
	}
}

/* Whether the ACK echoes the tick of the first segment that it covers: none was acknowledged before, unless
 * another of the same tick. */
static always_inline int is_first(u32 head_ms, const struct tcp_sock *tp)
{
	return head_ms && tp->rx_opt.rcv_tsecr == head_ms;
}

/* Whether it echoes a later one, so that an ACK of earlier segments is missing. A tick without a segment is no echo. */
static always_inline int is_later(u32 head_ms, const struct tcp_sock *tp)
{
	u32 ahead = tp->rx_opt.rcv_tsecr - head_ms, age = (u32)(tp->tcp_mstamp / 1000) - head_ms;
	return head_ms && ahead && age < 1U << 31 && ahead <= age;
}

/* Counts a jump. Returns the ACKs that it hides. */
static always_inline u32 take(struct watch *watch, u64 jump, u32 duplicates, const struct tcp_sock *tp)
{
	u32 before = normal_jump(watch), normal, missing;
	int later = is_later(watch->head_ms, tp), hid = watch->hides;
	u64 ours; /* a duplicate ACK came for each of these */
	if (watch->state == ARMED && is_after(tp->snd_una, watch->window_end))
		begin_window(watch, tp->snd_nxt);
	if (jump > LARGEST_JUMP)
		jump = LARGEST_JUMP;
	hear(watch, jump, later, tp->snd_una, tp->snd_nxt);
	normal = normal_jump(watch);
	if (normal != before || watch->hides != hid)
		watch->missing = count_anew(watch, normal);
	if (is_first(watch->head_ms, tp))
		return 0;
	ours = (u64)duplicates * normal;
	jump = jump > ours ? jump - ours : 0;
	if (watch->state == DISARMED || jump > LARGEST_JUMP)
		return 0;
	missing = hidden(jump, normal);
	if (!jump || !later) {
		count(&watch->window[jump]);
	} else {
		count(&watch->later[jump]);
		if (!missing && !watch->hides)
			missing = 1;
	}
	watch->missing += missing;
	return missing;
}

/* Whether this ACK would have shown the loss of the one before it: then both would have been one jump with its echo. */
static always_inline int would_show(const struct watch *watch, u64 jump, const struct tcp_sock *tp)
{
	if (watch->state == DISARMED || is_first(watch->before_ms, tp))
		return 0;
	return hidden(watch->before_jump + jump, normal_jump(watch)) || (is_later(watch->before_ms, tp) && !watch->hides);
}

/* The findings about one ACK. */
struct found {
	u32 missing;
	u32 watched;
	u32 would_show;
};

/* Handles an ACK of `segments`. Returns whether to halve. */
static always_inline int on_ack(struct watch *watch, const struct tcp_sock *tp, u32 segments, struct found *found)
{
	u32 una = tp->snd_una, nxt = tp->snd_nxt, mss = tp->mss_cache ? tp->mss_cache : 1;
	u64 bytes = una - watch->una, jump = (bytes + mss - 1) / mss;
	/* The kernel may handle an ACK without a call of these programs, in an interrupt for example. The next one moves by more
	 * than its own segments; it tells nothing, as what was noted is of an earlier one. */
	int unseen = bytes > (u64)segments * mss;
	u32 duplicates = watch->duplicates;
	u64 now = tp->tcp_mstamp, srtt = tp->srtt_us >> 3;
	int dsack = watch->dsacks != tp->dsack_dups, halves;

	watch->una = una;
	watch->dsacks = tp->dsack_dups;
	watch->duplicates = jump ? 0 : duplicates + 1;
	if (watch->recovers) {
		watch->state = DISARMED;
		watch->until_us = now + srtt;
	}
	if (unseen) {
		watch->before_jump = 0;
	} else if (jump) {
		found->missing = take(watch, jump, duplicates, tp);
		if (watch->before_jump && !found->missing) {
			found->watched = 1;
			found->would_show = would_show(watch, jump, tp);
		}
		watch->before_jump = jump < LARGEST_JUMP ? jump : LARGEST_JUMP;
		watch->before_ms = watch->head_ms;
	}
	switch (watch->state) {
	case DISARMED:
		if (now >= watch->until_us)
			arm(watch, nxt);
		return 0;
	case WAITING:
		if (dsack) {
			arm(watch, nxt);
			return 0;
		}
		if (now < watch->until_us)
			return 0;
		learn(watch);
		halves = count_anew(watch, normal_jump(watch)) > settings.threshold;
		arm(watch, nxt);
		return halves && !watch->recovers;
	default:
		if (watch->missing <= settings.threshold)
			return 0;
		watch->state = WAITING;
		watch->until_us = now + srtt;
		begin_round(watch, nxt);
		return 0;
	}
}

/* Reports a loss to the controller, as its memory needs it; then halves the window. */
static always_inline void halve(struct sock *sk)
{
	struct tcp_sock *tp = tcp(sk);
	u32 half = tp->snd_cwnd / 2;
	if (half < LEAST_WINDOW)
		half = LEAST_WINDOW;
	base_ssthresh(sk);
	tp->snd_ssthresh = half;
	if (half < tp->snd_cwnd)
		tp->snd_cwnd = half;
}

static always_inline void note(struct sock *sk, const struct watch *watch, const struct found *found, int halves)
{
	struct ack_loss_socket *socket = place_of(watch);
	struct tcp_sock *tp = tcp(sk);
	if (!socket)
		return;
	socket->acks++;
	socket->missing += found->missing;
	socket->watched += found->watched;
	socket->would_show += found->would_show;
	socket->halvings += halves;
	socket->cwnd = tp->snd_cwnd;
	socket->ssthresh = tp->snd_ssthresh;
	socket->srtt_us = tp->srtt_us >> 3;
	socket->normal_jump = normal_jump(watch);
}

static always_inline void take_place(struct sock *sk, struct watch *watch)
{
	struct sock_common *common = &sk->__sk_common;
	struct ack_loss_socket *socket;
	u32 place = 0;
	u64 *serial = map_lookup(&serials, &place);
	if (!serial)
		return;
	watch->serial = __sync_fetch_and_add(serial, 1) + 1;
	place = watch->serial % ACK_LOSS_SOCKETS;
	socket = map_lookup(&sockets, &place);
	if (!socket)
		return;
	__builtin_memset(socket, 0, sizeof(*socket));
	socket->serial = watch->serial;
	socket->began_ns = ktime_ns();
	socket->family = common->skc_family;
	socket->local_port = common->skc_num;
	socket->remote_port = __builtin_bswap16(common->skc_dport);
	if (common->skc_family == AF_INET6) {
		probe_read_kernel(socket->local, 16, &common->skc_v6_rcv_saddr);
		probe_read_kernel(socket->remote, 16, &common->skc_v6_daddr);
	} else {
		*(u32 *)socket->local = common->skc_rcv_saddr;
		*(u32 *)socket->remote = common->skc_daddr;
	}
}

SEC("struct_ops/ack_loss_init") void ack_loss_init(u64 *context)
{
	struct sock *sk = (void *)context[0];
	struct watch *watch = sk_storage_get(&watches, sk, 0, STORAGE_CREATE);
	struct tcp_sock *tp = tcp(sk);
	if (watch) {
		__builtin_memset(watch, 0, sizeof(*watch));
		watch->una = tp->snd_una;
		watch->dsacks = tp->dsack_dups;
		arm(watch, tp->snd_nxt);
		begin_round(watch, tp->snd_nxt);
		take_place(sk, watch);
	}
	if (is_cubic())
		cubictcp_init(sk);
}

SEC("struct_ops/ack_loss_release") void ack_loss_release(u64 *context)
{
	struct sock *sk = (void *)context[0];
	struct watch *watch = watch_of(sk);
	struct ack_loss_socket *socket = watch ? place_of(watch) : 0;
	if (!socket)
		return;
	socket->ended = 1;
	record(sk, watch, ACK_LOSS_ENDED, 0);
}

SEC("struct_ops/ack_loss_ssthresh") u32 ack_loss_ssthresh(u64 *context)
{
	return base_ssthresh((void *)context[0]);
}

SEC("struct_ops/ack_loss_cong_avoid") void ack_loss_cong_avoid(u64 *context)
{
	struct sock *sk = (void *)context[0];
	if (is_cubic())
		cubictcp_cong_avoid(sk, context[1], context[2]);
	else
		tcp_reno_cong_avoid(sk, context[1], context[2]);
}

SEC("struct_ops/ack_loss_set_state") void ack_loss_set_state(u64 *context)
{
	struct sock *sk = (void *)context[0];
	u8 state = context[1];
	struct watch *watch = watch_of(sk);
	struct tcp_sock *tp = tcp(sk);
	if (watch) {
		watch->recovers = state == CA_RECOVERY || state == CA_LOSS;
		if (watch->recovers) {
			watch->state = DISARMED;
			watch->until_us = tp->tcp_mstamp + (tp->srtt_us >> 3);
		}
	}
	if (is_cubic())
		cubictcp_state(sk, state);
}

SEC("struct_ops/ack_loss_cwnd_event") void ack_loss_cwnd_event(u64 *context)
{
	if (is_cubic())
		cubictcp_cwnd_event((void *)context[0], context[1]);
}

/* Notes when the first segment was sent that an ACK may cover: this one on older kernels (6.12), the next one where the kernel
 * calls it after `pkts_acked` (6.18). */
SEC("struct_ops/ack_loss_in_ack_event") void ack_loss_in_ack_event(u64 *context)
{
	struct sock *sk = (void *)context[0];
	struct watch *watch = watch_of(sk);
	struct tcp_sock *tp = tcp(sk);
	u64 head = 0, sent_ns = 0;
	if (!watch)
		return;
	watch->head_ms = 0;
	if (probe_read_kernel(&head, sizeof(head), &tp->tsorted_sent_queue.next) || !head)
		return;
	/* The end of an empty queue is its start. */
	if (head == (u64)&tp->tsorted_sent_queue.next)
		return;
	head += (u64)offset_in_kernel(struct sk_buff, skb_mstamp_ns) - (u64)offset_in_kernel(struct sk_buff, tcp_tsorted_anchor);
	if (!probe_read_kernel(&sent_ns, sizeof(sent_ns), (void *)head))
		watch->head_ms = sent_ns / 1000000;
}

SEC("struct_ops/ack_loss_pkts_acked") void ack_loss_pkts_acked(u64 *context)
{
	struct sock *sk = (void *)context[0];
	const struct ack_sample *sample = (void *)context[1];
	struct watch *watch = watch_of(sk);
	struct found found = {};
	u32 round_end;
	int halves;
	if (is_cubic())
		cubictcp_acked(sk, sample);
	if (!watch)
		return;
	round_end = watch->round_end;
	halves = on_ack(watch, tcp(sk), sample->pkts_acked, &found);
	watch->head_ms = 0; /* it was of this ACK */
	if (halves)
		halve(sk);
	note(sk, watch, &found, halves);
	if (halves)
		record(sk, watch, ACK_LOSS_HALVED, found.missing);
	else if (found.missing)
		record(sk, watch, ACK_LOSS_MISSING, found.missing);
	else if (watch->round_end != round_end)
		record(sk, watch, ACK_LOSS_ROUND_TRIP, 0);
}

SEC("struct_ops/ack_loss_undo_cwnd") u32 ack_loss_undo_cwnd(u64 *context)
{
	return tcp_reno_undo_cwnd((void *)context[0]);
}

SEC(".struct_ops.link") struct tcp_congestion_ops ack_loss = {
	.init = (void *)ack_loss_init,
	.release = (void *)ack_loss_release,
	.ssthresh = (void *)ack_loss_ssthresh,
	.cong_avoid = (void *)ack_loss_cong_avoid,
	.set_state = (void *)ack_loss_set_state,
	.cwnd_event = (void *)ack_loss_cwnd_event,
	.in_ack_event = (void *)ack_loss_in_ack_event,
	.pkts_acked = (void *)ack_loss_pkts_acked,
	.undo_cwnd = (void *)ack_loss_undo_cwnd,
	.name = "ack_loss",
	.flags = NON_RESTRICTED,
};

enum { CONNECTS = 3, ACCEPTED = 5 };
#define SOL_TCP 6
#define TCP_CONGESTION 13

/* Sockets of a cgroup: those that connect or are accepted get this controller. */
SEC("sockops") int choose_ack_loss(struct bpf_sock_ops *context)
{
	char name[] = "ack_loss";
	if (context->op == CONNECTS || context->op == ACCEPTED)
		set_socket_option(context, SOL_TCP, TCP_CONGESTION, name, sizeof(name));
	return 1;
}
