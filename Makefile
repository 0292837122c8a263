# The short way in: make demo, make test, make bench. Needs Rust stable, Python 3.11 or later, and make.

VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
EXTENSION := python/lasthop/_core.abi3.so
# A stamp for the profile in which the engine was installed: `release` by `make build`, `dev` by `make engine`, `quick` by a demo in
# a fresh tree. One that is there is brought up to date; tests and demos take it as it is.
INSTALLED := $(wildcard $(VENV)/.engine-*)
# Virtual time for the distribution's User Mode Linux, which there is on Linux alone.
ifeq ($(shell uname),Linux)
PRELOAD := python/lasthop/kernel/emulation/virtual_time.so
endif
# Loading programs into the kernel, where the headers of libelf and zlib are; `lasthop host` says so where they are not.
KERNEL_NEEDS := printf '\#include <gelf.h>\n\#include <zlib.h>\nint main(void) { return elf_version(0) + !zlibVersion(); }'
ifeq ($(shell uname),Linux)
ifeq ($(shell $(KERNEL_NEEDS) | cc -x c - -o /dev/null -lelf -lz 2>/dev/null && echo found),found)
KERNEL := python/lasthop/_kernel.abi3.so
endif
endif
# The programs themselves, compiled beforehand: only those who change them need clang.
BPF_OBJECTS := $(patsubst bpf/%.bpf.c,python/lasthop/kernel/bpf/%.bpf.o,$(wildcard bpf/*.bpf.c))
SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)
# Every package with its version and the hashes of its files, for each Python and system; `make lock` writes them. The first has
# what a demo needs, the second adds the layers of pyproject.toml, the third what tests need.
LOCK := python/requirements.txt
LAYERS := python/requirements-all.txt
TESTS := python/requirements-test.txt
# The same for what builds the site, which nothing else needs.
DOCS_LOCK := python/requirements-docs.txt
PIP := -m pip --quiet --disable-pip-version-check
# The tool that finds the versions; nothing else needs it.
UV := uv==0.13.8
# What links for other machines.
ZIG := cargo-zigbuild ziglang==0.17.1

# One interpreter for every build, so that cargo and maturin do not undo one another's work.
export PYO3_PYTHON := $(BIN)/python
export VIRTUAL_ENV := $(CURDIR)/$(VENV)

# Give PYTHON=... to choose; otherwise the first on the path that is new enough and can make environments.
CANDIDATES := python3 python3.14 python3.13 python3.12 python3.11
USABLE := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for name in $(CANDIDATES); do $$name -c '$(USABLE)' 2>/dev/null && echo $$name && break; done)

.PHONY: asan miri build engine fast demo ready-to-test test unit gates instructions lint lint-python lock fuzz fuzz-python soak bench speed validation large kernel kernel-claims bpf docs page wheel wheels clean rust
.DEFAULT_GOAL := build

build: $(VENV)/.engine-release $(PRELOAD) $(KERNEL) $(VENV)/.layers

# The engine for the edit loop: in the profile of the Rust tests, with their checks, and built in pieces again after an edit.
engine: $(VENV)/.engine-dev

# The engine compiled with a profile of its own runs, which takes some minutes; the plain one stays where it cannot be made.
fast: build
	@$(BIN)/python benches/guided.py engine

demo: $(or $(INSTALLED),$(VENV)/.engine-quick)
	@$(BIN)/python -m lasthop.demo
	@test ! -e $(VENV)/.engine-quick || echo "This engine was built in haste: \`make build\` makes the one whose speed the documents state."

# What tests need, their own programs included, which may fail without keeping those of Python from running. `make -j2 ready-to-test`
# fetches packages while it compiles.
ready-to-test: $(or $(filter-out %-quick,$(INSTALLED)),$(VENV)/.engine-dev) $(PRELOAD) $(KERNEL) $(VENV)/.tests
	-cargo test --workspace --no-run

# Files with such tests: to collect all would take as long as some of them run.
ALONE = $(shell grep --files-with-matches 'mark\.alone' tests/*/test_*.py)

# Tests that measure a kernel in real time come last and run alone. A runner that fails does not keep the others from running.
# Processes that do not keep what they compile would compile the package again, each of them.
test: ready-to-test
	@status=0; runs() { echo "$$*"; began=$$(date +%s); "$$@" || status=1; echo "Time: $$(($$(date +%s) - began)) s for $$*"; }; \
		export PYTHONDONTWRITEBYTECODE=; \
		runs cargo test --workspace --no-fail-fast; \
		runs $(BIN)/python -m pytest --numprocesses auto --dist loadscope --no-loadscope-reorder -m "not alone"; \
		runs $(BIN)/python -m pytest -m alone $(ALONE); \
		exit $$status

# The Rust tests alone: no formatting, no Python. CRATE=tcp runs those of one crate.
unit: rust $(VENV)/.ready
	cargo test $(if $(CRATE),--package lasthop-$(CRATE),--workspace)

# Counts anew what a run costs, in events, allocations and bytes, and writes tests/data/gates.tsv, which `make test` compares with.
gates: rust
	@LASTHOP_WRITE_GATES=1 cargo test --quiet --package lasthop-scenario --test gates run_costs_equal_the_recorded_ones
	@git --no-pager diff --stat -- tests/data/gates.tsv

# Counts instructions with valgrind and compares them with tests/data/instructions.tsv; WRITE=--write keeps them.
instructions: rust $(VENV)/.ready
	@$(BIN)/python benches/instructions.py $(WRITE)

# Formatting, clippy, rustdoc, crates and their licences, and the checks of Python: for those who change the code. Not part of `test`, as Rust's move on with Rust itself.
lint: rust $(VENV)/.ready lint-python
	rustfmt --check --edition 2024 $$(git ls-files '*.rs')
	cargo clippy --workspace --all-targets -- -D warnings
	$(if $(KERNEL),cargo clippy --package lasthop-kernel --features libbpf -- -D warnings)
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
	tests/deny.sh
	$(BIN)/python release/licences.py --check

# The same for Python: style, format and types, by the versions of python/requirements-test.txt; `.ci/run` runs it.
lint-python: $(VENV)/.tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# Coverage-guided tests of what reads files from elsewhere, FUZZ_SECONDS=60 in all; needs cargo-fuzz.
fuzz: rust
	@tests/fuzz.sh

# The same without coverage, for the readers of Python and of the engine: FILES mutated files of each kind, fewer of slow ones, in one process.
FILES := 100000
fuzz-python: $(VENV)/.tests
	@$(BIN)/python tests/python/foreign_fuzz.py $(FILES) $(if $(SEED),$(SEED),1) $(READER)
	@$(if $(READER),:,$(BIN)/python tests/python/claim_fuzz.py $(FILES) $(if $(SEED),$(SEED),1))

# Tests of the crates with `unsafe` code under AddressSanitizer, and under Miri those that call neither C nor the kernel. Both need a
# nightly toolchain. A table of functions is leaked on purpose, as it must stay, and a test sets stacks for signals itself.
NIGHTLY := nightly
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
asan: rust
	ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0 RUSTFLAGS=-Zsanitizer=address cargo +$(NIGHTLY) test --target $(HOST) --target-dir target/asan \
		--package lasthop-native --package lasthop-emulation --lib --tests

miri: rust
	cargo +$(NIGHTLY) miri test --target-dir target/miri --package lasthop-virtual-time --lib
	MIRIFLAGS="-Zmiri-permissive-provenance -Zmiri-ignore-leaks" cargo +$(NIGHTLY) miri test --target-dir target/miri --package lasthop-native --test address

# Ends eight commands at STRIKES=1000 random moments by KILL, TERM, INT, HUP and a closed pipe, and counts what is lost: nothing may be.
STRIKES := 1000
soak: $(VENV)/.tests
	@rm -rf out/soak && mkdir -p out/soak && cd out/soak && $(BIN)/python $(CURDIR)/tests/python/strikes.py $(STRIKES) $(if $(SEED),$(SEED),1)

bench: build
	@$(BIN)/lasthop self bench

# Every number of speed anew, in one go: gates, instructions where valgrind is, the tables and the picture of docs/speed.md and
# the table of README.md. After `make fast` they are those of the profile-guided engine, beside the plain build.
speed: build gates
	@if command -v valgrind > /dev/null; then $(BIN)/python benches/instructions.py --write; \
		else echo "lasthop: instructions are not counted, as valgrind is not installed" >&2; fi
	@$(BIN)/lasthop self bench --write docs/speed.md --write README.md

# Measures every comparison with ns-2 and ns-3 anew, writes docs/peers.md, and reproduces all papers in short runs. The peers' figures
# are kept in tests/data; with NS3_PYTHON=python, an interpreter that has the package ns3==3.44.post0, those of tests/data/ns3.csv are
# measured anew too. LASTHOP_ALL=1 lets a test run under all of its seeds, where `make test` has fewer.
validation: build $(VENV)/.tests
	@$(BIN)/python tests/validation/report.py
	@LASTHOP_ALL=1 $(BIN)/python -m pytest tests/validation/test_reproduction.py tests/validation/test_peers.py
	@LASTHOP_ALL=1 cargo test --package lasthop-wifi --test all agrees
	@LASTHOP_ALL=1 cargo test --package lasthop-conformance --test all known_behaviour

# Long runs, large networks, 100,000 runs in a store, equal bytes by threads and Dask, and a page with 100,000 requests: writes the
# table of docs/validation.md. It takes half an hour on two idle cores; CASES="many_runs served" measures these rows alone.
large: build $(VENV)/.tests
	@$(BIN)/python tests/validation/large.py $(if $(CASES),$(CASES) --write)

# Writes docs/kernel.md: what this machine's kernel does on scripted paths, which needs root and /dev/net/tun, and what a kernel for
# virtual time does, which `lasthop emulate --build-kernel` makes; LASTHOP_KERNEL names another. Status 77 where one was missing.
kernel: build
	@status=0; $(BIN)/python tests/kernel/report.py || status=$$?; \
		$(BIN)/python tests/kernel/oracle/tables.py || status=$$?; exit $$status

# Builds the site of docs/ in out/site: every warning is an error. A showcase that has not changed is not run again.
docs: build $(VENV)/.docs-ready
	@$(BIN)/python -m sphinx --builder html --nitpicky --fail-on-warning --keep-going --quiet --doctree-dir out/site-doctrees docs out/site
	@echo "out/site/index.html"

# Shows what three claims of papers come to with a kernel's TCP, in virtual time: the tables of docs/papers. CLAIMS="K-2" runs one.
kernel-claims: build
	@$(BIN)/python tests/kernel/claims.py $(CLAIMS)

# Bundles the editor of the page anew and copies the other scripts, of the versions in page/package-lock.json; needs Node, which
# nothing else does. VERSIONS beside them has their versions.
VENDOR := python/lasthop/page/static/vendor
page:
	cd page && npm ci --ignore-scripts --no-fund --no-audit && node_modules/.bin/esbuild codemirror.js --bundle --format=esm --minify \
		--target=es2022 --charset=utf8 --legal-comments=none --outfile=$(CURDIR)/$(VENDOR)/codemirror.js
	cp page/node_modules/apache-arrow/Arrow.es2015.min.js page/node_modules/uplot/dist/uPlot.iife.min.js page/node_modules/uplot/dist/uPlot.min.css $(VENDOR)
	cp page/node_modules/apache-arrow/LICENSE.txt $(VENDOR)/Arrow.LICENSE
	cp page/node_modules/apache-arrow/NOTICE.txt $(VENDOR)/Arrow.NOTICE
	cp page/node_modules/uplot/LICENSE $(VENDOR)/uPlot.LICENSE
	cd $(VENDOR) && sha256sum $$(ls | grep -v SHA256SUMS) > SHA256SUMS

# Builds the wheel, profile-guided where that can be, then tests it where nothing else is installed and no source is on the
# path, and once more with no layer beside it. What it needs comes from files whose hashes were checked. REPOSITORY=https://… is
# where the README's links lead. `make wheels` makes those for others, by zig; TARGETS="aarch64-unknown-linux-gnu" makes one.
wheel: rust $(VENV)/.layers $(PRELOAD) $(KERNEL)
	rm -rf dist
	profile=$$($(BIN)/python benches/guided.py profile) || true; \
		PATH="$(BIN):$$PATH" $(BIN)/python release/wheel.py --out dist $${profile:+--profile "$$profile"} $(WITH_REPOSITORY)
	$(BIN)/python -m venv dist/venv
	dist/venv/bin/python $(PIP) download --require-hashes --requirement $(TESTS) --dest dist/locked
	dist/venv/bin/python $(PIP) install --no-index --find-links dist/locked "$$(ls dist/*.whl)[all]" pytest pytest-timeout
	$(BIN)/python -m venv dist/base
	dist/base/bin/python $(PIP) install --no-index --find-links dist/locked dist/*.whl
	LASTHOP_WHEEL="$$(ls $(CURDIR)/dist/*.whl)" LASTHOP_BASE=$(CURDIR)/dist/base/bin/python dist/venv/bin/python -m pytest
	@rm -rf dist/venv dist/base dist/locked
	@ls dist/*.whl

# Wheels for other machines, each by zig with the C library of its tag: CONTRIBUTING.md.
TARGETS := x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-musl
WITH_REPOSITORY := $(if $(REPOSITORY),--repository $(REPOSITORY))
wheels: rust $(VENV)/.ready
	rustup target add $(TARGETS)
	$(BIN)/python -m venv --clear target/zig
	target/zig/bin/python $(PIP) install $(ZIG)
	for target in $(TARGETS); do \
		PATH="$(CURDIR)/target/zig/bin:$(BIN):$$PATH" $(BIN)/python release/wheel.py --target $$target --out dist $(WITH_REPOSITORY) || exit; done

# Writes the locks anew for what pyproject.toml and python/requirements*.in ask; versions stay where they still fit. To take
# later ones: make lock UPGRADE=--upgrade, or UPGRADE="--upgrade-package numpy".
COMPILE = $(VENV)/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock"
lock: $(VENV)/.ready
	$(BIN)/python -m venv --clear $(VENV)/lock
	$(VENV)/lock/bin/python $(PIP) install $(UV)
	$(COMPILE) --all-extras $(UPGRADE) --output-file $(TESTS) pyproject.toml python/requirements.in python/requirements-test.in
	$(COMPILE) --all-extras --constraints $(TESTS) --output-file $(LAYERS) pyproject.toml python/requirements.in
	$(COMPILE) --constraints $(TESTS) --output-file $(LOCK) pyproject.toml python/requirements.in
	$(COMPILE) $(UPGRADE) --output-file $(DOCS_LOCK) python/requirements-docs.in
	@rm -rf $(VENV)/lock

clean:
	rm -rf $(VENV) dist docs/gallery docs/reference/*/ $(EXTENSION) $(PRELOAD) $(KERNEL)

# A demo needs neither analysis, conformance nor emulation.
$(VENV)/.engine-%: $(SOURCES) $(VENV)/.ready | rust
	$(BIN)/maturin develop --profile $* $(if $(filter quick,$*),--no-default-features)
	@rm -f $(VENV)/.engine-* && touch $@

$(PRELOAD): crates/virtual-time/Cargo.toml $(wildcard crates/virtual-time/src/*.rs) | rust
	cargo build --quiet --release --package lasthop-virtual-time --target-dir target --config 'profile.release.strip = "symbols"'
	cp target/release/liblasthop_virtual_time.so $@

# An extension finds Python in the process that loads it; linked with libpython it would go with this Python alone.
$(KERNEL): crates/kernel/Cargo.toml $(wildcard crates/kernel/src/*.rs) $(VENV)/.ready | rust
	PYO3_BUILD_EXTENSION_MODULE=1 cargo build --quiet --release --package lasthop-kernel --features libbpf --target-dir target --config 'profile.release.strip = "symbols"'
	cp target/release/lib_kernel.so $@

# Compiles the programs for the kernel anew; needs clang and llvm-strip.
bpf: $(BPF_OBJECTS)

python/lasthop/kernel/bpf/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h)
	clang -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Werror -Wno-unused-function -Wno-unused-parameter -ffile-prefix-map=$(CURDIR)=. -c $< -o $@
	llvm-strip -g $@

$(VENV)/.ready: pyproject.toml $(LOCK)
	@test -n "$(PYTHON)" || { echo "lasthop: needs Python 3.11 or later with its venv module; found none of: $(CANDIDATES)" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python $(PIP) install --require-hashes --requirement $(LOCK)
	@touch $@

$(VENV)/.docs-ready: $(DOCS_LOCK) $(VENV)/.layers
	$(BIN)/python $(PIP) install --require-hashes --requirement $(DOCS_LOCK)
	@touch $@

$(VENV)/.layers: $(LAYERS) $(VENV)/.ready
	$(BIN)/python $(PIP) install --require-hashes --requirement $(LAYERS)
	@touch $@

$(VENV)/.tests: $(TESTS) $(VENV)/.layers
	$(BIN)/python $(PIP) install --require-hashes --requirement $(TESTS)
	@touch $@

rust:
	@command -v cargo >/dev/null || { echo "lasthop: needs Rust (cargo is not on the path); see https://rustup.rs" >&2; exit 1; }
