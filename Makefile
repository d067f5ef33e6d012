# The commands of the project. `make help` lists them.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup setup-browser browser fuzz build test dist simulate explore sanitize soak abuse mutants demo run bench lint format docs publicapi clean

# STRICT=1, as CI has it, makes every warning an error, and builds the demo as the tests are built.
STRICT ?= 0
export STRICT

# The person's own list for `make demo`, in the todo.txt format.
TODO ?= Examples/Todo/todo.txt

help: ## list these targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "make %-8s %s\n", $$1, $$2}'

setup: ## install the system libraries that are missing (listed in system-packages.txt)
	@Scripts/setup

setup-browser: setup ## install the browser in which the dashboard is tested; make test does it too
	@Scripts/setup-browser

browser: setup ## build, and run the tests of the dashboard in a browser only
	@Scripts/build && Scripts/browser-tests

build: setup ## build everything, tests included
	@Scripts/build

test: setup ## build, and run every test
	@Scripts/test

dist: setup ## make the .deb and the .tar.gz in dist/, which run without Swift; Scripts/check-dist checks them too
	@Scripts/dist

simulate: setup ## run the kept runs and 300 fixed seeds of devices and their cloud in simulated time
	@Scripts/simulate

MINUTES ?= 30
explore: setup ## look for failures with fresh seeds, requests, fuzzing, attacks and real threads; make explore MINUTES=120
	@Scripts/explore "$(MINUTES)"

KIND ?= thread
sanitize: setup ## run the database's tests with the thread sanitizer; KIND=address, FILTER=YapTests.ProxyTests
	@Scripts/sanitize "$(KIND)" $(if $(FILTER),"$(FILTER)")

soak: setup ## the same until it is stopped
	@Scripts/soak

abuse: setup ## attack a real server beside ninety-nine ordinary users, and say what those notice
	@Scripts/abuse

mutants: setup ## list the seeded bugs of the sync, each with the seed and the demand that caught it; it needs a clean tree
	@set -o pipefail; Scripts/build && .build/tests/release/YapPackageTests.xctest --testing-library swift-testing --filter MutantTests 2>&1 | grep -E '^mutant |^✘'
	@Scripts/mutants

demo: setup ## a service and two devices as processes, through kills; make demo TODO=my.txt takes your own list
	@Scripts/demo "$(TODO)"

run: setup ## start the service for a person, on port 8080; make run PORT=9090 takes another
	@Scripts/run $(PORT)

bench: ## compare with C and nginx in the same run; make bench FILTER=service.save runs a part
	@Scripts/setup bench
	swift build -c release --product yap
	swift build -c release --product Benchmarks
	@.build/release/Benchmarks $(FILTER)

SECONDS ?= 20
fuzz: setup ## feed what reads foreign bytes with changed inputs; make fuzz SECONDS=3600 for an hour each
	@Scripts/fuzz "$(SECONDS)"

lint: setup-browser ## check the format of every Swift file, and the scripts of the dashboard
	@.build/browser/bin/oxlint --config .oxlintrc.json --deny-warnings Sources/DashboardPage/js
	@swift format lint --strict --recursive --parallel --configuration .swift-format Package.swift Sources Tests Examples Benchmarks
	@echo "format: clean"

format: ## format every Swift file in place
	@swift format --in-place --recursive --parallel --configuration .swift-format Package.swift Sources Tests Examples Benchmarks

docs: setup ## build the documentation of the libraries with DocC, into .build/docs/site
	@Scripts/docs

publicapi: setup ## build the sync extension against CloudKit's public symbols only, as Apple's framework has them
	@Scripts/public-cloudkit

clean: ## remove what was built
	rm -rf .build dist bench.json
