# The tasks of this repository. Everything is built under SCRATCH; FLAGS are passed on unchanged to `swift build` and
# `swift test`.
SCRATCH ?= .build
FLAGS ?=
# The folder in which the command is installed; DESTDIR is put in front of it.
PREFIX ?= /usr/local
DESTDIR ?=
# A command to install that is already built; without it, the command is built first.
BINARY ?=
# Where the documentation is served.
PORT ?= 8000
export SCRATCH FLAGS JSON CHARTS ROWS QUICK AGAINST ROUNDS PREFIX DESTDIR BINARY UPDATE ADDRESS REPOSITORY

.PHONY: help run install uninstall dist test test-servers modes bench check check-apple format lint embedded firmware test-firmware playground test-playground test-serve-page examples pictures docs docs-serve test-site api ci clean

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' Makefile

run: ## Install missing packages, build the lull command, and show it at work.
	@scripts/install-missing
	@swift build -c release --product lull --scratch-path $(SCRATCH) $(FLAGS)
	@scripts/demo "$$(swift build -c release --scratch-path $(SCRATCH) --show-bin-path)/lull"

install: ## Install the command, its manual, completions and services under PREFIX=/usr/local; BINARY=path installs a command that is already built.
	@# Under $(DESTDIR)$(PREFIX): the command, its manual, completions and services, as listed at the top of scripts/install.
	@scripts/install

uninstall: ## Remove what make install has installed.
	@scripts/install --remove

dist: ## Pack the command for machines without a toolchain, and try it in an empty root folder.
	@scripts/dist

test: ## Install missing packages, build the tests, and run them.
	@scripts/install-missing tests
	@swift build --build-tests --scratch-path $(SCRATCH) $(FLAGS)
	@scripts/test --scratch-path $(SCRATCH) $(FLAGS) --

test-servers: ## Run the tests of the stores in PostgreSQL and Redis, in their long form, on several versions of the servers, which are installed if missing.
	@scripts/test-servers

modes: ## Compile and run the code of the documentation's pages in the other language modes that users may have.
	@swift test --no-parallel --package-path Tests/LanguageModes --scratch-path $(SCRATCH)/modes $(FLAGS)

bench: ## Measure every row of the targets against its floor; JSON=path writes the figures, CHARTS=folder the charts, ROWS=a,b chooses rows, AGAINST=REV compares with a revision.
	@scripts/bench

check: ## Run the long forms of the tests, and all tests under sanitizers; takes minutes to hours.
	@scripts/check

check-apple: ## Check the C parts and the Swift targets as for Apple's systems, whose headers are installed if missing.
	@scripts/check-apple

format: ## Format all sources in the style of the repository.
	@swift format --in-place --parallel --recursive $(SOURCES)

lint: ## Report sources in any other style, and tests that sleep.
	@scripts/lint $(SOURCES)

embedded: ## Build the core as Embedded Swift, and run it as WebAssembly.
	@scripts/embedded

firmware: ## Build the programs in Examples/Firmware for a Cortex-M4 that QEMU emulates, and print what they need.
	@scripts/firmware

test-firmware: ## Run them in QEMU, which is installed if missing: contacts that bounce, all conformance cases, and the figures.
	@scripts/install-missing firmware
	@cd Examples/Firmware/tests && SCRATCH=$(abspath $(SCRATCH)) PYTHONDONTWRITEBYTECODE=1 python3 -m unittest

playground: ## Build the page for trying Lull in a browser: SCRATCH/playground/index.html (.build/playground/index.html).
	@scripts/playground

test-playground: ## Test that page in a headless browser, which is installed if missing.
	@scripts/test-playground

test-serve-page: ## Test the pages of lull serve and lull top in a headless browser, and lull serve with Prometheus, nginx and systemd, all of which are installed if missing.
	@scripts/test-serve-page

examples: ## Build the examples, and try them: a chat bot, and a server with PostgreSQL, which is installed if missing.
	@scripts/examples

pictures: ## Draw the pictures of the README and the guides anew; one is a recording, which needs inotifywait.
	@swift build --product lull --scratch-path $(SCRATCH) $(FLAGS)
	@scripts/pictures

docs: ## Build the documentation as a site, and check its links; ADDRESS=https://… is where it will be, REPOSITORY=https://… its sources.
	@swift build --scratch-path $(SCRATCH) $(FLAGS)
	@scripts/docs
	@scripts/site
	@echo "docs: make docs-serve shows it in a browser"

test-site: docs ## Build the site, and test its search and its pages in a headless browser, which is installed if missing.
	@scripts/test-site

docs-serve: docs ## Build the site, and serve it on this machine; PORT=8000.
	@echo "docs: http://localhost:$(PORT)/ (Ctrl-C ends it)"
	@python3 -m http.server --bind 127.0.0.1 --directory $(SCRATCH)/site/out $(PORT) 2>/dev/null

api: ## Compare the public declarations with the lists in docs/api; UPDATE=1 writes the lists.
	@swift build --scratch-path $(SCRATCH) $(FLAGS)
	@scripts/api

ci: ## Run everything that must pass before a change is merged.
	@.ci/run

clean: ## Remove everything that was built.
	@rm -rf $(SCRATCH) Benchmarks/.build

SOURCES = Package.swift Sources Tests Web/Playground/Engine Web/Playground/tests Benchmarks/Package.swift Benchmarks/Sources Examples
