# Needs Python 3.11 or newer with pip, and make; everything else is installed into .venv.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
RUNNER := $(BIN)/runner
PYTEST := $(BIN)/python -m pytest
JOBS ?= auto

MODERN := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3; do \
	$$python -c '$(MODERN)' 2>/dev/null && echo $$python && break; done)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help run test lint types contracts unit coverage crash bench schemas format lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(VENV)/.runs ## Run the example through a worker: no key, no server
	@scripts/example $(RUNNER)

test: lint types contracts coverage ## Check everything a change must pass

lint: $(VENV)/.tests ## Check style and formatting
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.tests ## Check types
	$(BIN)/mypy

contracts: $(VENV)/.tests ## Check which part imports which
	$(BIN)/lint-imports --no-logo

unit: $(VENV)/.tests ## Run the tests that need no server
	$(PYTEST) tests/unit tests/architecture

coverage: $(VENV)/.tests ## Run all tests but the long ones, with coverage
	$(PYTEST) -m "not crash" -n $(JOBS) --dist worksteal --cov --cov-report=term

crash: $(VENV)/.tests ## Run the long tests: crashes at random instants, load
	$(PYTEST) -m crash --timeout 1800

bench: $(VENV)/.tests ## Time what has to be quick: decisions under a thousand rules
	$(BIN)/python -m tests.benchmarks.policies

schemas: $(VENV)/.runs ## Write the JSON Schemas for editors
	$(RUNNER) schema

format: $(VENV)/.tests ## Format the code and mend what can be mended
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# The oldest Python we support gives pins that every later one can install too.
lock: ## Pin every package anew, within the ranges of pyproject.toml
	rm -rf $(VENV)-lock
	python3.11 -m venv $(VENV)-lock
	$(VENV)-lock/bin/python -m pip install -qq '.[redis,rabbitmq,dev]'
	echo '# Written by "make lock" from the ranges in pyproject.toml.' > constraints.txt
	$(VENV)-lock/bin/python -m pip freeze --exclude agent-runner >> constraints.txt
	rm -rf $(VENV)-lock

clean: ## Remove the environment and everything else that can be made again
	rm -rf $(VENV) $(VENV)-lock build dist htmlcov .coverage .coverage.* .hypothesis
	rm -rf .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A distribution without ensurepip still has a pip that can install another into the environment.
$(BIN)/python:
	@test -n "$(PYTHON)" && $(PYTHON) -c '$(MODERN)' || { \
		echo 'error: Python 3.11 or newer is needed; install one or name it: make PYTHON=...' >&2; \
		exit 1; }
	@echo "Creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || { \
		$(PYTHON) -m venv --without-pip $(VENV) && \
		$(PYTHON) -m pip --python $(BIN)/python install --quiet pip; }

$(VENV)/.runs: pyproject.toml constraints.txt | $(BIN)/python
	@echo 'Installing the runner'
	@$(PIP) install --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.tests: pyproject.toml constraints.txt | $(BIN)/python
	@echo 'Installing the runner and the tools to check it'
	@$(PIP) install --constraint constraints.txt --editable '.[redis,rabbitmq,dev]'
	@touch $(VENV)/.runs $@
