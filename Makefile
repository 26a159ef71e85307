# What one does with Lull, in one word each. Everything is built under SCRATCH; FLAGS are passed on to `swift build` and
# `swift test` as they are.
SCRATCH ?= .build
FLAGS ?=
# Where the command is installed; DESTDIR is put in front of it.
PREFIX ?= /usr/local
DESTDIR ?=
# A command to install that is built already; without it, it is built first.
BINARY ?=
export SCRATCH FLAGS JSON CHARTS ROWS QUICK AGAINST ROUNDS PREFIX DESTDIR BINARY UPDATE

.PHONY: help run install uninstall dist test bench check format lint embedded playground test-playground docs api ci clean

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' Makefile

run: ## Install what is missing, build the lull command, and show it at work.
	@scripts/install-missing
	@swift build -c release --product lull --scratch-path $(SCRATCH) $(FLAGS)
	@scripts/demo "$$(swift build -c release --scratch-path $(SCRATCH) --show-bin-path)/lull"

install: ## Install the command, its manual and completions under PREFIX=/usr/local; BINARY=path takes a command that is built already.
	@# Under $(DESTDIR)$(PREFIX): the command, its manual and completions, as listed at the top of scripts/install.
	@scripts/install

uninstall: ## Remove what was installed there.
	@scripts/install --remove

dist: ## Pack the command for machines without a toolchain, and try it in a bare root folder.
	@scripts/dist

# One after the other: on a machine with few cores, tests that compute would take all threads away from tests that wait, which
# then give up. It is also faster.
test: ## Run the tests.
	@swift test --no-parallel --scratch-path $(SCRATCH) $(FLAGS)

bench: ## Measure every row of the targets against its floor; JSON=path writes the figures, CHARTS=folder the charts, ROWS=a,b picks rows, AGAINST=REV compares with a revision.
	@scripts/bench

check: ## Run the long forms of the tests, and all under sanitizers: minutes to hours, for the thorough.
	@scripts/check

format: ## Write all sources in the style of the repository.
	@swift format --in-place --parallel --recursive $(SOURCES)

lint: ## Complain about sources in any other style.
	@swift format lint --strict --parallel --recursive $(SOURCES)

embedded: ## Build the core as Embedded Swift, and run it in WebAssembly.
	@scripts/embedded

playground: ## Build the page on which people can try Lull: docs/playground/index.html.
	@scripts/playground

test-playground: ## Test that page in a headless browser, which is installed if it is missing.
	@scripts/test-playground

docs: ## Build the documentation; a warning is an error.
	@swift build --scratch-path $(SCRATCH) $(FLAGS)
	@scripts/docs

api: ## Compare the public declarations with the lists in docs/api; UPDATE=1 writes these.
	@swift build --scratch-path $(SCRATCH) $(FLAGS)
	@scripts/api

ci: ## Everything that has to pass before a change is taken.
	@.ci/run

clean: ## Remove everything that was built.
	@rm -rf $(SCRATCH) Benchmarks/.build

SOURCES = Package.swift Sources Tests Playground/Engine Playground/tests Benchmarks/Package.swift Benchmarks/Sources
