/* SPDX-License-Identifier: MIT */
/* A controller that uses every kind of map, a function of its own, atomic operations and random numbers, and shows the
 * results by its window, for the tests of this crate. */
#include "../../../../examples/controllers/bpf/tcp_ca.h"

char _license[] SEC("license") = "Dual BSD/GPL";

#define NUMBER(name, value) int (*name)[value]
#define TYPE(name, value) value *name

struct {
	NUMBER(type, 2);
	NUMBER(max_entries, 4);
	TYPE(key, u32);
	TYPE(value, u64);
} counts SEC(".maps");

struct {
	NUMBER(type, 1);
	NUMBER(max_entries, 2);
	TYPE(key, u32);
	TYPE(value, u32);
} table SEC(".maps");

struct {
	NUMBER(type, 24);
	NUMBER(map_flags, 1);
	TYPE(key, int);
	TYPE(value, u64);
} own SEC(".maps");

struct {
	NUMBER(type, 27);
	NUMBER(max_entries, 4096);
} records SEC(".maps");

static void *(*const map_lookup)(void *map, const void *key) = (void *)1;
static long (*const map_update)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static long (*const map_delete)(void *map, const void *key) = (void *)3;
static u32 (*const get_random)(void) = (void *)7;
static void *(*const storage_get)(void *map, void *sk, void *value, u64 flags) = (void *)107;
static void *(*const reserve)(void *map, u64 size, u64 flags) = (void *)131;
static void (*const submit)(void *record, u64 flags) = (void *)132;

u64 calls;

/* Puts three keys into a table for two: the third fits only once one is deleted. */
static NOINLINE u32 try_table(u32 first)
{
	u32 fitted = 0;

	for (u32 key = first; key < first + 3; key++)
		fitted += map_update(&table, &key, &key, 0) == 0;
	map_delete(&table, &first);
	first += 2;
	fitted += map_update(&table, &first, &first, 0) == 0;
	u32 *found = map_lookup(&table, &first);
	return found ? 10 * fitted + *found : 0;
}

SEC("struct_ops/init")
void init(u64 *context)
{
	u64 begin = 7;

	storage_get(&own, SOCK(context), &begin, 1);
}

/* 1000 calls + 100 own + table. */
SEC("struct_ops/avoid")
void avoid(u64 *context)
{
	struct tcp_sock *tp = tcp_sk(SOCK(context));
	u32 key = 3, none = 4;
	u64 *count = map_lookup(&counts, &key), *mine = storage_get(&own, SOCK(context), 0, 0), *record;

	if (!count || !mine || map_lookup(&counts, &none))
		return;
	__sync_fetch_and_add(&calls, 1);
	__sync_fetch_and_add(count, 1);
	record = reserve(&records, 16, 0);
	if (record) {
		*record = *count;
		submit(record, 0);
	}
	if (*count != calls || get_random() == get_random())
		return;
	tp->snd_cwnd = 1000 * calls + 100 * (*mine)++ + try_table(5 * calls);
}

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

SEC(".struct_ops.link")
struct tcp_congestion_ops maps = {
	.init = (void *)init,
	.cong_avoid = (void *)avoid,
	.ssthresh = (void *)ssthresh,
	.undo_cwnd = (void *)undo_cwnd,
	.name = "maps",
};
