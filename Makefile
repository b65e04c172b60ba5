# Needs python3 (3.11 or later) and nothing else; everything is installed into .venv.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: demo test install smoke lint type property conformance independent release bench bench-own docs check-generated clean

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

# The other solvers live in environments of their own, flamapy apart from the rest.
PEERS := .venv-bench/.installed
$(PEERS): pyproject.toml benchmarks/peers/flamapy.txt
	test -x .venv-bench/bin/python || $(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check -e ".[bench]"
	test -x .venv-flamapy/bin/python || $(PYTHON) -m venv .venv-flamapy
	.venv-flamapy/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/peers/flamapy.txt
	@touch $(PEERS)

# Answers on real releases held to engines that share no code with kvsolve's.
independent: $(PEERS)
	KVSOLVE_INDEPENDENT=1 .venv-bench/bin/pytest -n 2 --dist worksteal tests/independent $(ARGS)

# kvsolve beside other solvers; rewrites the tables of docs/performance.md. ARGS=--quick prints the
# tables of a run of three minutes instead.
bench: $(PEERS)
ifeq ($(ARGS),)
	.venv-bench/bin/python -m benchmarks.peers --json benchmarks/peers/results.json --page docs/performance.md
else
	.venv-bench/bin/python -m benchmarks.peers $(ARGS)
endif

# What kvsolve alone takes, part by part.
bench-own: $(STAMP)
	@for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

# Pages that are written from the packs and the command itself.
docs: $(STAMP)
	$(BIN)/python docs/generate.py

check-generated: $(STAMP)
	$(BIN)/python docs/generate.py --check
	$(BIN)/python -m tests.corpus.build --check

clean:
	rm -rf .venv .venv-bench .venv-flamapy .mypy_cache .pytest_cache .ruff_cache
