# What a person types here. Each target sets up .venv first where it is missing or out of date.
# Relative paths only: make cannot handle a target whose path has a space in it.

# Which Python .venv is made with: make setup PYTHON=python3.12
PYTHON ?=
# How many random cases make fuzz tries, and how many of them bare: make fuzz CASES=100000 BARE=5000
CASES ?= 20000
BARE ?=
# One of them again, as make fuzz has printed it: make fuzz SEED=1 CASE=17
SEED ?=
CASE ?=
# More for pytest, demo or lab: make test ARGS="-k layout"
ARGS ?=

export PYTHON
# pytest keeps its rewritten test modules as bytecode: without, every start takes 1.4 s longer.
unexport PYTHONDONTWRITEBYTECODE
RUN := .venv/bin/python
SETUP := sh tools/setup.sh

.DEFAULT_GOAL := help
.PHONY: help setup demo test lab lint format bench fuzz properties gpu-check notebooks constraints clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile | awk -F '\t' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: ## make .venv with everything that the other targets need
	@$(SETUP)

demo: setup ## run the first tutorial, write it to build/demo/ as HTML, and say how fast it was
	@$(RUN) tools/demo.py $(ARGS)

test: setup ## run all tests, doctests and tutorials (ARGS="-k layout" for some)
	@sh tools/chromium.sh
	@$(RUN) -m pytest $(ARGS)

lab: setup ## open the tutorials in JupyterLab
	@$(RUN) -m jupyterlab $$(test "$$(id -u)" != 0 || echo --allow-root) $(ARGS) tutorials

lint: setup ## style, types, import order, spelling
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .
	@$(RUN) -m pyright --pythonpath $(RUN)
	@$(RUN) -c 'from importlinter.cli import lint_imports_command; lint_imports_command()' --no-cache
	@$(RUN) -m codespell_lib

format: setup ## let ruff rewrite what it can
	@$(RUN) -m ruff check --fix .
	@$(RUN) -m ruff format .

bench: ## measure against Numba, Cython, fortran-magic and C, into benchmarks/results/
	@$(SETUP) bench
	@$(RUN) -m pytest tests/contracts/test_peers.py
	@$(RUN) -m benchmarks.run $(ARGS)

fuzz: setup ## hostile arguments, many more than make test tries, counted (CASES=100000 SEED=1, or SEED=1 CASE=17)
ifeq ($(CASE),)
	@$(RUN) -m tests.fuzz.run --cases $(CASES) $(if $(SEED),--seed $(SEED)) $(if $(BARE),--bare $(BARE))
else
	@$(RUN) -m tests.fuzz.run --seed $(SEED) --case $(CASE)
endif

properties: setup ## the Hypothesis tests with CASES examples each, which takes an hour for 20000
	@KIT_FUZZ_COUNT=$(CASES) $(RUN) -m pytest tests -m hypothesis --timeout=0 $(ARGS)

gpu-check: setup ## the tests that need an NVIDIA GPU
	@sh tools/gpu_check.sh $(ARGS)

notebooks: setup ## run the tutorials again and keep their outputs
	@$(RUN) tools/refresh_notebooks.py $(ARGS)

constraints: ## write into constraints.txt the newest versions that fit pyproject.toml
	@$${PYTHON:-python3} tools/constraints.py

clean: ## remove what was built here (not .venv)
	@rm -rf build dist *.egg-info .ruff_cache .import_linter_cache .pytest_cache .hypothesis
	@find . -name __pycache__ -type d -not -path './.venv/*' -prune -exec rm -rf {} +
