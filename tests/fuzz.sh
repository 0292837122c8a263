#!/usr/bin/env bash
# Fuzzes everything that reads files from elsewhere, guided by coverage, for FUZZ_SECONDS in all (60), beginning with the files of
# this repository. Fails if one of them panics, runs out of memory or does not come back. Needs cargo-fuzz and a C++ compiler.
#
#     tests/fuzz.sh                             # every target
#     FUZZ_SECONDS=600 tests/fuzz.sh recovery   # one of them, for ten minutes
set -euo pipefail
cd "$(dirname "$0")/.."

total=${FUZZ_SECONDS:-60}
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    mapfile -t targets < <(sed -n 's/^name = "\([a-z_]*\)"$/\1/p' fuzz/Cargo.toml)
fi
each=$((total / ${#targets[@]} + 1))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The beginning of each trace is what it has in common with no other; whole ones would be slow.
seeds() {
    case $1 in
        bpf_object) cp examples/controllers/bpf/*.bpf.o "$2" ;;
        analysis | capture) cargo run --quiet --package lasthop-wire --example exchange -- "$2/exchange" ;;
        cc_trace) for file in tests/data/vectors/cc/*/*.gz; do gunzip -c "$file" | sed -n 1,60p > "$2/$(basename "$file")"; done ;;
        packet_script) cp tests/scripts/*.pkt "$2" ;;
        packet_trace) printf 'time_s,bytes\n0, 100\n\n0.0015;200 # two\n0.02 300\n' > "$2/trace" ;;
        quantity) printf '%s' '5 ms' > "$2/time"; printf '%s' '1.5 Mbit/s' > "$2/rate"; printf '%s' '-62 dBm' > "$2/power" ;;
        recovery) for file in tests/data/vectors/recovery/[ks]_*.gz; do gunzip -c "$file" > "$2/$(basename "$file")"; done ;;
        scenario) cp scenarios/*.toml "$2" ;;
    esac
}

export RUSTC_BOOTSTRAP=1
for target in "${targets[@]}"; do
    mkdir -p "$work/$target"
    seeds "$target" "$work/$target"
    echo "fuzz: $target, $each s"
    limits=(-max_total_time="$each" -timeout=60 -rss_limit_mb=4096 -max_len=65536 -print_final_stats=1)
    if ! cargo fuzz run --sanitizer none "$target" "$work/$target" -- "${limits[@]}" > "$work/log" 2>&1; then
        grep -vE '^(INFO|#)' "$work/log" | tail -n 40 >&2
        echo "fuzz: $target has failed; fuzz/artifacts/$target holds the input" >&2
        exit 1
    fi
    grep number_of_executed_units "$work/log"
done
