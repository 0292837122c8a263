#!/usr/bin/env bash
# Checks the crates by `cargo deny` and deny.toml: licences, sources, duplicates, then the advisories, whose database it fetches from
# GitHub. It says so where cargo-deny or the database is missing.
set -uo pipefail
cd "$(dirname "$0")/.."

if ! cargo deny --version > /dev/null 2>&1; then
    echo "lasthop: crates are not checked, as cargo-deny is not installed (cargo install cargo-deny --locked --version 0.20.2)" >&2
    exit 0
fi
status=0
cargo deny --locked check --hide-inclusion-graph bans licenses sources || status=1
said=$(cargo deny --locked check advisories 2>&1) || case "$said" in
    *"failed to fetch advisory database"*)
        echo "lasthop: advisories are not checked, as their database cannot be fetched from https://github.com/RustSec/advisory-db" >&2 ;;
    *)
        echo "$said" >&2
        status=1 ;;
esac
exit $status
