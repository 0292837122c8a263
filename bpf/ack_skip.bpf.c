/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Leaves out pure ACKs that leave a device: `skip` of them between two that pass.
 *
 * Source: gopal2005 section 3. Only an ACK that moves forward and carries nothing else is left out, since a later one has
 * the same information: none that repeats a number, changes the window alone, or carries SACK, a flag or any option except
 * timestamps, none of a closed window, and none of the first `start_after` of a flow. After a pause the next one passes.
 *
 * Leaves out: state that only the receiver's TCP has. It cannot see that a burst is over, so the last ACK of one may be missing;
 * the sender's tail loss probe then asks for it, and the answer repeats a number, so it passes. */
#include "segment.h"

char _license[] SEC("license") = "Dual BSD/GPL";

const volatile struct ack_skip_settings settings = {3, 10};

/* After this time without an ACK the sender is idle, or waits. [RFC 1122 section 4.2.3.2: at most 500 ms; Linux: 40 ms] */
#define PAUSE_NS 40000000ULL
/* An ACK of less than a segment ends a burst; every path carries at least 536 bytes. [RFC 9293 section 3.7.1] */
#define LEAST_STEP 536

/* PASS calls the next program, or the device. */
enum { PASS = -1, DROP = 2 };

struct heard {
	u64 at_ns;
	u32 ack;
	u32 left_out; /* ACKs since one has passed */
	u32 acks;
	u32 unused;
};

struct {
	__uint(type, MAP_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct flow);
	__type(value, struct heard);
} flows SEC(".maps");

struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct ack_skip_counts);
} counts SEC(".maps");

/* Whether a later ACK has all information of this one. */
static always_inline int is_spare(const struct segment *segment, const struct heard *heard, u64 now)
{
	u32 step = segment->ack - heard->ack;
	return segment->plain && segment->flags == ACK && segment->window && (s32)step >= LEAST_STEP &&
	       heard->acks > settings.start_after && now - heard->at_ns < PAUSE_NS;
}

SEC("tcx/egress") int ack_skip(struct __sk_buff *skb)
{
	struct segment segment;
	struct heard *heard, first = {};
	struct ack_skip_counts *count;
	u32 zero = 0;
	u64 now;
	int leaves_out;

	if (!read_segment(skb, &segment) || !is_pure_ack(&segment))
		return PASS;
	count = map_lookup(&counts, &zero);
	if (!count)
		return PASS;
	__sync_fetch_and_add(&count->pure_acks, 1);
	now = ktime_ns();
	heard = map_lookup(&flows, &segment.flow);
	if (!heard) {
		first.ack = segment.ack;
		first.at_ns = now;
		first.acks = 1;
		map_update(&flows, &segment.flow, &first, 0);
		return PASS;
	}
	heard->acks += heard->acks <= settings.start_after;
	leaves_out = is_spare(&segment, heard, now) && heard->left_out < settings.skip;
	heard->left_out = leaves_out ? heard->left_out + 1 : 0;
	heard->ack = segment.ack;
	heard->at_ns = now;
	if (!leaves_out)
		return PASS;
	__sync_fetch_and_add(&count->left_out, 1);
	return DROP;
}
