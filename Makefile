# A fresh clone needs Python 3.11, Java 17 and make; `make test` and `make verify` set up the rest by themselves.
# Set-up runs once, and again when pyproject.toml or constraints.txt change. Its seconds are kept apart from the rest.

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/set-up-seconds
# Two workers, as on the smallest machine that the numbers are promised for; a JVM shares each with its tests.
WORKERS ?= 2
# Passed on: make verify ARGS=--deep, make test ARGS="-k spark", make deep ARGS="--shard 2/5".
ARGS ?=
# The shape of the repository, and what its documents say; a line that is too long is found in seconds.
DOCUMENTS := tests/test_architecture.py tests/test_readme.py tests/spec/test_protocol_document.py
# All other tests: whatever needs these runs the documents first.
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --no-loadscope-reorder $(DOCUMENTS:%=--ignore=%)

# Python keeps what it compiled: workers, brokers and Spark's processes load the same modules again and again.
export PYTHONDONTWRITEBYTECODE :=

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
# setup, lint and pytest would fight over the cores and mix their reports.
.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help setup verify check test deep lint documents kafka bench clean

help: ## show these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## make the virtual environment, with the exact versions of constraints.txt

$(STAMP): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "set-up: no $(PYTHON) on the PATH; install Python 3.11, or name yours: make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "set-up: $(PYTHON) does not run, or is older than Python 3.11; name another: make PYTHON=..." >&2; exit 1; }
	@command -v java >/dev/null || { echo "set-up: no java on the PATH; Spark and ZooKeeper need Java 17" >&2; exit 1; }
	@start=$$SECONDS; rm -f $@; \
	$(PYTHON) -m venv $(VENV); \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'; \
	echo $$((SECONDS - start)) > $@; \
	echo "set-up took $$(<$@) s (once; not part of the times below)"

verify: setup ## the verdict: scopes, proofs, refinement, a live run, recordings (ARGS=--deep: everything)
	@$(BIN)/kcheck verify $(ARGS)

check: setup ## types and units, which start, build and judge nothing: within a minute, for whoever works on it
	@$(call beside_types,$(PYTEST) --units $(ARGS))

test: setup ## types and tests
	@$(call beside_types,$(PYTEST) $(ARGS))

deep: setup ## the same with all that takes long, once a night; ARGS="--shard 2/5" for a part
	@$(call beside_types,$(PYTEST) --deep $(ARGS))

lint: setup ## ruff and mypy only
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy --strict

documents: setup ## ruff, the architecture and the documents: what is first to fail
	@$(first_to_fail)

first_to_fail = $(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/python -m pytest -q $(DOCUMENTS)

# What is first to fail, then a command, while mypy checks the types: show what that says when all have ended, and fail
# if any does. Where what is first fails, nobody waits for the others.
define beside_types
	start=$$SECONDS; said=$$(mktemp); trap 'rm -f $$said' EXIT; \
	$(BIN)/mypy --strict > $$said 2>&1 & types=$$!; \
	{ $(first_to_fail); } || { kill $$types; exit 1; }; \
	failed=0; $(1) || failed=$$?; \
	wait $$types || failed=$$?; cat $$said; \
	echo "it took $$((SECONDS - start)) s; set-up had taken $$(<$(STAMP)) s, once"; \
	exit $$failed
endef

kafka: setup ## fetch the release of Kafka that the tests run (ARGS="2.8.2 3.9.1": others)
	@$(BIN)/python -m model_check.live.fetch_kafka $(ARGS)

bench: setup ## speed and memory of the engines, beside SPIN
	@$(BIN)/python -m model_check.benchmarks $(ARGS)

clean: ## remove the virtual environment, caches and builds; runs stay
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
