# Two commands do everything on a fresh machine: `make up` and `make test`. The rest are their parts.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Tests of one file, and labs of one folder, stay together: they share what is slow to make.
WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

.DEFAULT_GOAL := help
.PHONY: help up down test test-unit test-engine test-lab test-scenarios audit check format docs venv clean

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

up: venv ## Bring the local stack up on a real control plane and burst it from 1 to 9 replicas (QUICK=1: 3 minutes)
	@./headroom lab burst $(if $(QUICK),--quick)

down: ## End the lab that `make up` left running
	@./headroom lab down

test: test-unit test-engine test-lab ## Run every test: unit, engine, lab

test-unit: venv ## Pure functions and rules: seconds
	@echo "== unit"; $(PYTEST) tests/unit

test-engine: venv ## The real Pulumi engine and policy runner over the recorded cloud
	@./headroom tools pulumi
	@echo "== engine"; $(PYTEST) tests/engine

test-lab: venv ## A real control plane on loopback
	@echo "== lab"; $(PYTEST) tests/lab --ignore=tests/lab/scenarios

test-scenarios: venv ## Sixteen accidents on one lab, side by side: five to ten minutes, on a quiet machine
	@echo "== scenarios"; $(BIN)/python -m pytest tests/lab/scenarios

SCANNER := $(or $(HEADROOM_CACHE),$(HOME)/.cache/headroom)/$(subst ==,-,$(shell grep '^checkov' requirements-audit.txt))
audit: venv ## Scan the rendered prod stack with a public scanner (checkov, in its own environment)
	@test -x "$(SCANNER)/bin/checkov" || { echo "Installing checkov into $(SCANNER): one to two minutes"; \
	  $(PYTHON) -m venv --clear "$(SCANNER)" && \
	  "$(SCANNER)/bin/python" -m pip install --quiet --disable-pip-version-check -r requirements-audit.txt; }
	@echo "== audit"; HEADROOM_CHECKOV="$(SCANNER)/bin/checkov" $(BIN)/python -m pytest tests/audit

check: venv ## Format, lint, types, layers, workflows
	@echo "== format"; $(BIN)/ruff format --check .
	@echo "== lint"; $(BIN)/ruff check .
	@echo "== types (about a minute)"; $(BIN)/pyright
	@echo "== layers"; $(BIN)/lint-imports
	@./headroom tools actionlint >/dev/null
	@echo "== workflows"; $$(./headroom tools actionlint | sed 's/^actionlint: //') && $(BIN)/zizmor --offline --quiet .github

format: venv ## Format the code
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

docs: venv ## Write the generated pages
	@$(BIN)/python -m specs.settings.document

venv: $(VENV)/.ready ## Make the virtual environment
$(VENV)/.ready: requirements.txt requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed, found $$($(PYTHON) --version); name one: make PYTHON=/path/to/python3.11"; exit 2; }
	@echo "Installing Python packages into $(VENV): one to three minutes"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --disable-pip-version-check -r requirements-dev.txt
	@touch $@

clean: ## Remove what this folder's runs left (tools stay in their cache)
	@rm -rf .headroom .pytest_cache .ruff_cache .hypothesis reports
