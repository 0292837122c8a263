/* SPDX-License-Identifier: MIT */
/* CUBIC [RFC 9438] in whole segments and ticks of the kernel's clock, as a struct_ops object. Units, rounding and guards
 * follow docs/model/congestion-control-rules.md; the cube root is exact.
 *
 *   W(t) = C (t - K)^3 + W_max,  K = cbrt((W_max - w) / C)
 *
 * Time is in 1/1024 s here. The window grows by a segment for each `price` acknowledged, found at most once per tick.
 *
 * ./build.sh compiles it.
 * bpftool struct_ops register cubic.bpf.o */
#include "tcp_ca.h"

char _license[] SEC("license") = "Dual BSD/GPL";

extern unsigned long CONFIG_HZ __attribute__((section(".kconfig")));
extern u32 tcp_slow_start(struct tcp_sock *tp, u32 acked) KSYM;
extern void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 per, u32 acked) KSYM;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) KSYM;

/* Share of the window that a loss leaves, in 1/1024. [RFC 9438 section 4.6] */
const volatile u32 beta = 717;
/* C in 1/1024 segments/s^3. [section 5.1] */
const volatile u32 c = 410;
/* Give way when windows shrink from loss to loss. [section 4.7] */
const volatile u32 fast_convergence = 1;
/* Never slower than Reno. [section 4.3] */
const volatile u32 reno_friendly = 1;
/* Leave slow start on signs of a queue. [Ha, Rhee 2011] */
const volatile u32 hystart = 1;

/* Prices: before the first loss at most 5 % per round trip, and half a window per round trip at the highest. */
#define BEFORE_FIRST_LOSS 20
#define LOWEST_PRICE 2
/* A price holds for 1/32 s while the window stays. */
#define HOLDS 32
/* Limit on the distance from K, in 1/1024 s: some 10 million segments. */
#define FARTHEST 300000
/* HyStart: least window; gap within a train, in us; samples; bounds of a delay, in us. */
#define LOW_WINDOW 16
#define TRAIN_GAP 2000
#define SAMPLES 8
#define DELAY_LEAST 4000
#define DELAY_MOST 16000
/* Four sends of 64 KiB, at most 1 ms. */
#define HELD_BYTES (4 * 65536ull)
#define HELD_MOST 1000

struct cubic {
	/* at the last loss, in segments; 0 before the first */
	u32 w_max;
	/* a stage of congestion avoidance: start in ticks, K in 1/1024 s, origin in segments */
	u32 has_stage;
	u32 stage_start;
	u32 k;
	u32 origin;
	/* Reno's window, and the count towards its next segment */
	u32 reno;
	u32 reno_credit;
	/* segments for one of window, with the window and the tick of that value */
	u32 has_price;
	u32 price;
	u32 price_cwnd;
	u32 price_at;
	/* least RTT in us; 0 for none */
	u32 delay_min;
	/* HyStart: end of the round trip, times in us, minimum RTT of the round trip and its samples */
	u32 found;
	u32 round_end;
	u32 train_start;
	u32 train_end;
	u32 least;
	u32 samples;
};

static u32 now_ticks(void)
{
	return bpf_jiffies64();
}

static void begin_round(struct cubic *ca, const struct tcp_sock *tp)
{
	ca->round_end = tp->snd_nxt;
	ca->train_start = ca->train_end = tp->tcp_mstamp;
	ca->least = ca->samples = 0;
}

/* Clears the state: at the start, and after a timeout. */
static void forget(struct cubic *ca, const struct tcp_sock *tp)
{
	__builtin_memset(ca, 0, sizeof(*ca));
	begin_round(ca, tp);
}

SEC("struct_ops/cubic_init")
void cubic_init(u64 *context)
{
	forget(private_area(SOCK(context)), tcp_sk(SOCK(context)));
}

SEC("struct_ops/cubic_set_state")
void cubic_set_state(u64 *context)
{
	if ((u8)context[1] == TCP_CA_Loss)
		forget(private_area(SOCK(context)), tcp_sk(SOCK(context)));
}

/* Time without data in flight does not count. [section 5.8] */
SEC("struct_ops/cubic_cwnd_event")
void cubic_cwnd_event(u64 *context)
{
	struct cubic *ca = private_area(SOCK(context));
	u32 now = now_ticks();

	if ((u32)context[1] != CA_EVENT_TX_START || !ca->has_stage)
		return;
	ca->stage_start += now - tcp_sk(SOCK(context))->lsndtime;
	if (before(now, ca->stage_start))
		ca->stage_start = now;
}

/* The whole part of a cube root, bit by bit. */
static NOINLINE u32 cube_root(u64 a)
{
	u64 root = 0;

	for (int bit = 20; bit >= 0; bit--) {
		u64 longer = root | 1ull << bit;

		if (longer * longer * longer <= a)
			root = longer;
	}
	return root;
}

/* K in 1/1024 s, for a distance below W_max in segments. [section 4.2 (2)] */
static u32 k_of(u32 below)
{
	if (below > 3000000)
		below = 3000000;
	return cube_root((1ull << 40) / c * below);
}

static void begin_stage(struct cubic *ca, u32 cwnd, u32 acked, u32 now)
{
	ca->has_stage = 1;
	ca->stage_start = now;
	ca->k = cwnd < ca->w_max ? k_of(ca->w_max - cwnd) : 0;
	ca->origin = cwnd < ca->w_max ? ca->w_max : cwnd;
	ca->reno = cwnd;
	ca->reno_credit = acked;
}

/* Ticks that cover a time in us. */
static u64 ticks_of(u32 us)
{
	u64 hz = CONFIG_HZ;

	return (us * hz + 999999) / 1000000;
}

/* W one least RTT from now, in segments. [section 4.2 (1)] */
static u32 target_of(const struct cubic *ca, u32 now)
{
	u64 t = ((now - ca->stage_start + ticks_of(ca->delay_min)) << 10) / CONFIG_HZ;
	u64 offset = t < ca->k ? ca->k - t : t - ca->k, distance;

	if (offset > FARTHEST)
		offset = FARTHEST;
	distance = c * offset * offset * offset >> 40;
	if (t >= ca->k)
		return ca->origin + distance;
	return distance < ca->origin ? ca->origin - distance : 0;
}

/* Reaches the target a window later; a hundred windows if the target is not larger. */
static u32 curve_price(const struct cubic *ca, u32 cwnd, u32 now)
{
	u32 target = target_of(ca, now);
	u32 price = target > cwnd ? cwnd / (target - cwnd) : 100 * cwnd;

	return ca->w_max == 0 && price > BEFORE_FIRST_LOSS ? BEFORE_FIRST_LOSS : price;
}

/* Reno with the same decrease: a segment for each alpha windows acknowledged; the price of catching up. [section 4.3] */
static u32 reno_price(struct cubic *ca, u32 cwnd, u32 price)
{
	u32 eighths = 8 * (1024 + beta) / 3 / (1024 - beta);
	u32 per_segment = (u64)cwnd * eighths >> 3, due, own;

	if (per_segment == 0)
		per_segment = 1;
	due = ca->reno_credit ? (ca->reno_credit - 1) / per_segment : 0;
	ca->reno_credit -= due * per_segment;
	ca->reno += due;
	if (ca->reno <= cwnd)
		return price;
	own = cwnd / (ca->reno - cwnd);
	return own < price ? own : price;
}

static void find_price(struct cubic *ca, u32 cwnd, u32 acked, u32 now)
{
	int same_tick = ca->has_price && ca->price_at == now && ca->has_stage;

	if (!ca->has_stage)
		begin_stage(ca, cwnd, acked, now);
	if (!same_tick) {
		ca->price = curve_price(ca, cwnd, now);
		ca->price_cwnd = cwnd;
		ca->price_at = now;
		ca->has_price = 1;
	}
	if (reno_friendly)
		ca->price = reno_price(ca, cwnd, ca->price);
	if (ca->price < LOWEST_PRICE)
		ca->price = LOWEST_PRICE;
}

SEC("struct_ops/cubic_cong_avoid")
void cubic_cong_avoid(u64 *context)
{
	struct tcp_sock *tp = tcp_sk(SOCK(context));
	struct cubic *ca = private_area(SOCK(context));
	u32 acked = context[2], now = now_ticks(), cwnd;

	if (!is_cwnd_limited(tp))
		return;
	if (in_slow_start(tp))
		acked = tcp_slow_start(tp, acked);
	if (!acked)
		return;
	cwnd = tp->snd_cwnd;
	if (ca->has_stage)
		ca->reno_credit += acked;
	if (!ca->has_price || ca->price_cwnd != cwnd || now - ca->price_at > CONFIG_HZ / HOLDS)
		find_price(ca, cwnd, acked, now);
	tcp_cong_avoid_ai(tp, ca->price, acked);
}

SEC("struct_ops/cubic_ssthresh")
u32 cubic_ssthresh(u64 *context)
{
	struct cubic *ca = private_area(SOCK(context));
	u32 cwnd = tcp_sk(SOCK(context))->snd_cwnd, kept = (u64)cwnd * beta / 1024;

	ca->has_stage = 0;
	ca->w_max = fast_convergence && cwnd < ca->w_max ? (u64)cwnd * (1024 + beta) / 2048 : cwnd;
	return kept < 2 ? 2 : kept;
}

/* Longest span of a train of ACKs without a queue, in us. */
static u64 longest_train(const struct sock *sk, u32 delay_min)
{
	u64 rate = sk->sk_pacing_rate, held = 0, span;

	if (rate)
		held = HELD_BYTES * 1000000 / rate;
	span = delay_min + (held < HELD_MOST ? held : HELD_MOST);
	return sk->sk_pacing_status ? span : span / 2;
}

/* Largest minimum RTT of a round trip without a queue, in us. */
static u32 longest_delay(u32 delay_min)
{
	u32 later = delay_min / 8;

	if (later < DELAY_LEAST)
		later = DELAY_LEAST;
	return delay_min + (later < DELAY_MOST ? later : DELAY_MOST);
}

/* The two signs of a queue: ACKs of one train span too much, or a round trip is late. */
static int shows_queue(const struct sock *sk, struct cubic *ca, u32 now, u32 rtt)
{
	int has_train = now - ca->train_end <= TRAIN_GAP, has_samples = ca->samples == SAMPLES;

	if (has_train)
		ca->train_end = now;
	if (ca->samples == 0 || rtt < ca->least)
		ca->least = rtt;
	if (!has_samples)
		ca->samples++;
	if (has_train && now - ca->train_start > longest_train(sk, ca->delay_min))
		return 1;
	return has_samples && ca->least > longest_delay(ca->delay_min);
}

static void watch(struct sock *sk, struct cubic *ca, u32 rtt)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (ca->found || !in_slow_start(tp))
		return;
	if (before(ca->round_end, tp->snd_una))
		begin_round(ca, tp);
	if (tp->snd_cwnd >= LOW_WINDOW && shows_queue(sk, ca, tp->tcp_mstamp, rtt)) {
		ca->found = 1;
		tp->snd_ssthresh = tp->snd_cwnd;
	}
}

SEC("struct_ops/cubic_pkts_acked")
void cubic_pkts_acked(u64 *context)
{
	struct sock *sk = SOCK(context);
	struct cubic *ca = private_area(sk);
	s32 sampled = ((const struct ack_sample *)context[1])->rtt_us;
	u32 rtt = sampled > 1 ? sampled : 1;

	/* Samples do not count for a second after a stage begins. */
	if (sampled < 0 || (ca->has_stage && now_ticks() - ca->stage_start < CONFIG_HZ))
		return;
	if (ca->delay_min == 0 || rtt < ca->delay_min)
		ca->delay_min = rtt;
	if (hystart)
		watch(sk, ca, rtt);
}

SEC("struct_ops/cubic_undo_cwnd")
u32 cubic_undo_cwnd(u64 *context)
{
	return tcp_reno_undo_cwnd(SOCK(context));
}

SEC(".struct_ops")
struct tcp_congestion_ops cubic = {
	.init = (void *)cubic_init,
	.ssthresh = (void *)cubic_ssthresh,
	.cong_avoid = (void *)cubic_cong_avoid,
	.set_state = (void *)cubic_set_state,
	.cwnd_event = (void *)cubic_cwnd_event,
	.pkts_acked = (void *)cubic_pkts_acked,
	.undo_cwnd = (void *)cubic_undo_cwnd,
	.name = "bpf_cubic9438",
};
