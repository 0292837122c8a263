/* SPDX-License-Identifier: MIT */
/* The kernel's own CUBIC, called hook by hook, for the tests of this crate. */
#include "../../../../examples/controllers/bpf/tcp_ca.h"

char _license[] SEC("license") = "Dual BSD/GPL";

extern void cubictcp_init(struct sock *sk) KSYM;
extern u32 cubictcp_recalc_ssthresh(struct sock *sk) KSYM;
extern void cubictcp_cong_avoid(struct sock *sk, u32 ack, u32 acked) KSYM;
extern void cubictcp_state(struct sock *sk, u8 state) KSYM;
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) KSYM;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) KSYM;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) KSYM;

SEC("struct_ops/init")
void init(u64 *context)
{
	cubictcp_init(SOCK(context));
}

SEC("struct_ops/ssthresh")
u32 ssthresh(u64 *context)
{
	return cubictcp_recalc_ssthresh(SOCK(context));
}

SEC("struct_ops/cong_avoid")
void cong_avoid(u64 *context)
{
	cubictcp_cong_avoid(SOCK(context), context[1], context[2]);
}

SEC("struct_ops/set_state")
void set_state(u64 *context)
{
	cubictcp_state(SOCK(context), context[1]);
}

SEC("struct_ops/cwnd_event")
void cwnd_event(u64 *context)
{
	cubictcp_cwnd_event(SOCK(context), context[1]);
}

SEC("struct_ops/pkts_acked")
void pkts_acked(u64 *context)
{
	cubictcp_acked(SOCK(context), (const struct ack_sample *)context[1]);
}

SEC("struct_ops/undo_cwnd")
u32 undo_cwnd(u64 *context)
{
	return tcp_reno_undo_cwnd(SOCK(context));
}

SEC(".struct_ops")
struct tcp_congestion_ops wrapper = {
	.init = (void *)init,
	.ssthresh = (void *)ssthresh,
	.cong_avoid = (void *)cong_avoid,
	.set_state = (void *)set_state,
	.cwnd_event = (void *)cwnd_event,
	.pkts_acked = (void *)pkts_acked,
	.undo_cwnd = (void *)undo_cwnd,
	.name = "wrapper",
};
