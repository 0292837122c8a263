/* SPDX-License-Identifier: MIT */
/* Controllers that each break one rule, for the tests of this crate. */
#include "../../../../examples/controllers/bpf/tcp_ca.h"

char _license[] SEC("license") = "Dual BSD/GPL";

extern void bbr_init(struct sock *sk) KSYM;
u64 table[4];

SEC("struct_ops/ssthresh")
u32 ssthresh(u64 *context)
{
	return 2;
}

SEC("struct_ops/undo_cwnd")
u32 undo_cwnd(u64 *context)
{
	return 10;
}

SEC("struct_ops/endless_avoid")
void endless_avoid(u64 *context)
{
	for (;;)
		asm volatile("" ::: "memory");
}

SEC("struct_ops/outside_avoid")
void outside_avoid(u64 *context)
{
	table[tcp_sk(SOCK(context))->snd_cwnd] = 1;
}

SEC("struct_ops/null_avoid")
void null_avoid(u64 *context)
{
	*(volatile u32 *)(u64)tcp_sk(SOCK(context))->snd_cwnd_cnt = 1;
}

SEC("struct_ops/forbidden_avoid")
void forbidden_avoid(u64 *context)
{
	tcp_sk(SOCK(context))->snd_una = 1;
}

/* The same without a record of the field's name. */
SEC("struct_ops/hidden_avoid")
void hidden_avoid(u64 *context)
{
	*(volatile u32 *)((char *)SOCK(context) + __builtin_offsetof(struct tcp_sock, snd_una)) = 1;
}

SEC("struct_ops/unknown_acked")
void unknown_acked(u64 *context)
{
	tcp_sk(SOCK(context))->snd_cwnd = ((const struct ack_sample *)context[1])->in_flight;
}

SEC("struct_ops/missing_init")
void missing_init(u64 *context)
{
	bbr_init(SOCK(context));
}

SEC("struct_ops/deep_avoid")
void deep_avoid(u64 *context)
{
	volatile char frame[504];

	frame[0] = context[1];
	((volatile char *)frame)[(s32)-(u32)context[2] * 100] = 1;
}

#define CONTROLLER(which, ...)                                                                              \
	SEC(".struct_ops")                                                                                 \
	struct tcp_congestion_ops which = {                                                                 \
		.ssthresh = (void *)ssthresh, .undo_cwnd = (void *)undo_cwnd, .name = #which, ##__VA_ARGS__   \
	}

CONTROLLER(endless, .cong_avoid = (void *)endless_avoid);
CONTROLLER(outside, .cong_avoid = (void *)outside_avoid);
CONTROLLER(null, .cong_avoid = (void *)null_avoid);
CONTROLLER(forbidden, .cong_avoid = (void *)forbidden_avoid);
CONTROLLER(hidden, .cong_avoid = (void *)hidden_avoid);
CONTROLLER(unknown, .cong_avoid = (void *)deep_avoid, .pkts_acked = (void *)unknown_acked);
CONTROLLER(missing, .cong_avoid = (void *)deep_avoid, .init = (void *)missing_init);
CONTROLLER(deep, .cong_avoid = (void *)deep_avoid);
CONTROLLER(incomplete);
