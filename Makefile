# Needs python3 (3.11 or later) and nothing else; everything is installed into .venv.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: demo test install smoke lint type property conformance release bench docs check-generated clean

# The main job on a real command: what is wrong with it, and the cheapest way out.
demo: $(STAMP)
	@sh docs/demo.sh $(BIN)/kvsolve

test: $(STAMP)
	$(BIN)/pytest -n auto --dist worksteal

install: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kvsolve needs Python 3.11 or later; set PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $(STAMP)

# Wheel and sdist, each installed into an empty environment and used there.
smoke:
	PYTHON=$(PYTHON) tests/smoke.sh

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check kvsolve tests benchmarks

type: $(STAMP)
	$(BIN)/mypy

property: $(STAMP)
	$(BIN)/pytest tests/property

# Runs the real validators of all releases on CPU, in an environment of its own;
# ARGS="--full --release 0.5.23" and the like are handed on.
conformance: $(STAMP)
	$(BIN)/python tests/conformance/run_conformance.py $(ARGS)

# Adds a release to the packs: make release VERSION=0.5.24.
release: $(STAMP)
	cd tests && ../$(BIN)/python -m conformance.add_release $(VERSION)

bench: $(STAMP)
	@for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

# Pages that are written from the packs and the command itself.
docs: $(STAMP)
	$(BIN)/python docs/generate.py

check-generated: $(STAMP)
	$(BIN)/python docs/generate.py --check
	$(BIN)/python -m tests.corpus.build --check

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache
