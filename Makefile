# Everything runs from .venv, which the first target makes; nothing is installed outside this folder.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
# Hundreds of processes load the package: without its compiled files each would compile it again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test soak night programs lint bench docs manifests conformance pictures clean
.DELETE_ON_ERROR:

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "dos needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	@echo "setting up .venv (once) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,all]'
	@touch $@

demo: $(READY)
	@$(BIN)/dos demo

lint: $(READY)
	@$(BIN)/ruff check src tests bench tools
	@$(BIN)/ruff format --check src tests bench tools
	@$(BIN)/mypy

test: lint
	@$(BIN)/python -m pytest -n 4 --dist worksteal -m 'not (soak or night or programs)'

soak: $(READY)
	@$(BIN)/python -m pytest -n 4 --dist worksteal -m 'soak and not (night or programs)' --timeout 2400

# Hours: every law and every long test at the size of a night, and what only a night has time for.
night: $(READY)
	@TESTS_FOR=night $(BIN)/python -m pytest -n 2 --dist worksteal -m 'not programs' --timeout 28800

# All real agent programs, installed once into a cached folder outside of the repository.
programs: $(READY)
	@$(BIN)/python -m pytest -m programs --timeout 3600

bench: $(READY)
	@for script in bench/bench_*.py; do echo; $(BIN)/python $$script || exit 1; done

docs: $(READY)
	@$(BIN)/python -m dos.cli.reference > docs/reference.md
	@$(BIN)/python tools/make_configuration.py > docs/configuration.md
	@$(BIN)/python tools/make_troubleshooting.py > docs/troubleshooting.md
	@$(BIN)/python tools/make_api.py > docs/api.md
	@$(BIN)/python tools/make_conformance.py --page > docs/agent-conformance.md

# The plugins and manifests of agent programs in integrations/, from the skills and the verbs.
manifests: $(READY)
	@$(BIN)/python tools/make_manifests.py

# What the agent programs on the PATH can, measured; takes minutes.
conformance: $(READY)
	@$(BIN)/python tools/make_conformance.py

# The pictures of the documentation, from a real fleet; needs tmux and Chromium.
pictures: $(READY)
	@$(BIN)/python tools/make_pictures.py

clean:
	rm -rf .venv .mypy_cache .ruff_cache .hypothesis
