#!/bin/sh
# Compiles the objects of this folder; or build.sh TO SOURCE..., those sources into the folder TO. Needs clang and llvm-strip.
set -eu
[ $# -gt 0 ] || { cd "$(dirname "$0")" && set -- . ./*.bpf.c; }
to=$1
shift
for source in "$@"; do
	object=$to/$(basename "${source%.c}.o")
	clang -O2 -g -target bpf -mcpu=v3 -Wall -Werror -fdebug-compilation-dir=. -fdebug-prefix-map="$PWD"=. -c "$source" -o "$object"
	llvm-strip -g "$object"
done
