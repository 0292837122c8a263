/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reads the headers of a TCP segment that leaves a device: IPv4 and IPv6 without extension headers. Offsets count from the
 * network header, so that it makes no difference whether the device has an Ethernet header before it (TUN and PPP have none). */
#ifndef LASTHOP_SEGMENT_H
#define LASTHOP_SEGMENT_H

#include "kernel.h"

enum { IPV4 = 0x0800, IPV6 = 0x86dd, TCP = 6, FROM_NETWORK_HEADER = 1 };
/* Flags of the thirteenth and fourteenth byte: data offset, reserved and accurate ECN, CWR to FIN. */
enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16, URG = 32, ECE = 64, CWR = 128 };

struct flow {
	u8 source[16];
	u8 destination[16];
	u32 ports;
};

struct segment {
	struct flow flow;
	u32 ack;
	u16 window;
	u16 payload;
	u8 flags;
	u8 plain; /* no option but timestamps */
};

struct ipv4 {
	u8 version_and_length;
	u8 dscp_and_ecn;
	u16 length;
	u16 identification;
	u16 fragment;
	u8 ttl;
	u8 protocol;
	u16 checksum;
	u8 source[4];
	u8 destination[4];
};

struct ipv6 {
	u32 version_class_and_label;
	u16 payload;
	u8 next;
	u8 hop_limit;
	u8 source[16];
	u8 destination[16];
};

struct tcp {
	u32 ports;
	u32 seq;
	u32 ack;
	u8 offset;
	u8 flags;
	u16 window;
	u16 checksum;
	u16 urgent;
	u8 options[4];
};

static always_inline int load(struct __sk_buff *skb, u32 offset, void *to, u32 length)
{
	return skb_load_bytes_relative(skb, offset, to, length, FROM_NETWORK_HEADER);
}

/* The start of the TCP header, and the length from there to the end; 0 if there is none. */
static always_inline u32 read_ip(struct __sk_buff *skb, struct flow *flow, u32 *length)
{
	u32 ethertype = __builtin_bswap16(skb->protocol);
	if (ethertype == IPV4) {
		struct ipv4 ip;
		u32 header;
		if (load(skb, 0, &ip, sizeof(ip)) || ip.protocol != TCP || ip.fragment & __builtin_bswap16(0x3fff))
			return 0;
		header = (ip.version_and_length & 15) * 4;
		if (header < sizeof(ip) || __builtin_bswap16(ip.length) < header)
			return 0;
		*length = __builtin_bswap16(ip.length) - header;
		__builtin_memcpy(flow->source, ip.source, 4);
		__builtin_memcpy(flow->destination, ip.destination, 4);
		return header;
	}
	if (ethertype == IPV6) {
		struct ipv6 ip;
		if (load(skb, 0, &ip, sizeof(ip)) || ip.next != TCP)
			return 0;
		*length = __builtin_bswap16(ip.payload);
		__builtin_memcpy(flow->source, ip.source, 16);
		__builtin_memcpy(flow->destination, ip.destination, 16);
		return sizeof(ip);
	}
	return 0;
}

/* Whether `skb` is a whole TCP segment. A large one before segmentation has a length of 0 in its header, and is data. */
static always_inline int read_segment(struct __sk_buff *skb, struct segment *segment)
{
	struct tcp tcp = {};
	u32 length = 0, header, at;
	__builtin_memset(segment, 0, sizeof(*segment));
	at = read_ip(skb, &segment->flow, &length);
	if (!at || load(skb, at, &tcp, sizeof(tcp) - sizeof(tcp.options)))
		return 0;
	header = (tcp.offset >> 4) * 4;
	if (header < 20 || header > length)
		return 0;
	segment->flow.ports = tcp.ports;
	segment->ack = __builtin_bswap32(tcp.ack);
	segment->window = __builtin_bswap16(tcp.window);
	segment->payload = length - header;
	segment->flags = tcp.flags;
	segment->plain = header == 20;
	/* NOP, NOP, timestamps of ten bytes: the usual form. SACK of one block is as long. */
	if (header == 32 && !load(skb, at + 20, tcp.options, 4))
		segment->plain = tcp.options[0] == 1 && tcp.options[1] == 1 && tcp.options[2] == 8 && tcp.options[3] == 10;
	return 1;
}

/* An ACK and nothing else; it may report a gap. */
static always_inline int is_pure_ack(const struct segment *segment)
{
	return !segment->payload && segment->flags & ACK && !(segment->flags & (SYN | FIN | RST));
}

#endif
