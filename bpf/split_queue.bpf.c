/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Sends pure ACKs to a class of their own in the queueing discipline of a device; other packets go to the default class.
 *
 * Source: Ha, Choi 2006, as described in hashimoto2008 section III-B; `queue = "split_ack"` in a scenario. A classful discipline
 * takes the class from the priority of a packet if its upper half names the discipline, so no filter is needed there. */
#include "segment.h"

char _license[] SEC("license") = "Dual BSD/GPL";

const volatile struct split_queue_settings settings = {0x00010002};

struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct split_queue_counts);
} counts SEC(".maps");

/* The next program, or the device. */
#define NEXT -1

SEC("tcx/egress") int split_queue(struct __sk_buff *skb)
{
	struct segment segment;
	struct split_queue_counts *count;
	u32 zero = 0;
	int is_ack = read_segment(skb, &segment) && is_pure_ack(&segment);

	if (is_ack)
		skb->priority = settings.ack_class;
	count = map_lookup(&counts, &zero);
	if (count)
		__sync_fetch_and_add(is_ack ? &count->pure_acks : &count->data, 1);
	return NEXT;
}
