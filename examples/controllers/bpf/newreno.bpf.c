/* SPDX-License-Identifier: MIT */
/* NewReno's window as a struct_ops object: slow start to ssthresh, then a segment per window acknowledged; a loss takes half
 * [RFC 5681 section 3.1]. It has everything that a controller must have, and nothing else.
 *
 * ./build.sh compiles it.
 * bpftool struct_ops register newreno.bpf.o */
#include "tcp_ca.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/* Share of the window that a loss leaves, in 1/1024. */
const volatile u32 beta = 512;

/* Segments acknowledged beyond the end of slow start. */
static u32 slow_start(struct tcp_sock *tp, u32 acked)
{
	u32 cwnd = tp->snd_cwnd, grown = cwnd + acked;

	if (grown > tp->snd_ssthresh)
		grown = tp->snd_ssthresh;
	tp->snd_cwnd = grown;
	return acked - (grown - cwnd);
}

SEC("struct_ops/newreno_cong_avoid")
void newreno_cong_avoid(u64 *context)
{
	struct tcp_sock *tp = tcp_sk(SOCK(context));
	u32 acked = context[2];

	if (!is_cwnd_limited(tp))
		return;
	if (in_slow_start(tp))
		acked = slow_start(tp, acked);
	acked += tp->snd_cwnd_cnt;
	if (acked >= tp->snd_cwnd && tp->snd_cwnd) {
		acked -= tp->snd_cwnd;
		tp->snd_cwnd = tp->snd_cwnd + 1;
	}
	tp->snd_cwnd_cnt = acked;
}

SEC("struct_ops/newreno_ssthresh")
u32 newreno_ssthresh(u64 *context)
{
	u32 kept = (u64)tcp_sk(SOCK(context))->snd_cwnd * beta >> 10;

	return kept < 2 ? 2 : kept;
}

SEC("struct_ops/newreno_undo_cwnd")
u32 newreno_undo_cwnd(u64 *context)
{
	struct tcp_sock *tp = tcp_sk(SOCK(context));

	return tp->snd_cwnd > tp->prior_cwnd ? tp->snd_cwnd : tp->prior_cwnd;
}

SEC(".struct_ops")
struct tcp_congestion_ops newreno = {
	.cong_avoid = (void *)newreno_cong_avoid,
	.ssthresh = (void *)newreno_ssthresh,
	.undo_cwnd = (void *)newreno_undo_cwnd,
	.name = "bpf_newreno",
};
