# Two commands do everything: `make up` and `make test`. The rest are their parts.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: venv
venv: $(VENV)/.ready
$(VENV)/.ready: requirements.txt requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python >= 3.11 is needed; found $$($(PYTHON) --version). Set PYTHON=/path/to/python3.11"; exit 2; }
	@echo "Installing Python packages into $(VENV) (about a minute)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --progress-bar on --quiet -r requirements-dev.txt
	@touch $@
