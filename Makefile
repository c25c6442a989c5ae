# Two commands: `make lab` opens the first lab, `make test` runs every check.
PYTHON ?= python3
BIN := .venv/bin
# more words for JupyterLab, such as LAB_FLAGS="--no-browser --port=9999"; root in a container has to say that it is root
LAB_FLAGS ?=
ROOT_FLAG := $(shell test "$$(id -u)" = 0 && echo --allow-root)
# what was imported once is kept compiled: a kernel that has to compile torch anew starts five seconds later
unexport PYTHONDONTWRITEBYTECODE

.PHONY: lab test labs clean

lab: .venv/lab-is-ready
	$(BIN)/jupyter lab $(ROOT_FLAG) $(LAB_FLAGS) labs/00_start_here.ipynb

test: .venv/test-is-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python labs/build.py --check
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile -m "not browser"
	$(BIN)/python -m pytest -m timed tests/browser
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile -m "browser and not timed" tests/browser
	GUIDEDVIZ_HEADLESS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --nbval --nbval-current-env \
		--nbval-sanitize-with labs/sanitize.cfg --nbval-cell-timeout=120 labs

labs: .venv/test-is-ready
	$(BIN)/python labs/build.py

.venv/%-is-ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "guidedviz needs Python 3.11 or newer; try: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[$*]'
	touch $@

clean:
	rm -rf .venv build dist tests/shots .pytest_cache .mypy_cache .ruff_cache
