# Two commands do everything on a fresh machine with Python 3.11 or newer:
#   make demo    ranks the bundled example votes and writes a report
#   make test    format, lint, types, tests, examples of the docs
# and make docs builds the documentation into site/. make core compiles what has changed in the core;
# make lint does what make test does before the tests, make format mends what can be mended.
PYTHON ?= python3
FUZZ_MINUTES ?= 30
VENV ?= .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
EXE := $(if $(filter Windows_NT,$(OS)),.exe)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Built with tools of the same environment, of which nothing moves, only what has changed is compiled.
BUILD = env $$($(BIN)/python tools/compiler.py) $(PIP) --no-build-isolation --editable
CORE := CMakeLists.txt $(wildcard src/juryrank/_core/*.?pp)

.PHONY: core demo test lint format bench bench-full docs fuzz faults sanitize study-coverage study-kinds study-priors study-stress study-active clean

core: $(VENV)/.tools
	$(BUILD) . --no-deps
	@for stamp in demo test docs bench; do [ ! -e $(VENV)/.$$stamp ] || touch $(VENV)/.$$stamp; done

demo: $(VENV)/.demo
	@echo "\n\$$ juryrank check --example"
	@$(BIN)/juryrank check --example
	@echo "\n\$$ juryrank rank --example"
	@$(BIN)/juryrank rank --example
	@echo "\n\$$ juryrank compare --example"
	@$(BIN)/juryrank compare --example
	@echo "\n\$$ juryrank rank --example --report demo-report.html"
	@$(BIN)/juryrank rank --example --report demo-report.html > /dev/null
	@echo "\nOpen the report in a browser: $(CURDIR)/demo-report.html"

lint: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/clang-format --dry-run --Werror src/juryrank/_core/*.?pp
	$(BIN)/mypy

format: $(VENV)/.test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i src/juryrank/_core/*.?pp

test: lint
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks run --grid short

bench-full: $(VENV)/.bench
	$(BIN)/python -m benchmarks run --grid full

docs: $(VENV)/.docs
	$(BIN)/python docs/reference/make_cli.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "The documentation is in site/index.html"

# Where atheris cannot be had, mutants are made without it.
fuzz: $(VENV)/.test
	-$(PIP) --editable ".[fuzz]" 2> /dev/null
	$(BIN)/python -m fuzzing --minutes $(FUZZ_MINUTES)

faults: $(VENV)/.test
	$(BIN)/python -m fuzzing.faults

# The core with sanitizers for addresses and undefined behaviour, under the tests of the numerics.
sanitize: $(VENV)/.test
	$(BIN)/python -m tools.sanitize tests/core tests/model tests/solvers tests/inference tests/votes

study-coverage: $(VENV)/.test
	$(BIN)/python -m studies.coverage

study-kinds: $(VENV)/.test
	$(BIN)/python -m studies.kinds

study-priors: $(VENV)/.test
	$(BIN)/python -m studies.priors

study-stress: $(VENV)/.test
	$(BIN)/python -m studies.stress
	$(BIN)/python -m studies.accusations
	$(BIN)/python -m studies.attacks
	$(BIN)/python -m studies.orientation --data-sets 500

# PROGRAMS is a folder with programs of others (studies/active.py says which), DATA one with the votes to replay.
DATA ?= ../shared/data
study-active: $(VENV)/.test
	$(BIN)/python -m studies.active --settings unequal backwards
	$(BIN)/python -m studies.active --name active-programs --programs "$(PROGRAMS)" \
		--settings 'ASAP 20' 'Hybrid-MST 60' 'ASAP 200'
	$(BIN)/python -m studies.active --name active-bound --seed 11 --data-sets 4 --settings 'ASAP 20' 'ASAP 200' \
		--policies juryrank 'juryrank, none at random' random quicksort Swiss 'bound: the best design'
	$(BIN)/python -m studies.active --name active-coverage --seed 21 --data-sets 40 --until 300 \
		--settings unequal backwards tastes alone --policies juryrank
	$(BIN)/python -m studies.active --name active-asap --programs "$(PROGRAMS)" --seed 12 --data-sets 12 \
		--settings 'ASAP 20' --policies juryrank 'juryrank, none at random' Swiss \
		'ASAP, approximate (program)' 'ASAP (program)'
	$(BIN)/python -m studies.active --name active-large --programs "$(PROGRAMS)" --seed 11 --data-sets 1 \
		--until 7065 --settings 'ASAP 200' --policies 'ASAP, approximate (program)' juryrank \
		'juryrank, none at random' Swiss random quicksort
	$(BIN)/python -m studies.prices
	$(BIN)/python -m studies.coins
	$(BIN)/python -m studies.replayed --data "$(DATA)"

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis dist build site

$(BIN)/python$(EXE):
	$(PYTHON) -c "import sys; assert sys.version_info >= (3, 11), 'juryrank needs Python 3.11 or newer'"
	$(PYTHON) -m venv $(VENV)

# What pyproject.toml asks for to build, and CMake, which its back end would fetch for every build.
$(VENV)/.tools: $(BIN)/python$(EXE) pyproject.toml
	$(PIP) cmake ninja $$($(BIN)/python -c "import tomllib; \
	    print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'])")
	@touch $@

$(VENV)/.demo: $(VENV)/.tools $(CORE)
	$(BUILD) ".[plots]"
	@touch $@

$(VENV)/.test: $(VENV)/.tools $(CORE)
	$(BUILD) ".[test]"
	$(BIN)/python tests/get_browser.py
	@touch $@

$(VENV)/.docs: $(VENV)/.tools $(CORE)
	$(BUILD) ".[docs]"
	@touch $@

$(VENV)/.bench: $(VENV)/.tools $(CORE)
	$(BUILD) ".[bench]"
	@touch $@
