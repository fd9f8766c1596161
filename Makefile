# Two commands do everything on a fresh machine with Python 3.11 or newer:
#   make demo    ranks the bundled example votes and writes a report
#   make test    format, lint, types, tests, examples of the docs
# and make docs builds the documentation into site/.
PYTHON ?= python3
FUZZ_MINUTES ?= 30
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test bench bench-full docs fuzz faults study-coverage study-kinds study-priors study-stress clean

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

test: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
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

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis dist build site

$(VENV)/bin/python:
	$(PYTHON) -c "import sys; assert sys.version_info >= (3, 11), 'juryrank needs Python 3.11 or newer'"
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(VENV)/bin/python pyproject.toml
	$(PIP) --editable ".[plots]"
	@touch $@

$(VENV)/.test: $(VENV)/bin/python pyproject.toml
	$(PIP) --editable ".[test]"
	$(BIN)/python tests/get_browser.py
	@touch $@

$(VENV)/.docs: $(VENV)/bin/python pyproject.toml
	$(PIP) --editable ".[docs]"
	@touch $@

$(VENV)/.bench: $(VENV)/bin/python pyproject.toml
	$(PIP) --editable ".[bench]"
	@touch $@
