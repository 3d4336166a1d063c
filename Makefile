# A thin front: CMake builds, the scripts in tools/ do the rest.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)

MAKEFLAGS += --no-print-directory

.PHONY: build deps configure quickstart test bench lint install clean help

build: configure ## build the release into build/ (the default)
	cmake --build --preset release -j $(JOBS)

deps: ## install what is missing to build and test
	@tools/deps

configure:
	@tools/deps build
	@cmake --preset release

quickstart: build ## train SeBayS on Fashion-MNIST into runs/quickstart: a table and a report
	build/sebays train recipes/quickstart.ini --out runs/quickstart --resume
	build/sebays eval runs/quickstart
	build/sebays report runs/quickstart

test: deps ## all tests: release, sanitizers, NEON under emulation
	@JOBS=$(JOBS) tools/run_tests

bench: deps build ## time kernels and training steps, beside PyTorch where it is installed
	@tools/bench_compare
	@tools/bench_step $(if $(QUICK),--quick)

lint: deps configure ## format, static analysis, layers, sizes
	@JOBS=$(JOBS) tools/lint

install: build ## install under PREFIX (/usr/local), below DESTDIR if set
	cmake --install build --prefix "$(PREFIX)"

clean: ## remove everything that was built
	rm -rf build build-debug build-thread build-coverage build-arm64 build-fuzz

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1@\2/p' Makefile | tr '@' '\t' | expand -t 18
