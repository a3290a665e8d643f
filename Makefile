# make app     the dashboard, with the simulated study on the first start
# make viewer  the read-only server of shared views
# make test    linters, types, layers, then every test
# make check   linters, types and layers alone
#
# PYTHON=python3.12 chooses the interpreter, PORT=8600 the server's port, CRUBRIC_WORKSPACE=study.duckdb another
# workspace, CRUBRIC_VIEWS=views another folder of shared views, PYTEST_ARGS="-k bank" what pytest is told besides.

PYTHON ?= python3
export CRUBRIC_WORKSPACE ?= data/demo.duckdb
PYTEST_ARGS ?=

BIN := .venv/bin
RUNTIME := .venv/requirements.stamp
DEV := .venv/requirements-dev.stamp
DEMO := data/demo.duckdb
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check

.PHONY: app viewer test check clean
.DELETE_ON_ERROR:

app: $(RUNTIME) | $(filter $(DEMO),$(CRUBRIC_WORKSPACE))
	@echo "Opening $(CRUBRIC_WORKSPACE). Ctrl-C stops the server."
	@$(BIN)/python -m streamlit run app.py --server.headless true $(if $(PORT),--server.port $(PORT))

# Small limits: a reader sends a few bytes and is sent one page.
viewer: $(RUNTIME)
	@CRUBRIC_ROLE=viewer $(BIN)/python -m streamlit run app.py --server.headless true \
	  --server.port $(or $(PORT),8502) --server.maxUploadSize 1 --server.maxMessageSize 16

test: check
	@$(BIN)/python -m pytest -n 3 --dist loadfile --benchmark-disable -ra $(PYTEST_ARGS)

check: $(DEV)
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/python -m mypy
	@$(BIN)/lint-imports --no-logo

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

# The stamps say which requirements are installed; a change to requirements.txt makes the environment anew.
$(RUNTIME): requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Python 3.11 or newer is needed, but $(PYTHON) is $$($(PYTHON) --version 2>/dev/null || echo missing)." >&2; \
	  echo "Name another one: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) cannot make virtual environments. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@echo "Installing into .venv (once; a minute or so) ..."
	@$(PYTHON) -m venv --clear .venv
	@$(PIP) -r requirements.txt
	@touch $@

$(DEV): requirements-dev.txt $(RUNTIME)
	@echo "Installing the test tools into .venv ..."
	@$(PIP) -r requirements-dev.txt
	@touch $@

# A workspace that is half made must not look finished; one that exists is the user's and is never made again.
$(DEMO): | $(RUNTIME)
	@echo "Simulating the demo study ..."
	@rm -f $@.part $@.part.wal
	@$(BIN)/python -m crubric_core demo --workspace $@.part
	@mv $@.part $@
